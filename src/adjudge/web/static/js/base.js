// What every page has: keys, moments in the reader's time, and links that swap part of the page.

export function localTimes(root = document) {
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  for (const time of root.querySelectorAll("time[datetime]")) {
    time.title = time.textContent.trim() + " UTC";
    time.textContent = format.format(new Date(time.dateTime));
  }
}

// Replaces an element by the one of the same id in the page at an address.
export async function swap(id, address, { push = true } = {}) {
  const answer = await fetch(address, { headers: { accept: "text/html" } });
  if (!answer.ok || answer.redirected) {
    location.assign(address);
    return null;
  }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById(id);
  const held = document.getElementById(id);
  if (!fresh || !held) {
    location.assign(address);
    return null;
  }
  held.replaceWith(fresh);
  localTimes(fresh);
  document.title = page.title;
  if (push) history.pushState(null, "", address);
  document.dispatchEvent(new CustomEvent("swapped", { detail: { id, page } }));
  return fresh;
}

export function isTyping(event) {
  const target = event.target;
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName));
}

function rows() {
  return [...document.querySelectorAll("table.rows > tbody > tr")];
}

function moveRow(step) {
  const all = rows();
  if (!all.length) return;
  const now = all.findIndex((row) => row.classList.contains("here"));
  const next = Math.min(all.length - 1, Math.max(0, now < 0 ? (step > 0 ? 0 : all.length - 1) : now + step));
  all[now]?.classList.remove("here");
  all[next].classList.add("here");
  const link = all[next].querySelector("a");
  link?.focus({ preventScroll: true });
  all[next].scrollIntoView({ block: "nearest" });
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (isTyping(event)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const help = document.getElementById("help");
  if (help?.open) return;
  if (event.key === "/") {
    const search = document.querySelector("[data-search]");
    if (!search) return;
    event.preventDefault();
    search.focus();
    search.select();
  } else if (event.key === "j" || event.key === "k") {
    moveRow(event.key === "j" ? 1 : -1);
  } else if (event.key === "?") {
    help?.showModal();
  }
}

document.addEventListener("keydown", onKey);
const keys = document.getElementById("keys");
if (keys) {
  keys.hidden = false;
  keys.addEventListener("click", () => document.getElementById("help").showModal());
}
localTimes();
