//! The table as a generator of commands sees it: programs, their flags and what their words are.

use super::entry::{Arity, Entry, Operands, Role};
use super::table::{EXAMPLES, PROGRAMS};

/// How a flag takes its argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Not at all.
    Nothing,
    /// Attached, or as the next word.
    Argument,
    /// Attached, or not at all.
    Attached,
    /// As the next two words.
    Two,
}

/// A flag of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlagShape {
    /// With its dashes.
    pub name: &'static str,
    /// How it takes its argument.
    pub takes: Takes,
    /// What the argument is, in the words of the table.
    pub argument: &'static str,
    /// True when the flag by itself does no more than read.
    pub reads: bool,
}

/// A program, or one of its subcommands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramShape {
    /// The program and its subcommand.
    pub words: Vec<&'static str>,
    /// Its flags.
    pub flags: Vec<FlagShape>,
    /// What its operands are, in the words of the table.
    pub operands: Vec<&'static str>,
    /// True when running it does no more than read, as long as no flag says otherwise.
    pub reads: bool,
}

/// Every program of the table, and every subcommand.
pub fn shapes() -> Vec<ProgramShape> {
    let mut all = Vec::new();
    for (name, entry) in PROGRAMS {
        collect(vec![name], entry, &mut all);
    }
    all
}

/// The commands that the entries of the table have as examples.
pub fn examples() -> impl Iterator<Item = &'static str> {
    EXAMPLES.iter().map(|(_, command, _)| *command)
}

fn collect(words: Vec<&'static str>, entry: &'static Entry, all: &mut Vec<ProgramShape>) {
    let flags = entry.flags.iter().map(|it| FlagShape {
        name: it.name.as_str(),
        takes: match it.arity {
            Arity::None => Takes::Nothing,
            Arity::Required => Takes::Argument,
            Arity::Optional => Takes::Attached,
            Arity::Two => Takes::Two,
        },
        argument: word_of(it.role),
        reads: it.class.is_read_only() && !is_active(it.role),
    });
    let flags = flags.collect();
    let mut operands = roles(&entry.operands);
    entry.with.iter().for_each(|(_, other)| operands.extend(roles(other)));
    let reads = entry.class.is_read_only();
    all.push(ProgramShape { words: words.clone(), flags, operands, reads });
    for (name, sub) in entry.subs {
        let words = words.iter().copied().chain([*name]).collect();
        collect(words, sub, all);
    }
}

fn roles(operands: &Operands) -> Vec<&'static str> {
    let all = operands.first.iter().chain(&operands.rest).chain(operands.last);
    all.map(|it| word_of(it.role)).collect()
}

fn is_active(role: Role) -> bool {
    use Role::{Change, Delete, Exec, Host, Move, Process, Url, Write};
    matches!(role, Write | Delete | Move | Change | Exec | Host | Url | Process)
}

/// What the table calls it.
fn word_of(role: Role) -> &'static str {
    match role {
        Role::Text => "text",
        Role::Read => "read",
        Role::Write => "write",
        Role::Delete => "delete",
        Role::Move => "move",
        Role::Change => "change",
        Role::List => "list",
        Role::Exec => "exec",
        Role::Enter => "enter",
        Role::Host => "host",
        Role::Url => "url",
        Role::Command => "command",
        Role::Script => "script",
        Role::Assign => "assign",
        Role::Name => "name",
        Role::Size => "size",
        Role::Format => "format",
        Role::Revision => "revision",
        Role::Argument => "argument",
        Role::Pattern => "pattern",
        Role::Archive => "archive",
        Role::Refspec => "refspec",
        Role::GitFormat => "gitformat",
        Role::GitConfig => "gitconfig",
        Role::Sed => "sed",
        Role::Awk => "awk",
        Role::Jq => "jq",
        Role::Mode => "mode",
        Role::Process => "process",
        Role::Setting => "setting",
    }
}
