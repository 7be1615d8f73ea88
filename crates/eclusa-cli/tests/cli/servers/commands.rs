//! `eclusa servers`, and the other commands that know the tools of servers.

use serde_json::json;

use super::{YOLO, behind, configured};
use crate::world::World;

#[test]
fn a_server_is_added_tried_and_removed() {
    eclusa_testing::needs!(Namespaces);
    let world = configured("# mine\nmode = \"yolo\" # bold\n");
    let add = ["servers", "add", "fake", "--", "python3", "fake.py", "odd=yes"];
    let ran = world.eclusa(&add);
    assert_eq!(ran.code, 0, "{ran:?}");
    insta::assert_snapshot!(world.plain(&world.read("config/eclusa/eclusa.toml")), @r#"
    # mine
    mode = "yolo" # bold

    [servers.fake]
    command = ["python3", "fake.py", "odd=yes"]
    "#);
    let again = world.eclusa(&add);
    assert_eq!(again.code, 2);
    assert!(again.err.contains("a server is called `fake` already"), "{again:?}");
    let list = world.eclusa(&["servers", "list"]);
    assert_eq!(list.out, "fake  python3 fake.py odd=yes  workspace: read  not used yet\n");
    let ran = world.eclusa(&["servers", "test", "fake"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.starts_with("fake is up, after "), "{ran:?}");
    assert!(
        ran.out.contains("  held     full\n  speaks   MCP 2025-11-25\n  is       fake 1\n"),
        "{ran:?}"
    );
    assert!(ran.out.contains("    mcp_fake_echo "), "{ran:?}");
    assert!(world.eclusa(&["servers"]).out.ends_with("18 tools\n"));
    assert_eq!(world.eclusa(&["servers", "remove", "fake"]).code, 0);
    assert_eq!(
        world.read("config/eclusa/eclusa.toml").trim_end(),
        "# mine\nmode = \"yolo\" # bold"
    );
    let gone = world.eclusa(&["servers", "remove", "fake"]);
    assert_eq!(gone.code, 2);
    assert!(gone.err.contains("there is no server `fake`"), "{gone:?}");
}

#[test]
fn everything_that_can_be_said_of_a_server_is_written() {
    let world = World::new();
    let words =
        "servers add x --env A_B --host a.example --access write --trusted --no-sandbox -- it";
    let ran = world.eclusa(&words.split(' ').collect::<Vec<_>>());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.err.contains("A_B is not set here") && ran.err.contains("without a sandbox"),
        "{ran:?}"
    );
    let url = [
        "servers",
        "add",
        "y",
        "--url",
        "https://y.example/mcp",
        "--header",
        "Authorization=Y_AUTH",
    ];
    assert_eq!(world.eclusa(&url).code, 0);
    insta::assert_snapshot!(world.read("config/eclusa/eclusa.toml"), @r#"
    [servers.x]
    command = ["it"]
    env = ["A_B"]
    hosts = ["a.example"]
    workspace = "write"
    trusted = true
    sandbox = false

    [servers.y]
    url = "https://y.example/mcp"
    headers = { Authorization = "Y_AUTH" }
    "#);
    let lines: Vec<serde_json::Value> = world
        .eclusa(&["--json", "servers"])
        .out
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    assert_eq!(lines[0]["sandbox"], false);
    assert_eq!(lines[1]["headers"], json!({"Authorization": "Y_AUTH"}));
}

#[test]
fn no_secret_is_written_to_the_configuration() {
    let world = World::with("# nothing\n");
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let (with_value, bearer) = (format!("TOKEN={token}"), format!("Authorization=Bearer {token}"));
    let address = format!("https://me:{token}@x.example/mcp");
    for args in [
        &["servers", "add", "x", "--env", &with_value, "--", "it"][..],
        &["servers", "add", "x", "--", "it", "--token", &token],
        &["servers", "add", "x", "--url", "https://x.example/mcp", "--header", &bearer],
        &["servers", "add", "x", "--url", &address],
    ] {
        let ran = world.eclusa(args);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(!format!("{ran:?}").contains(&token), "{ran:?}");
        assert_eq!(world.read("config/eclusa/eclusa.toml"), "# nothing\n");
    }
}

#[test]
fn a_dry_run_writes_nothing() {
    let world = configured(YOLO);
    let ran = world.eclusa(&["--dry-run", "servers", "add", "fake", "--", "python3", "fake.py"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(world.read("config/eclusa/eclusa.toml"), YOLO);
}

#[test]
fn run_check_and_tools_start_the_server_that_is_meant_and_no_other() {
    let world = behind(&[("fake", &[]), ("broken", &["crash"])]);
    let ran = world.eclusa(&["run", "mcp_fake_echo", r#"{"text": "hello"}"#]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "hello\n", ""));
    // Words are read by its schema, as those for our own tools are.
    let ran = world.eclusa(&["run", "mcp_fake_pid", "times=1"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(super::kept(&world, "broken", "starts"), "");
    let ran = world.eclusa(&["check", "mcp_fake_echo", r#"{"text": "hello"}"#]);
    assert_eq!(ran.code, 0, "{ran:?}");
    // Its schema is what the arguments are held against.
    let ran = world.eclusa(&["check", "mcp_fake_echo", r#"{"text": 7}"#]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let ran = world.eclusa(&["check", "mcp_fake_echo", r#"{"text": "hello", "txet": "x"}"#]);
    assert!(ran.code == 3 && ran.out.contains("txet"), "{ran:?}");
    let ran = world.eclusa(&["tools", "show", "mcp_fake_echo"]);
    assert!(ran.out.contains("says it again"), "{ran:?}");
    assert_eq!(super::kept(&world, "broken", "starts"), "");
    assert!(!world.eclusa(&["tools"]).out.contains("mcp_"));
    let ran = world.eclusa(&["tools", "--servers"]);
    assert!(ran.out.contains("mcp_fake_echo"), "{ran:?}");
    assert!(ran.err.contains("the server `broken` is down"), "{ran:?}");
    let ran = world.eclusa(&["run", "mcp_broken_echo", "{}"]);
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains("no licence for this machine"), "{ran:?}");
}

#[test]
fn list_check_says_how_each_is() {
    eclusa_testing::needs!(Namespaces);
    let world = behind(&[("fake", &[]), ("broken", &["crash"])]);
    let ran = world.eclusa(&["servers", "list", "--check"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    insta::assert_snapshot!(ran.out, @r"
    broken  down  its program ended with exit code 4; it said last: `error: no licence for this machine`
    fake    up    17 tools, held: full
    ");
    let lines = world.eclusa(&["--json", "servers", "list", "--check"]).out;
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!((&lines[1]["up"], &lines[1]["held"]), (&json!(true), &json!("full")));
    assert_eq!((&lines[0]["up"], &lines[0]["tools"]), (&json!(false), &json!([])));
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let world = World::with("[servers.x]\ncommand = [\"no-such-program\"]\n");
    let ran = world.eclusa(&["servers", "test", "x"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("`no-such-program` is not on the PATH"), "{ran:?}");
}

#[test]
fn a_file_of_the_workspace_that_nobody_trusts_starts_no_server() {
    let world = configured(YOLO);
    world.write("workspace/eclusa.toml", &super::entry("sly", &[]));
    let ran = world.eclusa(&["servers", "list", "--check"]);
    assert!(ran.err.contains("left out, because this file is not trusted"), "{ran:?}");
    assert!(!ran.out.contains("sly"), "{ran:?}");
    assert!(!world.path("state/eclusa-servers/sly").exists());
}
