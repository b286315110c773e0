// A little script for all pages. What it does, pages ask for with attributes; nothing is decided here.
//   <form data-swap="#part">    sends the form and puts the answer in the place of #part's content
//   <a data-swap="#part">       the same for a link
//   <div data-poll="/address" data-every="500">   asks until the answer polls no more; then goes where it says
//   <div class="drop" data-drop="/address" data-field="file">   takes files that are dropped on it
//   data-key="j"                the key j presses this button or link; forms with data-now send themselves on change
"use strict";

const HEADERS = { "X-Fragment": "1" };

function say(html) {
  const place = document.getElementById("failure");
  place.innerHTML = html;
  if (html) place.scrollIntoView({ block: "nearest" });
}

function sayText(title, text) {
  const box = document.createElement("div"), strong = document.createElement("strong");
  box.className = "loud";
  strong.textContent = title;
  box.append(strong, " " + text);
  say(box.outerHTML);
}

async function ask(address, options) {
  let response;
  try {
    response = await fetch(address, { ...options, headers: HEADERS, redirect: "follow" });
  } catch {
    sayText("The studio does not answer", "It may have been stopped; start it again and reload this page. Nothing that it has confirmed is lost.");
    return null;
  }
  const text = await response.text();
  if (!response.ok) {
    response.headers.get("content-type")?.startsWith("text/html") ? say(text) : sayText("That did not work", text);
    return null;
  }
  say("");
  const go = response.headers.get("X-Go");
  if (go) { window.location.assign(go); return null; }
  return { text, url: response.url };
}

async function swap(target, address, options) {
  const place = document.querySelector(target);
  place.setAttribute("aria-busy", "true");
  const answer = await ask(address, options);
  place.removeAttribute("aria-busy");
  if (answer === null) return false;
  place.innerHTML = answer.text;
  watch(place);
  place.dispatchEvent(new CustomEvent("swapped", { bubbles: true }));
  return true;
}

function address(form, submitter) {
  const data = new FormData(form, submitter);
  if ((form.method || "get").toLowerCase() === "get") {
    const url = new URL(form.action, window.location.href);
    url.search = new URLSearchParams(data).toString();
    return [url, {}];
  }
  return [form.action, { method: "POST", body: data }];
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.dataset.swap) return;
  event.preventDefault();
  const [url, options] = address(form, event.submitter);
  const buttons = [...form.querySelectorAll("button")].filter((each) => !each.disabled);
  buttons.forEach((each) => { each.disabled = true; });
  await swap(form.dataset.swap, url, options);
  buttons.forEach((each) => { each.disabled = false; });
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-swap]");
  if (!link || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  swap(link.dataset.swap, link.href, {});
});

document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-now]");
  if (form) form.requestSubmit();
});

function isTyping(target) {
  return target.closest("input[type=text], input[type=search], input[type=number], textarea, select") !== null;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const found = [...document.querySelectorAll("[data-key]")].find((each) => each.dataset.key === event.key && !each.disabled);
  if (!found) return;
  event.preventDefault();
  found.click();
});

async function poll(element) {
  const answer = await ask(element.dataset.poll, {});
  if (answer === null || !element.isConnected) return;
  const holder = document.createElement("template");
  holder.innerHTML = answer.text;
  const next = holder.content.firstElementChild;
  element.replaceWith(next);
  watch(next.parentElement);
}

function watch(root) {
  for (const element of root.querySelectorAll("[data-poll]")) {
    if (element.dataset.watched) continue;
    element.dataset.watched = "1";
    setTimeout(() => poll(element), Number(element.dataset.every || 700));
  }
  for (const element of root.querySelectorAll("[data-drop]")) {
    if (element.dataset.watched) continue;
    element.dataset.watched = "1";
    takeDrops(element);
  }
}

// Files of a dropped folder keep their paths below it.
async function listFiles(entry, path) {
  if (entry.isFile) {
    const file = await new Promise((good, bad) => entry.file(good, bad));
    return [{ file, path: path + entry.name }];
  }
  const reader = entry.createReader(), found = [];
  for (;;) {
    const some = await new Promise((good, bad) => reader.readEntries(good, bad));
    if (!some.length) break;
    for (const each of some) found.push(...await listFiles(each, path + entry.name + "/"));
  }
  return found;
}

function takeDrops(element) {
  const over = (on) => element.classList.toggle("over", on);
  element.addEventListener("dragover", (event) => { event.preventDefault(); over(true); });
  element.addEventListener("dragleave", () => over(false));
  element.addEventListener("drop", async (event) => {
    event.preventDefault();
    over(false);
    const entries = [...event.dataTransfer.items].map((each) => each.webkitGetAsEntry()).filter(Boolean);
    const files = (await Promise.all(entries.map((each) => listFiles(each, "")))).flat();
    send(element, files);
  });
  element.querySelector("input[type=file]")?.addEventListener("change", (event) => {
    send(element, [...event.target.files].map((file) => ({ file, path: file.webkitRelativePath || file.name })));
  });
}

// Many files go in several requests, so that none is too large and progress can be shown.
async function send(element, files) {
  const bar = element.querySelector("progress"), most = 8 * 2 ** 20;
  if (!files.length) return;
  if (bar) { bar.hidden = false; bar.max = files.length; bar.value = 0; }
  let done = 0;
  while (done < files.length) {
    const form = new FormData();
    let size = 0, next = done;
    while (next < files.length && next - done < 64 && (next === done || size + files[next].file.size < most)) {
      form.append("paths", files[next].path);
      form.append("files", files[next].file, "file");
      size += files[next].file.size;
      next += 1;
    }
    form.append("last", next === files.length ? "1" : "");
    const target = element.dataset.swap;
    const good = target && next === files.length
      ? await swap(target, element.dataset.drop, { method: "POST", body: form })
      : await ask(element.dataset.drop, { method: "POST", body: form });
    if (!good) { if (bar) bar.hidden = true; return; }
    done = next;
    if (bar) bar.value = done;
  }
}

watch(document);
