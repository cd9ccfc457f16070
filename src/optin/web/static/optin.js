// Small conveniences; every page works without them, except that a secret in the address must then be pasted.
"use strict";

// A secret stands behind "#", which browsers never send: take it from the address, post it, and leave no trace in history.
function takeSecret() {
  const secret = location.hash.slice(1), form = document.querySelector("form[data-secret]");
  if (!form || secret.length < 20) return;
  history.replaceState(null, "", location.pathname);
  form.elements.secret.value = secret;
  if (form.elements.by) form.elements.by.value = "link";
  if (form.dataset.secret === "send") {
    form.querySelector("[role=status]").textContent = "Opening your invitation …";
    form.requestSubmit();
  } else {
    form.elements.secret.closest(".field").hidden = true;
  }
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
  document.getElementById(button.dataset.said).textContent = "Copied.";
});

// What went wrong comes first, also for those who listen.
document.getElementById("alert")?.focus();
