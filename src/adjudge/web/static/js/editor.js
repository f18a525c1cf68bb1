// The editor: what is typed is checked at once, and nothing is lost when a row moves.
import { localTimes } from "./base.js";

const WAIT_MS = 400;
const UNCHECKED = new Set(["do", "run", "new", "text"]);
let waiting = null;
// Counts what was asked and what was typed: an answer to anything older would take newer words away.
let newest = 0;
let leaving = false;

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

// Typed before this script came, or kept by the browser when the page was loaded again.
function isTouched(field) {
  if (!field.name || UNCHECKED.has(field.name)) return false;
  if (field.type === "checkbox") return field.checked !== field.defaultChecked;
  if (field.tagName === "SELECT") {
    return field.selectedIndex !== Math.max(0, [...field.options].findIndex((option) => option.defaultSelected));
  }
  return "defaultValue" in field && field.value !== field.defaultValue;
}

async function send(button) {
  const held = form();
  if (held.dataset.editable !== "yes" || held.inert) return;
  clearTimeout(waiting);
  const mine = ++newest;
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
  const focus = document.activeElement;
  // Rows get other names when one moves: nothing is typed into the old ones meanwhile.
  if (button) held.inert = true;
  const answer = await fetch(held.action, { method: "POST", body, headers: { accept: "text/html" } }).catch(() => null);
  const text = await answer?.text().catch(() => null);
  if (mine !== newest) return;
  if (typeof text !== "string") {
    held.inert = false;
    sayUnanswered(held);
    return;
  }
  if (answer.redirected) {
    leaving = true;
    location.assign(answer.url);
    return;
  }
  const page = new DOMParser().parseFromString(text, "text/html");
  const fresh = page.getElementById("editor");
  if (!fresh) {
    document.documentElement.replaceWith(page.documentElement);
    return;
  }
  show(held, fresh, button ? focus : document.activeElement);
}

function sayUnanswered(held) {
  const badge = held.querySelector(".actions .badge");
  badge.className = "badge fail";
  badge.textContent = "no answer, nothing was done; is adjudge view still running?";
  const tried = held.querySelector('button[value="try"]');
  if (tried) tried.disabled = false;
}

function show(held, fresh, focus) {
  const name = focus?.name;
  const place = focus?.selectionStart ?? null;
  const end = focus?.selectionEnd ?? null;
  const open = new Set([...held.querySelectorAll("details[open]")].map((one) => one.dataset.keep || one.id));
  for (const one of fresh.querySelectorAll("details")) {
    if (open.has(one.dataset.keep || one.id)) one.open = true;
  }
  const scroll = held.querySelector(".preview pre")?.scrollTop ?? 0;
  for (const name of ["run", "new"]) {
    const chosen = held.elements[name]?.value;
    const again = [...(fresh.elements[name]?.options ?? [])].find((option) => option.value === chosen);
    if (again) again.selected = true;
  }
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
  if (!form()?.contains(event.target) || !event.target.name || UNCHECKED.has(event.target.name)) return;
  newest += 1;
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
  if (save && !save.disabled && !leaving) event.preventDefault();
});

wake();
if ([...(form()?.elements ?? [])].some(isTouched)) send(null);
