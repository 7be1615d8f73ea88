//! An answer that does not come is a denial, for every agent.

use std::time::Duration;

use tokio::sync::oneshot::channel;

use super::{AnswerLimits, HookProgress, wait};
use crate::{AGENTS, AgentSpec, HookOutput};

const MINUTE: Duration = Duration::from_secs(60);
const NOW: AnswerLimits = AnswerLimits { verdict: Duration::ZERO, question: Duration::ZERO };

fn is_denied(output: &HookOutput, why: &str) {
    assert_eq!(output.code, 2, "{output:?}");
    assert!(output.stderr.contains(why), "{output:?}");
}

#[test]
fn no_verdict_in_time_and_a_crash_are_denials_for_every_agent() {
    for agent in AGENTS {
        let (_still_at_work, receive) = channel();
        is_denied(&wait(agent, NOW, &HookProgress::default(), receive), "no verdict in time");
        let (crashed, receive) = channel();
        drop(crashed);
        let limits = AnswerLimits { verdict: MINUTE, question: MINUTE };
        is_denied(&wait(agent, limits, &HookProgress::default(), receive), "crashed");
    }
}

#[test]
fn a_question_has_more_time_and_an_end_too() {
    let (send, receive) = channel();
    let progress = HookProgress::default();
    progress.asking.begin();
    let limits = AnswerLimits { verdict: Duration::ZERO, question: MINUTE };
    let answering = std::thread::spawn(move || send.send(HookOutput::default()));
    assert_eq!(
        wait(AgentSpec::named("codex").unwrap(), limits, &progress, receive),
        HookOutput::default()
    );
    answering.join().unwrap().unwrap();
    let (_nobody_answers, receive) = channel();
    is_denied(
        &wait(AgentSpec::named("codex").unwrap(), NOW, &progress, receive),
        "no verdict in time",
    );
}

/// Nobody can stop a call that has run: what can be done is to hide its output.
#[test]
fn an_event_after_a_call_that_is_not_answered_hides_the_output() {
    let event = |agent: &AgentSpec, name: &str| {
        let event = format!(
            r#"{{"hook_event_name": "{name}", "event": "after", "session_id": "s", "session": "s",
                "cwd": "/", "directory": "/", "root": "/", "tool_name": "x", "tool": "x",
                "tool_input": {{}}, "args": {{}}, "tool_response": "secret", "output": "secret"}}"#
        );
        agent.read_event(event.as_bytes()).unwrap()
    };
    for (agent, name) in [
        ("claude-code", "PostToolUse"),
        ("codex", "PostToolUse"),
        ("gemini", "AfterTool"),
        ("opencode", "after"),
    ] {
        let agent = AgentSpec::named(agent).unwrap();
        let progress = HookProgress::default();
        progress.event.set(event(agent, name)).unwrap();
        let (_still_at_work, receive) = channel();
        let late = wait(agent, NOW, &progress, receive);
        let (crashed, receive) = channel();
        drop(crashed);
        let limits = AnswerLimits { verdict: MINUTE, question: MINUTE };
        for output in [late, wait(agent, limits, &progress, receive)] {
            // An exit code would have the agent look at nothing else.
            assert_eq!(output.code, 0, "{agent} {output:?}");
            assert!(output.stdout.contains("output withheld"), "{agent} {output:?}");
            assert!(!output.stdout.contains("deny") || agent.name == "gemini", "{output:?}");
        }
    }
}
