// The threshold of a memory: dots are cases; those that change sides light up while the line moves.
"use strict";

document.addEventListener("swapped", (event) => {
  if (event.target.id !== "effect") return;
  event.target.scrollIntoView({ block: "nearest" });
  event.target.focus({ preventScroll: true });
});

function follow(form) {
  const slide = document.getElementById("slide"), number = document.getElementById("value");
  const line = form.querySelector("line.line"), dots = [...form.querySelectorAll("circle")];
  const said = document.getElementById("turning"), list = document.getElementById("turned");
  const low = Number(form.dataset.low), now = Number(form.dataset.now), tolerance = Number(form.dataset.tolerance);
  const SHOWN = 12;

  function cases(count, kind) {
    return `${count} ${kind} ${count === 1 ? "case" : "cases"}`;
  }

  function show(value) {
    const share = Math.min(1, Math.max(0, (value - low) / (1 - low))), x = 12 + 616 * share;
    line.setAttribute("x1", x);
    line.setAttribute("x2", x);
    const turned = [];
    for (const dot of dots) {
      const similarity = Number(dot.dataset.s);
      const before = similarity >= now - tolerance, after = similarity >= value - tolerance;
      const turns = before !== after && dot.dataset.free === "1";
      dot.classList.toggle("turns", turns);
      dot.setAttribute("r", turns ? 6.5 : 3.6);
      if (turns) turned.push(dot);
    }
    const held = turned.filter((dot) => dot.dataset.held === "1").length;
    said.textContent = turned.length
      ? `${cases(turned.length - held, "training")} and ${cases(held, "held-out")} ${value > now ? "become unknown" : "become known"}.`
      : "No case changes sides.";
    list.replaceChildren(...turned.slice(0, SHOWN).filter((dot) => Number(dot.dataset.row) >= 0).map(tile));
  }

  function tile(dot) {
    const item = document.createElement("li"), link = document.createElement("a"), text = document.createElement("span");
    link.className = "tile";
    link.href = `/why/case/${dot.dataset.row}`;
    if (form.dataset.images === "1") {
      const image = document.createElement("img");
      image.src = `/thumbnail/${dot.dataset.row}`;
      image.alt = "";
      link.append(image);
    }
    text.className = "text";
    text.textContent = `${Number(dot.dataset.s).toFixed(3)} ${dot.dataset.held === "1" ? "held out" : "training"}`;
    link.append(text);
    item.append(link);
    return item;
  }

  slide.addEventListener("input", () => { number.value = slide.value; show(Number(slide.value)); });
  number.addEventListener("input", () => { slide.value = number.value; show(Number(number.value)); });
  document.getElementById("back").addEventListener("click", () => { number.value = now; slide.value = now; show(now); });
}

const found = document.querySelector("form.threshold");
if (found) follow(found);
