// What the scripts of all our pages share: keys and passkeys, what they sign, moving about by keys, and fetching again what changed.
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
async function gesture(text, allowCredentials = passkeys()) {
  const publicKey = { challenge: await digest(text), rpId: location.hostname, userVerification: "required", allowCredentials };
  const { rawId, response } = await navigator.credentials.get({ publicKey });
  const signature = JSON.stringify({
    authenticator_data: base64(response.authenticatorData), client_data: base64(response.clientDataJSON), signature: base64(response.signature),
  });
  return { passkey: url64(rawId), signature };
}

// A new passkey, made over the digest of a text.
async function makePasskey(text, person, excludeCredentials = []) {
  const { rawId, response } = await navigator.credentials.create({ publicKey: {
    challenge: await digest(text),
    rp: { id: location.hostname, name: "Eclusa" },
    user: { id: await digest(person), name: person, displayName: person },
    pubKeyCredParams: [{ type: "public-key", alg: -7 }], excludeCredentials,
    authenticatorSelection: { userVerification: "required", residentKey: "preferred" }, attestation: "none",
  } });
  return {
    credential: url64(rawId),
    // The last 65 bytes of the key, as it comes, are its two numbers.
    public: base64(response.getPublicKey().slice(-65)),
    authenticator_data: base64(response.getAuthenticatorData()), client_data: base64(response.clientDataJSON),
  };
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
  const now = question ? `${question.dataset.workspace ?? question.dataset.number} ${question.dataset.id} ${$(".lines").textContent}` : "";
  if (now !== shown) { shown = now; read = false; rest(); }
  look();
  count();
}
const resting = () => document.body.matches(".resting");
// Nobody says yes before the end of the text was on the screen, above the answers.
let read = false;
function look() {
  const [lines, answers] = [$(".lines"), $(".answers")];
  // On a narrow screen the list stands alone, and what is open beside it is on no screen.
  if (!lines?.getClientRects().length || !answers) return;
  const ends = answers.getBoundingClientRect().top;
  const scrolled = lines.scrollTop + lines.clientHeight >= lines.scrollHeight - 2;
  read ||= scrolled && ends < innerHeight && lines.getBoundingClientRect().bottom <= ends + 1;
}
function unread(button) {
  if (!mustRead() || !$(".lines") || !$(".answers") || button.matches(".no, [data-abort], [data-open=no]")) return false;
  look();
  return !read;
}
for (const event of ["scroll", "resize"]) addEventListener(event, look, { capture: true, passive: true });
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

addEventListener("popstate", () => go(here(), { keep: true }));
