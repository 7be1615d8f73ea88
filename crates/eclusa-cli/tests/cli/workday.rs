//! What an ordinary working day needs, call by call: a git workspace, the shipped configuration, and
//! nobody to ask. What the numbers of workshop/day.md are made of, where it was missed once.

use serde_json::json;

use crate::{
    pending::{QUEUE, park},
    world::{Ran, World},
};

/// A repository of a person with a name, an alias and a few files.
fn repository() -> World {
    let world = World::new();
    let config = "[user]\n\tname = Ana\n\temail = ana@example.org\n[alias]\n\tst = status -sb\n";
    world.write("home/.gitconfig", config);
    world.write("workspace/.gitignore", "build/\n__pycache__/\n*.db\n");
    world.write("workspace/kept.txt", "one\n");
    let make = "mkdir sub envs; echo 4 > n; echo s > sub/s; echo 'size = 3' > envs/prod.tfvars
                git init -q -b main . && git add -A && git commit -q -m first";
    plainly(&world, make);
    world
}

/// Runs a script without the gate, as the person would.
fn plainly(world: &World, script: &str) {
    #[expect(clippy::disallowed_methods, reason = "the test has a shell set up the workspace")]
    let mut shell = std::process::Command::new("sh");
    shell.args(["-ec", script]).current_dir(world.path("workspace"));
    shell.env("HOME", world.path("home")).env("GIT_CONFIG_NOSYSTEM", "1");
    let ran = shell.output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
}

fn bash(world: &World, mode: &str, command: &str) -> Ran {
    let args = json!({"command": command}).to_string();
    world.eclusa(&["--mode", mode, "run", "bash", &args])
}

/// Nobody is asked, and the output is there.
fn passes(world: &World, command: &str, output: &str) -> Ran {
    let ran = bash(world, "confirm-sensitive", command);
    assert_eq!((ran.code, ran.out.as_str()), (0, output), "{command}: {ran:?}");
    ran
}

/// Somebody would have to be asked; nothing is denied for good, and nothing has happened.
fn asks(world: &World, mode: &str, command: &str) -> Ran {
    let ran = bash(world, mode, command);
    assert_eq!(ran.code, 3, "{command}: {ran:?}");
    assert!(ran.err.contains("nobody is available to approve"), "{command}: {ran:?}");
    ran
}

#[test]
fn what_git_ignores_is_made_changed_and_deleted_unasked_and_can_be_undone() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    passes(&world, "mkdir -p build && echo o > build/a.o && echo built", "built\n");
    assert_eq!(world.read("workspace/build/a.o"), "o\n");
    assert_eq!(world.eclusa(&["undo"]).code, 0);
    assert!(!world.path("workspace/build").exists());
    // Lock files, programs and second names there are nobody's business either.
    let made = "mkdir -p build && python3 -c \"open('build/a.lock', 'w')\" && cp n build/demo \
                && chmod +x build/demo && ln build/demo build/b && echo ran";
    let ran = passes(&world, made, "ran\n");
    assert!(!ran.err.contains("names"), "{ran:?}");
    assert_eq!(bash(&world, "auto-approve", "rm -rf build").code, 0);
    assert!(!world.path("workspace/build").exists());
    let query = "python3 -c \"import sqlite3; print(sqlite3.connect('x.db').execute('select 1').fetchone())\"";
    passes(&world, query, "(1,)\n");
}

#[test]
fn what_is_not_ignored_is_asked_about_with_its_output_and_nothing_uncommitted_is_lost() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    let ran = asks(&world, "confirm-sensitive", "echo x > new.txt; echo printed");
    assert_eq!(ran.out, "printed\n");
    asks(&world, "confirm-sensitive", "rm kept.txt");
    asks(
        &world,
        "auto-approve",
        "mkdir -p .github/workflows && echo 'on: push' > .github/workflows/t.yml",
    );
    world.write("workspace/kept.txt", "one\nmine\n");
    asks(&world, "auto-approve", "git checkout -- kept.txt");
    assert_eq!(world.read("workspace/kept.txt"), "one\nmine\n");
    assert!(!world.path("workspace/new.txt").exists() && !world.path("workspace/.github").exists());
}

#[test]
fn git_works_as_the_person_with_branches_unasked_and_settings_that_it_tracks() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    passes(&world, "git switch -q -c topic && git add -A && git branch --show-current", "topic\n");
    passes(&world, "git st; cat envs/prod.tfvars; git submodule update", "## topic\nsize = 3\n");
    let commit = "echo two >> kept.txt && git commit -qam second && git log -1 --format='%an %s'";
    asks(&world, "confirm-sensitive", commit);
    let ran = bash(&world, "auto-approve", commit);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Ana second\n"), "{ran:?}");
}

#[test]
fn doubts_that_cost_nothing_in_a_sandbox_are_no_questions() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    let sums = "PYTHONPATH=src python3 -c 'print(6)'; echo $(( $(cat n) + 1 ))";
    passes(&world, sums, "6\n5\n");
    passes(&world, "ls /usr/share > /dev/null && cd sub && ls && cd ..", "s\n");
    passes(&world, "cd sub && ls && cd .. && ls sub", "s\ns\n");
    passes(&world, "cat <<'EOF'\n\nbody\nEOF", "\nbody\n");
    passes(&world, "echo hi > /tmp/s.txt; cat /tmp/s.txt", "hi\n");
    // The loopback is not the network.
    let server = "python3 - 2>/dev/null <<'EOF'
import http.server, threading, urllib.request
server = http.server.HTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(urllib.request.urlopen('http://127.0.0.1:%d/n' % server.server_address[1]).read().decode().strip())
EOF";
    passes(&world, server, "4\n");
    // What looks for processes of other calls is told what to use.
    let own =
        "[the processes that it shows are the sandbox's own: those of this machine are hidden]";
    let ran = passes(&world, "pgrep -f '[n]othing-at-all' || echo none", &format!("none\n{own}\n"));
    assert!(!ran.err.contains("refused"), "{ran:?}");
}

#[test]
fn a_redirection_behind_a_here_document_is_read() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    passes(&world, "python3 - <<'EOF' 2>&1 | tail -1\nprint(1)\nprint(2)\nEOF", "2\n");
    passes(&world, "cat <<EOF 2>/dev/null | wc -l\na\nb\nEOF", "2\n");
    // What stands behind it is judged as ever.
    for command in [
        "cat <<'EOF' 2>&1 | sudo sh\nx\nEOF",
        "cat <<'EOF' 2>&1; git push\nx\nEOF",
        "cat <<'EOF' 2>/dev/null/../x | cat\nx\nEOF",
        "cat <<'EOF' 2>&1 && rm -rf ~\nx\nEOF",
    ] {
        assert_eq!(bash(&world, "confirm-sensitive", command).code, 3, "{command}");
    }
}

#[test]
fn a_repository_that_is_made_in_the_workspace_is_an_edit() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    let command = "git init -q made && git -C made status -s";
    asks(&world, "confirm-sensitive", command);
    let ran = bash(&world, "auto-approve", command);
    assert_eq!(ran.code, 0, "{ran:?}");
    plainly(&world, "git -C made status && test -f made/.git/hooks/pre-commit.sample");
}

#[test]
fn a_question_about_changes_says_that_the_command_failed() {
    eclusa_testing::needs!(Namespaces);
    let world = repository();
    world.write("config/eclusa/eclusa.toml", QUEUE);
    let parked = park(&world, "echo x > new.txt; exit 2");
    let shown = world.eclusa(&["approvals", "show", &parked["approval"].to_string()]);
    assert!(shown.out.contains("it failed: exit code 2"), "{shown:?}");
}
