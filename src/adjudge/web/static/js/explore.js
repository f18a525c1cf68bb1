// The explorer: other plots, orders and pages without loading everything anew, values to choose from, and
// another filter whenever the last one is filled in.
import { swap } from "./base.js";

const AREA = "explore";

document.addEventListener("click", (event) => {
  const link = event.target.closest(`#${AREA} a[data-swap]`);
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const place = link.closest(".tabs") ? ".tabs a[aria-current]" : null;
  swap(AREA, link.href).then((area) => {
    if (!area) return;
    if (link.rel) area.querySelector("#table-title")?.scrollIntoView({ block: "start" });
    else if (place) area.querySelector(place)?.focus({ preventScroll: true });
  });
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("form.explorer")) return;
  event.preventDefault();
  location.assign(`/explore?${filled(form)}`);
});

window.addEventListener("popstate", () => swap(AREA, location.href, { push: false }));

// What a form says, without what it leaves empty.
function filled(form) {
  const query = new URLSearchParams();
  for (const condition of form.querySelectorAll(".condition")) {
    const [field, operator, value] = ["f", "o", "v"].map((name) => condition.querySelector(`[name=${name}]`).value.trim());
    if (!field || (!value && !/known$/.test(operator))) continue;
    query.append("f", field);
    query.append("o", operator);
    query.append("v", value);
  }
  for (const [name, value] of new FormData(form)) {
    if (value && !["f", "o", "v"].includes(name) && !(name === "show" && value === "groups")) query.append(name, value);
  }
  return query;
}

// Values of the field that is chosen, fetched when they are wanted.
const known = new Map();

async function suggest(condition) {
  const field = condition.querySelector("[name=f]").value;
  const input = condition.querySelector("[name=v]");
  if (!field) {
    input.removeAttribute("list");
    return;
  }
  if (!known.has(field)) {
    known.set(field, fetch(`/api/v1/explore/values?field=${encodeURIComponent(field)}`).then((answer) => (answer.ok ? answer.json() : { values: [] })).catch(() => ({ values: [] })));
  }
  const { values } = await known.get(field);
  const id = `values-${field.replace(/[^a-z0-9]/gi, "-")}`;
  let list = document.getElementById(id);
  if (!list) {
    list = document.createElement("datalist");
    list.id = id;
    for (const value of values) list.append(new Option(value, value));
    document.body.append(list);
  }
  input.setAttribute("list", id);
}

document.addEventListener("focusin", (event) => {
  const condition = event.target.closest?.(".condition");
  if (condition && event.target.name === "v") suggest(condition);
});

document.addEventListener("change", (event) => {
  const condition = event.target.closest?.(".condition");
  if (!condition) return;
  if (event.target.name === "f") suggest(condition);
  const all = [...condition.parentElement.querySelectorAll(".condition")];
  if (all.at(-1) === condition && condition.querySelector("[name=f]").value && all.length < 12) {
    const another = condition.cloneNode(true);
    for (const field of another.querySelectorAll("select")) field.selectedIndex = 0;
    const input = another.querySelector("input");
    input.value = "";
    input.removeAttribute("list");
    input.removeAttribute("data-search");
    for (const label of another.querySelectorAll(".hidden")) label.textContent = label.textContent.replace(/\d+/, all.length + 1);
    condition.after(another);
  }
});
