//! Golden files: for every event of every agent, what it is here and what is answered.
//!
//! `tests/golden/AGENT.jsonl` holds what the hooks send, one event a line (those of Claude Code,
//! Codex and Gemini CLI as the real programs sent them), `AGENT.txt` what comes of it. With
//! `WRITE_GOLDEN=1` the second is written anew.

use std::{collections::BTreeSet, fmt::Write, fs, path::PathBuf};

use eclusa_connect::{
    AGENTS, AgentSpec, HookEventKind, HookOutput, HookVerdict, MappedCall, ResultNote,
};
use serde_json::{Value, json};

#[test]
fn every_event_is_read_mapped_and_answered_as_written_down() {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for agent in AGENTS.iter().filter(|it| it.has_hooks()) {
        let sent = fs::read_to_string(directory.join(format!("{}.jsonl", agent.name))).unwrap();
        let (mut text, mut answered) = (String::new(), BTreeSet::new());
        for line in sent.lines() {
            one(agent, line, &mut text, &mut answered);
        }
        let expected = directory.join(format!("{}.txt", agent.name));
        if std::env::var_os("WRITE_GOLDEN").is_some() {
            fs::write(&expected, &text).unwrap();
        }
        assert_eq!(fs::read_to_string(&expected).unwrap(), text, "{agent}");
    }
}

/// The answers stand where an event comes for the first time: they do not depend on the call.
fn one(agent: &AgentSpec, line: &str, text: &mut String, answered: &mut BTreeSet<String>) {
    let event = agent.read_event(line.as_bytes());
    let event = match event {
        Ok(event) => event,
        Err(err) => return writeln!(text, "== {err}").unwrap(),
    };
    writeln!(text, "== {} {} ({:?})", event.name, event.tool, event.kind).unwrap();
    match (event.kind, event.mapped_call()) {
        (HookEventKind::Before, MappedCall::Eclusa(calls)) => {
            for call in calls {
                writeln!(text, "   {} {}", call.tool, call.args).unwrap();
            }
        }
        (HookEventKind::Before, other) => writeln!(text, "   {other:?}").unwrap(),
        _ => writeln!(text, "   {:?}", event.result).unwrap(),
    }
    if !answered.insert(event.name.clone()) {
        return;
    }
    match event.kind {
        HookEventKind::Before => {
            let rewrite = |ask: Option<&str>| HookVerdict::Rewrite {
                input: json!({"command": "eclusa exec --ticket T"}),
                context: Some("call 7".to_owned()),
                ask: ask.map(str::to_owned),
            };
            say(text, "allow", &event.answer(&HookVerdict::Allow { context: None }));
            say(text, "deny", &event.answer(&HookVerdict::Deny("not here".to_owned())));
            say(text, "deny ''", &event.answer(&HookVerdict::Deny(String::new())));
            say(text, "ask", &event.answer(&HookVerdict::Ask("look first".to_owned())));
            say(text, "rewrite", &event.answer(&rewrite(None)));
            say(text, "rewrite+ask", &event.answer(&rewrite(Some("look first"))));
        }
        HookEventKind::After => {
            let note =
                ResultNote { replacement: Some("[redacted]".to_owned()), ..ResultNote::default() };
            say(text, "replace", &event.answer_result(&note));
            let note = ResultNote { context: Some("call 7".to_owned()), ..ResultNote::default() };
            say(text, "context", &event.answer_result(&note));
            say(text, "nothing", &event.answer_result(&ResultNote::default()));
        }
        _ => {}
    }
    say(text, "failure", &event.failure("the log cannot be written"));
}

fn say(text: &mut String, what: &str, output: &HookOutput) {
    let HookOutput { stdout, stderr, code } = output;
    writeln!(text, "   {what}: exit {code} stdout {stdout:?} stderr {stderr:?}").unwrap();
}

#[test]
fn whatever_is_sent_there_is_one_answer_and_it_is_a_no_unless_it_is_read() {
    let odd: [&[u8]; 9] = [
        b"",
        b"{",
        b"[]",
        b"null",
        b"{}",
        b"\xff\xfe",
        b"{\"a\":1e999}",
        b"\"x\"",
        b"{\"hook_event_name\":3}",
    ];
    for agent in AGENTS {
        for bytes in odd {
            assert!(agent.read_event(bytes).is_err(), "{agent} {bytes:?}");
            let output = agent.failure(agent.gate_event(), "unreadable");
            assert_eq!(output.code, 2);
            assert!(output.stderr.contains("unreadable"));
        }
    }
}

#[test]
fn a_denial_always_gives_a_reason() {
    for agent in AGENTS {
        for why in ["", "  ", "no"] {
            let output = agent.failure(agent.gate_event(), why);
            assert!(!output.stderr.trim().is_empty());
            assert_eq!(output.code, 2);
        }
    }
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound.max(1) as u64).unwrap()
    }
}

/// Bytes that were cut, flipped, added or left out.
fn damaged(dice: &mut Dice, text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=dice.below(3) {
        let at = dice.below(bytes.len());
        match dice.below(4) {
            0 => bytes.truncate(at),
            1 => bytes.iter_mut().skip(at).take(1).for_each(|it| *it ^= 1 << dice.below(8)),
            2 => bytes.insert(at, u8::try_from(dice.below(256)).unwrap()),
            _ => drop(bytes.drain(at..bytes.len().min(at + dice.below(40)))),
        }
    }
    bytes
}

/// The same with each value in it, one at a time, of every other type, and left out.
fn retyped(event: &Value) -> Vec<Value> {
    let others = [json!(null), json!(7), json!("x"), json!([]), json!({}), json!(["a", {"b": 1}])];
    match event {
        Value::Object(fields) => {
            let mut all = Vec::new();
            for (name, value) in fields {
                for new in others.iter().cloned().chain(retyped(value)) {
                    let mut changed = fields.clone();
                    changed.insert(name.clone(), new);
                    all.push(changed.into());
                }
                let mut without = fields.clone();
                without.remove(name);
                all.push(without.into());
            }
            all
        }
        _ => Vec::new(),
    }
}

/// Any bytes in, one answer out: what can still be read is mapped and answered, and a failure of it
/// says no.
#[test]
fn damaged_events_are_read_or_refused_and_a_failure_says_no() {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let (mut dice, mut read) = (Dice(0x9e37_79b9_7f4a_7c15), 0);
    for agent in AGENTS.iter().filter(|it| it.has_hooks()) {
        let sent = fs::read_to_string(directory.join(format!("{}.jsonl", agent.name))).unwrap();
        for line in sent.lines() {
            let mut all: Vec<Vec<u8>> = (0..200).map(|_| damaged(&mut dice, line)).collect();
            let event = serde_json::from_str(line).unwrap_or_default();
            all.extend(retyped(&event).iter().map(|it| it.to_string().into_bytes()));
            for bytes in all {
                let Ok(event) = agent.read_event(&bytes) else { continue };
                read += 1;
                // What is to be judged is something: a call that is no call at all is malformed.
                let mapped = event.mapped_call();
                let nothing = matches!(&mapped, MappedCall::Eclusa(calls) if calls.is_empty());
                assert!(!nothing, "{agent} {}", String::from_utf8_lossy(&bytes));
                let failure = event.failure("the log cannot be written");
                assert!(failure.stderr.contains("the log cannot be written"), "{agent}");
                if event.kind == HookEventKind::Before {
                    assert_eq!(failure.code, 2, "{agent}");
                    let said = failure.stdout.contains("deny") || agent.name == "windsurf";
                    assert!(said, "{agent} {failure:?}");
                }
            }
        }
    }
    assert!(read > 1_000, "{read}");
}
