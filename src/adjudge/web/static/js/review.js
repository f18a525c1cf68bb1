// Reviewing by keyboard.
import { isTyping } from "./base.js";

const form = document.getElementById("verdict");

function choose(value) {
  const radio = form.querySelector(`input[name="judgment"][value="${value}"]`);
  if (!radio) return;
  radio.checked = true;
  radio.focus({ preventScroll: true });
}

document.addEventListener("keydown", (event) => {
  if (document.getElementById("help")?.open) return;
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
    event.preventDefault();
    form.requestSubmit(form.querySelector('button[value="say"]'));
    return;
  }
  const radio = event.target instanceof HTMLInputElement && (event.target.type === "radio" || event.target.type === "checkbox");
  if (event.ctrlKey || event.metaKey || event.altKey || (isTyping(event) && !radio)) return;
  const judgment = { p: "pass", f: "fail", d: "defer" }[event.key];
  if (judgment) choose(judgment);
  else if (event.key === "n") form.requestSubmit(form.querySelector('button[value="skip"]'));
  else if (event.key === "c") {
    event.preventDefault();
    form.elements.notes.focus();
  }
});
