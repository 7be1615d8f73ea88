//! Many tools: a client sees a short list, and what a search has found.

use serde_json::json;

use super::{behind, entry, listed, works};
use crate::{mcp::client::Client, servers::configured};

/// Shows S3.16.
#[test]
fn with_many_tools_a_search_finds_them_and_clients_are_told() {
    let world = behind(&[("fake", &["extra=60"])]);
    let mut client = Client::legacy(&world, "2025-11-25", json!({}));
    let before = listed(&mut client);
    assert!(!before.iter().any(|it| it.starts_with("mcp_fake_")), "{before:?}");
    assert!(before.contains(&"tool_search".to_owned()));
    client.rest();
    let found = works(&mut client, "tool_search", json!({"query": "number 57"}));
    assert!(found.contains("mcp_fake_extra_57"), "{found}");
    client.heard("the list has changed", |it| it["method"] == "notifications/tools/list_changed");
    let after = listed(&mut client);
    let new: Vec<&String> = after.iter().filter(|it| !before.contains(it)).collect();
    assert_eq!(new, ["mcp_fake_extra_57"]);
    assert_eq!(works(&mut client, "mcp_fake_extra_57", json!({})), "called extra_57");
    // One that was not searched for can be called all the same: it is hidden, not forbidden.
    assert_eq!(works(&mut client, "mcp_fake_extra_3", json!({})), "called extra_3");
}

/// Shows S3.16.
#[test]
fn few_tools_are_listed_and_settings_decide_otherwise() {
    for (words, deferred, shown) in
        [("", "", true), ("", "deferred = true\n", false), ("extra=60", "deferred = false\n", true)]
    {
        let config = format!("mode = \"yolo\"\n{}{deferred}", entry("fake", &[words]));
        let world = configured(&config);
        let mut client = Client::modern(&world, json!({}));
        let seen = listed(&mut client).contains(&"mcp_fake_echo".to_owned());
        assert_eq!(seen, shown, "{words} {deferred}");
    }
}

/// D7: a client that reads the list once reaches what is not in it, and the gate judges that call as
/// the call that it is.
#[test]
fn a_tool_that_is_not_listed_is_called_by_its_name() {
    let world = behind(&[("fake", &[])]);
    world.write("workspace/plain.txt", "plain\n");
    world.write("workspace/.env", "TOKEN=x\n");
    let mut client = Client::modern(&world, json!({}));
    let listed = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    assert!(listed.as_array().unwrap().iter().any(|it| it["name"] == "call_tool"), "{listed}");
    let inner = |name: &str, path: &str| json!({"name": name, "arguments": {"path": path}});
    let result = client.call("call_tool", inner("mcp_fake_read", "plain.txt"));
    assert_eq!(result["content"][0]["text"], "plain\n", "{result}");
    let result = client.call("call_tool", inner("read", ".env"));
    assert_eq!(result["isError"], true, "{result}");
    let answer = client.ask(
        "tools/call",
        json!({"name": "call_tool", "arguments": {"name": "call_tool", "arguments": {}}}),
    );
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let records = world.records();
    assert!(records.iter().any(|it| it["tool"] == "mcp_fake_read"), "{records:?}");
    assert!(records.iter().all(|it| it["tool"] != "call_tool"), "{records:?}");
}
