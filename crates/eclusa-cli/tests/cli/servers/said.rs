//! What a server says and asks by the way: who hears it, and whose words they are.

use serde_json::{Value, json};

use super::{YOLO, behind, configured, entry, fails, works};
use crate::{
    mcp::client::Client,
    world::{World, wait_until},
};

fn is_message(it: &Value) -> bool {
    it["method"] == "notifications/message"
}

/// Has a server say something of every level once the call is over, and waits until it has.
fn talks(world: &World, client: &mut Client, server: &str, words: &str) {
    let said = works(client, &format!("mcp_{server}_talk"), json!({"text": words}));
    assert_eq!(said, "later");
    let now = world.write(&format!("state/eclusa-servers/{server}/now"), "");
    wait_until("it was said", || !now.exists());
}

#[test]
fn what_a_server_says_outside_of_calls_is_heard_by_who_listens_and_secrets_are_not() {
    let world = behind(&[("fake", &[])]);
    let mut client = Client::legacy(&world, "2025-11-25", json!({}));
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    talks(&world, &mut client, "fake", &token);
    let said = client.heard("a message", is_message);
    let said = &said["params"];
    assert_eq!((&said["level"], &said["logger"]), (&json!("warning"), &json!("fake/engine")));
    let data = said["data"].as_str().unwrap();
    assert!(data.starts_with("warning: ") && !data.contains(&token), "{said}");
    assert_eq!(client.heard("the last", is_message)["params"]["level"], "error");
    // Not what is below the level, before or after it was set. What comes last is at the level, and
    // all take the same way: once it is there, nothing else is going to come.
    client.ask("logging/setLevel", json!({"level": "error"}));
    talks(&world, &mut client, "fake", "quiet");
    assert_eq!(client.heard("the last", is_message)["params"]["data"], "error: quiet");
    client.ask("logging/setLevel", json!({"level": "debug"}));
    talks(&world, &mut client, "fake", "loud");
    for level in ["debug", "warning", "error"] {
        let said = client.heard(level, is_message);
        assert_eq!(said["params"]["data"], format!("{level}: loud"));
    }
    assert!(!client.rest().iter().any(is_message));
}

/// Hole 18: nobody has to guess that another server said it, and its words drive no terminal.
/// Shows H18.
#[test]
fn what_a_server_answers_is_marked_as_coming_from_outside() {
    let world = behind(&[("fake", &[])]);
    let mut client = Client::legacy(&world, "2025-11-25", json!({}));
    let result = client.call("mcp_fake_echo", json!({"text": "a\u{1b}[31m\u{202e}b"}));
    assert_eq!(result["isError"], false, "{result}");
    assert_eq!(result["_meta"]["eclusa/outside"], json!({"server": "fake"}), "{result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
}

#[test]
fn a_server_that_may_not_log_is_not_heard_outside_of_calls_either() {
    let config = format!("{YOLO}{}may = []\n{}", entry("mute", &[]), entry("fake", &[]));
    let world = configured(&config);
    let mut client = Client::legacy(&world, "2025-06-18", json!({}));
    talks(&world, &mut client, "mute", "x");
    // Its answer comes after its words, so they have been read.
    works(&mut client, "mcp_mute_echo", json!({"text": "x"}));
    talks(&world, &mut client, "fake", "x");
    for level in ["warning", "error"] {
        let said = client.heard(level, is_message);
        assert_eq!(said["params"]["logger"], "fake/engine");
        assert_eq!(said["params"]["level"], level);
    }
    assert!(!client.rest().iter().any(is_message));
}

#[test]
fn who_wants_the_clients_model_is_named() {
    let config = format!("{YOLO}{}may = [\"sampling\"]\n", entry("fake", &[]));
    let world = configured(&config);
    let mut client = Client::legacy(&world, "2025-11-25", json!({"sampling": {}}));
    let id = client.request("tools/call", json!({"name": "mcp_fake_sample", "arguments": {}}));
    let asked = client.asked("sampling/createMessage");
    let params = &asked["params"];
    assert_eq!(
        params["systemPrompt"],
        "The MCP server `fake` asks for this. It says:\n\nBe brief."
    );
    assert_eq!(params["messages"][0]["content"]["text"], "the capital?");
    // No server gets the words of another.
    assert_eq!(params.get("includeContext"), None, "{params}");
    let answer =
        json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "Paris"}});
    client.reply(&asked, answer);
    assert_eq!(client.answer(id)["result"]["content"][0]["text"], "Paris");
}

#[test]
fn who_sends_the_person_to_an_address_is_named_and_needs_no_number_for_it() {
    let world = behind(&[("fake", &["modern"])]);
    let can = json!({"elicitation": {"url": {}}});
    let call = |url: &str| json!({"name": "mcp_fake_visit", "arguments": {"text": url}});
    let asks = |it: &Value| {
        assert_eq!(it["message"], "fake asks: log in there", "{it}");
        assert_eq!(it["url"], "https://a.example/login", "{it}");
    };

    let mut client = Client::modern(&world, can.clone());
    let mut again = call("https://a.example/login");
    let asked = client.ask("tools/call", again.clone());
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    asks(&asked["result"]["inputRequests"]["go"]["params"]);
    again["inputResponses"] = json!({"go": {"action": "accept"}});
    again["requestState"] = asked["result"]["requestState"].clone();
    assert_eq!(client.ask("tools/call", again)["result"]["content"][0]["text"], "accept");
    for url in ["javascript:alert(1)", "file:///etc/passwd", "https://a.example/\u{202e}gro.knab"] {
        let refused = client.ask("tools/call", call(url));
        assert_eq!(refused["result"]["isError"], true, "{refused}");
        let said = refused["result"]["content"][0]["text"].as_str().unwrap();
        assert!(said.contains("not a readable web address"), "{said}");
    }
    drop(client);

    // In the older era each has one.
    let mut client = Client::legacy(&world, "2025-11-25", can);
    let id = client.request("tools/call", call("https://a.example/login"));
    let asked = client.asked("elicitation/create");
    asks(&asked["params"]);
    assert!(asked["params"]["elicitationId"].is_string(), "{asked}");
    client.reply(&asked, json!({"action": "decline"}));
    assert_eq!(client.answer(id)["result"]["content"][0]["text"], "decline");
    drop(client);

    // Who cannot be sent anywhere is not.
    let mut client = Client::modern(&world, json!({"elicitation": {}}));
    let refused = client.ask("tools/call", call("https://a.example/login"));
    let said = refused["result"]["content"][0]["text"].as_str().unwrap();
    assert!(said.contains("the client cannot be asked this"), "{said}");
}

/// A rule that allows a server does not hold once its own text has come in. The refusal names the
/// words that would help, and they do.
/// Shows D17.
#[test]
fn a_refusal_after_text_from_outside_says_what_would_help() {
    let rule = "[[rules]]\ndecision = \"allow\"\nserver = \"fake\"\n";
    let echo = |client: &mut Client| client.call("mcp_fake_echo", json!({"text": "x"}));
    let world = configured(&format!("{rule}{}", entry("fake", &[])));
    let mut client = Client::modern(&world, json!({}));
    works(&mut client, "mcp_fake_echo", json!({"text": "first"}));
    let said = fails(&mut client, "mcp_fake_echo", json!({"text": "second"}));
    assert!(said.contains("`tainted = true`") && said.contains("`trusted = true`"), "{said}");
    for config in [
        format!("{rule}tainted = true\n{}", entry("fake", &[])),
        format!("{rule}{}trusted = true\n", entry("fake", &[])),
    ] {
        let world = configured(&config);
        let mut client = Client::modern(&world, json!({}));
        for _ in 0..2 {
            assert_eq!(echo(&mut client)["isError"], false, "{config}");
        }
    }
}
