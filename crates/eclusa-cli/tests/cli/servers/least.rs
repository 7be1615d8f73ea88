//! A machine that cannot hold a server as the policy wants: it is not started, and its tools say so.

use eclusa_sandbox::test_support;
use serde_json::json;

use super::{YOLO, configured, entry, fails, kept, works};
use crate::mcp::client::Client;

/// `crash=0` leaves a mark of each start in the server's own directory, and starts.
fn world(least: &str) -> crate::world::World {
    let least = format!("[commands]\nleast = \"{least}\"\n");
    configured(&format!("{YOLO}{}{least}", entry("fake", &["crash=0"])))
}

/// The filter holds for the thread of this test, and for whom it starts.
fn a_machine_without_namespaces() {
    test_support::namespaces().unwrap();
}

#[test]
fn a_server_that_would_be_held_in_part_is_not_started_where_all_is_wanted() {
    a_machine_without_namespaces();
    let world = world("full");
    let mut client = Client::modern(&world, json!({}));
    let said = fails(&mut client, "mcp_fake_echo", json!({"text": "x"}));
    assert!(said.contains("the server `fake` is down"), "{said}");
    assert!(said.contains("this machine would hold it only in part"), "{said}");
    assert!(said.contains("without namespaces"), "{said}");
    assert!(said.contains("`[commands] least` wants all"), "{said}");
    assert_eq!(kept(&world, "fake", "starts"), "", "it was not started");
    // The built-in tools are there all the same.
    super::settle(&mut client);
    let list = client.ask("tools/list", json!({})).to_string();
    assert!(list.contains("\"read\"") && !list.contains("mcp_fake_"), "{list}");
    drop(client);
    let ran = world.eclusa(&["servers", "test", "fake"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("`[commands] least` wants all"), "{ran:?}");
    assert_eq!(kept(&world, "fake", "starts"), "");
}

#[test]
fn a_server_that_is_held_in_part_runs_where_that_will_do_and_the_record_says_so() {
    a_machine_without_namespaces();
    let world = world("partial");
    let mut client = Client::modern(&world, json!({}));
    assert_eq!(works(&mut client, "mcp_fake_echo", json!({"text": "x"})), "x");
    assert_eq!(kept(&world, "fake", "starts"), "x");
    client.close();
    let ended = world.records().into_iter().find(|it| it["event"] == "ended").unwrap();
    let sandbox = ended["sandbox"].as_str().unwrap();
    assert!(sandbox.starts_with("partial, without namespaces"), "{sandbox}");
}

#[test]
fn a_server_that_nothing_would_hold_is_not_started() {
    a_machine_without_namespaces();
    test_support::landlock().unwrap();
    let world = world("partial");
    let mut client = Client::modern(&world, json!({}));
    let said = fails(&mut client, "mcp_fake_echo", json!({"text": "x"}));
    assert!(said.contains("the server `fake` is down"), "{said}");
    assert!(said.contains("this machine cannot hold it in a sandbox"), "{said}");
    assert_eq!(kept(&world, "fake", "starts"), "");
}
