//! Servers that crash, hang, talk nonsense or do not stop talking. Each fails alone, and says whose
//! tools they are.

use std::fs;

use serde_json::{Value, json};

use super::{behind, configured, entry, fails, kept, works};
use crate::{
    mcp::client::{Client, text},
    world::{alive, wait_until},
};

/// A client over a good server and one that behaves like this.
fn beside(words: &[&str], more: &str) -> (crate::world::World, Client) {
    let config = format!("mode = \"yolo\"\n{}{}{more}", entry("good", &[]), entry("bad", words));
    let world = configured(&config);
    let client = Client::modern(&world, json!({}));
    (world, client)
}

/// The good one is as good as ever.
fn unaffected(client: &mut Client) {
    assert_eq!(works(client, "mcp_good_echo", json!({"text": "fine"})), "fine");
}

#[test]
fn a_crash_at_the_start_is_told_with_the_last_words_and_tried_again() {
    let (world, mut client) = beside(&["crash"], "");
    unaffected(&mut client);
    let said = fails(&mut client, "mcp_bad_echo", json!({}));
    assert!(said.contains("`bad`") && said.contains("no licence for this machine"), "{said}");
    wait_until("it is started again", || kept(&world, "bad", "starts").len() >= 3);
    unaffected(&mut client);
}

#[test]
fn a_server_that_comes_up_at_the_third_start_works_from_then_on() {
    let (world, mut client) = beside(&["crash=2"], "");
    unaffected(&mut client);
    wait_until("it is up", || {
        client.call("mcp_bad_echo", json!({"text": "at last"}))["isError"] == false
    });
    assert_eq!(kept(&world, "bad", "starts"), "xxx");
}

#[test]
fn a_crash_in_a_call_names_the_server_and_the_next_call_finds_it_again() {
    let (_world, mut client) = beside(&[], "");
    let said = fails(&mut client, "mcp_bad_crash", json!({}));
    assert!(said.contains("the server `bad` ended while it worked on this call"), "{said}");
    assert!(said.contains("exit code 3") && said.contains("the engine is on fire"), "{said}");
    unaffected(&mut client);
    wait_until("it is back", || {
        client.call("mcp_bad_echo", json!({"text": "back"}))["isError"] == false
    });
}

#[test]
fn a_server_that_does_not_start_in_time_is_told_and_holds_nobody_up() {
    let (_world, mut client) = beside(&["hang"], "start = \"5s\"\n");
    unaffected(&mut client);
    let said = fails(&mut client, "mcp_bad_echo", json!({}));
    assert!(said.contains("`bad`") && said.contains("did not start within 5 s"), "{said}");
    assert!(said.contains("waiting for somebody who does not come"), "{said}");
}

#[test]
fn a_slow_start_is_waited_for() {
    let (_world, mut client) = beside(&["slow=2", "greeting"], "");
    assert_eq!(works(&mut client, "mcp_bad_echo", json!({"text": "late"})), "late");
}

#[test]
fn a_call_that_is_taken_back_is_taken_back_there_too() {
    let (world, mut client) = beside(&[], "");
    works(&mut client, "mcp_bad_echo", json!({"text": "up"}));
    let id = client.request("tools/call", json!({"name": "mcp_bad_hang", "arguments": {}}));
    wait_until("it has begun", || {
        world.records().iter().any(|it| it["event"] == "started" && it["tool"] == "mcp_bad_hang")
    });
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": id, "reason": "enough"}}));
    wait_until("the server has heard", || kept(&world, "bad", "cancelled") == "yes");
    assert_eq!(works(&mut client, "mcp_bad_echo", json!({"text": "same"})), "same");
}

#[test]
fn a_call_that_takes_too_long_ends_and_is_taken_back_there() {
    let (world, mut client) = beside(&[], "\n[limits]\ntime = \"3s\"\n");
    // A call that waits for the start of its server on a busy machine may take too long as well.
    for name in ["mcp_bad_echo", "mcp_good_echo"] {
        wait_until("it is up", || client.call(name, json!({"text": "up"}))["isError"] == false);
    }
    let said = fails(&mut client, "mcp_bad_hang", json!({}));
    assert!(said.contains("3 s"), "{said}");
    wait_until("the server has heard", || kept(&world, "bad", "cancelled") == "yes");
    unaffected(&mut client);
}

#[test]
fn garbage_on_the_pipe_is_given_up_on() {
    let (_world, mut client) = beside(&["garbage"], "");
    unaffected(&mut client);
    let said = fails(&mut client, "mcp_bad_echo", json!({}));
    assert!(said.contains("`bad`") && said.contains("lines that are not messages"), "{said}");
}

#[test]
fn half_a_message_is_no_answer() {
    let (_world, mut client) = beside(&[], "");
    let said = fails(&mut client, "mcp_bad_half", json!({}));
    assert!(said.contains("the server `bad` ended"), "{said}");
    unaffected(&mut client);
}

#[test]
fn a_line_without_end_is_not_kept() {
    let (_world, mut client) = beside(&[], "");
    works(&mut client, "mcp_bad_echo", json!({"text": "up"}));
    let said = fails(&mut client, "mcp_bad_huge", json!({}));
    assert!(said.contains("it sent a message of over"), "{said}");
    let (peak, _) = used(&client, "VmHWM:");
    assert!(peak < 250 << 10, "{peak} kB at the most");
    unaffected(&mut client);
}

#[test]
fn a_flood_of_notifications_ends_and_the_answer_comes() {
    let (_world, mut client) = beside(&[], "");
    assert_eq!(works(&mut client, "mcp_bad_flood", json!({})), "done");
    unaffected(&mut client);
}

#[test]
fn a_failure_of_the_tool_is_a_failure_here() {
    let (_world, mut client) = beside(&[], "");
    let said = fails(&mut client, "mcp_bad_fail", json!({}));
    assert!(said.contains("`bad`") && said.contains("the disk is full"), "{said}");
}

#[test]
fn tools_that_come_later_are_there_later() {
    let world = behind(&[("bad", &[])]);
    let mut client = Client::modern(&world, json!({}));
    works(&mut client, "mcp_bad_more", json!({}));
    wait_until("the tool is there", || {
        client.ask("tools/list", json!({})).to_string().contains("mcp_bad_grown")
    });
}

#[test]
fn when_the_client_goes_away_in_a_call_the_server_dies_and_the_record_says_so() {
    let world = behind(&[("fake", &[])]);
    let mut client = Client::modern(&world, json!({}));
    let config = world.read("config/eclusa/eclusa.toml");
    assert!(!config.contains("sandbox"));
    works(&mut client, "mcp_fake_echo", json!({"text": "up"}));
    client.request("tools/call", json!({"name": "mcp_fake_hang", "arguments": {}}));
    wait_until("it has begun", || {
        world.records().iter().any(|it| it["event"] == "started" && it["tool"] == "mcp_fake_hang")
    });
    let pid = client.child.id().to_string();
    let (status, _) = client.close();
    assert_eq!(status.code(), Some(0));
    assert!(!alive(&pid));
    let ended: Vec<Value> = world
        .records()
        .into_iter()
        .filter(|it| it["event"] == "ended" && it["code"] == "cancelled")
        .collect();
    assert_eq!(ended.len(), 1, "{ended:?}");
}

#[test]
fn two_hundred_calls_at_once_get_two_hundred_answers_from_a_server() {
    let world = behind(&[("fake", &[])]);
    let mut client = Client::modern(&world, json!({}));
    let ids: Vec<u64> = (0..200)
        .map(|it| {
            let args = json!({"text": format!("call {it}")});
            client.request("tools/call", json!({"name": "mcp_fake_echo", "arguments": args}))
        })
        .collect();
    for (at, id) in ids.into_iter().enumerate() {
        assert_eq!(text(&client.answer(id)["result"]), format!("call {at}"));
    }
    assert_eq!(world.eclusa(&["log", "verify"]).code, 0);
}

#[test]
fn two_clients_on_one_workspace_have_a_server_each() {
    let world = behind(&[("fake", &[])]);
    let mut clients =
        [Client::modern(&world, json!({})), Client::legacy(&world, "2025-06-18", json!({}))];
    for client in &mut clients {
        assert_eq!(works(client, "mcp_fake_echo", json!({"text": "both"})), "both");
    }
    let [mut first, second] = clients;
    second.close();
    assert_eq!(works(&mut first, "mcp_fake_echo", json!({"text": "still"})), "still");
    first.close();
    assert_eq!(world.eclusa(&["log", "verify"]).code, 0);
}

#[test]
fn thousands_of_calls_of_a_server_leave_nothing_behind() {
    let config = format!(
        "mode = \"yolo\"\n[audit]\ndurability = \"crash\"\n{}",
        entry("fake", &["threads=no"])
    );
    let world = configured(&config);
    let mut client = Client::modern(&world, json!({}));
    let rounds = |client: &mut Client, rounds: usize| {
        for _ in 0..rounds {
            let echo = json!({"name": "mcp_fake_echo", "arguments": {"text": "x"}});
            let ids: Vec<u64> =
                (0..100).map(|_| client.request("tools/call", echo.clone())).collect();
            for id in ids {
                assert_eq!(text(&client.answer(id)["result"]), "x");
            }
        }
    };
    rounds(&mut client, 20);
    let (memory, files) = used(&client, "VmRSS:");
    rounds(&mut client, 80);
    let (later, _) = used(&client, "VmRSS:");
    assert!(later < memory + (16 << 10), "{memory} kB, then {later} kB");
    // What the last calls had open is closed a moment after their answers.
    wait_until("no file is left open", || used(&client, "VmRSS:").1 <= files + 2);
}

/// Memory in kB and descriptors of our process.
fn used(client: &Client, which: &str) -> (u64, usize) {
    let proc = format!("/proc/{}", client.child.id());
    let status = fs::read_to_string(format!("{proc}/status")).unwrap();
    let memory = status.lines().find_map(|it| it.strip_prefix(which)).unwrap().trim();
    let memory: u64 = memory.trim_end_matches(" kB").trim().parse().unwrap();
    (memory, fs::read_dir(format!("{proc}/fd")).unwrap().count())
}
