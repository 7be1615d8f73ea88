// The script of the local page: pairs the browser, signs answers, and shows again what changed.

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

async function addPasskey() {
  const { person } = $("#passkey").dataset;
  const expires = soon();
  const known = passkeys();
  const passkey = await makePasskey(statement("passkey", { expires, person }), person, known);
  const { credential } = passkey;
  const text = statement("register", { credential, expires, person, public: passkey.public });
  const { passkey: by, signature } = await (known.length ? gesture : sign)(text);
  await post("/api/passkey", { passkey, expires, signature, by });
  location.reload();
}

// On a narrow screen the text comes before the answers; on a wide one it has a place of its own beside them.
const narrow = matchMedia("(max-width: 800px)");
const mustRead = () => narrow.matches;

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
  if (strong && !passkeys().length) throw new Error("this needs a passkey: register one first (above)");
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

// A job that runs is followed, unless somebody has marked some of it.
setInterval(() => {
  if (!$("#job[data-runs]") || document.hidden || busy || !getSelection().isCollapsed) return;
  go(here(), { keep: true, news: true }).catch(() => {});
}, 2000);

if ($("#pair")) pair();
else {
  begin();
  setInterval(count, 1000);
  listen();
  if ($("#key")) ownKey().then((key) => { $("#key").hidden = !key; }).catch(() => {});
}
