// Small conveniences; every page works without them, except that a secret in the address must then be pasted.
"use strict";

// A secret stands behind "#", which browsers never send: take it from the address into the form, and leave no trace in
// history. It is sent when someone presses the button: programs that look at links before people do use nothing up.
function takeSecret() {
  const secret = location.hash.slice(1), form = document.querySelector("form[data-secret]");
  if (!form || secret.length < 20) return;
  history.replaceState(null, "", location.pathname);
  form.elements.secret.value = secret;
  form.elements.secret.closest(".field").hidden = true;
  if (form.elements.by) form.elements.by.value = "link";
  for (const part of document.querySelectorAll("[data-pasting]")) part.hidden = true;
  for (const part of document.querySelectorAll("[data-linked]")) part.hidden = false;
  const button = form.querySelector("button[data-linked-words]");
  if (button) button.textContent = button.dataset.linkedWords;
}
takeSecret();
addEventListener("hashchange", takeSecret);

// Sliders say their number while they move.
for (const slider of document.querySelectorAll("input[type=range][data-says]")) {
  const says = document.getElementById(slider.dataset.says);
  const tell = () => { says.textContent = slider.value + (slider.dataset.unit || ""); };
  slider.addEventListener("input", tell);
  tell();
}

// Copy a field to the clipboard and say so.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  const field = document.getElementById(button.dataset.copy);
  field.select();
  try { await navigator.clipboard.writeText(field.value); } catch { document.execCommand("copy"); }
  document.getElementById(button.dataset.said).textContent = button.dataset.copied || "Copied.";
});

// Pictures further down are fetched one after another once the page stands: paper has no others than those that are there.
addEventListener("load", async () => {
  for (const picture of document.querySelectorAll("img[loading=lazy]")) {
    const there = new Promise((go) => ["load", "error"].forEach((end) => picture.addEventListener(end, go, { once: true })));
    picture.loading = "eager";
    if (!picture.complete) await there;
  }
});

// What went wrong comes first, also for those who listen.
document.getElementById("alert")?.focus();
