//! What the model gets: cut to size on whole characters, the rest kept, secrets counted.

use std::sync::Arc;

use eclusa::{audit::ArgsInLog, spool::MemorySpool, *};
use serde_json::json;

use crate::world::*;

fn with_limit(limit: usize, cut: Cut) -> World {
    let mut world = world();
    world.limits.output = limit;
    world.limits.cut = cut;
    world.setup = world.setup.spool(Arc::new(MemorySpool::default()));
    world
}

async fn output(world: World, text: &str) -> (Reply, Closed) {
    let world = world.close();
    let reply = world.gate.pass(call("echo", text)).await;
    assert_eq!(reply.code(), "ok");
    (reply, world)
}

#[tokio::test]
async fn exactly_at_the_limit_is_not_cut() {
    // S1.60
    // S1.22, S1.32, E10: "did: " and 35 more are 40 bytes.
    let (reply, _) = output(with_limit(40, Cut::Head), &"x".repeat(35)).await;
    assert!(!reply.truncated() && reply.spool().is_none());
    let (reply, world) = output(with_limit(40, Cut::Head), &"x".repeat(36)).await;
    assert!(reply.truncated());
    assert!(reply.text().starts_with(&format!("did: {}\n[… 1 bytes cut", "x".repeat(35))));
    assert_eq!(world.bodies()[1]["output"]["truncated"], true);
    assert_eq!(world.bodies()[1]["output"]["bytes"], 41);
}

#[tokio::test]
async fn no_character_is_ever_cut_in_two() {
    // S1.33, E11: every limit, head and tail, over text of two-, three- and four-byte characters.
    let text: String = "é€🦀".repeat(12);
    for limit in 1..100 {
        for cut in [Cut::Head, Cut::HeadTail] {
            let (reply, _) = output(with_limit(limit, cut), &text).await;
            let whole = format!("did: {text}");
            let (head, tail) = match reply.text().split_once("\n[…") {
                Some((head, rest)) => (head, rest.split_once("…]\n").unwrap().1),
                None => (reply.text(), ""),
            };
            assert!(whole.starts_with(head) && whole.ends_with(tail));
            // Each end gives up less than one character, and nothing more.
            assert!(head.len() + tail.len() + 6 >= limit.min(whole.len()));
            assert!(
                head.len() + tail.len() <= limit.max(whole.len() * usize::from(!reply.truncated()))
            );
        }
    }
}

#[tokio::test]
async fn what_is_cut_is_kept_whole_and_readable_by_range() {
    // C16
    let text: String = (0..500).map(|n| format!("line {n}\n")).collect();
    let (reply, world) = output(with_limit(100, Cut::HeadTail), &text).await;
    assert!(reply.text().starts_with("did: line 0\n"));
    assert!(reply.text().ends_with("line 499\n"));
    let reference = reply.spool().unwrap();
    assert!(reply.text().contains(reference));
    let spool = world.gate.spool().cloned().unwrap();
    let whole = format!("did: {text}");
    assert_eq!(spool.read(reference, 0..usize::MAX).await.unwrap(), whole);
    assert_eq!(spool.read(reference, 5..11).await.unwrap(), "line 0");
    assert!(spool.read("out-nothing", 0..1).await.is_err());
    assert_eq!(world.bodies()[1]["output"]["spool"], reference);
    assert_eq!(world.bodies()[1]["output"]["sha256"], Hash::sha256(whole.as_bytes()).to_string());
}

#[tokio::test]
async fn without_a_spool_the_loss_is_said() {
    let mut world = world();
    world.limits.output = 10;
    let (reply, _) = output(world, &"x".repeat(100)).await;
    assert!(reply.text().contains("bytes cut and lost: no spool is set up"));
    assert!(reply.warnings()[0].contains("could not be kept"));
}

#[tokio::test]
async fn secrets_are_taken_out_of_text_structure_records_and_events() {
    // S0.25, C28, A13
    let token = format!("ghp_{}", "A1b2C3d4E5f6".repeat(3));
    let mut world = world();
    world.limits.output = 1000;
    let mut events = world.events.listen();
    let world = world.person([Answer::Once]).close();
    let leak = ToolCall::new("c1", "bash", json!({"text": format!("git {token}")}));
    let reply = world.gate.pass(leak.because(format!("needs {token}"))).await;
    assert_eq!(reply.code(), "ok");
    assert!(!reply.text().contains(&token), "{}", reply.text());
    assert!(world.bodies()[1]["output"]["redacted"].as_u64().unwrap() >= 1);
    assert!(world.bodies()[0]["args_redacted"].as_u64().unwrap() >= 1);
    for record in world.log.records() {
        assert!(!record.body.contains(&token), "{}", record.body);
    }
    while let Ok(event) = events.try_recv() {
        assert!(!format!("{event:?}").contains(&token), "{event:?}");
    }
}

/// A log takes no record without bounds, whoever wrote it.
#[tokio::test]
async fn what_is_too_long_to_be_recorded_is_not_run() {
    let world = world().close();
    let run = Run { principal: "x".repeat(64 << 20).into(), ..world.gate.run().clone() };
    let reply = world.gate.for_run(run).pass(call("echo", "hi")).await;
    assert_eq!(reply.code(), "audit_unavailable", "{:.200}", reply.content());
    assert!(reply.content().contains("longer than 64 MiB"), "{:.200}", reply.content());
    assert!(world.bodies().is_empty());
}

#[tokio::test]
async fn the_log_holds_as_much_of_the_arguments_as_configured() {
    // C28
    let args = |how: ArgsInLog| async move {
        let mut world = world();
        world.setup = world.setup.args_in_log(how);
        let world = world.close();
        world.gate.pass(call("echo", &"x".repeat(5000))).await;
        world.bodies().remove(0)
    };
    let digest = args(ArgsInLog::Digest).await;
    assert!(digest.get("args").is_none() && digest["args_sha256"].is_string());
    let redacted = args(ArgsInLog::Redacted).await;
    assert!(redacted["args"]["text"].as_str().unwrap().ends_with("… (5000 bytes)"));
    assert_eq!(args(ArgsInLog::Full).await["args"]["text"].as_str().unwrap().len(), 5000);
}
