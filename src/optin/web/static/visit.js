// One visit on a phone: the link is opened without using it up, what is typed survives a locked screen, numbers are told back.
// Everything works without this file; then the code of the link is pasted, and numbers are told back after sending.
"use strict";

const KEPT = "optin-visit";
const kept = () => { try { return JSON.parse(sessionStorage.getItem(KEPT)) || {}; } catch { return {}; } };
const keep = (more) => { try { sessionStorage.setItem(KEPT, JSON.stringify({ ...kept(), ...more })); } catch { /* not kept */ } };
const forget = () => { try { sessionStorage.removeItem(KEPT); } catch { /* nothing there */ } };

// A part of a page instead of the whole: reloading then begins at the same place, and no form is sent twice.
async function part(address, fields) {
  const place = document.querySelector("#visit");
  const answer = await fetch(address, { method: "POST", headers: { "X-Part": "yes" }, body: new URLSearchParams(fields) });
  if (answer.status === 429 || answer.status >= 500) throw new Error("later");
  const text = await answer.text();
  if (!answer.ok || !text) return false;
  place.innerHTML = text;
  place.hidden = false;
  for (const other of document.querySelectorAll("[data-before-visit]")) other.hidden = true;
  settle(place);
  return true;
}

function csrf() {
  const token = document.querySelector("input[name=csrf]");
  return token ? { csrf: token.value } : {};
}

// Another link in the same tab is another person: what the one before typed is theirs. A connection that is gone for a moment
// takes nothing along: what was typed is forgotten only where the link is refused.
async function openLink(secret, begun) {
  if (kept().secret !== secret) forget();
  const fields = { secret, ...csrf() };
  const opened = await part(begun ? "/i/answer" : "/i/look", fields).catch(() => null);
  if (opened === false) forget();
  else keep({ secret, begun });
  offerAgain(opened === null && (() => openLink(secret, begun)));
}

function offerAgain(again) {
  const trouble = document.querySelector("#trouble");
  trouble.hidden = !again;
  if (!again) return;
  for (const other of document.querySelectorAll("[data-before-visit]")) other.hidden = true;
  trouble.querySelector("button").onclick = again;
  scrollTo(0, 0);
}

// What was typed comes back after the tab was put to sleep; on a shared device nothing is kept.
function settle(place) {
  const form = place.querySelector("form[data-keep]");
  if (form) {
    const before = kept();
    if (before.campaign === form.dataset.keep && before.typed) restore(form, before.typed);
    if (before.campaign === form.dataset.keep && before.key) form.elements.key.value = before.key;
    for (const chosen of form.querySelectorAll("details [name=step]:checked")) chosen.closest("details").open = true;
    form.addEventListener("input", () => save(form));
    for (const field of form.querySelectorAll("input[data-number]")) tell(field);
    const told = () => { form.elements.echoed.value = allTold(form) ? "yes" : ""; };
    form.addEventListener("input", told);
    if (!form.elements.echoed.value) told();
  }
  for (const visit of place.querySelectorAll("form.visit")) visit.addEventListener("keydown", goOn);
  place.querySelector("form[data-begin]")?.addEventListener("submit", (event) => {
    event.preventDefault();
    openLink(event.target.elements.secret.value, true).then(() => {
      place.querySelector("h1")?.focus();
      scrollTo(0, 0);
    });
  });
}

// Enter in a field goes on to the next one; only a button sends.
function goOn(event) {
  if (event.key !== "Enter" || !event.target.matches("input")) return;
  event.preventDefault();
  const fields = [...this.elements].filter((field) => field.matches("input, select") && field.offsetParent);
  if (!event.isComposing && !/radio|checkbox/.test(event.target.type)) fields[fields.indexOf(event.target) + 1]?.focus();
}

const NEVER = ["csrf", "secret", "key", "round", "echoed", "back", "left_out", "again"];

function save(form) {
  if (form.elements.shared?.checked) return forget();
  const typed = [...new FormData(form)].filter(([name]) => !NEVER.includes(name));
  keep({ campaign: form.dataset.keep, typed, key: form.elements.key.value });
}

function restore(form, typed) {
  const left = typed.map(([name, value]) => ({ name, value }));
  for (const field of form.elements) {
    if (!field.name || NEVER.includes(field.name)) continue;
    const at = left.findIndex((one) => one.name === field.name && (!/radio|checkbox/.test(field.type) || one.value === field.value));
    if (at < 0) continue;
    if (/radio|checkbox/.test(field.type)) field.checked = true;
    else field.value = left[at].value;
    left.splice(at, 1);
  }
}

// Numbers are told back as they are understood: 7,5 is 7.5. What was not told back here is told back after sending.
const clear = (text) => /^[+-]?(\d+([.,]\d*)?|[.,]\d+)$/.test(text) && !/^[+-]?[1-9]\d{0,2}[.,]\d{3}$/.test(text);

// As the language of the page writes it: no points between thousands, its own sign before a fraction.
const written = (number) => document.documentElement.lang === "en" ? `${number}` : number.toLocaleString(document.documentElement.lang, { useGrouping: false, maximumFractionDigits: 15 });

function tell(field) {
  const says = field.parentElement.querySelector("output.echo");
  const show = () => {
    const text = field.value.trim().replace("\u2212", "-"), number = Number(text.replace(",", "."));
    says.textContent = clear(text) ? `= ${written(number)} ${field.dataset.number}`.trim() : "";
  };
  field.addEventListener("input", show);
  if (field.value) show();
}

// Items of a score stand without an echo: they must be plain as they are.
function allTold(form) {
  const told = (field) => !field.value || field.parentElement.querySelector("output.echo").textContent !== "";
  const plain = (field) => /^(-?\d+(\.\d{1,2})?)?$/.test(field.value.trim());
  return [...form.querySelectorAll("input[data-number]")].every(told) && [...form.querySelectorAll(".items input")].every(plain);
}

const place = document.querySelector("#visit");
if (place) {
  const secret = location.hash.slice(1) || kept().secret || "";
  if (secret.length >= 20) openLink(secret, !location.hash && Boolean(kept().begun));
  addEventListener("hashchange", () => { if (location.hash.length > 20) openLink(location.hash.slice(1), false); });
} else {
  settle(document);
}
if (document.querySelector("[data-sent]")) forget();
