//! Help as it is read: on a screen of 80 columns, without what holds for every command.

use std::ffi::OsString;

use clap::{CommandFactory as _, error::ErrorKind};

use super::{Args, groups};

/// The width that examples fit into.
const WIDTH: usize = 80;

/// Commands this long share the column at which the words about them begin.
const LONGEST_BESIDE: usize = 44;

/// Where the words begin under an example that is longer than that.
const BELOW: usize = 6;

impl Args {
    /// The help of the program on one screen, if that is what was asked for.
    pub(crate) fn everyday(words: &[OsString]) -> Option<&'static str> {
        match words.get(1..)? {
            [only] if only == "help" || only == "-h" => Some(groups::EVERYDAY),
            _ => None,
        }
    }

    /// What clap says of a command line that it did not take, with the help that people read.
    pub(crate) fn explained(words: &[OsString], err: clap::Error) -> clap::Error {
        match err.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                readable(Args::command()).try_get_matches_from(words).err().unwrap_or(err)
            }
            _ => err,
        }
    }
}

/// The program with its help as it is read.
pub(super) fn readable(program: clap::Command) -> clap::Command {
    let global: Vec<clap::Arg> =
        program.get_arguments().filter(|it| it.is_global_set()).cloned().collect();
    let hidden: Vec<clap::Arg> = global.into_iter().map(|it| it.hide(true)).collect();
    fitted(program.mut_subcommands(|it| of_a_command(it, &hidden)))
}

fn of_a_command(command: clap::Command, global: &[clap::Arg]) -> clap::Command {
    let command = command.args(global.iter().cloned()).help_template(groups::OF_A_COMMAND);
    fitted(command.mut_subcommands(|it| of_a_command(it, global)))
}

fn fitted(command: clap::Command) -> clap::Command {
    match command.get_after_help().map(|it| fit(&it.to_string())) {
        Some(text) => command.after_help(text),
        None => command,
    }
}

/// Examples: the commands in one column, what is said of them in another, and no line too long.
fn fit(text: &str) -> String {
    let lines: Vec<(&str, &str)> = text.lines().map(parts).collect();
    let beside = lines.iter().filter(|it| !it.1.is_empty()).map(|it| it.0.chars().count());
    let column = beside.filter(|it| *it <= LONGEST_BESIDE).max().unwrap_or_default() + 2;
    let mut fitted = Vec::new();
    for (command, about) in lines {
        let length = command.chars().count();
        if !command.starts_with("  ") {
            fitted.push(command.to_owned());
            continue;
        }
        let words: Vec<&str> = about.split(' ').filter(|it| !it.is_empty()).collect();
        if command.trim().is_empty() || length > LONGEST_BESIDE {
            let at = if command.trim().is_empty() { column } else { BELOW };
            fitted.extend(broken(command));
            fitted.extend(wrapped(&words, at).into_iter().map(|it| format!("{:at$}{it}", "")));
            continue;
        }
        let mut rest = wrapped(&words, column).into_iter();
        let first = rest.next().unwrap_or_default();
        fitted.push(format!("{command:column$}{first}").trim_end().to_owned());
        fitted.extend(rest.map(|it| format!("{:column$}{it}", "")));
    }
    fitted.join("\n")
}

/// A command, and what is said of it: two blanks or more stand between them.
fn parts(line: &str) -> (&str, &str) {
    let body = line.trim_start();
    let indent = line.len() - body.len();
    // What is said of the command above it.
    if indent > 12 {
        return (line.get(..2).unwrap_or_default(), body);
    }
    match body.find("  ").filter(|_| indent > 0) {
        Some(at) => {
            let (command, about) = line.split_at(indent + at);
            (command, about.trim_start())
        }
        None => (line, ""),
    }
}

/// A command that goes on in the next line, as a shell takes it.
fn broken(command: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    let indent: String = command.chars().take_while(|it| *it == ' ').collect();
    for word in command.split(' ').filter(|it| !it.is_empty()) {
        let full =
            lines.last().is_some_and(|it| it.chars().count() + word.chars().count() + 3 > WIDTH);
        if full && let Some(last) = lines.last_mut() {
            last.push_str(" \\");
            lines.push(format!("{indent}   "));
        }
        if let Some(last) = lines.last_mut() {
            let gap = if last.is_empty() { indent.as_str() } else { " " };
            last.push_str(gap);
            last.push_str(word);
        }
    }
    lines.retain(|it| !it.trim().is_empty());
    lines
}

fn wrapped(words: &[&str], column: usize) -> Vec<String> {
    let width = WIDTH.saturating_sub(column);
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut().filter(|it| it.chars().count() + word.chars().count() < width) {
            Some(last) => {
                last.push(' ');
                last.push_str(word);
            }
            None => lines.push((*word).to_owned()),
        }
    }
    lines
}
