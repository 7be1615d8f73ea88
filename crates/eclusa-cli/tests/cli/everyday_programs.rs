//! Programs that everybody has, through the binary beside a plain run: nobody is asked, and they end and print the same.

use std::process::Command;

use serde_json::json;

use crate::world::{Ran, World, flowing};

fn plainly(world: &World, script: &str) -> (i32, String) {
    #[expect(clippy::disallowed_methods, reason = "the test has a shell do what a person would")]
    let mut shell = Command::new("bash");
    shell.args(["--norc", "--noprofile", "-c", script]).current_dir(world.path("workspace"));
    shell.env("HOME", world.path("home")).env("GIT_CONFIG_NOSYSTEM", "1").env("LC_ALL", "C");
    let ran = shell.output().unwrap();
    (ran.status.code().unwrap(), String::from_utf8_lossy(&ran.stdout).into_owned())
}

/// A repository with an archive, files for a cluster, a public key, and a program of its own.
fn world() -> World {
    let world = World::new();
    world.write("home/.gitconfig", "[user]\n\tname = Ana\n\temail = ana@example.org\n");
    std::fs::create_dir_all(world.path("workspace/k8s")).unwrap();
    std::fs::create_dir_all(world.path("workspace/.venv/bin")).unwrap();
    world.write("workspace/k8s/kustomization.yaml", "resources: [map.yaml]\n");
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: \"1\"}\n";
    world.write("workspace/k8s/map.yaml", map);
    world.write("workspace/a.txt", "a\n");
    world.program("workspace/.venv/bin/pip", "#!/bin/sh\necho pip \"$@\"\n");
    let made = "git init -q -b main && printf '.venv/\\n*.tar.gz\\nkey*\\nout/\\n' > .gitignore && git add -A && git commit -qm one
                tar -czf a.tar.gz a.txt; ssh-keygen -q -t ed25519 -N '' -f key || true";
    assert_eq!(plainly(&world, made).0, 0);
    world
}

fn run(world: &World, command: &str) -> Ran {
    world.eclusa(&["run", "bash", &json!({"command": command}).to_string()])
}

#[track_caller]
fn ends_as_plainly(commands: &[&str]) {
    let world = world();
    let mut wrong = Vec::new();
    for command in commands {
        let (code, output) = plainly(&world, command);
        let ran = run(&world, command);
        let said = ran.out.strip_prefix(&format!("exit code {code}\n")).unwrap_or(&ran.out);
        if (ran.code == 0) != (code == 0) || !said.contains(output.trim_end()) {
            wrong.push(format!("{command}: plainly {code} {output:?}: {ran:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Without an index of links an overlay gives a linked file another number, and git, which compares, gave up.
#[test]
fn a_repository_is_cloned_into_the_workspace() {
    eclusa_testing::needs!(Namespaces);
    ends_as_plainly(&[
        "git clone -q . out && git -C out log --format=%s && git -C out fsck && rm -rf out",
        "git clone -q --bare . out && ls out/HEAD && rm -rf out",
        "ln a.txt b.txt && stat -c %h a.txt && rm b.txt",
        "cp -l a.txt c.txt && cat c.txt && rm c.txt",
    ]);
}

/// What the sandbox hides is told as hidden.
#[test]
fn whoever_looks_at_processes_is_told_whose_they_are() {
    eclusa_testing::needs!(Namespaces);
    let told = "are the sandbox's own: those of this machine are hidden";
    assert!(flowing(&run(&world(), "ps aux | head -3").out).contains(told));
}
