//! What holds the program of a server, seen from inside.

use std::fs;

use serde_json::json;

use super::{behind, configured, entry, fails, kept, works};
use crate::{
    mcp::client::Client,
    world::{World, alive, wait_until},
};

#[test]
fn a_server_reads_the_workspace_and_writes_only_to_its_own_directory() {
    eclusa_testing::needs!(Namespaces);
    let world = behind(&[("fake", &[])]);
    world.write("workspace/plain.txt", "plain\n");
    world.write("workspace/.env", "TOKEN=x\n");
    let mut client = Client::modern(&world, json!({}));
    assert_eq!(works(&mut client, "mcp_fake_read", json!({"path": "plain.txt"})), "plain\n");
    let said = fails(&mut client, "mcp_fake_read", json!({"path": ".env"}));
    assert!(said.contains("PermissionError"), "{said}");
    let write = |path: &str| json!({"path": path, "text": "mine"});
    let said = fails(&mut client, "mcp_fake_write", write("plain.txt"));
    assert!(said.contains("Read-only"), "{said}");
    assert!(fails(&mut client, "mcp_fake_write", write("/etc/mine")).contains("Error"));
    works(&mut client, "mcp_fake_write", write("~/mine"));
    works(&mut client, "mcp_fake_write", write("/tmp/mine"));
    assert_eq!(kept(&world, "fake", "mine"), "mine");
    assert_eq!(world.read("workspace/plain.txt"), "plain\n");
    assert!(!std::path::Path::new("/tmp/mine").exists());
}

#[test]
fn a_server_sees_neither_our_log_nor_our_configuration_nor_another_servers_directory() {
    eclusa_testing::needs!(Namespaces);
    let world = behind(&[("fake", &[]), ("other", &[])]);
    let mut client = Client::modern(&world, json!({}));
    works(&mut client, "mcp_other_write", json!({"path": "~/secret", "text": "of other"}));
    let state = fs::read_dir(world.path("state/eclusa")).unwrap();
    let log = state.flatten().map(|it| it.path().join("eclusa.db")).find(|it| it.exists());
    for path in [
        log.unwrap(),
        world.path("state/eclusa/servers/fake.json"),
        world.path("state/eclusa-servers/other/secret"),
        world.path("config/eclusa/eclusa.toml"),
    ] {
        assert!(path.exists(), "{path:?}");
        fails(&mut client, "mcp_fake_read", json!({"path": path}));
    }
}

#[test]
fn the_workspace_is_hidden_read_or_written_as_configured() {
    for (word, reads, writes) in
        [("hidden", false, false), ("read", true, false), ("write", true, true)]
    {
        let world = World::with("");
        let home = world.path("state/eclusa-servers/fake");
        fs::create_dir_all(&home).unwrap();
        let script = world.write("state/eclusa-servers/fake/fake.py", super::FAKE);
        world.write(
            "config/eclusa/eclusa.toml",
            &format!(
                "mode = \"yolo\"\n[servers.fake]\ncommand = [\"python3\", {script:?}]\n\
                 workspace = \"{word}\"\n"
            ),
        );
        let file = world.write("workspace/file", "text");
        let mut client = Client::modern(&world, json!({}));
        let read = client.call("mcp_fake_read", json!({"path": file}));
        assert_eq!(read["isError"], !reads, "{word}: {read}");
        let new = world.path("workspace/new");
        let write = client.call("mcp_fake_write", json!({"path": new, "text": "x"}));
        assert_eq!(write["isError"], !writes, "{word}: {write}");
        assert_eq!(new.exists(), writes, "{word}");
    }
}

#[test]
fn a_server_gets_the_variables_that_are_named_and_a_home_of_its_own() {
    let config = format!("mode = \"yolo\"\n{}env = [\"FAKE_TOKEN\"]\n", entry("fake", &[]));
    let world = configured(&config);
    let ran = world.eclusa(&["servers", "test", "fake"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("`FAKE_TOKEN`, which is not set here"), "{ran:?}");
    let mut command = world.command(&["run", "mcp_fake_env", r#"{"text": "FAKE_TOKEN"}"#]);
    command.env("FAKE_TOKEN", "value-7").env("OTHER_TOKEN", "no");
    let out = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&out.stdout), "value-7\n", "{out:?}");
    let mut command = world.command(&["run", "mcp_fake_env", r#"{"text": "OTHER_TOKEN"}"#]);
    command.env("FAKE_TOKEN", "value-7").env("OTHER_TOKEN", "no");
    let out = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&out.stdout), "(not set)\n", "{out:?}");
}

#[test]
fn a_server_reaches_no_host_that_is_not_named_and_it_is_told_which_it_tried() {
    eclusa_testing::needs!(Namespaces);
    let world = behind(&[("fake", &[])]);
    let mut client = Client::modern(&world, json!({}));
    let fetch = json!({"text": "http://registry.example/x"});
    let said = fails(&mut client, "mcp_fake_fetch", fetch);
    assert!(said.contains("403"), "{said}");
    let said = fails(&mut client, "mcp_fake_crash", json!({}));
    assert!(
        said.contains("it was not let reach `registry.example:80`")
            || said.contains("it was not let reach `registry.example`"),
        "{said}"
    );
}

#[test]
fn what_holds_a_server_is_on_record_with_every_call() {
    eclusa_testing::needs!(Namespaces);
    let config =
        format!("mode = \"yolo\"\n{}{}sandbox = false\n", entry("held", &[]), entry("loose", &[]));
    let world = configured(&config);
    let mut client = Client::modern(&world, json!({}));
    works(&mut client, "mcp_held_pid", json!({}));
    let pid = works(&mut client, "mcp_loose_pid", json!({}));
    assert!(alive(&pid));
    client.close();
    wait_until("the server is gone", || !alive(&pid));
    let ended: Vec<_> = world.records().into_iter().filter(|it| it["event"] == "ended").collect();
    assert_eq!(ended[0]["sandbox"], "full", "{ended:?}");
    assert_eq!(ended[1]["sandbox"], "not held", "{ended:?}");
    let ran = world.eclusa(&["servers"]);
    let line = |name: &str| ran.out.lines().find(|it| it.starts_with(name)).unwrap().to_owned();
    assert!(line("loose").contains("NOT HELD") && !line("held").contains("NOT HELD"), "{ran:?}");
    assert!(world.eclusa(&["servers", "test", "loose"]).out.contains("held     not held"));
}

#[test]
fn servers_end_with_the_program_that_started_them() {
    for kill in [false, true] {
        let config =
            format!("mode = \"yolo\"\n{}workspace = \"write\"\n", entry("fake", &["note=pid"]));
        let world = configured(&config);
        let mut client = Client::modern(&world, json!({}));
        works(&mut client, "mcp_fake_pid", json!({}));
        let ours = client.child.id();
        let children = descendants(ours);
        assert!(!children.is_empty());
        match kill {
            true => client.child.kill().unwrap(),
            false => drop(client.close()),
        }
        wait_until("all are gone", || children.iter().all(|it| !alive(&it.to_string())));
    }
}

/// Everybody whom a process started, and whom they did.
fn descendants(pid: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let mut look = vec![pid];
    while let Some(pid) = look.pop() {
        let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { continue };
        for task in tasks.flatten() {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            for child in children.split_whitespace().filter_map(|it| it.parse().ok()) {
                found.push(child);
                look.push(child);
            }
        }
    }
    found
}

#[test]
fn a_program_beneath_tmp_is_found_although_the_sandbox_has_a_tmp_of_its_own() {
    let world = World::new();
    fs::create_dir(world.path("bin")).unwrap();
    let program = world.program("bin/fake", &format!("#!/usr/bin/env python3\n{}", super::FAKE));
    let config = format!("mode = \"yolo\"\n[servers.fake]\ncommand = [{program:?}]\n");
    world.write("config/eclusa/eclusa.toml", &config);
    world.write("workspace/plain.txt", "plain\n");
    let mut client = Client::modern(&world, json!({}));
    assert_eq!(works(&mut client, "mcp_fake_read", json!({"path": "plain.txt"})), "plain\n");
}
