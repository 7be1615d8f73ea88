//! The short way through a command line comes out where the long one does.

use std::ffi::OsString;

use clap::Parser as _;

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
