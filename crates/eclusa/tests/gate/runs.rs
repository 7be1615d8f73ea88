//! What differs between runs of one gate: which tools there are, what came from outside, what left.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use eclusa::{
    approve::{Proof, Requirement},
    audit::SentRequest,
    *,
};
use serde_json::json;

use crate::world::*;

fn kept_to(world: &Closed, tools: &[&str]) -> Gate {
    let tools = tools.iter().map(|it| (*it).to_owned()).collect();
    world.gate.for_run(Run { tools: Some(tools), ..world.gate.run().clone() })
}

#[tokio::test]
async fn a_narrower_run_has_no_other_tools_and_says_so_on_record() {
    let world = world().close();
    let gate = kept_to(&world, &["echo", "nest"]);
    assert_eq!(gate.pass(call("echo", "a")).await.code(), "ok");
    let refused = gate.pass(call("bash", "a")).await;
    assert_eq!(refused.code(), "unknown_tool");
    assert!(gate.check(call("look", "a")).is_err() && gate.explain(call("look", "a")).is_err());
    // Names that it must not know are not suggested either.
    let near = gate.pass(call("bashh", "a")).await;
    assert!(!near.text().contains("bash`?"), "{}", near.text());
    assert_eq!(world.events(), "started ended:ok ended:unknown_tool ended:unknown_tool");
}

#[tokio::test]
async fn what_tools_call_is_kept_to_the_same_tools() {
    let world = world().close();
    let reply = kept_to(&world, &["nest"]).pass(call("nest", "call x")).await;
    assert_eq!(reply.code(), "ok");
    assert_eq!(world.events(), "started ended:unknown_tool ended:ok");
}

#[tokio::test]
async fn taint_goes_out_and_comes_back_in() {
    let world = world().close();
    assert_eq!(world.gate.taint(), None);
    world.gate.mark_tainted("a page").unwrap();
    world.gate.mark_tainted("another page").unwrap();
    assert_eq!(world.gate.taint().as_deref(), Some("a page"));
    let other = Run { session: "other".into(), ..Run::default() };
    assert_eq!(world.gate.for_run(other).taint(), None);
    world.gate.end_session();
    assert_eq!(world.gate.taint(), None);
}

#[tokio::test]
async fn what_leaves_for_a_model_is_on_record_before_it_does() {
    let world = world().close();
    let gate = world.gate.for_run(Run { turn: 3, ..Run::default() });
    let sent =
        SentRequest { model: "m", host: "example.org", bytes: 2, sha256: Hash::sha256(b"{}") };
    let receipt = gate.record_sent(&sent).await.unwrap();
    let bodies = world.bodies();
    assert_eq!(receipt.seq, 1);
    assert_eq!(
        (&bodies[0]["event"], &bodies[0]["host"], &bodies[0]["bytes"], &bodies[0]["turn"]),
        (&"sent".into(), &"example.org".into(), &2.into(), &3.into())
    );
    assert_eq!(bodies[0]["sha256"], Hash::sha256(b"{}").to_string());
    world.log.verify().unwrap();
}

#[tokio::test]
async fn each_reply_is_told_when_it_is_there() {
    let world = world().close();
    let calls = [("echo", "a"), ("bash", "b"), ("nope", "c")];
    let calls = calls
        .iter()
        .enumerate()
        .map(|(n, (tool, text))| ToolCall { id: format!("c{n}"), ..call(tool, text) });
    let told = Mutex::new(Vec::new());
    let note = |place, reply: Reply| {
        // The call after this one has no record yet.
        let later = world.bodies().iter().any(|it| it["call"] == format!("c{}", place + 1));
        told.lock().unwrap().push((place, reply.code(), later));
    };
    world.gate.pass_all_with(calls, note).await;
    let told = told.into_inner().unwrap();
    assert_eq!(told, [(0, "ok", false), (1, "ok", false), (2, "unknown_tool", false)]);
}

#[tokio::test]
async fn events_name_their_conversation() {
    let world = world().close();
    let mut events = world.gate.events().listen();
    world
        .gate
        .for_run(Run { session: "k3".into(), ..Run::default() })
        .pass(call("echo", "a"))
        .await;
    while let Ok(event) = events.try_recv() {
        match &*event {
            Event::Received { session, .. }
            | Event::Started { session, .. }
            | Event::Progress { session, .. }
            | Event::Ended { session, .. } => assert_eq!(&**session, "k3"),
            other => panic!("{other:?}"),
        }
    }
}

/// Whoever must answer by a rule is asked about every edit, and there is an end to it.
#[tokio::test]
async fn a_call_that_is_edited_over_and_over_is_denied() {
    let requirement = Requirement {
        of: Vec::new(),
        need: 1,
        with: Proof::Word,
        separate: false,
        within: None,
        then: Vec::new(),
    };
    let rule = Rule::new(Decision::Ask).tool(["bash"]).unwrap().requires(requirement).unwrap();
    let edits = |count: usize| {
        let mut world = world();
        let desk = Arc::new(Person::default());
        let edits = (0..count).map(|it| Ok(Answer::Edit(json!({"text": it.to_string()}))));
        desk.answers.lock().unwrap().extend(edits);
        let rules = Rules::new(vec![rule.clone()], Path::new("/nowhere"));
        world.setup = world.setup.policy(rules).approval_queue(desk.clone());
        (world.close(), desk)
    };
    let (world, desk) = edits(100);
    let reply = world.gate.pass(call("bash", "x")).await;
    assert_eq!(reply.code(), "denied_by_person");
    assert!(reply.content().contains("edited more than 8 times"), "{}", reply.content());
    assert_eq!(desk.asked.lock().unwrap().len(), 9);
}

/// Settings let pass what nobody can be asked about, and nothing that an administrator asks.
#[tokio::test]
async fn what_an_administrator_asks_no_setting_answers() {
    let rule = Rule::new(Decision::Ask).tool(["bash"]).unwrap();
    for (rule, code) in [(rule.clone(), "ok"), (rule.of_administrator(), "no_approver")] {
        let mut world = world();
        let setup = world.setup.policy(Rules::new(vec![rule], Path::new("/nowhere")));
        world.setup = setup.on_no_approver(OnNoApprover::AllowWithWarning);
        assert_eq!(world.close().gate.pass(call("bash", "x")).await.code(), code);
    }
}
