//! Records of the audit log, as somebody who keeps them reads them.

use serde_json::{Value, json};

use super::{plain_run, pretty, same_one};
use crate::{hook, world::World};

#[test]
fn every_record_is_as_it_was_and_the_chain_holds() {
    let world = World::with(
        "[[rules]]\nid = \"few\"\ndecision = \"allow\"\ncommand = \"touch *\"\ntimes = 1\n",
    );
    world.write("workspace/a.txt", "one\n");
    let calls: [&[&str]; 8] = [
        &["run", "read", "path=a.txt"],
        &["run", "read", "path=.env"],
        &["run", "raed", "path=a.txt"],
        &["--mode", "auto-approve", "run", "write", "path=b.txt", "content=hi"],
        &["run", "bash", "command=touch c.txt"],
        &["exec", "--", "echo x > d.txt"],
        &["--mode", "confirm-all", "run", "--park", "read", "path=a.txt"],
        &["undo"],
    ];
    for args in calls {
        plain_run(&world, args, "");
    }
    let fenced = "```tool\n{\"name\": \"read\", \"args\": {\"path\": \"a.txt\"}}\n```\n";
    plain_run(&world, &["feed"], fenced);
    let read = json!({"file_path": world.path("workspace/a.txt")});
    let result = json!({"type": "text", "file": {"content": "one\n"}});
    let mut after = hook::event(&world, "PostToolUse", "Read", read.clone());
    after["tool_response"] = result;
    for event in [hook::before(&world, "Read", read), after] {
        plain_run(&world, &["hook", "claude-code"], &event.to_string());
    }
    let exported = plain_run(&world, &["log", "export"], "");
    // Each record names the one before it, and the program finds the chain whole.
    let mut previous = Value::from("0".repeat(64));
    for line in exported.out.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        assert_eq!(record["previous"], previous);
        previous = record["hash"].clone();
    }
    let verified = plain_run(&world, &["--json", "log", "verify"], "");
    assert_eq!((verified.code, &verified.json()["head"]), (0, &previous));
    same_one("records", pretty(&world, &exported.out));
}
