// The one script: pairs the browser, signs answers, moves by keys, and fetches again what changed.
"use strict";

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const base64 = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)));
const encode = (text) => new TextEncoder().encode(text);
const digest = (text) => crypto.subtle.digest("SHA-256", encode(text));
const here = () => location.pathname + location.search;
const soon = () => Date.now() + 4 * 60 * 1000;
const trusted = window.trustedTypes?.createPolicy("eclusa", { createHTML: (html) => html });

// The key never leaves the browser: it is made here, cannot be exported, and lies in its database.
const result = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});
async function keys(mode) {
  const opening = indexedDB.open("eclusa-approvals", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore("keys");
  return (await result(opening)).transaction("keys", mode).objectStore("keys");
}
const ownKey = async () => result((await keys("readonly")).get("answer"));

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
  try {
    if (!code) throw new Error("This link has no code. Open the whole link that the terminal printed.");
    // A browser that was paired before keeps its key, unless somebody removed that key meanwhile.
    const known = await ownKey();
    const key = (known && await register(code, known)) || await register(code, await newKey());
    if (!key) throw new Error("this key cannot be registered");
    await result((await keys("readwrite")).put(key, "answer"));
    status.textContent = "Paired.";
    location.replace("/inbox");
  } catch (err) { status.textContent = err.message; }
}

// RFC 8785: keys in order, numbers as JavaScript writes them.
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}
const statement = (what, body) => `eclusa ${what} v1\n${canonical(body)}`;
async function sha256(text) {
  return [...new Uint8Array(await digest(text))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function sign(text) {
  const key = await ownKey();
  if (!key) throw new Error("this browser has no key: open a new link");
  const signature = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, key.privateKey, encode(text));
  return { signature: base64(signature) };
}

// A passkey signs the digest of the statement, after it has verified its person.
const url64 = (buffer) => base64(buffer).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (it) => it.charCodeAt(0));
const passkeys = () => $("#passkey").dataset.passkeys.split(",").filter(Boolean)
  .map((id) => ({ type: "public-key", id: bytes(id) }));
async function gesture(text) {
  const allowCredentials = passkeys();
  if (!allowCredentials.length) throw new Error("this needs a passkey: register one first (above)");
  const publicKey = { challenge: await digest(text), rpId: location.hostname, userVerification: "required", allowCredentials };
  const { rawId, response } = await navigator.credentials.get({ publicKey });
  const signature = JSON.stringify({
    authenticator_data: base64(response.authenticatorData), client_data: base64(response.clientDataJSON), signature: base64(response.signature),
  });
  return { passkey: url64(rawId), signature };
}

async function addPasskey() {
  const { person } = $("#passkey").dataset;
  const expires = soon();
  const known = passkeys();
  const { rawId, response } = await navigator.credentials.create({ publicKey: {
    challenge: await digest(statement("passkey", { expires, person })),
    rp: { id: location.hostname, name: "Eclusa" },
    user: { id: await digest(person), name: person, displayName: person },
    pubKeyCredParams: [{ type: "public-key", alg: -7 }],
    excludeCredentials: known,
    authenticatorSelection: { userVerification: "required", residentKey: "preferred" }, attestation: "none",
  } });
  const credential = url64(rawId);
  // The last 65 bytes of the key, as it comes, are its two numbers.
  const publicKey = base64(response.getPublicKey().slice(-65));
  const text = statement("register", { credential, expires, person, public: publicKey });
  const { passkey: by, signature } = await (known.length ? gesture : sign)(text);
  await post("/api/passkey", {
    passkey: { credential, public: publicKey, authenticator_data: base64(response.getAuthenticatorData()), client_data: base64(response.clientDataJSON) },
    expires, signature, by,
  });
  location.reload();
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

// The identical questions that are answered together: all, unless somebody has unmarked some.
const marked = () => $$("[name=marked]:checked").map((it) => Number(it.value));

const answer = (word, { reason, edit, only, all } = {}) => busily(async () => {
  const { workspace, queue, person, id, binding, proof } = $("#question").dataset;
  const questions = all ? marked() : [Number(id)];
  if (!questions.length) throw new Error("none is marked");
  const expires = soon();
  const instead = edit ?? only;
  const text = statement("answer", {
    answer: word, binding, edit_sha256: instead === undefined ? null : await sha256(canonical(instead)), expires,
    person, questions, queue, reason_sha256: reason === undefined ? null : await sha256(reason),
  });
  const strong = proof === "passkey" && word !== "no" && word !== "instead" && word !== "abort";
  const signed = await (strong ? gesture : sign)(text);
  const { waits, applied, not_applied } = await post("/api/answer", { workspace, questions, binding, answer: word, expires, reason, edit, only, ...signed });
  if (waits) say(`${id}: approved; one more approver is needed`);
  else if (not_applied) say(`not applied: ${not_applied}`);
  else if (applied) say(`${id}: ${applied}`);
  else say(all ? `${questions.length} answered` : `${id}: ${word === "once" ? "yes" : word}`);
  const rows = $$("a.row");
  const at = rows.findIndex((row) => row.matches("[aria-current]"));
  await go((rows[at + 1] ?? rows[at - 1])?.href ?? "/inbox");
});

// Takes a yes back, undoes a call, ends a session: signed like an answer.
const act = (what, subject, { workspace, queue, person }) => busily(async () => {
  const expires = soon();
  const signed = await sign(statement(what, { ...subject, expires, person, queue }));
  const { undone, ended } = await post(`/api/${what}`, { ...subject, workspace, expires, ...signed });
  say(undone ?? (ended === undefined ? "taken back" : `${ended} refused or taken back`));
  await go(here(), { keep: true });
});

function move(step) {
  const rows = $$("a.row");
  const at = rows.findIndex((row) => row.matches("[aria-current], :focus"));
  const to = rows[Math.min(rows.length - 1, Math.max(0, at + step))];
  if (document.body.matches(".inbox")) to && go(to.href);
  else to?.focus();
}

const writing = () => !!$(".panel:not([hidden]), [name=marked]:not(:checked)") || $("#search") === document.activeElement;

// Fetches a page and shows its content in place of this one's. What was wanted last is shown, and
// news never take away what somebody is writing.
let wanted = 0;
async function go(to, { keep = false, news = false } = {}) {
  const turn = ++wanted;
  const answered = await fetch(to, { headers: { accept: "text/html" } });
  if (answered.status === 401) { location.reload(); return; }
  const text = await answered.text();
  if (turn !== wanted || (news && writing())) return;
  const page = new DOMParser().parseFromString(trusted?.createHTML(text) ?? text, "text/html");
  if (!$("nav", page)) return;
  const scroll = $(".list")?.scrollTop;
  if (!keep) history.pushState(null, "", to);
  document.title = page.title;
  for (const part of ["main", "nav"]) $(part).replaceWith(document.importNode($(part, page), true));
  const rests = resting();
  document.body.className = page.body.className;
  document.body.classList.toggle("resting", rests);
  if (scroll && $(".list")) $(".list").scrollTop = scroll;
  begin();
}

// Keys and buttons rest after the shown text changed, so that nobody answers what they have not read.
let shown = "";
function begin() {
  const question = $("#question");
  const now = question ? `${question.dataset.workspace} ${question.dataset.id} ${$(".lines").textContent}` : "";
  if (now !== shown) { shown = now; rest(); }
  count();
}
const resting = () => document.body.matches(".resting");
// On a narrow screen nobody says yes before the end of the text was on it.
const narrow = matchMedia("(max-width: 800px)");
const unread = (button) => narrow.matches && !button.matches(".no, [data-abort], [data-open=no]")
  && ($(".answers")?.getBoundingClientRect().top ?? 0) > innerHeight;
function rest() {
  document.body.classList.add("resting");
  clearTimeout(rest.timer);
  rest.timer = setTimeout(() => document.body.classList.remove("resting"), 600);
}

function count() {
  for (const time of $$("time[data-expires]")) {
    const left = Math.max(0, Math.floor((Number(time.dataset.expires) - Date.now()) / 1000));
    time.textContent = left >= 60 ? `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")} left` : `${left} s left`;
    time.classList.toggle("soon", left < 60);
  }
}

function open(name) {
  for (const panel of $$(".panel")) panel.hidden = panel.dataset.panel !== name;
  $(".panel:not([hidden]) :is(input, textarea, button)")?.focus();
}

let aborting = 0;
function abort() {
  if (performance.now() < aborting) { answer("abort"); return; }
  aborting = performance.now() + 3000;
  say("q again: no, and end the agent’s turn");
}

document.addEventListener("click", (event) => {
  const row = event.target.closest(".inbox a.row");
  if (row && !event.ctrlKey && !event.metaKey && !event.shiftKey) { event.preventDefault(); go(row.href); }
  const button = event.target.closest("button");
  if (!button || button.closest("form")) return;
  const is = button.dataset;
  if (button.id === "help-button") $("#help").showModal();
  else if (button.id === "passkey") busily(addPasskey);
  else if (resting()) return;
  else if (unread(button)) say("read it to its end first", true);
  else if (is.answer) answer(is.answer);
  else if (is.open) open(is.open);
  else if ("all" in is) answer("once", { all: true });
  else if ("abort" in is) abort();
  else if ("revoke" in is) act("revoke", { question: Number($("#question").dataset.id) }, $("#question").dataset);
  else if ("endJob" in is) act("end-job", { job: Number($("#job").dataset.number) }, $("#job").dataset);
  else if ("undo" in is) act("undo", { call: Number($("#call").dataset.number) }, $("#call").dataset);
  else if (is.end) act("end", { conversation: is.end }, is);
});

document.addEventListener("change", () => {
  if ($("#marked")) $("#marked").textContent = marked().length;
});

document.addEventListener("submit", (event) => {
  const panel = event.target.closest(".panel");
  if (!panel) return;
  event.preventDefault();
  const word = panel.dataset.panel;
  if (word === "no") answer(word, { reason: $("#reason").value, all: $("#no-all")?.checked });
  else if (word === "instead") {
    const reason = $("#instead").value;
    if (reason.trim()) answer(word, { reason }); else say("write what the agent gets, or say no", true);
  }
  else if (word === "always") answer(word);
  else if (word === "identical") answer("once", { all: true });
  else if (word === "only") {
    const only = $$("input:checked", panel).map((it) => it.value);
    if (only.length) answer(word, { only }); else say("choose a file, or say no", true);
  } else {
    let edit;
    try { edit = JSON.parse($("#edit").value); } catch (err) { say(`this is not JSON: ${err.message}`, true); return; }
    answer(word, { edit });
  }
});

// What a key presses, and where it goes after g.
const BUTTONS = {
  y: '[data-answer="once"]', s: '[data-answer="session"]', A: '[data-answer="edits"]', r: '[data-answer="review"]', a: '[data-open="always"]', e: '[data-open="edit"]', f: '[data-open="only"]', i: '[data-open="instead"]',
  n: '[data-open="no"]', q: "[data-abort]", x: '[data-open="identical"]', Y: "[data-all]", u: "[data-undo]",
};
const PLACES = { i: "/inbox", l: "/log", s: "/sessions", b: "/jobs", m: "/metrics" };
let going = 0;
const MOVES = {
  j: () => move(1), k: () => move(-1), "/": () => $("#search")?.focus(), "?": () => $("#help").showModal(),
  g: () => { going = performance.now() + 1500; }, o: () => $("a.row:focus")?.click(),
};
document.addEventListener("keydown", (event) => {
  const { key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || $("dialog[open]")) return;
  if (key === "Escape") { open(""); event.target.blur?.(); return; }
  if (event.target.matches?.("input:not([name=marked]), textarea, select")) return;
  const place = performance.now() < going && PLACES[key];
  const button = !event.repeat && BUTTONS[key] && $(`main ${BUTTONS[key]}`);
  if (!place && !MOVES[key] && !button) return;
  event.preventDefault();
  if (place) location.assign(place);
  else if (MOVES[key]) MOVES[key]();
  else button.click();
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
    go(here(), { keep: true, news: true }).catch(() => {});
  };
  events.onopen = () => { live.textContent = "live"; live.classList.add("on"); };
  events.onerror = () => { live.textContent = "offline"; live.classList.remove("on"); };
  events.addEventListener("changed", () => {
    if (document.body.matches(".inbox") && !waiting) waiting = setTimeout(refresh, 150);
  });
}

// A job that runs is followed, unless somebody has marked some of it.
setInterval(() => {
  if (!$("#job[data-runs]") || document.hidden || busy || !getSelection().isCollapsed) return;
  go(here(), { keep: true, news: true }).catch(() => {});
}, 2000);

addEventListener("popstate", () => go(here(), { keep: true }));
if ($("#pair")) pair();
else {
  begin();
  setInterval(count, 1000);
  listen();
  if ($("#key")) ownKey().then((key) => { $("#key").hidden = !key; }).catch(() => {});
}
