//! A project's file that a team shares: it tightens for everybody, loosens for whoever trusts it, and stops nobody.

use eclusa::Hash;

use crate::world::{Ran, World, flowing};

const ALLOW: &str = "[[rules]]\ndecision = \"allow\"\ntool = \"note\"\n";
const DENY: &str = "[[rules]]\ndecision = \"deny\"\npath = \"infra/**\"\n";

fn note(world: &World) -> Ran {
    world.eclusa(&["run", "note", "text=hello"])
}

fn read_infra(world: &World) -> Ran {
    world.eclusa(&["run", "read", "path=infra/main.tf"])
}

fn project(world: &World, text: &str) {
    world.write("workspace/eclusa.toml", text);
}

#[test]
fn an_untrusted_file_tightens_and_stops_nobody() {
    let world = World::new();
    std::fs::create_dir_all(world.path("workspace/infra")).unwrap();
    world.write("workspace/infra/main.tf", "x\n");
    world.write("workspace/a.txt", "a\n");
    project(&world, &format!("{ALLOW}{DENY}"));
    let denied = read_infra(&world);
    assert!(denied.code == 3 && denied.err.contains("a rule denies it"), "{denied:?}");
    let asked = note(&world);
    assert_eq!(asked.code, 3, "its allow is left out: {asked:?}");
    let told = "eclusa.toml:1: left out, because this file is not trusted;";
    assert!(flowing(&asked.err).contains(told), "{asked:?}");
    // Everything else works as without it.
    assert_eq!(world.eclusa(&["run", "read", "path=a.txt"]).code, 0);
    assert_eq!(world.eclusa(&["config", "trust"]).code, 0);
    let trusted = note(&world);
    assert!(trusted.code == 0 && !trusted.err.contains("left out"), "{trusted:?}");
    assert_eq!(read_infra(&world).code, 3);
}

#[test]
fn a_change_that_only_tightens_keeps_the_trust_and_any_other_takes_it_back() {
    let world = World::new();
    std::fs::create_dir_all(world.path("workspace/infra")).unwrap();
    world.write("workspace/infra/main.tf", "x\n");
    project(&world, &format!("{ALLOW}{DENY}"));
    assert_eq!(world.eclusa(&["config", "trust"]).code, 0);
    // A colleague adds a denial and a comment.
    let more = "[[rules]]\ndecision = \"ask\"\npath = \"deploy/**\"\n";
    project(&world, &format!("# read before\n{DENY}{more}{ALLOW}"));
    assert_eq!(note(&world).code, 0);
    // One takes a denial away: that loosens.
    project(&world, &format!("{ALLOW}{more}"));
    assert_eq!(note(&world).code, 3);
    // One allows more.
    project(&world, &format!("{ALLOW}{DENY}{}", ALLOW.replace("note", "echo")));
    let ran = note(&world);
    assert_eq!(ran.code, 3);
    assert!(flowing(&ran.err).contains("since it was changed"), "{ran:?}");
    // As it was trusted, it is again.
    project(&world, &format!("{ALLOW}{DENY}"));
    assert_eq!(note(&world).code, 0);
}

#[test]
fn a_file_that_cannot_be_read_stops_calls_and_names_the_place() {
    let world = World::new();
    project(&world, "[[rules]]\ndecision = \"deny\"\npaths = \"infra/**\"\n");
    let ran = note(&world);
    assert!(ran.code == 2 && ran.err.contains("eclusa.toml:3:1"), "{ran:?}");
}

/// What a newer program knows is no mistake of the file: an older one says what to do.
#[test]
fn a_file_says_which_version_it_is_for() {
    let world = World::new();
    project(&world, "needs = \"99.5\"\n[a_key_of_the_future]\nx = 1\n");
    let ran = note(&world);
    assert!(ran.code == 2 && ran.err.contains("eclusa.toml:1:9"), "{ran:?}");
    assert!(flowing(&ran.err).contains("this file is for eclusa 99.5 and later"), "{ran:?}");
    assert!(ran.err.contains("upgrade eclusa") && !ran.err.contains("unknown key"), "{ran:?}");
    project(&world, "needs = \"soon\"\n");
    assert!(note(&world).err.contains("`soon` is no version"));
    project(&world, &format!("needs = \"0.1\"\n{ALLOW}"));
    assert_eq!(world.eclusa(&["config", "trust"]).code, 0);
    assert_eq!(note(&world).code, 0);
    // It neither tightens nor loosens.
    project(&world, &format!("needs = \"0.0\"\n{ALLOW}"));
    assert_eq!(note(&world).code, 0);
}

#[test]
fn a_job_trusts_the_text_that_it_names_and_no_other() {
    let world = World::new();
    let text = format!("{ALLOW}{DENY}");
    project(&world, &text);
    let wrong = "0".repeat(64);
    let ran = world.eclusa(&["config", "trust", "--digest", &wrong]);
    assert!(ran.code == 2 && ran.err.contains("it is not trusted"), "{ran:?}");
    assert_eq!(note(&world).code, 3);
    let digest = Hash::sha256(text.as_bytes()).to_string();
    assert_eq!(world.eclusa(&["config", "trust", "--digest", &digest]).code, 0);
    assert_eq!(note(&world).code, 0);
}
