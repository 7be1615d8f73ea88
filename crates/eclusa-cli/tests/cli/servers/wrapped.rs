//! `eclusa mcp --wrap`: one server in one line.

use serde_json::json;

use super::{YOLO, configured, fails, listed, works};
use crate::mcp::client::Client;

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
    assert!(world.path("state/eclusa-servers/fake").is_dir());
}

#[test]
fn a_wrapped_server_gets_what_the_line_says_and_no_more() {
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
fn options_of_wrap_need_wrap() {
    let world = configured(YOLO);
    assert_eq!(world.eclusa(&["mcp", "--name", "x"]).code, 2);
    assert_eq!(world.eclusa(&["mcp", "--wrap"]).code, 2);
    let ran = world.eclusa(&["mcp", "--wrap", "--name", "not a name", "--", "x"]);
    assert_ne!(ran.code, 0, "{ran:?}");
}
