// A part of a page that follows what is going on: asked again and replaced when it changed.
import { localTimes } from "./base.js";

const EVERY_MS = 2000;
let tag = null;

async function follow() {
  const held = document.getElementById("followed");
  if (!held?.hasAttribute("data-live")) return;
  if (!document.hidden) {
    const answer = await fetch(location.href, { headers: tag ? { "if-none-match": tag } : {}, cache: "no-store" }).catch(() => null);
    if (answer?.ok) {
      tag = answer.headers.get("etag");
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.getElementById("followed");
      if (fresh && !show(held, fresh)) tag = null;
    }
  }
  setTimeout(follow, EVERY_MS);
}

// Opened tables stay open, and who is inside one is left in peace.
function show(held, fresh) {
  const inside = held.contains(document.activeElement) && document.activeElement.closest("details");
  if (inside) return false;
  const opened = [...held.querySelectorAll("details")].map((item) => item.open);
  fresh.querySelectorAll("details").forEach((item, at) => {
    item.open = opened[at] ?? false;
  });
  const focus = held.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  localTimes(fresh);
  held.toggleAttribute("data-live", fresh.hasAttribute("data-live"));
  held.replaceChildren(...fresh.childNodes);
  if (focus) held.querySelector(`a[href="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
  return true;
}

setTimeout(follow, EVERY_MS);
