"use strict";
// Checks signatures and proofs of an optin log in the browser. Nothing is loaded and nothing is sent.
const WORDS = "%WORDS%".split(" ");
const DASH = "\u2014 ";
const FIELDS = ["version", "number", "kind", "campaign", "round", "offer", "at", "fingerprint", "result", "body", "people",
  "rows", "joined", "previous"];

// What is said is looked up by its English words in what the page gives; without it, it is English.
const said = () => JSON.parse(document.getElementById("check-words")?.dataset.words || "{}");
const say = (words, data = {}) => (said()[words] || words).replace(/\{(\w+)\}/g, (_, name) => data[name]);

class Broken extends Error {}
const expect = (holds, otherwise) => { if (!holds) throw new Broken(otherwise()); };
const utf8 = text => new TextEncoder().encode(text);
const sha = async bytes => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
const hex = bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("");
const unhex = text => {
  expect(typeof text === "string" && /^([0-9a-f]{2})*$/.test(text), () => say("a hash cannot be read"));
  return Uint8Array.from(text.match(/../g) || [], pair => parseInt(pair, 16));
};
const hashOf = text => {
  const found = unhex(text);
  expect(found.length === 32, () => say("a hash cannot be read"));
  return found;
};
const joined = (...parts) => {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((at, part) => { all.set(part, at); return at + part.length; }, 0);
  return all;
};
// Base64 as it is written in one way only: atob also reads blanks, missing ends, and bits that mean nothing.
const unbase64 = text => {
  expect(typeof text === "string" && /^[A-Za-z0-9+/]*={0,2}$/.test(text), () => say("base64 cannot be read"));
  let found;
  try { found = atob(text); } catch { throw new Broken(say("base64 cannot be read")); }
  expect(btoa(found) === text, () => say("base64 cannot be read"));
  return Uint8Array.from(found, letter => letter.charCodeAt(0));
};
// Names that can be read as they are written: letters that nobody sees would make two names look alike.
const isName = text => /^[^\s+\p{C}\p{Z}\p{DI}\u2800]{1,200}$/u.test(text);
const isText = found => typeof found === "string" && !/\p{Surrogate}/u.test(found);
const isWhole = found => Number.isInteger(found) && found >= 0;
const isHash = found => typeof found === "string" && /^[0-9a-f]{64}$/.test(found);
const isPath = found => Array.isArray(found) && found.length <= 66 && found.every(isHash);
const has = (record, names) => record !== null && typeof record === "object" && !Array.isArray(record)
  && Object.keys(record).length === names.length && names.every(name => Object.hasOwn(record, name));
const leaf = entry => sha(joined(new Uint8Array([0]), entry));
const node = (left, right) => sha(joined(new Uint8Array([1]), left, right));
const spoken = fingerprint => Array.from(unhex(fingerprint).slice(0, 16), byte => WORDS[byte])
  .map((word, at) => at && at % 4 === 0 ? "\u00b7 " + word : word).join(" ");

// Points of small order, without their sign: one signature is good for every text.
const WEAK = ["00".repeat(32), "01" + "00".repeat(31), "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", ...["ec", "ed", "ee"].map(last => last + "ff".repeat(30) + "7f")];
const isWeak = bytes => WEAK.includes(hex(bytes.slice(0, 31)) + (bytes[31] & 0x7f).toString(16).padStart(2, "0"));

async function keyOf(written) {
  expect(isText(written), () => say("a public key cannot be read"));
  const text = written.trim();
  const [name, id, data] = [text.split("+")[0], text.split("+")[1], text.split("+").slice(2).join("+")];
  const bytes = unbase64(data);
  expect(isName(name) && bytes.length === 33 && (bytes[0] === 1 || bytes[0] === 4), () => say("a public key cannot be read"));
  expect(!isWeak(bytes.slice(1)), () => say("a public key is good for every text"));
  const found = hex((await sha(joined(utf8(name + "\n"), bytes))).slice(0, 4));
  expect(found === id, () => say("a public key has another id than its own"));
  return { name, id, kind: bytes[0], public: bytes.slice(1), text, fingerprint: hex(await sha(utf8(text))) };
}

// A key that is listed twice is one key: it must not count as two witnesses.
async function keysOf(texts) {
  expect(Array.isArray(texts), () => say("a public key cannot be read"));
  const found = await Promise.all(texts.map(keyOf));
  return [...new Map(found.map(key => [`${key.name}+${hex(key.public)}+${key.kind}`, key])).values()];
}

function noteOf(text) {
  const unread = () => say("a checkpoint cannot be read");
  expect(isText(text) && text.length <= 65536 && text.endsWith("\n") && !/[\0-\x09\x0b-\x1f]/.test(text), unread);
  const at = text.lastIndexOf("\n\n");
  expect(at > 0 && at + 2 < text.length, unread);
  return { text: text.slice(0, at + 1), signatures: text.slice(at + 2, -1).split("\n").map(signatureOf) };
}

function signatureOf(line) {
  const parts = line.slice(DASH.length).split(" "), bytes = parts.length === 2 ? unbase64(parts[1]) : [];
  expect(line.startsWith(DASH) && isName(parts[0]) && bytes.length > 4, () => say("a signature cannot be read"));
  return { name: parts[0], id: hex(bytes.slice(0, 4)), data: bytes.slice(4) };
}

function checkpointOf(text) {
  const note = noteOf(text), lines = note.text.slice(0, -1).split("\n"), [origin, size, root] = lines;
  expect(lines.length >= 3 && lines.every(line => line) && isName(origin) && /^(0|[1-9]\d{0,14})$/.test(size),
    () => say("a checkpoint cannot be read"));
  const hash = unbase64(root);
  expect(hash.length === 32, () => say("a checkpoint cannot be read"));
  return { ...note, origin, size: Number(size), root: hex(hash) };
}

async function signedBy(note, key) {
  let last = null;
  for (const each of note.signatures.filter(one => one.name === key.name && one.id === key.id)) {
    const stamp = key.kind === 4 ? 8 : 0;
    expect(each.data.length === stamp + 64, () => say("a signature of {name} is not good", key));
    const time = stamp ? new DataView(each.data.buffer, each.data.byteOffset).getBigUint64(0) : 0n;
    const message = stamp ? `cosignature/v1\ntime ${time}\n${note.text}` : note.text;
    const made = await crypto.subtle.importKey("raw", key.public, { name: "Ed25519" }, false, ["verify"]);
    expect(await crypto.subtle.verify({ name: "Ed25519" }, made, each.data.slice(stamp), utf8(message)),
      () => say("a signature of {name} is not good", key));
    expect(time <= 253402300799n, () => say("a signature of {name} is not good", key));
    last = { key, time: Number(time) };
  }
  return last;
}

async function opened(text, keys) {
  const note = checkpointOf(text), good = [];
  for (const key of keys) { const found = await signedBy(note, key); if (found) good.push(found); }
  const signer = good.filter(each => each.key.kind === 1 && each.key.name === note.origin).pop();
  expect(signer, () => say("the checkpoint of {size} acts is not signed with a key of its log", note));
  return { ...note, signer: signer.key, witnesses: good.filter(each => each.key.kind === 4) };
}

async function rootAbove(head, number, size, path) {
  expect(number >= 1 && number <= size, () => say("act {number} is not in a log of {size} acts", { number, size }));
  let at = await leaf(unhex(head)), index = number - 1, count = size;
  expect(isPath(path), () => say("a hash cannot be read"));
  const sisters = path.map(hashOf);
  while (count > 1) {
    const other = index % 2 ? index - 1 : index + 1;
    if (other < count) {
      const sister = sisters.shift();
      expect(sister, () => say("a path is too short"));
      at = index % 2 ? await node(sister, at) : await node(at, sister);
    }
    index = Math.floor(index / 2);
    count = Math.floor((count + 1) / 2);
  }
  expect(sisters.length === 0, () => say("a path is too long"));
  return hex(at);
}

async function grew(old, now, path) {
  if (!isPath(path) || old.origin !== now.origin) return false;
  if (old.size === 0) return path.length === 0;
  if (old.size === now.size) return old.root === now.root && path.length === 0;
  if (!(old.size > 0 && old.size < now.size) || path.length === 0) return false;
  const power = (BigInt(old.size) & (BigInt(old.size) - 1n)) === 0n;
  const steps = (power ? [old.root, ...path] : path).map(hashOf);
  const half = number => Math.floor(number / 2);
  let fn = old.size - 1, sn = now.size - 1;
  while (fn % 2) { fn = half(fn); sn = half(sn); }
  let first = steps[0], second = steps[0];
  for (const sister of steps.slice(1)) {
    if (sn === 0) return false;
    if (fn % 2 || fn === sn) {
      first = await node(sister, first);
      second = await node(sister, second);
      while (fn % 2 === 0 && fn !== 0) { fn = half(fn); sn = half(sn); }
    } else second = await node(second, sister);
    fn = half(fn);
    sn = half(sn);
  }
  return sn === 0 && hex(first) === old.root && hex(second) === now.root;
}

async function headOf(act) {
  const parts = FIELDS.map(name => {
    const value = act[name], kind = value === null ? "n" : typeof value === "number" ? "i" : "s";
    const data = utf8(value === null ? "" : String(value)), length = new Uint8Array(8);
    new DataView(length.buffer).setBigUint64(0, BigInt(data.length));
    return joined(utf8(kind), length, data);
  });
  return hex(await sha(joined(...parts)));
}

function seen(found) {
  const at = time => new Date(time * 1000).toISOString().slice(0, 16).replace("T", " ");
  const names = found.witnesses.map(each => say("{name} at {time} UTC", { name: each.key.name, time: at(each.time) })).join(", ");
  const count = found.witnesses.length;
  if (count === 0) return say("seen by no witness yet");
  return count === 1 ? say("seen by 1 witness: {names}", { names }) : say("seen by {count} witnesses: {names}", { count, names });
}

const kindOf = kind => kind === "announce" ? say("announce") : kind === "release" ? say("release") : kind;

// Which key follows which: five lines that the new key signs. Whom to believe about it only who knows a key can say.
async function expectSuccession(text) {
  const note = noteOf(text), lines = note.text.split("\n"), unread = () => say("a change of keys cannot be read");
  expect(lines.length === 5 && lines[0] === "optin: from here on another key signs" && /^\d{1,18}$/.test(lines[1]), unread);
  const [old, next] = [await keyOf(lines[2]), await keyOf(lines[3])];
  expect(old.name === next.name && old.text !== next.text && old.kind === 1 && next.kind === 1, unread);
  expect(await signedBy(note, next), unread);
  await signedBy(note, old);
}

async function expectSuccessions(texts) {
  expect(Array.isArray(texts), () => say("a change of keys cannot be read"));
  for (const text of texts) await expectSuccession(text);
}

const KINDS = ["announce", "release", "cancel"];
const optional = (found, is) => found === null || is(found);
const isAct = act => has(act, [...FIELDS, "path"]) && isPath(act.path) && KINDS.includes(act.kind)
  && ["at", "campaign", "fingerprint", "result", "body", "rows", "joined", "previous"].every(name => optional(act[name], isText))
  && ["version", "round", "offer", "people"].every(name => optional(act[name], isWhole)) && isWhole(act.number);

async function checkLog(log, acts) {
  expect(has(log, ["optin", "keys", "checkpoints", "paths", "successions"]) && Array.isArray(log.checkpoints) && Array.isArray(log.paths),
    () => say("the log cannot be read"));
  expect(acts === null || Array.isArray(acts) && acts.every(isAct), () => say("an act cannot be read"));
  await expectSuccessions(log.successions);
  const keys = await keysOf(log.keys), lines = [], notes = [];
  for (const text of log.checkpoints) notes.push(await opened(text, keys));
  expect(notes.length > 0 && log.paths.length === notes.length - 1, () => say("the log cannot be read"));
  for (let at = 1; at < notes.length; at++) {
    expect(await grew(notes[at - 1], notes[at], log.paths[at - 1]),
      () => say("the log of {size} acts does not begin with the one of {before} that was signed before", { size: notes[at].size, before: notes[at - 1].size }));
  }
  const newest = notes[notes.length - 1];
  lines.push(notes.length === 1 ? say("1 signed checkpoint")
    : say("{count} signed checkpoints, each beginning with the one before", { count: notes.length }));
  for (const act of acts || []) {
    expect(await rootAbove(await headOf(act), act.number, newest.size, act.path) === newest.root,
      () => say("act {number} is not in the log that was signed", act));
    lines.push(say("act {number} ({kind}) is in the log", { number: act.number, kind: kindOf(act.kind) }));
  }
  return [...lines, ...told(newest)];
}

const told = found => [
  say("the checkpoint of {size} acts is signed for {origin}", found),
  say("that key's words: {words}", { words: spoken(found.signer.fingerprint) }),
  seen(found),
];

// What a receipt holds: of several questions also what was split among them, of groups also whose the person is.
const HASHES = ["fingerprint", "ledger_head", "body", "rows", "joined", "previous"];
const COUNTS = ["version", "promised", "spent", "round", "ledger_number", "offer", "charged_people"];
function isReceipt(record) {
  const more = { 1: [], 2: ["capped", "answered"], 3: ["capped", "answered", "design"] }[record.version], charged = record.index !== null;
  return more !== undefined && has(record, ["optin", "log", "id", "campaign", "at", "remaining", "index", "salt", "path", ...HASHES, ...COUNTS, ...more])
    && HASHES.every(name => isHash(record[name])) && COUNTS.every(name => isWhole(record[name]))
    && ["id", "campaign", "at"].every(name => isText(record[name])) && ["remaining", "index"].every(name => optional(record[name], isWhole))
    && more.every(name => name === "answered" && !charged ? record[name] === null : isWhole(record[name]))
    && isPath(record.path) && (charged ? typeof record.salt === "string" && /^[0-9a-f]{32}$/.test(record.salt) : record.salt === null && !record.path.length);
}
const isProof = log => has({ successions: [], ...log }, ["checkpoint", "keys", "path", "earlier", "successions"])
  && Array.isArray(log.earlier) && log.earlier.every(each => has(each, ["checkpoint", "path"]));

async function checkReceipt(receipt) {
  expect(Object.hasOwn(receipt, "log"), () => say("this receipt has no proof of a log"));
  expect(isReceipt(receipt) && isProof(receipt.log), () => say("this receipt cannot be read"));
  await expectSuccessions("successions" in receipt.log ? receipt.log.successions : []);
  const keys = await keysOf(receipt.log.keys), found = await opened(receipt.log.checkpoint, keys);
  expect(await rootAbove(receipt.ledger_head, receipt.ledger_number, found.size, receipt.log.path) === found.root,
    () => say("act {number} is not in the log that was signed", { number: receipt.ledger_number }));
  for (const each of receipt.log.earlier) {
    const old = await opened(each.checkpoint, keys);
    expect(await grew(old, found, each.path), () => say("the log of {size} acts does not begin with the one of {before}", { size: found.size, before: old.size }));
  }
  return [say("act {number} is in the log", { number: receipt.ledger_number }), ...told(found),
    say("the receipt names an offer of these words: {words}; that the act is of it, optin check shows with release.json",
      { words: spoken(receipt.fingerprint) }),
    say("what the receipt says of its person, such as what was spent, was NOT checked here: optin check does")];
}

// What several people hold: two receipts that name different hashes for one act, or two logs of one size, are a fork.
function compared(held) {
  for (const [at, one] of held.entries()) for (const other of held.slice(0, at)) {
    const note = checkpointOf(one.record.log.checkpoint), before = checkpointOf(other.record.log.checkpoint);
    const names = { one: one.name, other: other.name, number: one.record.ledger_number, size: note.size };
    expect(note.origin === before.origin, () => say("{other} and {one} are of different logs", names));
    expect(one.record.ledger_number !== other.record.ledger_number || one.record.ledger_head === other.record.ledger_head,
      () => say("{other} and {one} name different hashes for act {number}: there are two ledgers", names));
    expect(note.size !== before.size || note.root === before.root,
      () => say("{other} and {one} contradict each other: two different logs of {size} acts were signed", names));
  }
  const sizes = new Set(held.map(each => checkpointOf(each.record.log.checkpoint).size));
  return sizes.size === 1 ? [say("{count} receipts compared: all of them show one ledger", { count: held.length })]
    : [say("no two of them contradict each other, but they are of different times: optin check compares them with a bundle")];
}

// JSON.parse keeps the last of two entries of a name, where other readers keep the first: such a file says two things. It reads
// 3.0 and 3e0 as 3, where other readers do not; no number here is written so.
function parsed(text) {
  const record = JSON.parse(text), open = [];
  let named = false;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],]|[-+.\dEe]*\d[-+.\dEe]*/gs)) {
    if (/\d/.test(token) && !token.startsWith('"')) { expect(/^(0|[1-9]\d{0,18})$/.test(token), () => say("a number cannot be read")); continue; }
    if (token === "{") { open.push(new Set()); named = true; }
    else if (token === "[") { open.push(null); named = false; }
    else if (token === "]" || token === "}") { open.pop(); named = false; }
    else if (token === ",") named = open.at(-1) !== null;
    else if (named) {
      const name = JSON.parse(token), names = open.at(-1);
      expect(!names.has(name), () => say("it has {name} twice", { name: `"${name}"` }));
      names.add(name);
      named = false;
    }
  }
  return record;
}

async function checkFile(text) {
  const record = parsed(text);
  if (record.optin === "receipt") return checkReceipt(record);
  if (record.optin === "log") return checkLog(record, null);
  throw new Broken(say("this is neither a receipt nor a log"));
}

async function report(where, work) {
  const list = document.createElement("ul");
  let title = say("Checked: everything fits together"), kind = "good";
  let lines;
  try { lines = await work(); } catch (error) {
    title = error instanceof Broken ? say("It does not fit together") : say("It could not be checked");
    kind = "bad";
    lines = [error instanceof Broken ? error.message : say("the file cannot be read, or this browser does not know Ed25519")];
  }
  for (const line of lines) list.append(Object.assign(document.createElement("li"), { textContent: line }));
  where.replaceChildren(Object.assign(document.createElement("h3"), { textContent: title }), list);
  where.dataset.outcome = kind;
}

document.addEventListener("DOMContentLoaded", () => {
  const button = document.getElementById("check-log"), chosen = document.getElementById("check-file");
  if (button) button.addEventListener("click", () => report(document.getElementById("log-outcome"), async () => {
    const { log, acts } = parsed(await (await fetch(button.dataset.proofs)).text());
    return checkLog(log, acts ?? {});
  }));
  if (chosen) chosen.addEventListener("change", async () => {
    const outcome = document.getElementById("file-outcome");
    const held = [], files = Array.from(chosen.files);
    outcome.replaceChildren();
    for (const file of files) {
      const part = outcome.appendChild(document.createElement("div")), text = await file.text();
      await report(part, async () => {
        const lines = await checkFile(text), record = parsed(text);
        if (record.optin === "receipt") held.push({ name: file.name, record });
        return lines;
      });
      part.prepend(Object.assign(document.createElement("p"), { textContent: file.name }));
    }
    if (held.length > 1) await report(outcome.appendChild(document.createElement("div")), async () => compared(held));
  });
});
