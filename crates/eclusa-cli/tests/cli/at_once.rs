//! Two commands that write one file at the same time, each over what it saw: the second says what it replaces.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::Stdio,
};

use crate::world::{World, flowing};

#[test]
fn the_second_of_two_commands_says_what_it_replaces_and_an_undo_brings_it_back() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("mode = \"auto-approve\"\n");
    world.write("workspace/log", "start\n");
    let waits = "echo second >> log; echo ready; until ls | grep -q go; do sleep 0.02; done";
    let mut second = world.command(&["exec", "--apply", "--", waits]);
    let mut second = second.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(second.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    let first = world.eclusa(&["exec", "--apply", "--", "echo first >> log"]);
    assert_eq!(first.code, 0, "{first:?}");
    assert_eq!(world.read("workspace/log"), "start\nfirst\n");
    world.write("workspace/go", "");
    let mut told = String::new();
    second.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert!(second.wait().unwrap().success(), "{told}");
    assert!(flowing(&told).contains("the command's version replaced it"), "{told}");
    assert_eq!(world.read("workspace/log"), "start\nsecond\n");
    assert_eq!(world.eclusa(&["undo"]).code, 0);
    assert_eq!(world.read("workspace/log"), "start\nfirst\n");
}
