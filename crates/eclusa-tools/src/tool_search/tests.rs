//! Tools that are found by what they are good for.

use std::sync::Arc;

use eclusa::{Gate, Registration, Registry, Rules, Scene};
use serde_json::json;

use super::ToolSearch;
use crate::{
    read::Read,
    todo::Todo,
    world::{World, gate, pass},
};

/// A registry with `tool_search` itself in it.
fn searching(world: &World) -> (Arc<Registry>, Gate) {
    let registry = Arc::new(Registry::new());
    registry.add(ToolSearch::new(&registry, Scene::default())).unwrap();
    registry.register(Registration::new(Read::new(world.files())).deferred()).unwrap();
    registry.add(Todo::new()).unwrap();
    (registry.clone(), gate(registry, Rules::default()))
}

/// Shows S3.16.
#[tokio::test]
async fn a_deferred_tool_is_found_by_its_hint_and_shown_with_its_schema() {
    let world = World::new();
    let (_, gate) = searching(&world);
    let reply = pass(&gate, "tool_search", json!({"query": "cat notebook"})).await;
    let tools = &reply.data().unwrap()["tools"];
    assert_eq!((tools.as_array().unwrap().len(), &tools[0]["name"]), (1, &json!("read")));
    assert_eq!(tools[0]["input_schema"]["properties"]["path"]["type"], "string");
    assert!(reply.text().starts_with("read: Reads a file"), "{}", reply.text());
    assert!(reply.text().contains("\narguments: {"), "{}", reply.text());
}

#[tokio::test]
async fn what_does_not_fit_or_is_too_much_is_told() {
    let world = World::new();
    let (_, gate) = searching(&world);
    let none = pass(&gate, "tool_search", json!({"query": "teleport"})).await;
    assert_eq!(none.text(), "(no tool fits all of these words: `teleport`; try fewer or others)\n");
    assert_eq!(none.data().unwrap()["found"], 0);
    let some = pass(&gate, "tool_search", json!({"query": "example", "limit": 1})).await;
    assert!(some.text().ends_with("(2 more fit; raise `limit` or use more words)\n"));
}

#[test]
fn the_registry_is_not_kept_alive_by_a_tool_in_it() {
    let world = World::new();
    let (registry, gate) = searching(&world);
    let weak = Arc::downgrade(&registry);
    drop((registry, gate));
    assert!(weak.upgrade().is_none());
}
