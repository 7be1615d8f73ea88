//! Real programs through the gate: they work, what they did becomes real, and it can be undone.
//! One that is not installed is passed over.

use std::{env, path::Path};

use eclusa::{Answer, Reply};
use eclusa_sandbox::clean_environment;

use crate::{
    tree,
    world::{World, plainly},
};

/// A workspace whose commands find what is installed here, `rustc` among it.
fn world() -> World {
    World::lenient(Answer::Once, |it| {
        it.env = clean_environment(env::vars_os(), std::slice::from_ref(&it.root));
        it.env.retain(|(name, _)| name != "HOME");
    })
}

fn has(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|it| it.join(program).exists())
}

/// Runs a command that must go well; what it did is there, and undone it never was.
fn works(world: &World, command: &str) -> Reply {
    let before = tree::read(&world.root());
    let reply = world.bash(&format!("set -e; {command}"));
    assert_eq!(reply.code(), "ok", "{command}: {}", reply.content());
    let after = tree::read(&world.root());
    world.undo(&reply);
    assert_eq!(tree::read(&world.root()), before, "undone: {command}");
    let again = world.bash(&format!("set -e; {command}"));
    assert_eq!(again.code(), "ok", "{command}: {}", again.content());
    assert_eq!(tree::read(&world.root()).len(), after.len(), "done again: {command}");
    again
}

#[test]
fn git_makes_commits_moves_rebases_and_packs() {
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

#[test]
fn python_makes_an_environment() {
    if !has("python3") {
        return;
    }
    let world = world();
    works(&world, "python3 -m venv --without-pip env; env/bin/python -c 'print(1)'");
    assert!(world.path("env/bin/python").is_symlink());
}

#[test]
fn sqlite_keeps_a_database() {
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
