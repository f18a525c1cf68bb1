// The list of runs: pages, orders and filters without loading everything anew, and rows that follow what runs.
import { localTimes, swap } from "./base.js";

const form = document.querySelector("form.filters");

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-swap]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  swap("list", link.href).then((list) => list && (link.rel ? window.scrollTo(0, 0) : syncForm()));
});

form?.addEventListener("submit", (event) => {
  event.preventDefault();
  const filled = [...new FormData(form)].filter(([, value]) => value !== "");
  const query = new URLSearchParams(filled).toString();
  swap("list", query ? `/runs?${query}` : "/runs");
});

window.addEventListener("popstate", () => {
  swap("list", location.href, { push: false }).then(syncForm);
});

// The form shows what the address says.
function syncForm() {
  const query = new URLSearchParams(location.search);
  for (const field of form.elements) {
    if (field.name) field.value = query.get(field.name) ?? "";
  }
}

let tag = null;
let address = null;

async function follow() {
  const list = document.getElementById("list");
  if (list?.dataset.follow && !document.hidden) {
    if (address !== location.href) [tag, address] = [null, location.href];
    const asked = location.href;
    const answer = await fetch(asked, { headers: tag ? { "if-none-match": tag } : {}, cache: "no-store" }).catch(() => null);
    if (answer?.ok && asked === location.href) {
      tag = answer.headers.get("etag");
      show(new DOMParser().parseFromString(await answer.text(), "text/html"));
    }
  }
  waiting = setTimeout(follow, pause());
}

function pause() {
  return Number(document.getElementById("list")?.dataset.follow) || 15000;
}

// Rows that changed are replaced, others stay as they are: focus and selection survive.
function show(page) {
  const fresh = page.getElementById("list");
  const held = document.getElementById("list");
  if (!fresh || !held) return;
  localTimes(fresh);
  const [from, to] = [fresh.querySelector("tbody"), held.querySelector("tbody")];
  held.dataset.follow = fresh.dataset.follow;
  if (!from || !to) {
    held.replaceChildren(...fresh.childNodes);
    return;
  }
  const here = to.querySelector("tr.here")?.id;
  const kept = new Map([...to.rows].map((row) => [row.id, row]));
  const rows = [...from.rows].map((row) => {
    if (row.id === here) row.classList.add("here");
    const old = kept.get(row.id);
    return old && old.isEqualNode(row) ? old : row;
  });
  const focused = document.activeElement?.closest?.("tr")?.id;
  rows.forEach((row, at) => {
    if (to.rows[at] !== row) to.insertBefore(row, to.rows[at] ?? null);
  });
  while (to.rows.length > rows.length) to.deleteRow(-1);
  if (focused && document.activeElement === document.body) {
    document.getElementById(focused)?.querySelector("a")?.focus({ preventScroll: true });
  }
}

let waiting = setTimeout(follow, pause());
document.addEventListener("swapped", () => {
  clearTimeout(waiting);
  waiting = setTimeout(follow, pause());
});

// Control characters and invisible ones, which would reorder or hide what stands beside them.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\ufffb]/;

// Names that there are, offered once somebody is about to type one.
for (const field of document.querySelectorAll("input[data-names]")) {
  field.addEventListener(
    "focus",
    async () => {
      const answer = await fetch(`/api/v1/names/${field.dataset.names}`);
      if (!answer.ok) return;
      const { names } = await answer.json();
      const plain = names.filter((name) => !UNSAFE.test(name));
      field.list.replaceChildren(...plain.map((name) => new Option(name, name)));
    },
    { once: true },
  );
}
