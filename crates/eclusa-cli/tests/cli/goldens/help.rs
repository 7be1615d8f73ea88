//! Every `-h` and every `--help`, one file for each command.

use super::{plain_run, same, timeless};
use crate::world::World;

/// Commands that no list shows.
const HIDDEN: [&str; 1] = ["complete-words"];

/// What a list of commands stands under.
const HEADINGS: [&str; 6] = [
    "Commands:",
    "Every day:",
    "Calls and models:",
    "Agents:",
    "Rules and answers:",
    "This machine:",
];

/// The names that a help lists as commands.
fn listed(help: &str) -> Vec<String> {
    let parts = help.split("\n\n").flat_map(|it| {
        let (heading, rest) = it.split_once('\n').unwrap_or_default();
        rest.lines().filter(move |_| HEADINGS.contains(&heading))
    });
    // A description that goes on stands further to the right.
    let names =
        parts.filter_map(|it| it.strip_prefix("  ")?.split(' ').next().filter(|it| !it.is_empty()));
    names.filter(|it| *it != "help").map(str::to_owned).collect()
}

/// The helps of a command and of all below it.
fn walk(world: &World, command: &[String], found: &mut Vec<(String, String)>) {
    let ask = |flag: &str| {
        let mut args: Vec<&str> = command.iter().map(String::as_str).collect();
        args.push(flag);
        let ran = plain_run(world, &args, "");
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}: {ran:?}");
        ran.out
    };
    let (short, long) = (ask("-h"), ask("--help"));
    let name = ["eclusa"].into_iter().chain(command.iter().map(String::as_str));
    let name = name.collect::<Vec<_>>().join("-");
    found.push((name, timeless(world, &format!("$ -h\n{short}\n$ --help\n{long}"))));
    let hidden = HIDDEN.iter().filter(|_| command.is_empty()).map(|it| (*it).to_owned());
    for below in listed(&long).into_iter().chain(hidden) {
        walk(world, &[command, &[below]].concat(), found);
    }
}

#[test]
fn every_command_helps_as_it_did() {
    let world = World::new();
    let mut found = Vec::new();
    walk(&world, &[], &mut found);
    assert!(found.len() > 80, "commands are found: {}", found.len());
    same("help", &found);
}
