//! The home directory, where a new person's shell starts: what runs no call works there.

use crate::world::{Ran, World};

fn in_home(world: &World, args: &[&str]) -> Ran {
    let output = world.command(args).current_dir(world.path("home")).output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn what_runs_no_call_works_in_the_home_directory() {
    let world = World::new();
    for args in [
        &["doctor"][..],
        &["approvals"],
        &["people"],
        &["models"],
        &["personas"],
        &["tools"],
        &["config", "show"],
        &["config", "check"],
        &["policy", "lint"],
        &["servers"],
        &["sessions"],
        &["status"],
        &["log"],
        &["install", "claude-code"],
    ] {
        let ran = in_home(&world, args);
        assert!(!ran.err.contains("is not used as a workspace"), "{args:?}: {ran:?}");
        assert_ne!(ran.code, 2, "{args:?}: {ran:?}");
    }
}

#[test]
fn what_runs_calls_needs_a_project() {
    let world = World::new();
    for args in [
        &["run", "bash", "command=ls"][..],
        &["exec", "--", "ls"],
        &["ask", "x"],
        &["undo"],
        &["install", "claude-code", "--project"],
    ] {
        let ran = in_home(&world, args);
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        let told = "your home directory is not used as a workspace by itself";
        assert!(ran.err.contains(told), "{args:?}: {ran:?}");
    }
}

#[test]
fn an_activated_environment_of_the_workspace_is_used() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let bin = world.path("workspace/.venv/bin");
    std::fs::create_dir_all(&bin).unwrap();
    world.program("workspace/.venv/bin/pytest", "#!/bin/sh\necho \"tests of $VIRTUAL_ENV\"\n");
    world.program("workspace/.venv/bin/uname", "#!/bin/sh\necho planted\n");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = world.command(&["run", "bash", "command=pytest; uname"]);
    command
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("VIRTUAL_ENV", world.path("workspace/.venv"));
    let output = command.output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(out.contains("/workspace/.venv\nLinux\n"), "{out} {:?}", output.stderr);
}

#[test]
fn the_program_alone_says_on_one_screen_where_one_is_and_what_is_next() {
    let world = World::new();
    let alone = world.eclusa(&[]);
    assert_eq!(alone.code, 0, "{alone:?}");
    assert!(alone.out.contains("waits") && alone.out.contains("nothing"), "{alone:?}");
    assert!(alone.out.contains("next: eclusa init"), "{alone:?}");
    assert!(alone.out.lines().count() <= 24, "{alone:?}");
    assert!(in_home(&world, &[]).out.contains("next: eclusa demo"));
    world.write("workspace/eclusa.toml", "[[rules]]\ndecision = \"deny\"\ntool = \"web_fetch\"\n");
    assert!(world.eclusa(&[]).out.contains("next: eclusa install"));
    let write = ["--mode", "auto-approve", "run", "write", "path=a.txt", "content=x"];
    assert_eq!(world.eclusa(&write).code, 0);
    let after = world.eclusa(&[]);
    assert!(after.out.contains("`eclusa undo 1`") && after.out.contains("next: eclusa changes"));
    // Words that people try.
    assert_eq!(world.eclusa(&["version"]).out, world.eclusa(&["--version"]).out);
    let check = world.eclusa(&["check", "bash", "command=ls"]);
    for word in ["explain", "why"] {
        assert_eq!(world.eclusa(&[word, "bash", "command=ls"]).out, check.out);
    }
}
