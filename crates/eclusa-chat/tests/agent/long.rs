//! A very long conversation: what the model is not shown stays in the archive, and nothing is lost.

use eclusa_chat::*;
use serde_json::json;

use crate::world::*;

fn person(text: String) -> ItemBody {
    ItemBody::Person { text, pictures: Vec::new() }
}

fn call(id: &str) -> ItemBody {
    ItemBody::Call { id: id.to_owned(), name: "do".to_owned(), args: json!({}), reason: None }
}

fn answer(id: &str, output: String, approval: Option<u64>) -> ItemBody {
    let (id, tool, code) = (id.to_owned(), "do".to_owned(), "ok".to_owned());
    ItemBody::Answer(AnswerItem { id, tool, code, output, approval, ..AnswerItem::default() })
}

fn model() -> ItemBody {
    ItemBody::Model { text: "I do.".to_owned(), thoughts: None }
}

/// A session with these entries, each in a turn of its own.
async fn kept(world: &World, bodies: Vec<ItemBody>) -> String {
    let (conversation, _) = world.open(&says("x", &[])).await;
    let (head, first) = (conversation.head().clone(), conversation.items().len() as u64 + 1);
    let items = (first..).zip(bodies).map(|(seq, body)| TranscriptItem {
        seq,
        turn: seq,
        message: matches!(body, ItemBody::Model { .. }).then_some(seq),
        at: 0,
        body,
        blocks: None,
        log_at: None,
    });
    world.store.append(head, items.collect()).await.unwrap();
    conversation.id().to_owned()
}

#[tokio::test]
async fn what_is_longer_than_the_window_is_left_out_told_and_still_kept() {
    let world = world();
    let mut bodies = vec![model(), call("p1"), answer("p1", String::new(), Some(7))];
    bodies.extend((0..600).map(|it| person(format!("word-{it} {}", "x".repeat(10_000)))));
    let id = kept(&world, bodies).await;
    // The first reply lies in what is not read and is counted all the same, as is what stands for it.
    let script = says("one", &[]).repeat(2)
        + "## expects earlier entries are left out\n## expects word-599\n## says\nI see.\n"
        + "## expects and now\n## says\nAgain.\n";
    let (mut conversation, mut events) =
        Conversation::resume(world.scripted(&script), &id).await.unwrap();
    let held: usize = conversation.items().iter().map(|it| it.body.words().len()).sum();
    assert!(held < 1 << 20 && held > 100_000, "{held}");
    assert_eq!(conversation.waiting()[0].approval, 7);
    let report = conversation.turn("go on".into()).await;
    assert_eq!(report.text, "I see.", "{report:?}");
    let mut told = false;
    while let Ok(event) = events.try_recv() {
        told |= matches!(event, AgentEvent::Notice(text) if text.contains("longer than the model's window"));
    }
    assert!(told);
    drop(conversation);
    let all = world.store.items(&id).await.unwrap();
    assert_eq!(all.iter().filter(|it| matches!(it.body, ItemBody::Person { .. })).count(), 601);
    // What was left out once is left out in the same way.
    let (mut conversation, _) = Conversation::resume(world.scripted(&script), &id).await.unwrap();
    let report = conversation.turn("and now".into()).await;
    assert_eq!(report.text, "Again.", "{report:?}");
    let all = world.store.items(&id).await.unwrap();
    let cuts = all.iter().filter(|it| matches!(it.body, ItemBody::Summary { .. })).count();
    assert_eq!((cuts, world.ran()), (1, 0));
}

#[tokio::test]
async fn long_outputs_that_the_model_is_not_shown_are_not_read() {
    let world = world();
    let mut bodies = vec![person("go".to_owned())];
    for it in 0..500 {
        let id = format!("c{it}");
        bodies.extend([model(), call(&id), answer(&id, "x".repeat(10_000), None)]);
    }
    let cut = 2 + bodies.len() as u64 - 3;
    bodies.push(ItemBody::Summary { text: None, cut });
    let id = kept(&world, bodies).await;
    let script = says("x", &[]).repeat(500) + &says("I see.", &[]);
    let (mut conversation, _) = Conversation::resume(world.scripted(&script), &id).await.unwrap();
    let held: usize = conversation.items().iter().map(|it| it.body.words().len()).sum();
    assert!(held < 50_000, "{held}");
    let report = conversation.turn("go on".into()).await;
    assert_eq!(report.text, "I see.", "{report:?}");
}
