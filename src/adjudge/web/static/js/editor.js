// The editor: what is typed is checked at once, and nothing is lost when a row moves.
import { localTimes } from "./base.js";

const WAIT_MS = 400;
let waiting = null;
let asked = 0;

function form() {
  return document.getElementById("editor");
}

function isDirtyText(box) {
  return box.value.replace(/\n$/, "") !== box.defaultValue.replace(/\n$/, "");
}

// Without scripts the box of the whole text stays off: rows and text at once would contradict each other.
function wake() {
  const box = document.querySelector("textarea[data-base]");
  if (!box) return;
  const button = document.querySelector("button[data-text]");
  box.disabled = false;
  box.addEventListener("input", () => {
    const dirty = isDirtyText(box);
    button.disabled = !dirty;
    for (const row of document.querySelectorAll(".recipe")) row.inert = dirty;
  });
}

async function send(button) {
  const held = form();
  if (held.dataset.editable !== "yes") return;
  clearTimeout(waiting);
  const mine = ++asked;
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(held)) {
    if (name !== "do") body.append(name, value);
  }
  const box = document.querySelector("textarea[data-base]");
  if (box && !isDirtyText(box)) body.delete("text");
  body.append("do", button ? button.value : "check");
  if (button?.value === "try") {
    button.disabled = true;
    button.textContent = "Trying…";
  }
  const answer = await fetch(held.action, { method: "POST", body, headers: { accept: "text/html" } });
  if (mine !== asked) return;
  if (answer.redirected) {
    location.assign(answer.url);
    return;
  }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("editor");
  if (!fresh) {
    document.documentElement.replaceWith(page.documentElement);
    return;
  }
  show(held, fresh);
}

function show(held, fresh) {
  const focus = document.activeElement;
  const name = focus?.name;
  const place = focus?.selectionStart ?? null;
  const end = focus?.selectionEnd ?? null;
  const open = new Set([...held.querySelectorAll("details[open]")].map((one) => one.dataset.keep || one.id));
  for (const one of fresh.querySelectorAll("details")) {
    if (open.has(one.dataset.keep || one.id)) one.open = true;
  }
  const scroll = held.querySelector(".preview pre")?.scrollTop ?? 0;
  held.replaceWith(fresh);
  fresh.querySelector(".preview pre").scrollTop = scroll;
  if (name && name !== "do") {
    const again = fresh.elements[name];
    const target = again instanceof RadioNodeList ? null : again;
    target?.focus({ preventScroll: true });
    if (place !== null && target?.setSelectionRange) target.setSelectionRange(place, end);
  } else if (focus?.value) {
    fresh.querySelector(`button[value="${CSS.escape(focus.value)}"]`)?.focus({ preventScroll: true });
  }
  localTimes(fresh);
  wake();
}

document.addEventListener("input", (event) => {
  if (!form()?.contains(event.target) || !event.target.name || event.target.name === "text") return;
  if (event.target.name === "run" || event.target.name === "new") return;
  clearTimeout(waiting);
  waiting = setTimeout(() => send(null), event.target.tagName === "SELECT" || event.target.type === "checkbox" ? 0 : WAIT_MS);
});

document.addEventListener("submit", (event) => {
  if (event.target !== form()) return;
  event.preventDefault();
  send(event.submitter);
});

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "s") {
    event.preventDefault();
    const save = document.querySelector('button[value="save"]');
    if (save && !save.disabled) send(save);
  }
});

window.addEventListener("beforeunload", (event) => {
  const save = document.querySelector('button[value="save"]');
  if (save && !save.disabled && !asked) event.preventDefault();
});

wake();
