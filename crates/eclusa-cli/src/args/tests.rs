//! The short way through a command line comes out where the long one does.

use std::ffi::OsString;

use clap::{CommandFactory as _, Parser as _};

use super::Args;

fn words(line: &[&str]) -> Vec<OsString> {
    ["eclusa"].iter().chain(line).map(OsString::from).collect()
}

#[test]
fn commands_that_are_started_often_are_read_alike_both_ways() {
    let lines: [&[&str]; 9] = [
        &["check", "bash", "command=ls"],
        &["check", "--jsonl", "--servers"],
        &["check", "--mode", "yolo", "read", "path=a", "--json", "-vv"],
        &["check", "read", "{\"path\": \"x\"}", "--policy", "a", "--policy", "b"],
        &["check", "read", "--", "--json"],
        &["mcp"],
        &["mcp", "--workspace", "/w", "--state=/s"],
        &["mcp", "--patience", "10s"],
        &["mcp", "--wrap", "--env", "A", "--", "server", "--flag"],
    ];
    for line in lines {
        let line = words(line);
        let short = Args::read_one(&line).map(|it| format!("{it:?}"));
        let long = Args::try_parse_from(&line).map(|it| format!("{it:?}"));
        assert_eq!(short, long.ok(), "{line:?}");
        assert!(short.is_some(), "{line:?}");
    }
}

#[test]
fn everything_else_goes_the_long_way() {
    let lines: [&[&str]; 8] = [
        &[],
        &["check"],
        &["check", "--help"],
        &["check", "--no-such"],
        &["check", "--jsonl", "bash"],
        &["mcp", "--env", "A"],
        &["--json", "check", "bash"],
        &["log"],
    ];
    for line in lines {
        assert!(Args::read_one(&words(line)).is_none(), "{line:?}");
    }
}

#[test]
fn the_help_has_every_command_in_one_group() {
    let mut command = Args::command();
    command.build();
    let commands = command.get_subcommands().filter(|it| !it.is_hide_set());
    let mut there: Vec<String> = commands
        .map(|it| format!("  {:12} {}", it.get_name(), it.get_about().unwrap_or_default()))
        .collect();
    let mut told: Vec<String> =
        super::groups::HELP.lines().filter(|it| it.starts_with("  ")).map(str::to_owned).collect();
    there.sort();
    told.sort();
    assert_eq!(told, there);
}

/// They hold for every command: who looks a command up wants that command's own.
#[test]
fn global_options_are_in_the_help_of_the_program_alone() {
    let mut command = super::help::readable(Args::command());
    command.build();
    let long = command.render_long_help().to_string();
    assert!(long.contains("--workspace") && long.contains("--dry-run"), "{long}");
    let log = command.find_subcommand_mut("log").unwrap();
    for help in [log.render_help().to_string(), log.render_long_help().to_string()] {
        assert!(help.contains("--tool") && !help.contains("--workspace <"), "{help}");
        assert!(help.contains("`eclusa --help`"), "{help}");
    }
}

/// What people see at a terminal of 80 columns is as it was written.
#[test]
fn no_example_is_wider_than_80_columns() {
    fn look(command: &clap::Command, wide: &mut Vec<String>) {
        let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let examples = text.lines().filter(|it| it.starts_with(' ') && it.chars().count() > 80);
        wide.extend(examples.map(|it| format!("{}: {it}", command.get_name())));
        command.get_subcommands().for_each(|it| look(it, wide));
    }
    let mut wide = Vec::new();
    look(&super::help::readable(Args::command()), &mut wide);
    assert_eq!(wide, Vec::<String>::new());
    for text in [super::groups::EVERYDAY, super::groups::HELP] {
        let mut commands = text.lines().filter(|it| it.starts_with("  "));
        assert!(commands.all(|it| it.chars().count() <= 80), "{text}");
    }
    assert!(super::groups::EVERYDAY.lines().count() < 24);
}

/// A paragraph is one line, which is wrapped to the width of the terminal once.
#[test]
fn no_paragraph_of_a_help_is_wrapped_by_hand() {
    fn look(command: &clap::Command, wrapped: &mut Vec<String>) {
        let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let prose = |it: &str| !it.is_empty() && !it.starts_with(' ');
        let lines: Vec<&str> = text.lines().collect();
        let by_hand = lines.windows(2).filter(|it| it.iter().all(|it| prose(it)));
        wrapped.extend(by_hand.map(|it| format!("{}: {}", command.get_name(), it.join(" / "))));
        command.get_subcommands().for_each(|it| look(it, wrapped));
    }
    let mut wrapped = Vec::new();
    look(&Args::command(), &mut wrapped);
    assert_eq!(wrapped, Vec::<String>::new());
}
