//! A simple command: words, assignments and redirections, wherever in a script it stands.

use crate::Word;
use crate::programs::CommandProfile;

/// `NAME=value` before a command, or alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The name, with an index if it has one.
    pub name: String,
    /// What it is set to.
    pub value: Word,
}

/// What a redirection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RedirectKind {
    /// `<`
    Read,
    /// `>`, `>|`, `&>`: the file is emptied first.
    Write,
    /// `>>`, `&>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `2>&1`, `<&3`, `>&-`: no file.
    Descriptor,
    /// `<<` and `<<<`: the text is in the script. Commands inside are listed on their own.
    Text,
}

/// A redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// What it does.
    pub kind: RedirectKind,
    /// The file, the descriptor, or the text.
    pub target: Word,
}

/// Where a script stands at a command: directories from where it began, as `cd` was given them one after
/// the other (`a/..`). Empty: where it began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkingDirectories {
    /// Where it stands if every command before went well.
    pub reached: String,
    /// Where else it may stand, if one of them failed and the script went on all the same.
    pub otherwise: Vec<String>,
}

/// One simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// Name and arguments. Empty when there are only assignments or redirections.
    pub words: Vec<Word>,
    /// Assignments before the name.
    pub assignments: Vec<Assignment>,
    /// Redirections. Those of a group around commands are listed as a command without words.
    pub redirects: Vec<Redirect>,
    /// True when it goes on running after the script goes on (`&`, `coproc`).
    pub background: bool,
    /// How it is reached, outermost first: `sudo`, `$(…)`, `find -exec`, `bash -c`. Empty for a
    /// command that stands in the script itself.
    pub via: Vec<String>,
    /// What `cd` and `pushd` were given before it in the script. Relative paths of this command
    /// may begin at any of these directories instead of where the script began.
    pub moved: Vec<Word>,
    /// Where the script stands here, where that can be followed step by step. It then says more than
    /// `moved`.
    pub working_directories: Option<WorkingDirectories>,
    /// What the table of programs says about it.
    pub profile: CommandProfile,
}

impl Command {
    /// The here-documents and here-strings that it is given.
    pub fn texts(&self) -> impl Iterator<Item = &Word> {
        let texts = self.redirects.iter().filter(|it| it.kind == RedirectKind::Text);
        texts.map(|it| &it.target)
    }
}

/// Why the list of commands may not be the whole truth. Any doubt makes the verdict at least a
/// question, or a run in the sandbox where that contains it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// What is not known, for people: one clause, lower case.
    pub what: String,
    /// The text that raises it.
    pub at: String,
    /// True when it is only about what else may be run or loaded, which a sandbox contains. It is
    /// then a reason to stage, not to ask.
    pub contained: bool,
}

impl Doubt {
    pub(crate) fn new(what: impl Into<String>, at: impl Into<String>) -> Doubt {
        Doubt { what: what.into(), at: at.into(), contained: false }
    }
}
