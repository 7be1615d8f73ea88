//! Servers that are beyond measure: too many tools, too long texts, no end of noise.

use std::fs;

use serde_json::json;

use super::{behind, fails, works};
use crate::{
    mcp::client::{Client, text},
    world::wait_until,
};

/// Memory of our process, in kB.
fn peak(client: &Client) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", client.child.id())).unwrap();
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse().unwrap()
}

#[test]
fn a_server_with_ten_thousand_tools_has_none_and_holds_nobody_up() {
    let world = behind(&[("good", &[]), ("bad", &["extra=10000"])]);
    let mut client = Client::modern(&world, json!({}));
    let said = fails(&mut client, "mcp_bad_echo", json!({}));
    assert!(said.contains("`bad`") && said.contains("more than 1000"), "{said}");
    assert_eq!(works(&mut client, "mcp_good_echo", json!({"text": "fine"})), "fine");
}

#[test]
fn a_description_of_five_megabytes_is_one_tool_less() {
    let world = behind(&[("fake", &["long=5000000"])]);
    let mut client = Client::modern(&world, json!({}));
    assert_eq!(works(&mut client, "mcp_fake_echo", json!({"text": "fine"})), "fine");
    super::settle(&mut client);
    let list = client.ask("tools/list", json!({})).to_string();
    assert!(!list.contains("mcp_fake_long") && list.len() < 1 << 20, "{}", list.len());
    assert!(peak(&client) < 200 << 10, "{} kB", peak(&client));
    let ran = world.eclusa(&["servers", "test", "fake"]);
    assert!(ran.out.contains("! long: it cannot be had: its definition has 50"), "{ran:?}");
}

#[test]
fn noise_without_end_on_standard_error_is_heard_and_forgotten() {
    let world = behind(&[("fake", &["screams"])]);
    let mut client = Client::modern(&world, json!({}));
    works(&mut client, "mcp_fake_echo", json!({"text": "up"}));
    let before = peak(&client);
    // Memory for what was heard would be seen: the server has said 32 MB more, and a pipe holds less
    // than one.
    let screamed = || super::kept(&world, "fake", "screamed").len();
    let already = screamed();
    wait_until("32 MB were taken", || screamed() >= already + 4);
    assert_eq!(works(&mut client, "mcp_fake_echo", json!({"text": "still"})), "still");
    assert!(peak(&client) < before + (16 << 10), "{before} kB, then {} kB", peak(&client));
}

#[test]
fn a_list_that_changes_without_end_is_not_read_without_end() {
    let world = behind(&[("fake", &["restless", "threads=no"])]);
    let mut client = Client::modern(&world, json!({}));
    for round in 0..20 {
        let said = format!("call {round}");
        assert_eq!(works(&mut client, "mcp_fake_echo", json!({"text": said})), said);
    }
}

#[test]
fn a_call_goes_on_while_the_list_changes() {
    let world = behind(&[("fake", &[])]);
    let mut client = Client::modern(&world, json!({}));
    works(&mut client, "mcp_fake_echo", json!({"text": "up"}));
    let slow = client.request("tools/call", json!({"name": "mcp_fake_hang", "arguments": {}}));
    works(&mut client, "mcp_fake_more", json!({}));
    wait_until("the tool is there", || {
        client.ask("tools/list", json!({})).to_string().contains("mcp_fake_grown")
    });
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": slow, "reason": "enough"}}));
    wait_until("it was taken back", || super::kept(&world, "fake", "cancelled") == "yes");
    assert_eq!(works(&mut client, "mcp_fake_grown", json!({})), "called grown");
}

#[test]
fn answers_to_nothing_and_second_answers_are_passed_over() {
    let world = behind(&[("fake", &[])]);
    let mut client = Client::modern(&world, json!({}));
    for _ in 0..3 {
        let result = client.call("mcp_fake_stray", json!({}));
        assert_eq!(text(&result), "first", "{result}");
    }
    assert_eq!(works(&mut client, "mcp_fake_echo", json!({"text": "still"})), "still");
}
