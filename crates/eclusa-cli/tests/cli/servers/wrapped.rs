//! `eclusa mcp --wrap`: one server in one line.

use serde_json::json;

use super::{YOLO, configured, fails, listed, works};
use crate::{mcp::client::Client, world::wait_until};

#[test]
fn a_wrapped_server_is_there_alone_and_under_a_name_of_its_own() {
    let world = configured(YOLO);
    let args = ["mcp", "--wrap", "--", "python3", "fake.py", "extra=60"];
    let mut client = Client::modern_with(&world, &args, json!({}));
    let names = listed(&mut client);
    assert!(names.iter().any(|it| it.ends_with("echo")), "{names:?}");
    assert!(!names.contains(&"bash".to_owned()), "{names:?}");
    // All of them: there is nothing to search with.
    assert!(names.iter().filter(|it| it.contains("extra_")).count() == 60, "{names:?}");
    assert_eq!(works(&mut client, "echo", json!({"text": "plain"})), "plain");
    drop(client);
    let records = world.records();
    assert!(records.iter().any(|it| it["tool"] == "mcp_fake_echo"), "{records:?}");
}

#[test]
fn a_wrapped_server_gets_what_the_line_says_and_no_more() {
    eclusa_testing::needs!(Namespaces);
    let world = configured(YOLO);
    let words = "mcp --wrap --name other --access write --env LINE -- python3 fake.py";
    let mut command = world.command(&words.split(' ').collect::<Vec<_>>());
    command.env("LINE", "told");
    let mut client = Client::of(command);
    client.speak_modern(json!({}));
    assert_eq!(works(&mut client, "env", json!({"text": "LINE"})), "told");
    works(&mut client, "write", json!({"path": "new", "text": "x"}));
    assert_eq!(world.read("workspace/new"), "x");
    assert!(fails(&mut client, "fetch", json!({"text": "http://a.example/"})).contains("403"));
    drop(client);
    assert!(world.records().iter().any(|it| it["tool"] == "mcp_other_env"));
}

#[test]
fn two_servers_that_are_called_the_same_are_not_the_same() {
    let world = configured(YOLO);
    let start = |words: &[&str]| {
        let args = [&["mcp", "--wrap", "--", "python3", "fake.py"][..], words].concat();
        Client::modern_with(&world, &args, json!({}))
    };
    works(&mut start(&[]), "write", json!({"path": "~/mine", "text": "of the first"}));
    let mut other = start(&["description=another"]);
    assert_eq!(works(&mut other, "echo", json!({"text": "runs"})), "runs");
    fails(&mut other, "read", json!({"path": "~/mine"}));
}

#[test]
fn a_wrapped_server_that_says_something_else_is_reviewed_by_its_command() {
    let world = configured(YOLO);
    let wrap = ["mcp", "--wrap", "--", "python3", "fake.py"];
    works(&mut Client::modern_with(&world, &wrap, json!({})), "echo", json!({"text": "a"}));
    world.write("workspace/fake.py", &super::FAKE.replace("says it again", "says it twice"));
    let mut client = Client::modern_with(&world, &wrap, json!({}));
    let said = fails(&mut client, "echo", json!({"text": "b"}));
    assert!(said.contains("eclusa servers review fake -- COMMAND"), "{said}");
    let review = ["servers", "review", "fake", "--accept", "--", "python3", "fake.py"];
    let ran = world.eclusa(&review);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("says it twice"), "{ran:?}");
    works(&mut Client::modern_with(&world, &wrap, json!({})), "echo", json!({"text": "c"}));
}

#[test]
fn options_of_wrap_need_wrap() {
    let world = configured(YOLO);
    assert_eq!(world.eclusa(&["mcp", "--name", "x"]).code, 2);
    assert_eq!(world.eclusa(&["mcp", "--wrap"]).code, 2);
    let ran = world.eclusa(&["mcp", "--wrap", "--name", "not a name", "--", "x"]);
    assert_ne!(ran.code, 0, "{ran:?}");
}

/// A client that finds no tools finds out why, in words of ours, and who can help: a person.
/// Shows D16.
#[test]
fn a_wrapped_server_that_is_down_is_told_where_its_tools_would_be() {
    let world = configured(YOLO);
    let args = ["mcp", "--wrap", "--", "python3", "fake.py", "crash"];
    let mut client = Client::modern_with(&world, &args, json!({}));
    let mut said = String::new();
    wait_until("it is told", || {
        let list = client.ask("tools/list", json!({}))["result"]["tools"].clone();
        let tools = list.as_array().unwrap();
        assert_eq!(tools.len(), 1, "{list}");
        said = tools[0]["description"].as_str().unwrap().to_owned();
        said.contains("`fake` is down")
    });
    assert!(said.contains("`eclusa servers test fake -- COMMAND`"), "{said}");
    assert!(!said.contains("licence"), "nothing that it wrote itself: {said}");
    let ran = world.eclusa(&["servers", "test", "fake", "--", "python3", "fake.py", "crash"]);
    assert!(ran.code == 1 && format!("{ran:?}").contains("no licence"), "{ran:?}");
}

/// The grant that is named is one that would help, as it is typed.
/// Shows D16, D18.
#[test]
fn a_wrapped_server_that_cannot_write_is_told_what_it_may() {
    eclusa_testing::needs!(Namespaces);
    let world = configured(YOLO);
    let wrap = ["mcp", "--wrap", "--", "python3", "fake.py"];
    let mut client = Client::modern_with(&world, &wrap, json!({}));
    for path in ["new", "/usr/memory.json"] {
        let said = fails(&mut client, "write", json!({"path": path, "text": "x"}));
        assert!(said.contains("its own home directory alone, not beside its program"), "{said}");
        assert!(said.contains("`--access write` would let it write the workspace"), "{said}");
    }
    works(&mut client, "write", json!({"path": "~/memory.json", "text": "x"}));
}
