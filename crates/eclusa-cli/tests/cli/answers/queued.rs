//! The call waits, and somebody answers elsewhere: at another terminal, in a browser, by a signed message, on a
//! phone.

use std::process::{Child, Stdio};

use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use super::{
    Way,
    in_front::told,
    somebody::{Said, Somebody, Waiting, Wanted, by_words, waiting},
};
use crate::{
    approvals_page::{Browser, Got, Served, now},
    notifications::{SECRET, post},
    passkeys::Authenticator,
    world::World,
};

/// Where the phone finds the page.
const PHONE: &str = "https://phone.example";

/// What answers there.
pub(super) enum Desk {
    Words,
    Page(Box<Served>),
    Program(Box<Served>),
    Phone(Box<Served>),
}

impl Desk {
    /// Opens it; what it needs to be configured is in [`config`].
    pub(super) fn open(way: Way, world: &World) -> Desk {
        let serve = |url| Box::new(Served::start_at(world, url, &[("HOOK", SECRET)]));
        match way {
            Way::Page => Desk::Page(serve(None)),
            Way::Webhook => Desk::Program(serve(None)),
            Way::Phone => {
                let added = world.eclusa(&["people", "add", "ana"]);
                assert_eq!(added.code, 0, "{added:?}");
                Desk::Phone(serve(Some(PHONE)))
            }
            _ => Desk::Words,
        }
    }

    /// Somebody who can answer there, as often as they are asked.
    pub(super) fn answering<T>(
        &self,
        world: &World,
        use_it: impl FnOnce(&(dyn Fn(&Waiting, Said) -> String + Sync)) -> T,
    ) -> T {
        match self {
            Desk::Words => use_it(&|question, said| by_words(world, question, said)),
            Desk::Page(served) => {
                let browser = served.pair();
                use_it(&|question, said| by_browser(&browser, question, said))
            }
            Desk::Program(served) => use_it(&|question, said| by_message(served, question, said)),
            Desk::Phone(served) => {
                let made = world.eclusa(&["--json", "people", "pair", "ana", "--url", PHONE]);
                let link = made.json()["link"].as_str().unwrap().to_owned();
                let browser = served.pair_with(link.split_once("/pair#").unwrap().1).unwrap();
                let phone = Authenticator::at(PHONE, "ana");
                let registered = phone.register(&browser, None);
                assert_eq!(registered.status, 200, "{registered:?}");
                use_it(&|question, said| by_phone(&browser, &phone, question, said))
            }
        }
    }
}

/// What must be configured for a way.
pub(super) fn config(way: Way) -> &'static str {
    match way {
        Way::Webhook => "on_no_approver = \"queue\"\n[approvals]\nhook_secret = \"HOOK\"\n",
        _ => "on_no_approver = \"queue\"\n",
    }
}

/// What is signed, and what goes with it.
fn signed(
    browser: &Browser<'_>,
    question: &Waiting,
    said: Said,
    sign: &dyn Fn(&str) -> String,
) -> Value {
    let path = format!("/inbox/{}/{}", question.workspace, question.id);
    let [workspace, queue, binding, person] = browser.shown(&path);
    let (word, edit) = match said {
        Said::Yes | Said::KillAsker => ("once", None),
        Said::No => ("no", None),
        Said::Edit(command) => ("edit", Some(json!({"command": command}))),
    };
    let hex = |text: &str| {
        digest(&SHA256, text.as_bytes()).as_ref().iter().map(|it| format!("{it:02x}")).collect()
    };
    let edited: Option<String> = edit.as_ref().map(|it: &Value| hex(&it.to_string()));
    let reason: Option<String> = (word == "no").then(|| hex(""));
    let expires = now() + 60_000;
    let statement = json!({
        "answer": word, "binding": binding, "edit_sha256": edited, "expires": expires,
        "person": person, "questions": [question.id], "queue": queue, "reason_sha256": reason,
    });
    let signature = sign(&format!("eclusa answer v1\n{statement}"));
    let mut body = json!({
        "workspace": workspace, "questions": [question.id], "binding": binding, "answer": word,
        "expires": expires, "signature": signature,
    });
    if let Some(edit) = edit {
        body["edit"] = edit;
    }
    body
}

/// What came back for an answer, in one line.
fn receipt(got: &Got) -> String {
    let body = serde_json::from_str::<Value>(&got.body).unwrap_or_default();
    let why = ["why", "applied", "error"].iter().find_map(|it| body[*it].as_str());
    format!("{} {}", got.status, why.unwrap_or(got.body.trim()))
}

fn by_browser(browser: &Browser<'_>, question: &Waiting, said: Said) -> String {
    let body = signed(browser, question, said, &|text| browser.sign(text));
    receipt(&browser.served.post("/api/answer", &browser.cookie, &body))
}

fn by_phone(
    browser: &Browser<'_>,
    phone: &Authenticator,
    question: &Waiting,
    said: Said,
) -> String {
    let mut body = signed(browser, question, said, &|text| phone.sign(text));
    body["passkey"] = phone.credential().into();
    receipt(&browser.served.post("/api/answer", &browser.cookie, &body))
}

/// A program that knows the secret. It has no word for another call: then it says yes.
fn by_message(served: &Served, question: &Waiting, said: Said) -> String {
    let say = |word: &str| {
        let body = json!({
            "workspace": question.workspace, "question": question.id, "binding": question.binding,
            "answer": word, "person": "ana",
        });
        let id = format!("{word}-{}-{:?}", question.id, std::thread::current().id());
        receipt(&post(served, &id, now() / 1_000, &body.to_string(), None))
    };
    match said {
        Said::Yes | Said::KillAsker => say("once"),
        Said::No => say("no"),
        Said::Edit(_) => format!("{}; then {}", say("edit"), say("once")),
    }
}

/// Whoever makes the call, and waits.
pub(super) fn asker(world: &World, wanted: &Wanted) -> Child {
    let (tool, args) = wanted.call();
    let mut command = world.command(&["--json", "run", tool, &args.to_string()]);
    command.env("HOOK", SECRET).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// What a call that was waited for told.
pub(super) fn ended(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    match serde_json::from_slice::<Value>(&output.stdout) {
        Ok(reply) => told(&reply),
        Err(_) => format!("nothing {}", String::from_utf8_lossy(&output.stderr)),
    }
}

pub(super) fn play(way: Way, who: &Somebody<'_>, wanted: &Wanted) -> String {
    let world = who.world;
    let desk = Desk::open(way, world);
    desk.answering(world, |answers| {
        let mut child = Some(asker(world, wanted));
        let mut seen = Vec::new();
        loop {
            let new = waiting(world).into_iter().find(|it| !seen.contains(&it.id));
            if let Some(question) = new {
                seen.push(question.id);
                let said = who.is_asked("in the queue", &question.text);
                if said == Said::KillAsker
                    && let Some(mut child) = child.take()
                {
                    child.kill().unwrap();
                    child.wait().unwrap();
                }
                who.is_told(&answers(&question, said));
                continue;
            }
            let Some(running) = &mut child else { return "nothing".to_owned() };
            if running.try_wait().unwrap().is_some() {
                return child.take().map(ended).unwrap_or_default();
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    })
}
