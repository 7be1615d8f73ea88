//! A person who answers in place of the tool: their words are the result, as theirs.

use std::sync::Arc;

use eclusa::*;

use crate::world::*;

fn instead(text: &str) -> Answer {
    Answer::Instead(text.to_owned())
}

/// Shows S2.13.
#[tokio::test]
async fn their_words_are_the_result_and_nothing_ran() {
    let world = world().person([instead("it is version 3")]).close();
    let mut events = world.gate.events().listen();
    let reply = world.gate.pass(call("bash", "git describe")).await;
    assert_eq!(
        (reply.code(), reply.is_error(), reply.refused()),
        ("answered_by_person", false, false)
    );
    assert_eq!(
        reply.content(),
        "`person`, a person, answered in place of the tool, which was not run:\nit is version 3"
    );
    assert_eq!((world.ran(), &*world.events()), (0, "ended:answered_by_person"));
    let record = world.bodies().remove(0);
    assert_eq!(
        (&record["approval"]["answer"], &record["approval"]["by"]),
        (&"instead".into(), &"person".into())
    );
    assert!(record["message"].as_str().unwrap().ends_with("\nit is version 3"), "{record}");
    let mut approved = None;
    while let Ok(event) = events.try_recv() {
        if let Event::ToolApproval { approved: it, .. } = &*event {
            approved = Some(*it);
        }
    }
    assert_eq!(approved, Some(false), "it is no yes");
}

#[tokio::test]
async fn it_is_not_longer_than_an_output_may_be() {
    let world = world().person([instead(&"x".repeat(41))]).close();
    let reply = world.gate.pass(call("bash", "git describe")).await;
    assert_eq!((reply.code(), reply.is_error()), ("approver_failed", true), "{}", reply.content());
}

#[tokio::test]
async fn secrets_in_it_are_masked() {
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2).get(..36).unwrap());
    let world = world().output(1000).person([instead(&format!("use {secret}"))]).close();
    let reply = world.gate.pass(call("bash", "git describe")).await;
    assert!(
        reply.content().contains("use ") && !reply.content().contains(&secret),
        "{}",
        reply.content()
    );
}

/// Takes every change in the place of the gate.
struct Elsewhere;

impl Delegate for Elsewhere {
    fn hand_over(&self, _: u64, _: &Changes) -> Result<(), DelegateError> {
        Ok(())
    }
}

#[tokio::test]
async fn another_program_that_would_run_the_call_is_told_not_to() {
    let mut world = world().person([instead("it is version 3")]);
    world.setup = world.setup.delegate(Arc::new(Elsewhere));
    let world = world.close();
    let reply = world.gate.pass(call("bash", "git describe")).await;
    assert_eq!((reply.code(), reply.is_error()), ("denied_by_person", true));
    assert!(reply.content().contains("it is version 3"), "{}", reply.content());
}
