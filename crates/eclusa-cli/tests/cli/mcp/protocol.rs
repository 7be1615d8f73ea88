//! Both eras of the protocol on one pipe.

use serde_json::{Value, json};

use super::client::{Client, text};
use crate::world::World;

const MODERN: &str = "2026-07-28";

#[test]
fn mcp_older_clients_begin_with_initialize() {
    for version in ["2025-06-18", "2025-11-25"] {
        let world = World::new();
        let mut client = Client::start(&world, &["mcp"]);
        let answer = client.initialize(version, json!({}));
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["serverInfo"]["name"], "eclusa");
        assert_eq!(result["capabilities"]["tools"]["listChanged"], true);
        assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
        let result = client.call("echo", json!({"text": "hello"}));
        assert_eq!((text(&result), &result["isError"]), ("hello", &json!(false)));
        // The older era knows no result types.
        assert_eq!(result.get("resultType"), None);
    }
}

#[test]
fn mcp_newer_clients_begin_with_whatever_they_want() {
    let world = World::new();
    let mut client = Client::modern(&world, json!({}));
    let result = client.call("echo", json!({"text": "hello"}));
    assert_eq!((text(&result), &result["resultType"]), ("hello", &json!("complete")));
    let found = &client.ask("server/discover", json!({}))["result"];
    let versions: Vec<&str> =
        found["supportedVersions"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(["2025-06-18", "2025-11-25", MODERN].iter().all(|it| versions.contains(it)));
    assert!(found["ttlMs"].is_u64() && found["cacheScope"].is_string(), "{found}");
    let listed = &client.ask("tools/list", json!({}))["result"];
    assert!(listed["ttlMs"].is_u64() && listed["resultType"] == "complete", "{listed}");
    // What the newer era has done away with is gone.
    assert_eq!(client.ask("ping", json!({}))["error"]["code"], -32601);
}

#[test]
fn mcp_a_client_may_change_its_mind_between_the_eras() {
    // Claude Code sends `initialize` while its `server/discover` is under way, and then takes
    // whichever it likes.
    let world = World::new();
    let mut client = Client::modern(&world, json!({}));
    let discover = client.request("server/discover", json!({}));
    let mut legacy = json!({"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }});
    client.send(&legacy.take());
    assert!(client.answer(discover)["result"].is_object());
    let agreed = client.heard("initialize", |it| it["id"] == "init");
    assert_eq!(agreed["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(text(&client.call("echo", json!({"text": "modern"}))), "modern");
    client.send(&json!({"jsonrpc": "2.0", "id": "old", "method": "tools/call",
        "params": {"name": "echo", "arguments": {"text": "legacy"}}}));
    let old = client.heard("the older call", |it| it["id"] == "old");
    assert_eq!(text(&old["result"]), "legacy");
    assert_eq!(old["result"].get("resultType"), None);
}

#[test]
fn mcp_errors_are_those_of_the_protocol() {
    let world = World::new();
    let mut client = Client::modern(&world, json!({}));
    let table = [
        ("tools/call", json!({"name": "reed", "arguments": {}}), -32602, "read"),
        ("tools/call", json!({"arguments": {}}), -32602, "tools/call"),
        ("tools/list", json!({"cursor": "7"}), -32602, "cursor"),
        ("resources/read", json!({"uri": "eclusa://output/none"}), -32602, "no saved output"),
        ("resources/read", json!({"uri": "file:///etc/passwd"}), -32602, "not a resource"),
        ("no/such", json!({}), -32601, "no/such"),
        ("prompts/get", json!({"name": "nobody"}), -32602, "no prompt `nobody`"),
        (
            "completion/complete",
            json!({
                "ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": "b"},
            }),
            -32602,
            "no `x`",
        ),
    ];
    for (method, params, code, words) in table {
        let error = client.ask(method, params)["error"].clone();
        assert_eq!(error["code"], code, "{method}: {error}");
        assert!(error["message"].as_str().unwrap().contains(words), "{method}: {error}");
    }
    // A request of the newer era says what its client can do.
    client.send(&json!({"jsonrpc": "2.0", "id": "bare", "method": "tools/list",
        "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": MODERN}}}));
    assert_eq!(client.heard("bare", |it| it["id"] == "bare")["error"]["code"], -32602);
    client.send(
        &json!({"jsonrpc": "2.0", "id": "far", "method": "tools/list", "params": {"_meta": {
            "io.modelcontextprotocol/protocolVersion": "2099-01-01",
            "io.modelcontextprotocol/clientCapabilities": {},
        }}}),
    );
    let far = client.heard("far", |it| it["id"] == "far");
    assert_eq!(far["error"]["code"], -32022);
    assert!(far["error"]["data"]["supported"].as_array().unwrap().contains(&json!(MODERN)));
}

#[test]
fn mcp_wrong_arguments_are_told_to_the_model() {
    let world = World::new();
    let mut client = Client::modern(&world, json!({}));
    for args in [json!({"text": 7}), json!("text"), json!([])] {
        let answer = client.ask("tools/call", json!({"name": "echo", "arguments": args}));
        let result = &answer["result"];
        assert_eq!(result["isError"], true, "{answer}");
        assert!(!text(result).is_empty());
    }
    // Each of them is on record, with the door it came through.
    let records = world.records();
    assert_eq!(records.iter().filter(|it| it["origin"] == "mcp").count(), 3, "{records:?}");
}

#[test]
fn mcp_a_configuration_that_cannot_be_used_is_told_to_the_client_and_ends_in_2() {
    let world = World::with("mode = \"careless\"\n");
    let mut client = Client::modern(&world, json!({}));
    assert!(client.ask("server/discover", json!({}))["result"].is_object());
    let error = client.ask("tools/list", json!({}))["error"].clone();
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("eclusa cannot work here") && message.contains("careless"), "{error}");
    assert_eq!(client.close().0.code(), Some(2));
}
