//! A person who answers in place of the tool, from every place where questions are answered.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::{
    approvals_page::{Served, now},
    prompt::Person,
    world::{World, wait_until},
};

const QUEUE: &str = "on_no_approver = \"queue\"\n";
const ASKED_FIRST: &str =
    "on_no_approver = \"queue\"\n[[rules]]\ndecision = \"ask\"\ntool = \"note\"\n";

/// A call that waits is answered so; what its caller is told.
fn answered(config: &str, answer: impl FnOnce(&World)) -> (World, Value) {
    let world = World::with(config);
    let mut command = world.command(&["--json", "run", "note", r#"{"text": "hello"}"#]);
    let child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the question is in the approval queue", || {
        world.eclusa(&["--json", "approvals"]).out.contains("\"pending\"")
    });
    answer(&world);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(world.read("workspace/notes.txt"), "");
    let reply: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&reply["code"], &reply["success"]), (&"answered_by_person".into(), &true.into()));
    (world, reply)
}

fn text(reply: &Value) -> &str {
    reply["output"].as_str().unwrap()
}

#[test]
fn on_the_command_line_before_and_after_the_run() {
    let answer = |world: &World| {
        let ran = world.eclusa(&["approvals", "answer", "1", "it", "is", "noted"]);
        assert_eq!(ran.out, "approval 1: answered in place of the tool\n", "{ran:?}");
    };
    let (world, reply) = answered(QUEUE, answer);
    assert!(
        text(&reply).starts_with("`tester`, a person, answered in place of the tool; nothing that")
    );
    assert!(text(&reply).ends_with("\nit is noted"), "{reply}");
    let ended = world.records().into_iter().find(|it| it["event"] == "ended").unwrap();
    assert_eq!(ended["changes"]["outcome"], "discarded");
    assert!(ended["message"].as_str().unwrap().ends_with("it is noted"), "{ended}");
    let (_, reply) = answered(ASKED_FIRST, answer);
    assert!(text(&reply).contains("which was not run:\nit is noted"), "{reply}");
}

#[test]
fn without_words_it_is_no_answer() {
    let world = World::with(QUEUE);
    world.eclusa(&["run", "--park", "note", "text=hello"]);
    let ran = world.eclusa(&["approvals", "answer", "1", " "]);
    assert!(ran.code == 2 && ran.err.contains("has words"), "{ran:?}");
    assert!(world.eclusa(&["approvals"]).out.contains("hello"));
}

#[test]
fn a_call_that_waited_alone_gets_it_when_it_is_made_again() {
    let world = World::with(ASKED_FIRST);
    assert_eq!(world.eclusa(&["run", "--park", "note", "text=hello"]).code, 4);
    world.eclusa(&["approvals", "answer", "1", "noted"]);
    let ran = world.eclusa(&["run", "--park", "note", "text=hello"]);
    assert!(ran.code == 0 && ran.out.contains("\nnoted"), "{ran:?}");
    assert_eq!(world.read("workspace/notes.txt"), "");
}

#[test]
fn on_the_page_signed_like_every_answer() {
    let answer = |world: &World| {
        let served = Served::start(world);
        let browser = served.pair();
        let page = browser.get("/inbox").body;
        assert!(page.contains("data-open=\"instead\""), "{page}");
        let [workspace, queue, binding, person] = browser.shown("/inbox");
        let expires = now() + 60_000;
        let send = |reason: &str, signed: &str| {
            let digest = eclusa::Hash::sha256(signed.as_bytes()).to_string();
            let statement = json!({
                "answer": "instead", "binding": binding, "edit_sha256": null, "expires": expires,
                "person": person, "questions": [1], "queue": queue, "reason_sha256": digest,
            });
            let signature = browser.sign(&format!("eclusa answer v1\n{statement}"));
            let body = json!({
                "workspace": workspace, "questions": [1], "binding": binding, "answer": "instead",
                "reason": reason, "expires": expires, "signature": signature,
            });
            served.post("/api/answer", &browser.cookie, &body).status
        };
        assert_eq!(send("something else", "noted"), 403, "the words are signed");
        assert_eq!(send(" ", " "), 400, "no words");
        assert_eq!(send("noted", "noted"), 200);
    };
    let (_, reply) = answered(QUEUE, answer);
    assert!(text(&reply).ends_with("\nnoted"), "{reply}");
}

#[test]
fn at_the_terminal_with_i() {
    let world = World::new();
    let mut person = Person::runs(&world, &["run", "note", r#"{"text": "hello"}"#]);
    person.answers("?");
    person.sees("in place of the tool");
    person.answers("i");
    person.sees("Result for the model");
    person.types("");
    person.answers("i");
    person.sees("Result for the model");
    person.types("noted by hand");
    let (code, seen) = person.ends();
    assert!(code == 0 && seen.contains("`terminal`, a person, answered"), "{seen}");
    assert_eq!(world.read("workspace/notes.txt"), "");
}

#[test]
fn a_program_that_answers_questions_can_too() {
    let world = World::with("on_no_approver = \"deny\"\n");
    let script = "## says\n```tool\n{\"name\": \"note\", \"args\": {\"text\": \"x\"}}\n```\n## says\nDone.\n";
    let model = format!("script:{}", world.write("script.md", script).display());
    let mut command =
        world.command(&["ask", "--jsonl", "--answers", "stdin", "--model", &model, "go"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    let mut input = child.stdin.take().unwrap();
    let mut told = Vec::new();
    for line in &mut lines {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if event["event"] == "question" {
            let answer = json!({"binding": event["binding"], "answer": "instead", "text": "noted"});
            std::io::Write::write_all(&mut input, format!("{answer}\n").as_bytes()).unwrap();
        }
        told.push(event);
    }
    child.wait().unwrap();
    let result = told.iter().find(|it| it["code"] == "answered_by_person");
    assert!(result.is_some_and(|it| it.to_string().contains("noted")), "{told:?}");
    let approval = told.iter().find(|it| it["event"] == "tool_approval").unwrap();
    assert_eq!((&approval["approved"], &approval["by"]), (&false.into(), &"stdin".into()));
}
