// The canvas of the page Teach. Each finished stroke goes to the studio at once; what it learned comes back as masks.
"use strict";

(() => {
  const $ = (id) => document.getElementById(id);
  const home = $("teach"), stage = $("stage"), layers = $("layers"), canvas = $("canvas"), cursor = $("cursor");
  const row = home.dataset.row, width = Number(home.dataset.width), height = Number(home.dataset.height);
  const scale = 1024 / Math.max(width, height); // pixels of the canvas for one of the picture
  const pen = canvas.getContext("2d");
  let strokes = JSON.parse(home.dataset.strokes), current = null, erasing = false, shown = true, zoom = 1;
  let lesson = Number(home.dataset.lesson), following = false, sent = Promise.resolve(), at = [width / 2, height / 2], byKey = false, drawnBy = "";
  const fingers = new Map();

  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));

  const colourOf = (region) => document.querySelector(`input[name=region][value="${Number(region)}"]`)?.dataset.colour;
  const chosen = () => Number(document.querySelector("input[name=region]:checked").value);

  // ------------------------------------------------------------------------------------------------------ drawing

  function draw(stroke) {
    const colour = colourOf(stroke.region);
    if (!colour && !stroke.erase) return; // of a region that was removed
    pen.globalCompositeOperation = stroke.erase ? "destination-out" : "source-over";
    pen.strokeStyle = colour || "#000";
    pen.lineWidth = Math.max(1, stroke.size * scale);
    pen.lineCap = pen.lineJoin = "round";
    pen.beginPath();
    const points = stroke.points.length > 1 ? stroke.points : [stroke.points[0], stroke.points[0]];
    points.forEach(([x, y], k) => (k ? pen.lineTo : pen.moveTo).call(pen, x * scale, y * scale));
    pen.stroke();
  }

  function redraw() {
    pen.clearRect(0, 0, canvas.width, canvas.height);
    strokes.forEach(draw);
    if (current) draw(current);
    $("undo").disabled = strokes.length === 0;
  }

  // The picture fits into the window; zoom makes it larger, and the stage scrolls.
  function fit() {
    const base = Math.min(stage.clientWidth, window.innerHeight * 0.72 * width / height);
    layers.style.setProperty("width", `${Math.round(base * zoom)}px`);
    showCursor();
  }

  function zoomTo(next) {
    const x = (stage.scrollLeft + stage.clientWidth / 2) / layers.clientWidth, y = (stage.scrollTop + stage.clientHeight / 2) / layers.clientHeight;
    zoom = Math.min(8, Math.max(1, next));
    fit();
    stage.scrollLeft = x * layers.clientWidth - stage.clientWidth / 2;
    stage.scrollTop = y * layers.clientHeight - stage.clientHeight / 2;
  }

  function showCursor() {
    const box = canvas.getBoundingClientRect();
    const across = Math.max(3, Number($("size").value) * box.width / width);
    cursor.style.setProperty("width", `${across}px`);
    cursor.style.setProperty("height", `${across}px`);
    cursor.style.setProperty("left", `${100 * at[0] / width}%`);
    cursor.style.setProperty("top", `${100 * at[1] / height}%`);
    cursor.classList.toggle("down", byKey);
  }

  function place(event) {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) * width / box.width, (event.clientY - box.top) * height / box.height].map((each) => Math.round(each * 10) / 10);
  }

  // ------------------------------------------------------------------------------------------------------- strokes

  function begin(point) {
    current = { region: chosen(), size: Number($("size").value), points: [point], erase: erasing };
    draw(current);
  }

  function extend(point) {
    const last = current.points[current.points.length - 1];
    if (Math.hypot(point[0] - last[0], point[1] - last[1]) < Math.max(0.5, 0.5 / scale)) return;
    current.points.push(point);
    draw({ ...current, points: [last, point] });
  }

  function finish() {
    const stroke = current;
    current = null;
    strokes.push(stroke);
    redraw();
    // One after the other, so that the log has them in the order of painting.
    sent = sent.then(() => post(`/teach/${row}/stroke`, stroke)).then((answer) => {
      if (!answer) { strokes = strokes.filter((each) => each !== stroke); redraw(); }
      follow();
    });
  }

  function giveUp() {
    current = null;
    byKey = false;
    redraw();
  }

  async function post(address, content) {
    const headers = { "X-Fragment": "1", "Content-Type": "application/json" };
    try {
      const response = await fetch(address, { method: "POST", headers, body: JSON.stringify(content), keepalive: true });
      if (response.ok) { say(""); return await response.json(); }
      say(await response.text());
    } catch {
      sayText("The studio does not answer", "The last stroke is not kept. Start the studio again and reload this page.");
    }
    return null;
  }

  function undo() {
    if (current) { giveUp(); return; }
    sent = sent.then(() => post(`/teach/${row}/undo`, {})).then((answer) => {
      if (answer) { strokes = answer.strokes; redraw(); }
      follow();
    });
  }

  // ------------------------------------------------------------------------------------------- what was learned

  async function follow() {
    if (following) return;
    following = true;
    try {
      for (;;) {
        const response = await fetch(`/teach/${row}/status`, { headers: { "X-Fragment": "1" } });
        if (!response.ok) break;
        $("status").innerHTML = await response.text();
        const now = Number(response.headers.get("X-Lesson"));
        if (now !== lesson) { lesson = now; showMasks(); }
        if (!response.headers.get("X-Learning")) break;
        await new Promise((go) => setTimeout(go, 150));
      }
      if (lesson) swap("#places", `/teach/${row}/places`, {});
    } catch { /* the studio was stopped; the next stroke says so */ }
    following = false;
  }

  function showMasks() {
    for (const mask of document.querySelectorAll("img.mask")) {
      if (!lesson) { mask.hidden = true; continue; }
      const next = new Image();
      next.onload = () => { mask.src = next.src; mask.hidden = !shown; };
      next.src = `/teach/${mask.dataset.row}/mask?side=${mask.dataset.side}&v=${lesson}`;
    }
  }

  // -------------------------------------------------------------------------------------------------- pointers, keys

  canvas.addEventListener("pointerdown", (event) => {
    if (current && drawnBy === "pen" && event.pointerType === "touch") return; // the hand that rests beside the pen
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
    if (fingers.size === 2) { giveUp(); return; } // two fingers move and zoom
    if (event.button !== 0 || fingers.size > 1) return;
    canvas.setPointerCapture(event.pointerId);
    byKey = false;
    drawnBy = event.pointerType;
    begin(place(event));
    event.preventDefault();
    canvas.focus({ preventScroll: true });
  });
  canvas.addEventListener("pointermove", (event) => {
    at = place(event);
    cursor.hidden = false;
    showCursor();
    if (fingers.size === 2 && fingers.has(event.pointerId)) { pinch(event); return; }
    if (!current || byKey || !fingers.has(event.pointerId)) return;
    const path = event.getCoalescedEvents?.() ?? [];
    for (const each of path.length ? path : [event]) extend(place(each));
  });
  canvas.addEventListener("pointerup", (event) => {
    if (fingers.delete(event.pointerId) && current && !byKey) finish();
  });
  canvas.addEventListener("pointercancel", (event) => { if (fingers.delete(event.pointerId)) giveUp(); });
  canvas.addEventListener("pointerleave", () => { if (!byKey) cursor.hidden = true; });

  function pinch(event) {
    const before = fingers.get(event.pointerId), other = [...fingers].find(([id]) => id !== event.pointerId)[1];
    const apart = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
    const now = [event.clientX, event.clientY];
    stage.scrollLeft -= (now[0] - before[0]) / 2;
    stage.scrollTop -= (now[1] - before[1]) / 2;
    const ratio = apart(now, other) / Math.max(1, apart(before, other));
    if (Math.abs(ratio - 1) > 0.01) zoomTo(zoom * ratio);
    fingers.set(event.pointerId, now);
  }

  const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  canvas.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (step) {
      const far = Math.max(1, Number($("size").value) / 2) * (event.shiftKey ? 4 : 1);
      at = [Math.min(width, Math.max(0, at[0] + far * step[0])), Math.min(height, Math.max(0, at[1] + far * step[1]))];
      if (byKey && current) extend(at);
    } else if (event.key === " " || event.key === "Enter") {
      if (byKey && current) { byKey = false; finish(); } else { byKey = true; begin([...at]); }
    } else if (event.key === "Escape" && current) {
      giveUp();
    } else {
      return;
    }
    cursor.hidden = false;
    showCursor();
    event.preventDefault();
    event.stopPropagation();
  });
  canvas.addEventListener("focus", () => { if (canvas.matches(":focus-visible")) { cursor.hidden = false; showCursor(); } });
  canvas.addEventListener("blur", () => { if (byKey) { byKey = false; finish(); } });
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "z" && !isTyping(event.target)) { event.preventDefault(); undo(); }
  });

  function changeSize(factor) {
    const now = Number($("size").value), next = Math.round(now * factor);
    $("size").value = next === now ? now + Math.sign(factor - 1) : next;
    showCursor();
  }
  $("wider").addEventListener("click", () => changeSize(1.25));
  $("thinner").addEventListener("click", () => changeSize(0.8));
  $("size").addEventListener("input", showCursor);
  $("undo").addEventListener("click", undo);
  $("closer").addEventListener("click", () => zoomTo(zoom * 1.5));
  $("farther").addEventListener("click", () => zoomTo(zoom / 1.5));
  $("erase").addEventListener("click", () => { erasing = !erasing; $("erase").setAttribute("aria-pressed", String(erasing)); });
  $("masks").addEventListener("click", () => {
    shown = !shown;
    $("masks").setAttribute("aria-pressed", String(shown));
    document.querySelectorAll("img.mask").forEach((mask) => { mask.hidden = !shown || !mask.src; });
  });
  document.querySelectorAll("input[name=region]").forEach((each) => each.addEventListener("change", () => {
    erasing = false; // choosing a region is choosing to paint
    $("erase").setAttribute("aria-pressed", "false");
  }));
  window.addEventListener("resize", fit);

  // The brush stays as it is from picture to picture.
  const kept = JSON.parse(sessionStorage.getItem("brush") || "null");
  if (kept) {
    $("size").value = kept.size;
    const region = document.querySelector(`input[name=region][value="${Number(kept.region)}"]`);
    if (region) region.checked = true;
  }
  window.addEventListener("pagehide", () => {
    sessionStorage.setItem("brush", JSON.stringify({ size: $("size").value, region: chosen() }));
  });

  const marker = $("marker");
  if (marker) {
    at = [Number(home.dataset.x), Number(home.dataset.y)];
    marker.style.setProperty("left", `${100 * at[0] / width}%`);
    marker.style.setProperty("top", `${100 * at[1] / height}%`);
    canvas.addEventListener("pointerdown", () => marker.remove(), { once: true });
  }
  fit();
  redraw();
  if (lesson) showMasks();
  if (home.dataset.learning || lesson) follow();
})();
