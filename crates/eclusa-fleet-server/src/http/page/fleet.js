// The script of the fleet's page: makes keys, signs in, and signs answers, which the machine that asked checks.

const mustRead = () => true;
const HOUR = 60 * 60 * 1000;
const publicOf = async (key) => base64(await crypto.subtle.exportKey("raw", key.publicKey));
const idOf = async (key) => (await sha256(await publicOf(key))).slice(0, 16);
const signWithKey = async (text) => ({ key: await idOf(await ownKey()), ...await sign(text) });

// With the key of this browser where that counts and is enough, otherwise with a passkey.
async function signed(text, proof) {
  const own = await ownKey().catch(() => null);
  const counts = own && proof !== "passkey" && $("#passkey").dataset.keys.split(",").includes(await idOf(own));
  if (counts) return signWithKey(text);
  if (!passkeys().length) throw new Error(proof === "passkey" ? "this needs a passkey; ask for an invite to make one" : "this browser has no key of yours");
  return gesture(text);
}

async function signIn(withPasskey) {
  const body = {
    expires: soon(), fleet: $("#fleet").textContent, nonce: base64(crypto.getRandomValues(new Uint8Array(18))), origin: location.origin,
  };
  const text = statement("sign-in", body);
  await post("/page/sign-in", { ...body, ...await (withPasskey ? gesture(text, []) : signWithKey(text)) });
  location.reload();
}

async function join(withPasskey) {
  const wrong = new Error("This link has no whole code. Open all of it.");
  const code = location.hash.slice(1);
  if (!code.startsWith("eclusa-fleet-1.")) throw wrong;
  const { fleet, invite, secret } = JSON.parse(new TextDecoder().decode(bytes(code.slice("eclusa-fleet-1.".length))));
  const person = /^label person=(.*)$/m.exec(invite.payload)?.[1];
  const id = /^id (.*)$/m.exec(invite.payload)?.[1];
  if (!person || !id) throw wrong;
  const expires = soon();
  const text = statement("join", { expires, fleet, invite: id, person });
  const made = {};
  if (withPasskey) made.passkey = await makePasskey(text, person);
  else {
    const key = await ownKey() ?? await newKey();
    await result((await keys("readwrite")).put(key, "answer"));
    made.public = await publicOf(key);
    made.signature = (await sign(text)).signature;
  }
  await post("/page/join", { invite, secret, expires, ...made });
  history.replaceState(null, "", "/join");
  // Of the key as it was made here, whatever the server says of it.
  const digits = (await sha256(made.passkey?.public ?? made.public)).slice(0, 32).match(/.{4}/g).join(" ");
  for (const button of $$("#join button")) button.remove();
  $("#join-status").replaceChildren(`The key of ${person} waits to be signed into the people document. Tell these digits to whoever signs it: `, Object.assign(document.createElement("code"), { id: "digits", textContent: digits }));
}

// What is answered: one question, or those of the identical ones that are marked.
const chosen = (all) => all
  ? $$("[name=marked]:checked").map(({ value, dataset }) => ({ number: Number(value), store: dataset.store, id: Number(dataset.id), until: Number(dataset.expires) }))
  : [$("#question").dataset].map((it) => ({ number: Number(it.number), store: it.store, id: Number(it.id), until: Number(it.expires) }));

const answer = (word, { reason, all } = {}) => busily(async () => {
  const { person, binding, proof } = $("#question").dataset;
  const questions = chosen(all);
  const [first] = questions;
  if (!first) throw new Error("none is marked");
  const expires = Math.min(Date.now() + HOUR, Math.max(...questions.map((it) => it.until)));
  const said = { answer: word, binding, edit_sha256: null, expires, person, reason_sha256: word === "no" ? await sha256(reason) : null };
  const text = questions.length === 1
    ? statement("answer", { ...said, queue: first.store, questions: [first.id] })
    : `eclusa answer v2\n${canonical({ ...said, questions: questions.map((it) => [it.store, it.id]) })}`;
  await send("vote", questions, { answer: word, reason, expires, statement: text, ...await signed(text, word === "no" ? "key" : proof) });
});

const revoke = () => busily(async () => {
  const { person, store, id, number } = $("#question").dataset;
  const expires = Date.now() + HOUR;
  const text = statement("revoke", { expires, person, question: Number(id), queue: store });
  await send("revoke", [{ number: Number(number) }], { expires, statement: text, ...await signed(text) });
});

async function send(kind, questions, body) {
  const { questions: answered } = await post("/page/answers", { kind, numbers: questions.map((it) => it.number), ...body });
  const refused = answered.filter((it) => it.refused);
  const waits = answered.some((it) => it.waits);
  const rows = $$("a.row");
  const at = rows.findIndex((row) => row.matches("[aria-current]"));
  await go(refused.length ? here() : (rows[at + 1] ?? rows[at - 1])?.href ?? "/inbox", { keep: refused.length > 0 });
  if (refused.length) say(`${refused[0].number}: ${refused[0].refused}`, true);
  else say(answered.length > 1 ? `${answered.length} answered, on their way` : `${answered[0].number}: on its way to the machine${waits ? "; one more approver is needed" : ""}`);
}

const CLICKS = {
  "with-passkey": () => busily(() => signIn(true)), "with-key": () => busily(() => signIn(false)),
  "join-passkey": () => busily(() => join(true)), "join-key": () => busily(() => join(false)),
  "sign-out": () => busily(async () => { await post("/page/sign-out", {}); location.assign("/inbox"); }),
  "help-button": () => $("#help").showModal(),
};
document.addEventListener("click", (event) => {
  const row = event.target.closest(".inbox a.row");
  if (row && !event.ctrlKey && !event.metaKey && !event.shiftKey) { event.preventDefault(); go(row.href); }
  const button = event.target.closest("button");
  if (!button || button.closest("form")) return;
  const is = button.dataset;
  if (CLICKS[button.id]) CLICKS[button.id]();
  else if (resting()) return;
  else if (unread(button)) say("read it to its end first", true);
  else if (is.answer) answer(is.answer);
  else if (is.open) open(is.open);
  else if ("all" in is) answer("once", { all: true });
  else if ("revoke" in is) revoke();
});

document.addEventListener("change", () => {
  if ($("#marked")) $("#marked").textContent = marked().length;
});

document.addEventListener("submit", (event) => {
  const panel = event.target.closest(".panel");
  if (!panel) return;
  event.preventDefault();
  if (panel.dataset.panel === "no") answer("no", { reason: $("#reason").value, all: $("#no-all")?.checked });
  else if (resting() || unread($("button", panel))) say("read it to its end first", true);
  else answer("once", { all: true });
});

// What a key presses, and where it goes after g.
const BUTTONS = { y: '[data-answer="once"]', n: '[data-open="no"]', x: '[data-open="identical"]', Y: "[data-all]" };
const PLACES = { i: "/inbox" };

if ($("#sign-in")) ownKey().then((key) => { $("#with-key").hidden = !key; }).catch(() => {});
else if (!$("#join, #missing")) {
  begin();
  setInterval(count, 1000);
  listen();
}
