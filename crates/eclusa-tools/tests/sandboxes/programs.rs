//! Real programs through the gate and the rules that no configuration loosens: they work, what
//! they did becomes real, and it can be undone. One that is not installed is passed over, and that
//! is said.

use std::{env, path::Path};

use eclusa::{Answer, Reply};
use eclusa_sandbox::clean_environment;

use crate::{
    tree,
    world::{World, plainly},
};

/// A workspace whose commands find what is installed here, `rustc` among it.
fn world() -> World {
    World::with(Answer::Once, |it| {
        it.env = clean_environment(env::vars_os(), std::slice::from_ref(&it.root));
        it.env.retain(|(name, _)| name != "HOME");
        // The same commits whenever they are made: what git names its objects by has the time in it.
        for name in ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"] {
            it.env.push((name.into(), "2026-01-01T12:00:00Z".into()));
        }
    })
}

fn has(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).any(|it| it.join(program).exists());
    if !found {
        eprintln!("NOT TESTED: `{program}` is not installed here");
    }
    found
}

/// What is there. Of git's own files those that say what is: objects that nothing names stay, and what was is told.
fn seen(world: &World) -> impl PartialEq + std::fmt::Debug + use<> {
    let mut all = tree::read(&world.root());
    all.retain(|path, _| {
        let path = path.to_string_lossy();
        !path.starts_with(".git/objects") && !path.starts_with(".git/logs")
    });
    all
}

/// Runs a command that must go well; what it did is there, and undone it never was.
fn works(world: &World, command: &str) -> Reply {
    let before = seen(world);
    let reply = world.bash(&format!("set -e; {command}"));
    assert_eq!(reply.code(), "ok", "{command}: {}", reply.content());
    let after = tree::read(&world.root());
    world.undo(&reply);
    assert_eq!(seen(world), before, "undone: {command}");
    let again = world.bash(&format!("set -e; {command}"));
    assert_eq!(again.code(), "ok", "{command}: {}", again.content());
    let redone = tree::read(&world.root());
    assert!(redone.keys().eq(after.keys()), "done again: {command}");
    again
}

#[test]
fn git_makes_commits_moves_rebases_and_packs() {
    eclusa_testing::needs!(Namespaces);
    if !has("git") {
        return;
    }
    let world = world();
    works(&world, "git init -q -b main; echo a > a; git add .; git commit -qm one");
    works(&world, "git checkout -qb side; echo s > s; git add s; git commit -qm side");
    works(
        &world,
        "git checkout -q main; echo m > m; git add m; git commit -qm two; git rebase -q side",
    );
    works(&world, "mkdir d; git mv m d/m; git mv d e; git commit -qm moved");
    works(&world, "git gc -q");
    let reply = world.bash("git fsck && git status --short && git log --format=%s");
    assert!(reply.text().ends_with("moved\ntwo\nside\none\n"), "{}", reply.content());
}

#[test]
fn make_and_a_compiler_build() {
    eclusa_testing::needs!(Namespaces);
    if !has("make") || !has("cc") {
        return;
    }
    let world = world();
    works(
        &world,
        "printf 'int main(){return 0;}' > a.c
         printf 'a: a.o\\n\\tcc -o a a.o\\na.o: a.c\\n\\tcc -c a.c\\n' > Makefile
         make -j2 >/dev/null; ./a",
    );
    assert!(world.path("a.o").exists());
}

/// Makes a virtual environment with this interpreter: staged, committed, used, undone.
fn environment(python: &str) {
    let world = world();
    works(&world, &format!("{python} -m venv --without-pip env; env/bin/python -c 'print(1)'"));
    assert!(world.path("env/bin/python").is_symlink());
    // Committed, it is used by the next command, and by people.
    let reply = world.bash(". env/bin/activate; python -c 'import sys; print(sys.prefix)'");
    assert!(reply.text().ends_with("/env\n"), "{}", reply.content());
    let last = world.bash("env/bin/python -c 'open(\"made\", \"w\").write(\"x\")'");
    assert_eq!(last.code(), "ok", "{}", last.content());
    assert!(world.path("made").exists());
    world.undo(&last);
    assert!(!world.path("made").exists() && world.path("env/bin/python").exists());
}

#[test]
fn python_makes_an_environment() {
    eclusa_testing::needs!(Namespaces);
    if Path::new("/usr/bin/python3").exists() {
        environment("/usr/bin/python3");
    } else if has("python3") {
        environment("python3");
    }
}

#[test]
fn a_link_to_a_file_of_the_system_that_is_no_program_is_discarded() {
    eclusa_testing::needs!(Namespaces);
    let world = world();
    let reply = world.bash("mkdir env; ln -s /etc/passwd env/python");
    assert_eq!(reply.code(), "changes_discarded", "{}", reply.content());
    assert!(!world.path("env").exists());
}

const PACKAGE: &str = "mkdir pkg; printf '#!/usr/bin/env node\nconsole.log(\"ran\")\n' > pkg/cli.js
    chmod 755 pkg/cli.js
    echo '{\"name\": \"pkg\", \"version\": \"1.0.0\", \"bin\": {\"tool\": \"cli.js\"}}' > pkg/package.json
    echo '{\"name\": \"app\", \"version\": \"1.0.0\", \"private\": true}' > package.json";

#[test]
fn npm_installs_from_a_local_folder() {
    eclusa_testing::needs!(Namespaces);
    if !has("node") {
        return;
    }
    let world = world();
    plainly(&world.root(), PACKAGE);
    let install = match has("npm") {
        true => "npm install --offline --no-audit --no-fund --loglevel=error --cache /tmp/npm ./pkg",
        // What npm does with a folder, without npm.
        false => {
            "node -e 'const fs = require(\"fs\"); fs.mkdirSync(\"node_modules/.bin\", {recursive: true});
              fs.symlinkSync(\"../pkg\", \"node_modules/pkg\");
              fs.symlinkSync(\"../pkg/cli.js\", \"node_modules/.bin/tool\")'"
        }
    };
    works(&world, install);
    assert!(world.path("node_modules/pkg").is_symlink(), "a link inside node_modules");
    assert!(world.path("node_modules/.bin/tool").is_symlink());
    let reply = world.bash("node_modules/.bin/tool");
    assert_eq!(reply.text(), "ran\n", "{}", reply.content());
}

#[test]
fn sqlite_keeps_a_database() {
    eclusa_testing::needs!(Namespaces);
    if !has("sqlite3") {
        return;
    }
    let world = world();
    let reply = works(
        &world,
        "rm -f a.db; sqlite3 a.db 'create table t(x); insert into t values (1),(2); select sum(x) from t'",
    );
    assert_eq!(reply.text(), "3\n");
}

#[test]
fn cargo_builds_a_crate_without_the_network() {
    eclusa_testing::needs!(Namespaces);
    if !has("cargo") {
        return;
    }
    let world = world();
    plainly(
        &world.root(),
        "mkdir src; echo 'fn main() { println!(\"built\") }' > src/main.rs
         printf '[package]\\nname = \"tiny\"\\nversion = \"0.1.0\"\\nedition = \"2021\"\\n[workspace]\\n' > Cargo.toml",
    );
    let reply = world.bash("export CARGO_HOME=/tmp/cargo; cargo run -q --offline");
    assert_eq!(reply.code(), "ok", "{}", reply.content());
    assert!(reply.text().starts_with("built\n"), "{}", reply.content());
    assert!(Path::new(&world.path("target/debug/tiny")).exists());
    world.undo(&reply);
    assert!(!world.path("target").exists());
}
