//! Conversations with a strict server: every wire, faults, and what never leaves.

use std::sync::Arc;

use eclusa::{Redactor, Wire, settings::Thinking};
use eclusa_chat::*;
use eclusa_models::*;

use crate::{
    fake_server::{FakeServer, Said},
    world::*,
};

pub(crate) fn model(wire: Wire, server: &FakeServer, native: bool) -> Arc<HttpModel> {
    let settings = WireSettings {
        name: "served".to_owned(),
        wire,
        model: "m1".to_owned(),
        url: server.url.clone(),
        native,
        window: 100_000,
        output: 1_000,
        thinking: Thinking::Off,
        images: false,
        price: None,
    };
    Arc::new(HttpModel::new(settings, Some("top-secret-key".into())).unwrap())
}

#[tokio::test]
async fn every_wire_makes_calls_and_goes_on_after_their_answers() {
    for wire in Wire::ALL {
        let server = FakeServer::start(vec![
            Said::Message("I look.", vec![("c1", "look", "a"), ("c2", "no", "b")]),
            Said::Message("Once more.", vec![("c3", "do", "c")]),
            Said::Message("Done.", vec![]),
            Said::Message("Yes.", vec![]),
        ])
        .await;
        let world = world();
        let setup = world.setup(model(wire, &server, true));
        let (mut conversation, _) = Conversation::open(setup).await.unwrap();
        let report = conversation.turn("go".into()).await;
        assert_eq!(
            (&report.end, report.text.as_str()),
            (&TurnEnd::Done, "Done."),
            "{wire:?}: {report:?}"
        );
        assert_eq!(codes(&conversation), ["ok", "denied_by_policy", "ok"], "{wire:?}");
        assert_eq!((world.ran(), report.usage.output), (2, 15), "{wire:?}");
        assert_eq!(conversation.turn("sure?".into()).await.end, TurnEnd::Done, "{wire:?}");
        let bodies = server.bodies();
        assert_eq!(bodies.len(), 4, "{wire:?}");
        let text = bodies.iter().map(ToString::to_string).collect::<String>();
        assert!(text.contains("use tabs") && text.contains("did a"), "{wire:?}: {text}");
        assert!(
            !text.contains("top-secret-key")
                && server.keys().iter().all(|it| it.contains("top-secret-key"))
        );
    }
}

#[tokio::test]
async fn faults_of_a_server_are_tried_again_and_repeat_no_effect() {
    let server = FakeServer::start(vec![
        Said::Status(529, Some(0)),
        Said::Status(429, Some(0)),
        Said::Message("I do it.", vec![("c1", "do", "a")]),
        Said::Status(503, Some(0)),
        Said::Message("Done.", vec![]),
    ])
    .await;
    let world = world();
    let (mut conversation, _) =
        Conversation::open(world.setup(model(Wire::OpenaiChat, &server, true))).await.unwrap();
    let report = conversation.turn("go".into()).await;
    assert_eq!((&report.end, report.requests, world.ran()), (&TurnEnd::Done, 5, 1), "{report:?}");
    let bodies = server.bodies();
    // The same items, the same bytes.
    assert_eq!((&bodies[0], &bodies[3]), (&bodies[2], &bodies[4]));
}

#[tokio::test]
async fn a_wrong_key_ends_the_turn_at_once_and_is_nowhere_afterwards() {
    let server = FakeServer::start(vec![Said::Status(401, None)]).await;
    let world = world();
    let (mut conversation, _) =
        Conversation::open(world.setup(model(Wire::Anthropic, &server, true))).await.unwrap();
    let report = conversation.turn("go".into()).await;
    assert!(matches!(&report.end, TurnEnd::Failed(why) if why.contains("401")), "{report:?}");
    assert_eq!(report.requests, 1);
    let kept = format!("{:?} {:?}", conversation.items(), world.log.records());
    assert!(!kept.contains("top-secret-key"), "{kept}");
}

#[tokio::test]
async fn another_model_gets_words_calls_and_answers_but_no_blocks() {
    let first = FakeServer::start(vec![
        Said::Message("I look.", vec![("c1", "look", "a")]),
        Said::Message("Done.", vec![]),
    ])
    .await;
    let world = world();
    let (mut conversation, _) =
        Conversation::open(world.setup(model(Wire::Anthropic, &first, true))).await.unwrap();
    conversation.turn("go".into()).await;
    let id = conversation.id().to_owned();
    drop(conversation);
    for (wire, native) in [
        (Wire::OpenaiChat, true),
        (Wire::Gemini, true),
        (Wire::Openai, true),
        (Wire::OpenaiChat, false),
    ] {
        let server = FakeServer::start(vec![Said::Message("Hello.", vec![])]).await;
        let (mut conversation, _) =
            Conversation::resume(world.setup(model(wire, &server, native)), &id).await.unwrap();
        let report = conversation.turn("and you?".into()).await;
        assert_eq!(report.end, TurnEnd::Done, "{wire:?}: {report:?}");
        let body = server.bodies()[0].to_string();
        assert!(body.contains("did a") && !body.contains("sig-"), "{wire:?}: {body}");
    }
}

#[tokio::test]
async fn nothing_that_leaves_holds_a_secret_wherever_it_came_from() {
    for wire in Wire::ALL {
        let server = FakeServer::start(vec![
            Said::Message("I look.", vec![("c1", "leak", "")]),
            Said::Message("Done.", vec![]),
        ])
        .await;
        let world = world();
        let (system, project) = (format!("be good {SECRET}"), Some(format!("use {SECRET}")));
        let setup =
            ConversationSetup { system, project, ..world.setup(model(wire, &server, true)) };
        let (mut conversation, _) = Conversation::open(setup).await.unwrap();
        let report = conversation.turn(format!("with {SECRET}").as_str().into()).await;
        assert_eq!((&report.end, world.ran()), (&TurnEnd::Done, 1), "{wire:?}: {report:?}");
        for body in server.bodies() {
            let body = body.to_string();
            assert_eq!(Redactor::default().text(&body).1, 0, "{wire:?}: {body}");
            assert!(body.contains("be good") && !body.contains(SECRET), "{wire:?}: {body}");
        }
    }
}
