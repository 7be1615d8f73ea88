//! What people have set up for git holds behind the gate, or it is told: hooks, signatures, and the settings of a
//! repository key by key.

use std::process::Command;

use serde_json::json;

use crate::world::{Ran, World, flowing};

fn plainly(world: &World, directory: &str, script: &str) -> (i32, String) {
    #[expect(clippy::disallowed_methods, reason = "the test has a shell do what a person would")]
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).current_dir(world.path(directory));
    shell.env("HOME", world.path("home")).env("GIT_CONFIG_NOSYSTEM", "1");
    let ran = shell.output().unwrap();
    let text = [ran.stdout, ran.stderr].concat();
    (ran.status.code().unwrap(), String::from_utf8(text).unwrap().trim().to_owned())
}

fn well(world: &World, script: &str) -> String {
    let (code, text) = plainly(world, "workspace", script);
    assert_eq!(code, 0, "{script}: {text}");
    text
}

/// A clone with one commit, of a repository that has a further branch.
fn repository() -> World {
    let world = World::new();
    world.write("home/.gitconfig", "[user]\n\tname = Ana\n\temail = ana@example.org\n");
    let make = "git init -q -b main up && cd up && echo one > a.txt && git add -A && git commit -qm first
                git switch -qc feat && echo two > b.txt && git add -A && git commit -qm feat && git switch -q main
                cd .. && git clone -q up workspace";
    let (code, text) = plainly(&world, ".", make);
    assert_eq!(code, 0, "{text}");
    world
}

fn bash(world: &World, mode: &str, command: &str) -> Ran {
    let args = json!({"command": command}).to_string();
    world.eclusa(&["--mode", mode, "run", "bash", &args])
}

fn hook(world: &World, name: &str, text: &str) {
    world.program(&format!("workspace/.git/hooks/{name}"), &format!("#!/bin/sh\n{text}\n"));
}

#[test]
fn a_hook_that_was_there_runs_as_in_a_plain_run() {
    eclusa_testing::needs!(Namespaces);
    let cases = [
        (
            "pre-commit",
            "echo 'no, the tests fail' >&2; exit 1",
            "echo x > n && git add n && git commit -qm n",
        ),
        (
            "pre-commit",
            "echo formatted > n && git add n",
            "echo x > n && git add n && git commit -qm n",
        ),
        ("commit-msg", "echo '[T-1]' >> \"$1\"", "git commit -q --allow-empty -m n"),
        ("post-checkout", "echo \"on $(git branch --show-current)\" > on", "git switch -qc other"),
    ];
    for (name, text, command) in cases {
        let (gated, plain) = (repository(), repository());
        hook(&gated, name, text);
        hook(&plain, name, text);
        let ran = bash(&gated, "yolo", command);
        let (code, output) = plainly(&plain, "workspace", command);
        assert_eq!(ran.code == 0, code == 0, "{name}: {ran:?} {output}");
        assert!(flowing(&ran.out).contains(&flowing(&output)), "{name}: {ran:?} {output}");
        let look = "git log --format=%B && git status -s && git show HEAD:n 2>&1; cat on 2>&1";
        assert_eq!(
            plainly(&gated, "workspace", look),
            plainly(&plain, "workspace", look),
            "{name}"
        );
    }
    // Like every script of the project it is held by the sandbox, and what it changes is judged.
    let world = repository();
    hook(
        &world,
        "pre-commit",
        "echo x > \"$HOME/planted\"; echo '*' >> .git/info/attributes; exit 0",
    );
    let ran = bash(&world, "yolo", "git commit -q --allow-empty -m n");
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(!world.path("home/planted").exists());
    assert_eq!(well(&world, "git log -1 --format=%s"), "first");
    // Nothing runs where a command only reads.
    hook(&world, "post-index-change", "echo ran >&2");
    let ran = bash(&world, "confirm-sensitive", "git status -s");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:?}");
}

#[test]
fn a_hook_that_a_call_changed_does_not_run_and_that_is_told() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    // In the place of the real one: what counts is who is run.
    let installer = "import os, sys\nhook = '.git/hooks/pre-commit'\nopen(hook, 'w').write('#!/bin/sh\\necho hooked\\n')\n\
                     os.chmod(hook, 0o755)\n";
    world.write("workspace/pre_commit.py", installer);
    world.write("workspace/.gitignore", "*.py\n__pycache__\n");
    let install = "python3 -m pre_commit install";
    for mode in ["confirm-sensitive", "auto-approve"] {
        let ran = bash(&world, mode, install);
        assert_eq!(ran.code, 3, "{ran:?}");
        assert!(
            flowing(&ran.err).contains("installs hooks that git runs: `.git/hooks/pre-commit`"),
            "{ran:?}"
        );
    }
    let other = bash(&world, "yolo", "printf 'echo x\\n' > .git/hooks/pre-commit");
    assert_eq!(other.code, 3, "any other way is denied: {other:?}");
    let ran = bash(&world, "yolo", install);
    assert_eq!(ran.code, 0, "{ran:?}");
    let listed = world.eclusa(&["--json", "changes"]);
    let call = listed.out.split("\"call\":").nth(1).unwrap().trim_start();
    let call: String = call.chars().take_while(char::is_ascii_digit).collect();
    let commit = "git commit -q --allow-empty -m n";
    let ran = bash(&world, "yolo", commit);
    let told = format!("hook `pre-commit` did not run: it was changed by call {call}");
    assert!(ran.code == 0 && flowing(&ran.out).contains(&told), "{call}: {ran:?}");
    assert!(!ran.out.contains("hooked"), "{ran:?}");
    // Another hook is left out with it, and that is told too.
    let ran = bash(&world, "yolo", "git switch -qc other");
    assert!(
        flowing(&ran.out).contains("no hook of git ran: `pre-commit` was changed by call"),
        "{ran:?}"
    );
    // A person has looked at it.
    hook(&world, "pre-commit", "echo mine");
    let ran = bash(&world, "yolo", commit);
    assert_eq!((ran.code, ran.out.as_str()), (0, "mine\n"), "{ran:?}");
}

#[test]
fn settings_that_start_nothing_are_edits_and_all_others_are_denied() {
    eclusa_testing::needs!(Namespaces);
    let edits = [
        ("git switch -q feat && git status -sb", "upstream of feat: feat"),
        ("git checkout -qb x origin/main", "upstream of x: main"),
        ("git branch -u origin/feat", "upstream of main: feat"),
        ("git config user.name Eva", "user.name: Eva"),
        ("git config core.autocrlf input", "core.autocrlf: input"),
        ("git config rerere.enabled true", "rerere.enabled: true"),
        ("git branch -m main trunk", "upstream of trunk: main"),
    ];
    for (command, told) in edits {
        let (gated, plain) = (repository(), repository());
        let asked = bash(&gated, "confirm-sensitive", command);
        assert_eq!(asked.code, 3, "{command}: {asked:?}");
        assert!(flowing(&asked.err).contains(told), "{command}: {asked:?}");
        let ran = bash(&gated, "auto-approve", command);
        let (code, output) = plainly(&plain, "workspace", command);
        assert_eq!((ran.code, ran.out.trim()), (code, output.as_str()), "{command}: {ran:?}");
        let look =
            "git config --local --list | grep -v '^remote' && git status -sb && git branch -a";
        assert_eq!(well(&gated, look), well(&plain, look), "{command}");
    }
    let world = repository();
    for command in
        ["git remote add far https://example.org/x.git", "git remote set-url origin /srv/x.git"]
    {
        let asked = bash(&world, "auto-approve", command);
        assert_eq!(asked.code, 3, "{command}: {asked:?}");
        assert!(flowing(&asked.err).contains("address of remote"), "{command}: {asked:?}");
        assert_eq!(bash(&world, "yolo", command).code, 0, "{command}");
    }
    let before = world.read("workspace/.git/config");
    let denied = [
        "core.pager x",
        "core.editor x",
        "core.sshCommand x",
        "core.hooksPath h",
        "core.hooksPath .husky",
        "core.fsmonitor x",
        "core.worktree ..",
        "core.attributesFile x",
        "alias.x '!x'",
        "alias.st status",
        "filter.x.clean x",
        "diff.x.command x",
        "diff.x.textconv x",
        "diff.external x",
        "merge.x.driver x",
        "include.path x",
        "includeIf.gitdir:/.path x",
        "credential.helper x",
        "url.x.insteadOf y",
        "remote.origin.uploadpack x",
        "remote.origin.receivepack x",
        "remote.origin.proxy x",
        "remote.origin.vcs x",
        "remote.origin.url ext::x",
        "branch.main.remote ext::x",
        "submodule.x.update '!x'",
        "gpg.program x",
        "commit.gpgSign false",
        "sequence.editor x",
        "pager.log x",
        "http.proxy x",
        "extensions.refStorage reftable",
        "user.signingKey x",
        "safe.directory x",
        "protocol.ext.allow always",
    ];
    for setting in denied {
        let ran = bash(&world, "yolo", &format!("git config {setting}"));
        assert_eq!(ran.code, 3, "{setting}: {ran:?}");
    }
    let quoted = bash(&world, "yolo", "printf '[user]\\n\\tname = \"a\\\\\\\\\\n' >> .git/config");
    assert_eq!(quoted.code, 3, "what cannot be read is denied: {quoted:?}");
    assert_eq!(world.read("workspace/.git/config"), before);
}

#[test]
fn a_commit_that_was_to_be_signed_is_told() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    let commit = "git commit -q --allow-empty -m n";
    let told = "1 commit is not signed, although `commit.gpgSign` is set";
    assert!(!bash(&world, "auto-approve", commit).out.contains("signed"));
    let own = "[user]\n\tname = Ana\n\temail = ana@example.org\n[commit]\n\tgpgSign = true\n";
    world.write("home/.gitconfig", own);
    let asked = bash(&world, "confirm-sensitive", commit);
    assert!(asked.code == 3 && flowing(&asked.err).contains("1 commit on `main`"), "{asked:?}");
    assert!(flowing(&format!("{}{}", asked.out, asked.err)).contains(told), "{asked:?}");
    let ran = bash(&world, "auto-approve", commit);
    assert!(ran.code == 0 && flowing(&ran.out).contains(told), "{ran:?}");
    let stash = bash(&world, "auto-approve", "echo x >> a.txt && git stash -q");
    assert!(stash.code == 0 && !stash.out.contains("signed"), "{stash:?}");
    // What the repository says comes first.
    well(&world, "git config commit.gpgSign false");
    assert!(!bash(&world, "auto-approve", commit).out.contains("signed"));
    well(&world, "git config --unset commit.gpgSign; git config tag.gpgSign true");
    let tag = bash(&world, "yolo", "git tag -a -m v1 v1");
    assert!(flowing(&tag.out).contains("1 tag is not signed"), "{tag:?}");
    // Where a signature is asked for by name, git says that there is none.
    assert_ne!(bash(&world, "yolo", "git commit -q -S --allow-empty -m n").code, 0);
}
