// The Agent Trace: steps that load as one reads, files that unfold in place, keys, and a page that follows its run.
import { isTyping, localTimes } from "./base.js";

const AWAY = 3; // Pages of steps that stay in the document on either side of the reader.
const EVERY_MS = 2000;

async function fetchPage(address) {
  const answer = await fetch(address, { headers: { accept: "text/html" } }).catch(() => null);
  if (!answer?.ok || answer.redirected) return null;
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

// Steps: the next page is fetched when its link comes near, and pages far away are parked as empty boxes of
// the same height, so that the document stays small however long the trace is.
const timeline = document.getElementById("timeline");

function part(address) {
  const url = new URL(address, location.href);
  url.searchParams.set("part", "true");
  url.hash = "";
  return url.href;
}

async function chunkAt(address) {
  const page = await fetchPage(part(address));
  const chunk = page?.querySelector(".chunk");
  if (chunk) {
    localTimes(chunk);
    chunk.dataset.address = address;
  }
  return chunk;
}

async function extend(link) {
  if (link.dataset.busy) return;
  link.dataset.busy = "1";
  const chunk = await chunkAt(link.href);
  const held = link.closest(".chunk");
  if (!chunk || !held) return;
  const next = link.rel === "next";
  // Only the outer links of what is shown remain.
  chunk.querySelector(next ? "a[rel=prev]" : "a[rel=next]")?.closest("nav").remove();
  const before = document.documentElement.scrollHeight;
  if (next) held.after(chunk);
  else held.before(chunk);
  link.closest("nav").remove();
  if (!next) window.scrollBy(0, document.documentElement.scrollHeight - before);
  watch(chunk);
  park();
}

const near = timeline && new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    if (entry.target.matches("a[rel=next]")) extend(entry.target);
    else if (entry.target.matches(".chunk.parked")) unpark(entry.target);
  }
}, { rootMargin: "1200px 0px" });

function watch(chunk) {
  near.observe(chunk);
  const next = chunk.querySelector("a[rel=next]");
  if (next) near.observe(next);
}

function park() {
  const chunks = [...timeline.querySelectorAll(".chunk")];
  const middle = window.innerHeight / 2;
  let at = chunks.findIndex((chunk) => chunk.getBoundingClientRect().bottom > middle);
  if (at < 0) at = chunks.length - 1;
  chunks.forEach((chunk, index) => {
    if (Math.abs(index - at) <= AWAY || chunk.classList.contains("parked")) return;
    // What one is at stays.
    if (!chunk.dataset.address || chunk.contains(document.activeElement) || chunk.querySelector("nav")) return;
    chunk.style.height = `${chunk.offsetHeight}px`;
    chunk.classList.add("parked");
    chunk.replaceChildren();
  });
}

async function unpark(chunk) {
  if (chunk.dataset.busy) return;
  chunk.dataset.busy = "1";
  const fresh = await chunkAt(chunk.dataset.address);
  delete chunk.dataset.busy;
  if (!fresh) return;
  fresh.querySelectorAll("nav").forEach((nav) => nav.remove());
  chunk.replaceChildren(...fresh.childNodes);
  chunk.classList.remove("parked");
  chunk.style.height = "";
}

if (timeline) {
  for (const chunk of timeline.querySelectorAll(".chunk")) {
    chunk.dataset.address = location.href;
    watch(chunk);
  }
  timeline.addEventListener("click", (event) => {
    const link = event.target.closest("a[rel=prev]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    extend(link);
  });
}

// Files of a diff that are not shown unasked.
document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-unfold]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const page = await fetchPage(link.href);
  const fresh = page?.getElementById(link.dataset.unfold);
  const held = document.getElementById(link.dataset.unfold);
  if (!fresh || !held) {
    location.assign(link.href);
    return;
  }
  held.replaceWith(fresh);
  fresh.setAttribute("tabindex", "-1");
  fresh.focus({ preventScroll: true });
});

function moveStep(step) {
  const all = [...document.querySelectorAll(".step, .scorers > .rows > details > summary")];
  if (!all.length) return false;
  const now = all.findIndex((item) => item.contains(document.activeElement) || item === document.activeElement);
  let next = now + step;
  if (now < 0) next = all.findIndex((item) => item.getBoundingClientRect().top >= 0);
  const target = all[Math.min(all.length - 1, Math.max(0, next))];
  (target.querySelector(".number") ?? target).focus({ preventScroll: true });
  target.scrollIntoView({ block: "nearest" });
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event) || document.getElementById("help")?.open) return;
  if (event.key === "j" || event.key === "k") {
    moveStep(event.key === "j" ? 1 : -1);
  } else if (event.key === "e") {
    const error = document.getElementById("first-error");
    if (error) location.assign(error.href);
  } else if (event.key === "[" || event.key === "]") {
    const tabs = [...document.querySelectorAll(".tabs a")];
    const now = tabs.findIndex((tab) => tab.hasAttribute("aria-current"));
    const next = tabs[now + (event.key === "]" ? 1 : -1)];
    if (next) location.assign(next.href);
  }
});

// A row that an address names is shown open, whatever it was.
function reveal() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) target.open = true;
}
window.addEventListener("hashchange", reveal);
reveal();

// A run under way: the page is read again until something changed.
const head = document.querySelector(".run-head[data-live]");
if (head) {
  let tag = null;
  const follow = async () => {
    if (!document.hidden) {
      const answer = await fetch(location.href, { headers: tag ? { "if-none-match": tag } : {}, cache: "no-store" }).catch(() => null);
      if (answer?.ok) {
        if (tag !== null) {
          location.reload();
          return;
        }
        tag = answer.headers.get("etag");
      }
    }
    setTimeout(follow, EVERY_MS);
  };
  setTimeout(follow, EVERY_MS);
}
