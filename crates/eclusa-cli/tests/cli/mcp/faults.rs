//! Clients that go away, say half a word, say too much, or come in numbers.

use std::io::Write;

use serde_json::{Value, json};

use super::client::{Client, SLOW, asks, text};
use crate::world::{World, alive, wait_until};

#[test]
fn mcp_when_the_client_goes_away_its_command_dies_and_the_record_says_so() {
    let world = World::with(SLOW);
    let mut client = Client::modern(&world, json!({}));
    client.request("tools/call", json!({"name": "slow", "arguments": {}}));
    wait_until("the tool runs", || !world.read("workspace/pid").is_empty());
    let (status, _) = client.close();
    assert_eq!(status.code(), Some(0));
    wait_until("the tool has ended", || !alive(&world.read("workspace/pid")));
    let ended = world.records().into_iter().find(|it| it["code"] == "cancelled");
    assert!(ended.is_some(), "{:?}", world.records());
}

#[test]
fn mcp_a_question_that_nobody_comes_back_for_is_on_record_when_the_client_goes() {
    for legacy in [true, false] {
        let world = World::new();
        let mut client = match legacy {
            true => Client::legacy(&world, "2025-11-25", asks()),
            false => Client::modern(&world, asks()),
        };
        let id = client.request("tools/call", json!({"name": "note", "arguments": {"text": "x"}}));
        match legacy {
            true => drop(client.asked("elicitation/create")),
            false => drop(client.answer(id)),
        }
        client.close();
        let ended: Vec<Value> =
            world.records().into_iter().filter(|it| it["event"] == "ended").collect();
        let [ended] = ended.as_slice() else { panic!("{ended:?}") };
        assert_eq!(ended["code"], "changes_discarded");
        assert_eq!(ended["changes"]["approval"]["answer"], "cancelled");
        assert_eq!(world.read("workspace/notes.txt"), "");
    }
}

#[test]
fn mcp_whoever_writes_and_closes_still_gets_its_answers() {
    let world = World::new();
    let mut client = Client::legacy(&world, "2025-11-25", json!({}));
    let echo = json!({"name": "echo", "arguments": {"text": "hello"}});
    let ids: Vec<u64> = (0..5).map(|_| client.request("tools/call", echo.clone())).collect();
    let (status, said) = client.close();
    assert_eq!(status.code(), Some(0));
    for id in ids {
        assert!(said.iter().any(|it| it["id"] == id && text(&it["result"]) == "hello"), "{said:?}");
    }
}

#[test]
fn mcp_what_is_no_message_is_answered_and_passed_over() {
    let world = World::new();
    let mut client = Client::modern(&world, json!({}));
    let table: [(&[u8], i64); 5] = [
        (b"hello?\n", -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\n", -32700),
        (b"\xff\xfe\x00\n", -32700),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]\n", -32600),
        (b"{\"id\":7}\n", -32600),
    ];
    for (bytes, code) in table {
        client.write(bytes);
        let error = client.heard("a complaint", |it| it.get("error").is_some());
        assert_eq!(error["error"]["code"], code, "{error}");
    }
    // Empty lines, a mark at the start, carriage returns, notifications that nobody knows.
    client.write(b"\n\r\n");
    client.write(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unheard-of\"}\n");
    client.write(
        "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":\"bom\",\"method\":\"nothing\"}\r\n".as_bytes(),
    );
    assert_eq!(client.heard("bom", |it| it["id"] == "bom")["error"]["code"], -32601);
    // Half a message, and its other half.
    client.write(b"{\"jsonrpc\":\"2.0\",\"id\":\"half\",\"met");
    client.write(b"hod\":\"nothing\"}\n");
    assert_eq!(client.heard("half", |it| it["id"] == "half")["error"]["code"], -32601);
    assert_eq!(text(&client.call("echo", json!({"text": "fine"}))), "fine");
    // Half a message, and then nothing.
    client.write(b"{\"jsonrpc\":\"2.0\",\"id\":\"never\",\"met");
    let (status, said) = client.close();
    assert_eq!((status.code(), said), (Some(0), Vec::new()));
}

#[test]
fn mcp_a_line_without_end_is_not_kept() {
    let world = World::new();
    let mut client = Client::modern(&world, json!({}));
    assert_eq!(text(&client.call("echo", json!({"text": "before"}))), "before");
    // A gigabyte; the server reads it and forgets it.
    let block = vec![b'x'; 1 << 20];
    for _ in 0..1024 {
        client.write(&block);
    }
    let memory = std::fs::read_to_string(format!("/proc/{}/status", client.child.id())).unwrap();
    let peak = memory.lines().find_map(|it| it.strip_prefix("VmHWM:")).unwrap().trim();
    let peak: u64 = peak.trim_end_matches(" kB").trim().parse().unwrap();
    client.write(b"\n");
    let error = client.heard("a complaint", |it| it.get("error").is_some());
    assert_eq!(error["error"]["code"], -32600);
    assert!(peak < 200 << 10, "{peak} kB at the most");
    assert_eq!(text(&client.call("echo", json!({"text": "after"}))), "after");
}

#[test]
fn mcp_two_hundred_calls_at_once_get_two_hundred_answers() {
    let world = World::new();
    let mut client = Client::modern(&world, json!({}));
    let ids: Vec<u64> = (0..200)
        .map(|it| {
            let args = json!({"text": format!("call {it}")});
            client.request("tools/call", json!({"name": "echo", "arguments": args}))
        })
        .collect();
    for (at, id) in ids.into_iter().enumerate() {
        assert_eq!(text(&client.answer(id)["result"]), format!("call {at}"));
    }
    assert_eq!(client.rest(), Vec::<Value>::new());
    drop(client);
    assert_eq!(world.records().iter().filter(|it| it["event"] == "ended").count(), 200);
    assert_eq!(world.eclusa(&["log", "verify"]).code, 0);
}

#[test]
fn mcp_two_clients_share_a_workspace_and_its_log() {
    let world = World::with("mode = \"yolo\"\n");
    let mut clients =
        [Client::modern(&world, json!({})), Client::legacy(&world, "2025-11-25", json!({}))];
    for round in 0..10 {
        for client in &mut clients {
            client.request(
                "tools/call",
                json!({"name": "note", "arguments": {"text": round.to_string()}}),
            );
        }
        for client in &mut clients {
            let result = client.call("echo", json!({"text": "both"}));
            assert_eq!(text(&result), "both");
        }
    }
    for client in clients {
        client.close();
    }
    assert_eq!(world.eclusa(&["log", "verify"]).code, 0);
}

#[test]
fn mcp_a_client_that_does_not_read_holds_nobody_else_up() {
    let world = World::new();
    let mut deaf = world.command(&["mcp"]);
    deaf.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut deaf = deaf.spawn().unwrap();
    let mut stdin = deaf.stdin.take().unwrap();
    let line = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    for _ in 0..50 {
        writeln!(stdin, "{line}").unwrap();
    }
    let mut client = Client::modern(&world, json!({}));
    assert_eq!(text(&client.call("echo", json!({"text": "hello"}))), "hello");
    drop((stdin, deaf.stdout.take()));
    assert!(deaf.wait().unwrap().code().is_some());
}

#[test]
fn mcp_ten_thousand_calls_leave_nothing_behind() {
    let world = World::with("[audit]\ndurability = \"crash\"\n");
    let mut client = Client::modern(&world, json!({}));
    let rounds = |client: &mut Client, rounds: usize| {
        for _ in 0..rounds {
            let echo = json!({"name": "echo", "arguments": {"text": "x"}});
            let ids: Vec<u64> =
                (0..100).map(|_| client.request("tools/call", echo.clone())).collect();
            for id in ids {
                assert_eq!(text(&client.answer(id)["result"]), "x");
            }
        }
    };
    let used = |client: &Client| {
        let proc = format!("/proc/{}", client.child.id());
        let status = std::fs::read_to_string(format!("{proc}/status")).unwrap();
        let memory = status.lines().find_map(|it| it.strip_prefix("VmRSS:")).unwrap().trim();
        let memory: u64 = memory.trim_end_matches(" kB").trim().parse().unwrap();
        (memory, std::fs::read_dir(format!("{proc}/fd")).unwrap().count())
    };
    rounds(&mut client, 20);
    let (memory, files) = used(&client);
    rounds(&mut client, 80);
    // What the last calls had open is closed a moment after their answers.
    wait_until("no file is left open", || used(&client).1 <= files);
    let (later, _) = used(&client);
    assert!(later < memory + (16 << 10), "{memory} kB grew to {later} kB");
}

#[test]
fn mcp_a_client_that_stops_reading_for_good_is_gone() {
    let world = World::with(SLOW);
    let mut command = world.command(&["mcp"]);
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let slow = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "slow", "arguments": {}, "_meta": meta}});
    writeln!(stdin, "{slow}").unwrap();
    wait_until("the tool runs", || !world.read("workspace/pid").is_empty());
    // Its other end stays open, but there is nobody to answer.
    drop(child.stdout.take());
    let list =
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"_meta": meta}});
    writeln!(stdin, "{list}").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    wait_until("the tool has ended", || !alive(&world.read("workspace/pid")));
    assert!(world.records().iter().any(|it| it["code"] == "cancelled"));
}
