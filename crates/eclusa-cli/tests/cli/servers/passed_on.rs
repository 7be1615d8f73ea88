//! What the gate does not judge is passed on as it is: pictures, titles, hints, schemas, numbers, and
//! what a wrapped server says of itself.

use base64::{Engine as _, prelude::BASE64_STANDARD as BASE64};
use serde_json::{Value, json};

use super::{YOLO, configured, listed};
use crate::{
    hook_media::{MEDIA, put_media},
    mcp::client::Client,
};

/// A client of either era.
fn clients(world: &crate::world::World, args: &[&str], can: &Value) -> [Client; 2] {
    let mut old = Client::start(world, args);
    old.initialize("2025-11-25", can.clone());
    [old, Client::modern_with(world, args, can.clone())]
}

#[test]
fn pictures_sound_and_documents_pass_byte_for_byte_and_only_text_is_redacted() {
    let world = configured(YOLO);
    put_media(&world);
    let args = ["mcp", "--wrap", "--", "python3", "fake.py", "media"];
    for mut client in clients(&world, &args, &json!({})) {
        let result = client.call("media", json!({}));
        let text = result["content"].to_string();
        assert!(!text.contains("ABCDEFGHIJ012345") && text.contains("[redacted:"), "{text}");
        let block = |kind: &str| {
            let mut all = result["content"].as_array().unwrap().iter();
            all.find(|it| it["type"] == kind).unwrap_or_else(|| panic!("{kind}: {text}")).clone()
        };
        let sent = [
            block("image")["data"].clone(),
            block("resource")["resource"]["blob"].clone(),
            block("audio")["data"].clone(),
        ];
        for ((name, bytes), data) in MEDIA.iter().zip(sent) {
            assert_eq!(BASE64.decode(data.as_str().unwrap()).unwrap(), *bytes, "{name}");
        }
    }
}

#[test]
fn a_wrapped_server_says_itself_what_it_and_its_tools_are() {
    let world = configured(YOLO);
    let mut client = Client::start(&world, &["mcp", "--wrap", "--", "python3", "fake.py", "told"]);
    let said = client.initialize("2025-11-25", json!({}))["result"].clone();
    let info = json!({"name": "fake", "title": "The Fake", "version": "7.1"});
    assert_eq!(said["serverInfo"], info, "{said}");
    let words = said["instructions"].as_str().unwrap();
    assert!(words.starts_with("Say everything twice.\n\n"), "{words}");
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    let tool = |name: &str| {
        tools.as_array().unwrap().iter().find(|it| it["name"] == name).unwrap().clone()
    };
    let echo = json!({
        "name": "echo", "title": "Say it again", "description": "says it again",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
        "annotations": {
            "title": "Echo!", "readOnlyHint": true, "destructiveHint": false,
            "idempotentHint": true,
        },
    });
    assert_eq!(tool("echo"), echo);
    // Nothing is made up for a tool of which nothing is said.
    let pid = tool("pid");
    assert_eq!((&pid["title"], &pid["annotations"]), (&Value::Null, &Value::Null), "{pid}");
}

#[test]
fn a_server_that_calls_itself_harmless_is_judged_as_ever() {
    let world = configured("");
    let args = ["mcp", "--wrap", "--", "python3", "fake.py", "told"];
    let mut client = Client::modern_with(&world, &args, json!({}));
    assert!(listed(&mut client).contains(&"echo".to_owned()));
    let said = client.call("echo", json!({"text": "x"}));
    assert_eq!(said["isError"], true, "{said}");
}

#[test]
fn numbers_of_sampling_arrive_as_they_were_sent() {
    let world = configured(YOLO);
    let args = ["mcp", "--wrap", "--may", "sampling,roots", "--", "python3", "fake.py"];
    for mut client in clients(&world, &args, &json!({"sampling": {}})) {
        client.request("tools/call", json!({"name": "sample", "arguments": {}}));
        let asked = client.heard("a question", |it| it.to_string().contains("the capital?"));
        let text = asked.to_string();
        assert!(
            text.contains("\"temperature\":0.7,") || text.contains("\"temperature\":0.7}"),
            "{text}"
        );
        assert!(text.contains("\"costPriority\":0.3}"), "{text}");
    }
}
