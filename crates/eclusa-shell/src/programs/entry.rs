//! The shape of an entry of the table: what is known about one program.

use super::{class::Classes, flag_name::FlagName};

/// What an operand, or the argument of a flag, is to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Text without a meaning outside the program.
    Text,
    /// A file that is read.
    Read,
    /// A file that is written.
    Write,
    /// A file or directory that is deleted.
    Delete,
    /// A file that goes away because it gets another name.
    Move,
    /// A file whose mode, owner or times change.
    Change,
    /// A directory that is listed.
    List,
    /// A file that is run.
    Exec,
    /// A directory that becomes the working directory.
    Enter,
    /// Another machine.
    Host,
    /// An address on another machine.
    Url,
    /// This and all that follows is a command of its own.
    Command,
    /// Shell text.
    Script,
    /// `NAME=value`, for the environment of a command.
    Assign,
    /// The name of a variable that is set, with or without a value.
    Name,
    /// A size that must stay modest, because memory is taken for it.
    Size,
    /// `+FORMAT`; anything else sets the clock.
    Format,
    /// A revision, a path, or `revision:path`, as git takes them.
    Revision,
    /// An argument of a script, which must not look like a flag of the shell.
    Argument,
    /// A pattern of names: the files that it matches are read.
    Pattern,
    /// An archive, which is read or written by what else the command says.
    Archive,
    /// What is pushed where, as git takes it.
    Refspec,
    /// A format of git, in which some fields run a helper.
    GitFormat,
    /// `key=value` of git's configuration.
    GitConfig,
    /// A program for sed.
    Sed,
    /// A program for awk.
    Awk,
    /// A filter for jq.
    Jq,
    /// A mode for chmod.
    Mode,
    /// A process, or a group of them, that is sent a signal.
    Process,
    /// A setting of the machine: `KEY` reads it, `KEY=value` sets it.
    Setting,
}

/// Whether a flag takes an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arity {
    /// It does not.
    None,
    /// It does: attached, or the next word.
    Required,
    /// It takes two, a name and what the role says: both words of their own.
    Two,
    /// It may: only attached.
    Optional,
}

/// A flag that the program accepts.
#[derive(Debug)]
pub(crate) struct Flag {
    pub(crate) name: FlagName,
    /// Whether it takes an argument.
    pub(crate) arity: Arity,
    /// What the argument is.
    pub(crate) role: Role,
    /// What the flag makes of the command.
    pub(crate) class: Classes,
}

/// What the operands are, in order.
#[derive(Debug)]
pub(crate) struct Operands {
    /// Those at the beginning.
    pub(crate) first: &'static [Operand],
    /// What those in the middle are, as many as there are.
    pub(crate) rest: Option<Operand>,
    /// Those at the end.
    pub(crate) last: &'static [Operand],
}

/// One operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operand {
    /// What it is.
    pub(crate) role: Role,
    /// What its being there makes of the command.
    pub(crate) class: Classes,
}

/// Where flags may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Anywhere before `--`, as GNU programs have it.
    Permute,
    /// Before the first operand only.
    Stop,
    /// Nowhere: every word is an operand.
    Never,
}

/// Who reads the words, where flags and operands do not say it all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// Flags and operands, as the entry has them.
    Plain,
    /// The expression of find.
    Find,
    /// A search, with a command behind it.
    Fd,
    /// The expression of `test` and `[`.
    Test,
    /// The expression of `[[`.
    Condition,
    /// The first word of tar can be a bundle without a dash.
    Tar,
    /// The `name=value` operands of dd.
    Dd,
    /// What it runs gets further words from its input.
    Xargs,
    /// Its flags are letters without a dash too.
    Ps,
    /// The words become one script.
    Eval,
    /// `set` and its options.
    Set,
    /// Every flag may be a signal.
    Kill,
    /// A path can be on another machine.
    Rsync,
    /// What a symbolic link leads to is seen from where the link is.
    Ln,
}

/// What is known about one program.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Its name, with the names of the programs that it is a part of.
    pub(crate) name: &'static str,
    /// What running it means whatever its flags are.
    pub(crate) class: Classes,
    /// What running it without an operand means.
    pub(crate) bare: Classes,
    /// Sorted by name.
    pub(crate) flags: &'static [Flag],
    /// True when flags are not looked at, because the class already says the worst.
    pub(crate) any_flags: bool,
    /// True when `-5` is a flag.
    pub(crate) numbers: bool,
    /// Flags that, alone on the line, make the program print something and end.
    pub(crate) alone: &'static [&'static str],
    /// Where flags may stand.
    pub(crate) order: Order,
    /// What the operands are.
    pub(crate) operands: Operands,
    /// What the operands are when one of these flags is there.
    pub(crate) with: &'static [(&'static [&'static str], Operands)],
    /// True when no flag of the program, known or not, writes or runs anything.
    pub(crate) harmless: bool,
    /// Who reads the words.
    pub(crate) reader: Reader,
    /// Its subcommands, sorted by name.
    pub(crate) subs: &'static [(&'static str, &'static Entry)],
    /// True when the first operand need not be a subcommand.
    pub(crate) subs_optional: bool,
    /// True when, without operands or with `-s`, it runs what it reads.
    pub(crate) reads_script: bool,
    /// What must hold where it runs for the class to be true.
    pub(crate) needs: &'static str,
    /// Flags, and the class that the command has without them.
    pub(crate) unless: (&'static [&'static str], Classes),
    /// Flags that spare the class of `unless` too, and flags with which they do not.
    pub(crate) modes: (&'static [&'static str], &'static [&'static str]),
    /// True when `@file` stands for the words in the file.
    pub(crate) response_files: bool,
}

impl Entry {
    /// The flag of exactly this name.
    pub(crate) fn flag(&self, name: &str) -> Option<&'static Flag> {
        let at = self.flags.binary_search_by(|it| it.name.as_str().cmp(name)).ok()?;
        self.flags.get(at)
    }

    /// The long flags that this text begins.
    pub(crate) fn abbreviated<'a>(
        &self,
        text: &'a str,
    ) -> impl Iterator<Item = &'static Flag> + use<'a> {
        let long = text.len() > 2 && text.starts_with("--");
        self.flags.iter().filter(move |it| long && it.name.as_str().starts_with(text))
    }

    /// The subcommand of this name.
    pub(crate) fn sub(&self, name: &str) -> Option<&'static Entry> {
        find(self.subs, name)
    }
}

/// The entry of this name in a sorted list.
pub(crate) fn find(
    list: &'static [(&'static str, &'static Entry)],
    name: &str,
) -> Option<&'static Entry> {
    let at = list.binary_search_by(|(it, _)| (*it).cmp(name)).ok()?;
    list.get(at).map(|(_, entry)| *entry)
}
