// The one script: pairs the browser, signs answers, moves by keys, and fetches again what changed.
"use strict";

const $ = (selector, root = document) => root.querySelector(selector);
const encoder = new TextEncoder();
const base64 = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)));
const policy = window.trustedTypes
  ? trustedTypes.createPolicy("eclusa", { createHTML: (html) => html })
  : { createHTML: (html) => html };

// Keys rest after the shown text changed, so that nobody answers what they have not read.
const REST = 600;
let changedAt = performance.now();
let shown = "";

// The key never leaves the browser: it is made here, cannot be exported, and lies in its database.
function database() {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open("eclusa-approvals", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("keys");
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
}
async function stored(mode, act) {
  const open = await database();
  return new Promise((resolve, reject) => {
    const request = act(open.transaction("keys", mode).objectStore("keys"));
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function post(path, body) {
  const answer = await fetch(path, {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text.trim() || answer.statusText);
  return JSON.parse(text);
}

const newKey = () => crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign", "verify"]);
async function register(code, key) {
  const raw = await crypto.subtle.exportKey("raw", key.publicKey);
  const { paired } = await post("/api/pair", { code, public: base64(raw), label: navigator.userAgent });
  return paired && key;
}

async function pair() {
  const status = $("#pair-status");
  const code = location.hash.slice(1);
  history.replaceState(null, "", "/pair");
  if (!code) { status.textContent = "This link has no code. Open the whole link that the terminal printed."; return; }
  try {
    // A browser that was paired before keeps its key, unless somebody removed that key meanwhile.
    const known = await stored("readonly", (keys) => keys.get("answer"));
    const key = (known && await register(code, known)) || await register(code, await newKey());
    if (!key) throw new Error("this key cannot be registered");
    await stored("readwrite", (keys) => keys.put(key, "answer"));
    status.textContent = "Paired.";
    location.replace("/inbox");
  } catch (err) { status.textContent = err.message; }
}

async function sign(text) {
  const key = await stored("readonly", (keys) => keys.get("answer"));
  if (!key) throw new Error("this browser has no key: open a new link");
  return base64(await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, key.privateKey, encoder.encode(text)));
}

const digest = (text) => crypto.subtle.digest("SHA-256", encoder.encode(text));
async function sha256(text) {
  return [...new Uint8Array(await digest(text))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// RFC 8785: keys in order, numbers as JavaScript writes them.
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}

// A passkey signs the digest of the statement, after it has verified its person.
const url64 = (text) => text.replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (it) => it.charCodeAt(0));
const passkeys = () => ($("#passkey")?.dataset.passkeys ?? "").split(",").filter(Boolean);
async function gesture(text) {
  const allowCredentials = passkeys().map((id) => ({ type: "public-key", id: bytes(id) }));
  if (!allowCredentials.length) throw new Error("this needs a passkey: register one first (above)");
  const publicKey = { challenge: await digest(text), rpId: location.hostname, userVerification: "required", allowCredentials };
  const { rawId, response } = await navigator.credentials.get({ publicKey });
  const signature = JSON.stringify({
    authenticator_data: base64(response.authenticatorData), client_data: base64(response.clientDataJSON), signature: base64(response.signature),
  });
  return { passkey: url64(base64(rawId)), signature };
}

function addPasskey() {
  return busily(async () => {
    const { person } = $("#passkey").dataset;
    const expires = soon();
    const known = passkeys();
    const made = await navigator.credentials.create({ publicKey: {
      challenge: await digest(`eclusa passkey v1\n${canonical({ expires, person })}`),
      rp: { id: location.hostname, name: "Eclusa" },
      user: { id: await digest(person), name: person, displayName: person },
      pubKeyCredParams: [{ type: "public-key", alg: -7 }],
      excludeCredentials: known.map((id) => ({ type: "public-key", id: bytes(id) })),
      authenticatorSelection: { userVerification: "required", residentKey: "preferred" }, attestation: "none",
    } });
    const { response } = made;
    // The last 65 bytes of the key, as it comes, are its two numbers.
    const publicKey = base64(response.getPublicKey().slice(-65));
    const credential = url64(base64(made.rawId));
    const statement = `eclusa register v1\n${canonical({ credential, expires, person, public: publicKey })}`;
    const vouched = known.length ? await gesture(statement) : { signature: await sign(statement) };
    await post("/api/passkey", {
      passkey: { credential, public: publicKey, authenticator_data: base64(response.getAuthenticatorData()), client_data: base64(response.clientDataJSON) },
      expires, signature: vouched.signature, ...(vouched.passkey && { by: vouched.passkey }),
    });
    location.reload();
  });
}

function say(text, bad = false) {
  const message = $("#message");
  message.textContent = text;
  message.className = bad ? "shown bad" : "shown";
  clearTimeout(say.timer);
  say.timer = setTimeout(() => { message.className = ""; }, bad ? 6000 : 2500);
}

let busy = false;
async function busily(act) {
  if (busy) return;
  busy = true;
  try { await act(); } catch (err) { say(err.message, true); } finally { busy = false; }
}

const soon = () => Date.now() + 4 * 60 * 1000;

function answer(word, { reason = "", edit = null, only = null, all = false } = {}) {
  const question = $("#question");
  if (!question || !("pending" in question.dataset)) return;
  const { workspace, queue, person, id, binding, identical, proof } = question.dataset;
  const questions = all ? identical.split(",").map(Number) : [Number(id)];
  return busily(async () => {
    const expires = soon();
    const instead = edit ?? only;
    const body = {
      answer: word, binding, edit_sha256: instead === null ? null : await sha256(canonical(instead)), expires,
      person, questions, queue, reason_sha256: word === "no" ? await sha256(reason) : null,
    };
    const statement = `eclusa answer v1\n${canonical(body)}`;
    const strong = proof === "passkey" && word !== "no" && word !== "abort";
    const signed = strong ? await gesture(statement) : { signature: await sign(statement) };
    const given = { workspace, questions, binding, answer: word, expires, ...signed };
    if (word === "no") given.reason = reason;
    if (only !== null) given.only = only;
    if (edit !== null) given.edit = edit;
    const { waits } = await post("/api/answer", given);
    if (waits) say(`${id}: your yes counts; somebody else must say yes too`);
    else say(all ? `${questions.length} answered` : `${id}: ${word === "once" ? "yes" : word}`);
    await go(next(1, true) ?? "/inbox");
  });
}

function take(what, number, workspace, queue, person) {
  return busily(async () => {
    const expires = soon();
    const body = what === "undo" ? { call: number, expires, person, queue } : { expires, person, question: number, queue };
    const signature = await sign(`eclusa ${what} v1\n${canonical(body)}`);
    const done = await post(`/api/${what}`, { workspace, number, expires, signature });
    say(done.undone ?? "taken back");
    await go(location.pathname + location.search);
  });
}

function end(button) {
  return busily(async () => {
    const { end: conversation, workspace, queue, person } = button.dataset;
    const expires = soon();
    const signature = await sign(`eclusa end v1\n${canonical({ conversation, expires, person, queue })}`);
    const { ended } = await post("/api/end", { workspace, conversation, expires, signature });
    say(`${ended} refused or taken back`);
    await go(location.pathname + location.search, { keep: true });
  });
}

const rows = () => [...document.querySelectorAll("a.row")];
function next(step, leaving = false) {
  const all = rows();
  const at = all.findIndex((row) => row.hasAttribute("aria-current") || row.closest("tr.here"));
  if (leaving && all.length < 2) return undefined;
  const to = leaving && at + step >= all.length ? at - 1 : at + step;
  return all[Math.max(0, to)]?.getAttribute("href");
}
function move(step) {
  if (document.body.classList.contains("inbox")) { const to = next(step); if (to) go(to); return; }
  const all = rows();
  const at = all.findIndex((row) => row.closest("tr.here"));
  all[at]?.closest("tr").classList.remove("here");
  const to = all[Math.min(all.length - 1, Math.max(0, at + step))];
  to?.closest("tr").classList.add("here");
  to?.focus();
}

const writing = () => !!$(".panel:not([hidden])") || $("#search") === document.activeElement;

// Fetches a page and shows its content in place of this one's. What was wanted last is shown, and
// news never take away what somebody is writing.
let wanted = 0;
async function go(to, { keep = false, news = false } = {}) {
  const turn = ++wanted;
  const answered = await fetch(to, { headers: { accept: "text/html" } });
  if (answered.status === 401) { location.reload(); return; }
  const text = await answered.text();
  if (turn !== wanted || (news && writing())) return;
  const page = new DOMParser().parseFromString(policy.createHTML(text), "text/html");
  const main = $("main", page);
  if (!main) return;
  const scroll = $(".list")?.scrollTop;
  if (!keep) history.pushState(null, "", to);
  document.title = page.title;
  $("main").replaceWith(document.importNode(main, true));
  for (const name of ["nav"]) $(name)?.replaceWith(document.importNode($(name, page), true));
  document.body.className = page.body.className;
  document.body.classList.toggle("resting", resting());
  if ($(".list") && scroll) $(".list").scrollTop = scroll;
  begin();
}

// Notices whether another text is shown than before.
function begin() {
  const question = $("#question");
  const now = question ? `${question.dataset.workspace} ${question.dataset.id} ${$(".lines")?.textContent}` : "";
  if (now !== shown) { shown = now; rest(); }
  count();
}
function rest() {
  changedAt = performance.now();
  document.body.classList.add("resting");
  clearTimeout(rest.timer);
  rest.timer = setTimeout(() => document.body.classList.remove("resting"), REST);
}
const resting = () => performance.now() - changedAt < REST;

function count() {
  for (const time of document.querySelectorAll("time[data-expires]")) {
    const left = Math.max(0, Math.floor((Number(time.dataset.expires) - Date.now()) / 1000));
    time.textContent = left >= 60 ? `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")} left` : `${left} s left`;
    time.classList.toggle("soon", left < 60);
  }
}

function open(name) {
  for (const panel of document.querySelectorAll(".panel")) panel.hidden = panel.dataset.panel !== name;
  const panel = $(`.panel[data-panel="${name}"]`);
  $("input, textarea, button", panel)?.focus();
}

let aborting = 0;
function abort() {
  if (performance.now() - aborting < 3000) { aborting = 0; answer("abort"); return; }
  aborting = performance.now();
  say("q again: no, and end the agent’s turn");
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) {
    const row = event.target.closest(".inbox a.row");
    if (row && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0) { event.preventDefault(); go(row.getAttribute("href")); }
    return;
  }
  if (button.id === "help-button") { $("#help").showModal(); return; }
  if (button.id === "passkey") { addPasskey(); return; }
  if (button.closest("form")) return;
  if (resting()) return;
  const { answer: word, open: name } = button.dataset;
  if (word) answer(word);
  else if (name) open(name);
  else if ("all" in button.dataset) answer("once", { all: true });
  else if ("abort" in button.dataset) abort();
  else if ("revoke" in button.dataset) { const it = $("#question").dataset; take("revoke", Number(it.id), it.workspace, it.queue, it.person); }
  else if ("undo" in button.dataset) undo();
  else if ("end" in button.dataset) end(button);
});

function undo() {
  const call = $("#call");
  if (!call || !$("[data-undo]")) return;
  take("undo", Number(call.dataset.number), call.dataset.workspace, call.dataset.queue, call.dataset.person);
}

document.addEventListener("submit", (event) => {
  const panel = event.target.closest(".panel");
  if (!panel) return;
  event.preventDefault();
  if (panel.dataset.panel === "no") answer("no", { reason: $("#reason").value, all: $("#no-all")?.checked ?? false });
  else if (panel.dataset.panel === "always") answer("always");
  else if (panel.dataset.panel === "only") {
    const only = [...panel.querySelectorAll("input:checked")].map((it) => it.value);
    if (only.length) answer("only", { only }); else say("choose a file, or say no", true);
  }
  else {
    let edit;
    try { edit = JSON.parse($("#edit").value); } catch (err) { say(`this is not JSON: ${err.message}`, true); return; }
    answer("edit", { edit });
  }
});

let going = 0;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("dialog[open]")) return;
  if (event.key === "Escape") { open(""); event.target.blur?.(); return; }
  if (event.target.matches?.("input, textarea, select")) return;
  const place = { i: "/inbox", l: "/log", s: "/sessions", m: "/metrics" }[event.key];
  if (performance.now() - going < 1500 && place) { going = 0; event.preventDefault(); location.assign(place); return; }
  const always = { j: () => move(1), k: () => move(-1), "/": () => $("#search")?.focus(), "?": () => $("#help").showModal(),
    g: () => { going = performance.now(); }, o: () => document.activeElement.matches("a.row") && document.activeElement.click() };
  if (always[event.key]) { event.preventDefault(); always[event.key](); return; }
  if (resting() || event.repeat) return;
  const offered = (selector) => $(`#question ${selector}`);
  const answers = {
    y: () => offered('[data-answer="once"]') && answer("once"),
    Y: () => offered("[data-all]") && answer("once", { all: true }),
    s: () => offered('[data-answer="session"]') && answer("session"),
    a: () => offered('[data-open="always"]') && open("always"),
    e: () => offered('[data-open="edit"]') && open("edit"),
    f: () => offered('[data-open="only"]') && open("only"),
    n: () => offered('[data-open="no"]') && open("no"),
    q: () => offered("[data-abort]") && abort(),
    u: undo,
  };
  if (answers[event.key]) { event.preventDefault(); answers[event.key](); }
});

function listen() {
  const live = $("#live");
  if (!live) return;
  const events = new EventSource("/events");
  let waiting = 0;
  const refresh = () => {
    // What cannot be shown now is shown later.
    if (busy || writing()) { waiting = setTimeout(refresh, 500); return; }
    waiting = 0;
    go(location.pathname + location.search, { keep: true, news: true }).catch(() => {});
  };
  events.onopen = () => { live.textContent = "live"; live.classList.add("on"); };
  events.onerror = () => { live.textContent = "offline"; live.classList.remove("on"); };
  events.addEventListener("changed", () => {
    if (!document.body.classList.contains("inbox") || waiting) return;
    waiting = setTimeout(refresh, 150);
  });
}

addEventListener("popstate", () => go(location.pathname + location.search, { keep: true }));
if ($("#pair")) pair();
else {
  begin();
  setInterval(count, 1000);
  listen();
  if ($("#key")) stored("readonly", (keys) => keys.get("answer")).then((key) => { $("#key").hidden = !key; }).catch(() => {});
}
