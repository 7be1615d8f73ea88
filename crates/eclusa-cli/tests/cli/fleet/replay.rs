//! What a new policy would have made of the calls that machines have shipped.

use super::server::{Trail, work};
use crate::world::{Ran, World};

fn flushed(machine: &World) {
    let ran = machine.eclusa(&["fleet", "flush", "--wait", "30s"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

fn replay(trail: &Trail, text: &str, args: &[&str]) -> Ran {
    std::fs::create_dir_all(trail.fleet.world.path("workspace/next")).unwrap();
    trail.fleet.world.write("workspace/next/all.toml", text);
    let address = trail.database.address();
    let all = [&["fleet", "replay", "next", "--database", &address], args].concat();
    trail.fleet.world.eclusa(&all)
}

#[test]
fn a_new_policy_is_judged_by_the_calls_of_the_fleet() {
    let Some(trail) = Trail::new() else { return };
    trail.fleet.push("[[rules]]\ndecision = \"allow\"\ntool = \"note\"\n");
    let file = trail.fleet.documents().display().to_string();
    let ran = trail.fleet.world.eclusa(&["fleet", "publish", &file, "--server", &trail.server.url]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let (ana, bo) = (trail.machine(), trail.machine());
    work(&ana, 2);
    work(&bo, 1);
    // A file of a machine's own decides this one.
    let own = bo.read("config/eclusa/eclusa.toml");
    bo.write(
        "config/eclusa/eclusa.toml",
        &(own + "[[rules]]\ndecision = \"deny\"\ntool = \"echo\"\n"),
    );
    assert_eq!(bo.eclusa(&["run", "echo", "text=x"]).code, 3);
    let secret = format!("text=ghp_{}", "abc123".repeat(6));
    assert_eq!(ana.eclusa(&["run", "note", &secret]).code, 0);
    // This one names a place in its workspace, with its whole path.
    std::fs::create_dir_all(ana.path("workspace/plans")).unwrap();
    let path = format!("path={}", ana.write("workspace/plans/a", "a\n").display());
    assert_eq!(ana.eclusa(&["run", "read", &path]).code, 0);
    flushed(&ana);
    flushed(&bo);
    let text = "[[rules]]\ndecision = \"deny\"\ntool = \"note\"\n\
                [[rules]]\ndecision = \"deny\"\ntool = \"read\"\npath = \"plans/**\"\n";
    let ran = replay(&trail, text, &["--since", "7d"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines[..2], ["4 calls judged again, 0 as before", "allow -> deny: 4"], "{ran:?}");
    assert!(lines[2].starts_with("  machine 1 ") && lines[2].contains(", call 1: note"), "{ran:?}");
    assert_eq!(lines[5], "  and 1 more", "{ran:?}");
    assert!(ran.out.contains("1 not replayed: they had secrets in their arguments"), "{ran:?}");
    assert!(ran.out.contains("1 not replayed: they were decided otherwise than the policy"));
    // Of another team there is nothing, and what stays as it is differs in nothing.
    let ran = replay(&trail, text, &["--team", "ops"]);
    assert_eq!(ran.out, "0 calls judged again, 0 as before\n");
    let ran = replay(
        &trail,
        "[[rules]]\ndecision = \"allow\"\ntool = \"note\"\n",
        &["--team", "web", "--json"],
    );
    assert!(ran.out.ends_with("\"same\":4}\n") && ran.out.lines().count() == 1, "{ran:?}");
    let ran = replay(&trail, "mdoe = \"yolo\"\n", &[]);
    assert!(ran.code == 2 && ran.err.contains("unknown key `mdoe`"), "{ran:?}");
}
