//! What a checkout holds only tightens: no file of it has a call run with less than without it.
#![expect(clippy::disallowed_methods, reason = "the test makes the files of the checkout")]

use std::{fs, os::unix::fs::symlink};

use serde_json::json;

use crate::{
    hook::{ALLOW_ECHO, before, claude, decision, send},
    world::World,
};

/// Whatever stands where an agent's settings are, an allowed command runs in the sandbox or not at all.
#[test]
fn no_settings_of_a_checkout_take_a_command_out_of_the_sandbox() {
    let world = World::with(ALLOW_ECHO);
    fs::create_dir_all(world.path("workspace/.claude")).unwrap();
    let settings = world.path("workspace/.claude/settings.json");
    let fitting = r#"{"permissions":{"deny":["Bash(echo zzz:*)"]}}"#;
    let other = r#"{"permissions":{"deny":["Bash(make zzz:*)"]}}"#;
    let large = format!("{}{{}}", " ".repeat(5 << 20));
    let texts: [&[u8]; 5] =
        [fitting.as_bytes(), other.as_bytes(), b"{", b"{\"a\": \"\xff\"}", large.as_bytes()];
    let is_held = |what: &str| {
        let ran = claude(&world, &before(&world, "Bash", json!({"command": "echo hi"})));
        let answer = &ran.json()["hookSpecificOutput"];
        let rewritten = answer["updatedInput"]["command"].as_str();
        let held = rewritten.map_or(answer["permissionDecision"] == "deny", |it| {
            it.contains("exec") && it.contains("--ticket")
        });
        assert!(held, "{what}: {ran:?}");
    };
    for text in texts {
        fs::write(&settings, text).unwrap();
        is_held(&String::from_utf8_lossy(text.get(..40).unwrap_or(text)));
    }
    fs::remove_file(&settings).unwrap();
    for target in ["/dev/zero", "/dev/stdin", "/proc/self/mem"] {
        symlink(target, &settings).unwrap();
        is_held(target);
        fs::remove_file(&settings).unwrap();
    }
    fs::create_dir(&settings).unwrap();
    is_held("a directory");
}

/// A file of variables that nobody can read or that is written oddly counts as one that leads hooks to
/// other rules.
#[test]
fn odd_files_of_variables_refuse_every_call() {
    let world = World::new();
    world.write("workspace/a.txt", "one\n");
    for directory in ["workspace/.claude", "workspace/.gemini"] {
        fs::create_dir_all(world.path(directory)).unwrap();
    }
    let blanks = " ".repeat(5 << 20);
    let home = r#"{"env":{"XDG_CONFIG_HOME":"/elsewhere"}}"#;
    let read = before(&world, "Read", json!({"file_path": world.path("workspace/a.txt")}));
    let settings = world.path("workspace/.claude/settings.local.json");
    let odd: [Vec<u8>; 4] = [
        format!("{blanks}{home}").into_bytes(),
        [home.as_bytes(), b"\xff"].concat(),
        [b"// \xff\n", home.as_bytes()].concat(),
        br#"{"env":{"BASH_ENV":"./x.sh"}}"#.to_vec(),
    ];
    for text in odd {
        fs::write(&settings, &text).unwrap();
        let (word, why) = decision(&claude(&world, &read));
        assert_eq!(word, "deny", "{}", String::from_utf8_lossy(&text).trim_start());
        assert!(why.contains("settings.local.json"), "{why}");
    }
    fs::write(&settings, "{}").unwrap();
    assert_eq!(decision(&claude(&world, &read)).0, "allow");

    let event = json!({"session_id": "g", "cwd": world.path("workspace"), "tool_name": "read_file",
        "hook_event_name": "BeforeTool", "tool_input": {"file_path": "a.txt"}});
    let file = world.path("workspace/.env");
    let odd: [Vec<u8>; 6] = [
        format!("{blanks}\nHOME=/elsewhere\n").into_bytes(),
        b"A=\xff\nHOME=/elsewhere\n".to_vec(),
        b"export\tXDG_CONFIG_HOME=/elsewhere\n".to_vec(),
        b"A=1\rXDG_CONFIG_HOME=/elsewhere\r".to_vec(),
        "A=1\u{2028}HOME=/elsewhere".as_bytes().to_vec(),
        "export\u{a0}HOME=/elsewhere".as_bytes().to_vec(),
    ];
    for text in odd {
        fs::write(&file, &text).unwrap();
        let answer = send(&world, "gemini", &event).out;
        assert!(answer.contains("deny"), "{}: {answer}", String::from_utf8_lossy(&text).trim());
    }
    fs::write(&file, "A=1\nURL=https://a.example/?b=c\n").unwrap();
    assert_eq!(send(&world, "gemini", &event).out, "");
}

/// Pipes, devices and links in the place of what a command's set-up reads neither hang it nor fill
/// memory, and do not keep every command from starting.
#[test]
fn odd_files_of_a_checkout_stop_no_command() {
    eclusa_testing::needs!(Namespaces);
    let make_pipe = |path: &std::path::Path| {
        let mode = rustix::fs::Mode::from(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, path, mode).unwrap();
    };
    let runs = |world: &World, what: &str| {
        let ran = world.eclusa(&["run", "bash", r#"{"command": "echo it ran"}"#]);
        assert!(ran.out.contains("it ran"), "{what}: {ran:?}");
    };
    let world = World::new();
    fs::create_dir_all(world.path("workspace/sub")).unwrap();
    let git = world.path("workspace/sub/.git");
    make_pipe(&git);
    runs(&world, "a pipe as `.git`");
    fs::remove_file(&git).unwrap();
    symlink("/dev/zero", &git).unwrap();
    runs(&world, "a device as `.git`");
    fs::remove_file(&git).unwrap();
    fs::create_dir_all(&git).unwrap();
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    make_pipe(&git.join("commondir"));
    runs(&world, "a pipe as `commondir`");
    for target in [".", "..", "/", "/usr", "/bin/bash", "/etc", "sub"] {
        let world = World::new();
        symlink(target, world.path("workspace/.env")).unwrap();
        runs(&world, target);
    }
}

/// A configuration that is a link leading nowhere is not none: rules are meant to be there.
#[test]
fn a_configuration_that_leads_nowhere_is_an_error() {
    let world = World::new();
    symlink("/nowhere/eclusa.toml", world.path("config/eclusa/eclusa.toml")).unwrap();
    let ran = world.eclusa(&["run", "bash", r#"{"command": "echo it ran"}"#]);
    assert!(ran.code == 2 && ran.err.contains("cannot read the configuration"), "{ran:?}");
    let call = before(&world, "Bash", json!({"command": "ls"}));
    assert_eq!(decision(&claude(&world, &call)).0, "deny");
}
