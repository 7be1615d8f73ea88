//! An answer that does not come is a denial, for every agent.

use std::time::Duration;

use eclusa_agents::{Agent, HookOutput};
use tokio::sync::oneshot::channel;

use super::{Asking, Limits, wait};

const MINUTE: Duration = Duration::from_secs(60);
const NOW: Limits = Limits { verdict: Duration::ZERO, question: Duration::ZERO };

fn is_denied(output: &HookOutput, why: &str) {
    assert_eq!(output.code, 2, "{output:?}");
    assert!(output.stderr.contains(why), "{output:?}");
}

#[test]
fn no_verdict_in_time_and_a_crash_are_denials_for_every_agent() {
    for agent in Agent::ALL {
        let (_still_at_work, receive) = channel();
        is_denied(&wait(agent, NOW, &Asking::default(), receive), "no verdict in time");
        let (crashed, receive) = channel();
        drop(crashed);
        let limits = Limits { verdict: MINUTE, question: MINUTE };
        is_denied(&wait(agent, limits, &Asking::default(), receive), "crashed");
    }
}

#[test]
fn a_question_has_more_time_and_an_end_too() {
    let (send, receive) = channel();
    let asking = Asking::default();
    asking.begin();
    let limits = Limits { verdict: Duration::ZERO, question: MINUTE };
    let answering = std::thread::spawn(move || send.send(HookOutput::default()));
    assert_eq!(wait(Agent::Codex, limits, &asking, receive), HookOutput::default());
    answering.join().unwrap().unwrap();
    let (_nobody_answers, receive) = channel();
    is_denied(&wait(Agent::Codex, NOW, &asking, receive), "no verdict in time");
}
