//! Outputs that were cut, read to their end through the gate.

use std::sync::Arc;

use eclusa::{Gate, Limits, Registry, Rules, Spool, spool::MemorySpool};
use proptest::prelude::*;
use serde_json::json;

use super::PagedOutput;
use crate::{
    read::Read,
    world::{World, gate, pass},
};

fn paging(spool: &Arc<MemorySpool>) -> Gate {
    let registry = Arc::new(Registry::new());
    registry.add(PagedOutput::new(spool.clone())).unwrap();
    gate(registry, Rules::default())
}

/// The pages of a kept text, put together.
async fn together(text: &str, limit: usize) -> String {
    let spool = Arc::new(MemorySpool::default());
    let reference = spool.keep(text.to_owned()).await.unwrap();
    let gate = paging(&spool);
    let (mut next, mut all) = (Some(0), String::new());
    while let Some(offset) = next {
        let args = json!({"reference": reference, "offset": offset, "limit": limit});
        let reply = pass(&gate, "output", args).await;
        assert!(!reply.is_error(), "{}", reply.content());
        all.push_str(reply.text().split_once('\n').unwrap().1);
        next = reply.data().unwrap()["next"].as_u64();
    }
    all
}

#[tokio::test]
async fn an_output_that_was_cut_is_read_on_by_its_reference() {
    let world = World::new();
    let lines: String = (0..2000).map(|it| format!("line {it}\n")).collect();
    world.write("long.txt", lines);
    let spool = Arc::new(MemorySpool::default());
    let registry = Arc::new(Registry::new());
    registry.add(Read::new(world.files())).unwrap();
    registry.add(PagedOutput::new(spool.clone())).unwrap();
    let rules = Rules::new(Vec::new(), &world.workspace());
    let setup = Gate::builder()
        .registry(registry)
        .policy(rules)
        .spool(spool)
        .limits(Limits { output: 1000, ..Limits::default() });
    let gate = setup.build().unwrap();
    let cut = pass(&gate, "read", json!({"path": "long.txt"})).await;
    assert!(cut.truncated());
    let args = json!({"reference": cut.spool().unwrap(), "offset": 800, "limit": 100});
    let more = pass(&gate, "output", args).await;
    let (head, text) = more.text().split_once('\n').unwrap();
    assert!(head.ends_with("from 800 on; more follows, go on with offset 900)"), "{head}");
    assert_eq!(text.len(), 100);
    assert!(!cut.text().contains(text));
    let data = more.data().unwrap();
    assert_eq!(
        (&data["offset"], &data["bytes"], &data["next"]),
        (&json!(800), &json!(100), &json!(900))
    );
}

#[tokio::test]
async fn the_defaults_are_the_beginning_and_50_000_bytes() {
    let spool = Arc::new(MemorySpool::default());
    let reference = spool.keep("x".repeat(50_001)).await.unwrap();
    let reply = pass(&paging(&spool), "output", json!({"reference": reference})).await;
    assert_eq!(reply.data().unwrap()["next"], 50_000);
}

#[tokio::test]
async fn what_is_not_kept_and_what_lies_beyond_the_end_is_an_error() {
    let spool = Arc::new(MemorySpool::default());
    let reference = spool.keep("short".to_owned()).await.unwrap();
    let gate = paging(&spool);
    let reply = pass(&gate, "output", json!({"reference": "out-none"})).await;
    assert_eq!(reply.error(), Some("no saved output `out-none` (unknown or expired)"));
    let args = json!({"reference": reference, "offset": 5});
    let said = pass(&gate, "output", args).await.content().to_string();
    assert!(said.contains("is at byte 5 or after it; use a smaller `offset`"), "{said}");
    let args = json!({"reference": reference, "offset": u64::MAX});
    assert!(pass(&gate, "output", args).await.is_error());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pages_put_together_are_the_text(text in "[a-é€😀\n]{1,60}", limit in 1_usize..20) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let all = runtime.block_on(together(&text, limit));
        prop_assert_eq!(all, text);
    }
}
