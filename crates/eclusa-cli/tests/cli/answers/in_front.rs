//! Questions on a terminal: of one call, and in a chat.

use expectrl::{Any, Eof, Expect as _};
use serde_json::{Value, json};

use super::somebody::{Said, Somebody, Wanted};
use crate::prompt::Person;

/// Where a call on a terminal stands.
pub(super) enum Stands {
    /// It asks, and shows this.
    Asks(String),
    /// It has ended, and this was on the screen since.
    Ended(String),
}

/// Waits for a question, or for what ends it.
pub(super) fn next(person: &mut Person, end: Option<&str>) -> Stands {
    let mut needles: Vec<Box<dyn expectrl::Needle>> = vec![Box::new("? ["), Box::new(Eof)];
    needles.extend(end.map(|it| Box::new(it.to_owned()) as Box<dyn expectrl::Needle>));
    let found = person.session.expect(Any::boxed(needles));
    let found = found.unwrap_or_else(|err| panic!("{err}; seen so far: {}", person.seen));
    let text = String::from_utf8_lossy(found.as_bytes()).into_owned();
    person.seen.push_str(&text);
    match text.ends_with("? [") {
        true => Stands::Asks(text),
        false => Stands::Ended(text),
    }
}

fn kill(person: &Person) {
    let pid = rustix::process::Pid::from_raw(person.session.get_process().pid().as_raw());
    rustix::process::kill_process(pid.unwrap(), rustix::process::Signal::KILL).unwrap();
}

/// Answers a question on the screen; false once whoever asked is gone.
fn answer(person: &mut Person, who: &Somebody<'_>, shown: &str) -> bool {
    match who.is_asked("here", shown) {
        Said::Yes => person.types("y"),
        Said::No => {
            person.types("n");
            person.sees("Why?");
            person.types("");
        }
        Said::Edit(command) => {
            who.world.write("edited.json", &json!({"command": command}).to_string());
            person.types("e");
        }
        Said::KillAsker => {
            kill(person);
            return false;
        }
    }
    true
}

/// An editor that writes what was edited.
fn editor(who: &Somebody<'_>) -> String {
    let edited = who.world.path("edited.json");
    let script = who.world.script("editor", &format!("cat {edited:?} > \"$1\""));
    script.trim_matches('"').to_owned()
}

/// What the reply on the screen says to a model.
pub(super) fn reply(screen: &str) -> String {
    // It may stand on several lines, with other words behind it.
    let begins = screen.match_indices('{').map(|it| it.0).filter_map(|it| screen.get(it..));
    let read = |it| serde_json::Deserializer::from_str(it).into_iter::<Value>().next()?.ok();
    let reply = begins.filter_map(read).find(|it| it["code"].is_string());
    reply.map_or_else(|| "nothing".to_owned(), |it| told(&it))
}

/// What a reply says, in one line.
pub(super) fn told(reply: &Value) -> String {
    let text = |name: &str| reply[name].as_str().unwrap_or_default().trim().to_owned();
    [text("code"), text("error"), text("output")].join(" | ")
}

/// Somebody at a terminal where the call is made.
pub(super) fn calls(who: &Somebody<'_>, wanted: &Wanted) -> Person {
    let (tool, args) = wanted.call();
    let mut command = who.world.command(&["--json", "run", tool, &args.to_string()]);
    command.env("EDITOR", editor(who));
    Person::starts(command)
}

pub(super) fn terminal(who: &Somebody<'_>, wanted: &Wanted) -> String {
    let mut person = calls(who, wanted);
    loop {
        match next(&mut person, None) {
            Stands::Ended(screen) => return reply(&screen),
            Stands::Asks(shown) => {
                if !answer(&mut person, who, &shown) {
                    return "nothing".to_owned();
                }
            }
        }
    }
}

/// A chat on a terminal, whose model makes a call.
pub(super) fn talks(who: &Somebody<'_>, wanted: &Wanted) -> Person {
    let world = who.world;
    let (name, args) = wanted.call();
    let call = json!({"name": name, "args": args});
    let script = format!("## says\nNow.\n```tool\n{call}\n```\n## says\n{LAST_WORDS}\n");
    let model = format!("script:{}", world.write("script.md", &script).display());
    let mut command = world.command(&["chat", "--model", &model, "go"]);
    command.env("NO_COLOR", "1").env("EDITOR", editor(who));
    Person::sized(command, 80, 24)
}

/// What the model says once it has its answer.
pub(super) const LAST_WORDS: &str = "That was it.";

pub(super) fn leave(mut person: Person) {
    person.session.send("/quit\r").unwrap();
    person.ends();
}

pub(super) fn chat(who: &Somebody<'_>, wanted: &Wanted) -> String {
    let mut person = talks(who, wanted);
    loop {
        match next(&mut person, Some(LAST_WORDS)) {
            Stands::Ended(_) => break,
            Stands::Asks(shown) => {
                if !answer(&mut person, who, &shown) {
                    return "nothing".to_owned();
                }
            }
        }
    }
    leave(person);
    let shown = who.world.eclusa(&["sessions", "show"]).out;
    let mut results = shown.lines().filter(|it| it.starts_with("{\"code\":"));
    let result = results.next().and_then(|it| serde_json::from_str::<Value>(it).ok());
    result.map_or_else(|| "nothing".to_owned(), |it| told(&it))
}
