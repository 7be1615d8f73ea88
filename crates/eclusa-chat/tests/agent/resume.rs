//! Resuming, forking and locking: nothing is run again, and every call has exactly one answer.

use eclusa::{AuditSink as _, audit::Draft};
use eclusa_chat::{transcript::CallFate, *};
use serde_json::json;

use crate::world::*;

/// Keeps a message with a call and no answer, as a kill would leave it.
async fn left_open(world: &World, records: &[serde_json::Value]) -> String {
    let (conversation, _) = world.open(&says("hello", &[])).await;
    let id = conversation.id().to_owned();
    let head = conversation.head().clone();
    let seq = conversation.items().last().unwrap().seq;
    drop(conversation);
    let log_at = world.store.log_head().unwrap();
    let item = |seq, body| TranscriptItem {
        seq,
        turn: 1,
        message: Some(1),
        at: 0,
        body,
        blocks: None,
        log_at: Some(log_at),
    };
    let bodies = [
        ItemBody::Person { text: "go".to_owned(), pictures: Vec::new() },
        ItemBody::Model { text: String::new(), thoughts: None },
        ItemBody::Call {
            id: "c1".to_owned(),
            name: "do".to_owned(),
            args: json!({}),
            reason: None,
        },
    ];
    let items = (seq + 1..).zip(bodies).map(|(seq, body)| item(seq, body)).collect();
    world.store.append(head, items).await.unwrap();
    for record in records {
        let mut record = record.clone();
        record["conversation"] = id.as_str().into();
        world.log.append(Draft::new(record.to_string()).unwrap()).await.unwrap();
    }
    id
}

#[tokio::test]
async fn an_open_call_is_answered_by_what_the_log_knows_and_nothing_runs() {
    let started = json!({"call": "c1", "event": "started"});
    let ended = json!({"call": "c1", "event": "ended", "code": "ok", "start": 1});
    let other = json!({"call": "c2", "event": "started"});
    for (records, code, words) in [
        (vec![], "interrupted", "it was not run"),
        (vec![other.clone()], "interrupted", "it was not run"),
        (vec![started.clone()], "may_have_run", "it may have happened"),
        (vec![started, ended], "output_lost", "do not repeat it"),
    ] {
        let world = world();
        let id = left_open(&world, &records).await;
        let script = "## says\nnothing\n## says\nnothing\n".to_owned()
            + &format!("## expects {words}\n")
            + &says("I see.", &[]);
        let (mut conversation, _) =
            Conversation::resume(world.scripted(&script), &id).await.unwrap();
        assert_eq!((codes(&conversation), world.ran()), (vec![code.to_owned()], 0));
        // Resuming once more adds nothing.
        let before = conversation.items().len();
        drop(conversation);
        (conversation, _) = Conversation::resume(world.scripted(&script), &id).await.unwrap();
        assert_eq!(conversation.items().len(), before);
        let _ = conversation.turn("go on".into()).await;
        assert_eq!(world.ran(), 0);
    }
}

#[tokio::test]
async fn one_process_has_a_conversation_and_another_is_offered_a_fork() {
    let world = world();
    let (mut conversation, _) = world
        .open(&(says("One.", &[("do", "a")]) + &says("Two.", &[]) + &says("Three.", &[])))
        .await;
    conversation.turn("go".into()).await;
    let id = conversation.id().to_owned();
    let taken =
        Conversation::resume(world.scripted(&says("x", &[])), &id).await.map(drop).unwrap_err();
    assert_eq!(taken, OpenError::Taken(id.clone()));
    assert!(taken.to_string().contains("sessions fork"));
    conversation.turn("more".into()).await;
    let copy = fork(&world.store, &id, Some(1), 5).await.unwrap();
    let (copy, _) = Conversation::resume(world.scripted(&says("x", &[])), &copy).await.unwrap();
    assert_eq!(copy.head().parent.as_deref(), Some(id.as_str()));
    let turns = copy.items().iter().map(|it| it.turn).max();
    assert_eq!((turns, world.ran()), (Some(1), 1));
    assert!(conversation.items().iter().any(|it| it.turn == 2));
    let unknown = Conversation::resume(world.scripted(&says("x", &[])), "zzzzzz").await.map(drop);
    assert_eq!(unknown.unwrap_err(), OpenError::Unknown("zzzzzz".to_owned()));
}

#[tokio::test]
async fn taint_survives_a_resume_and_goes_along_in_forks() {
    let world = world();
    let (mut conversation, _) = world.open(&(says("Hi.", &[]) + &says("Hi.", &[]))).await;
    let piped = UserMessage { outside: Some("piped in".to_owned()), ..UserMessage::from("x") };
    let report = conversation.turn(piped).await;
    assert_eq!(report.taint.as_deref(), Some("piped in"));
    let id = conversation.id().to_owned();
    drop(conversation);
    world
        .gate
        .for_run(eclusa::Run { session: id.as_str().into(), ..eclusa::Run::default() })
        .end_session();
    let copy = fork(&world.store, &id, None, 5).await.unwrap();
    for id in [id, copy] {
        let (mut conversation, _) = Conversation::resume(
            world.scripted(&(says("a", &[]) + &says("b", &[]) + &says("c", &[]))),
            &id,
        )
        .await
        .unwrap();
        let report = conversation.turn("and?".into()).await;
        assert_eq!(report.taint.as_deref(), Some("piped in"));
    }
}

#[tokio::test]
async fn fate_is_read_after_the_message_and_of_the_same_conversation() {
    let world = world();
    let id = left_open(&world, &[json!({"call": "c1", "event": "started"})]).await;
    let seq = world.log.records().last().unwrap().seq;
    assert_eq!(world.store.fate(&id, "c1", 0).unwrap(), CallFate::Started { number: seq });
    assert_eq!(world.store.fate(&id, "c1", seq).unwrap(), CallFate::NotRun);
    assert_eq!(world.store.fate("other", "c1", 0).unwrap(), CallFate::NotRun);
}
