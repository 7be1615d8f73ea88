//! What a catastrophe is, as a value: what is done, and to what. People read it as one clause.

use std::fmt;

use crate::Word;

/// What a command does to its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verb {
    /// It is gone afterwards.
    Delete,
    /// It has another name afterwards, and programs that need it do not find it.
    Move,
    /// Something else is in its place afterwards.
    Overwrite,
    /// It is there afterwards, and nothing is in it.
    Empty,
    /// Something else is in it afterwards.
    Change,
    /// Others may use it, or nobody may.
    ChangeRights,
    /// Everybody may write to it.
    OpenToAll,
    /// It stops.
    End,
    /// It becomes more and more until nothing else runs.
    Multiply,
}

/// What a catastrophe hits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// The root of the file system, or everything in it.
    FileSystem,
    /// The same, where a variable turns out to be empty.
    FileSystemIfUnset,
    /// A directory that the system or all of its users need, or everything in it.
    SystemDirectory(String),
    /// A home directory, or everything in it.
    Home,
    /// The working directory, one above it, or everything in it.
    WorkingDirectory,
    /// A device, by its name below `/dev`.
    Device(String),
    /// A file that the machine does not work without.
    VitalFile,
    /// A file that belongs to the system.
    SystemFile,
    /// Everything beneath a directory that is the machine's or somebody's whole work.
    Tree,
    /// What git does not know of, in such a directory.
    UntrackedFiles,
    /// Every process, or the one that all others descend from.
    Processes,
    /// Every task that is planned.
    ScheduledTasks,
    /// What the machine starts from.
    Boot,
    /// A home directory, with its account.
    Account,
    /// The administrator's account.
    RootAccount,
    /// Whatever files an archive names.
    NamedPaths,
    /// A disk, a volume, or all that is on it.
    Volume,
    /// The switch that stops the machine.
    KernelSwitch,
    /// The machine itself.
    Machine,
    /// Every branch of a repository on another machine.
    RemoteRepository,
    /// A function that starts itself.
    Function,
    /// A script that starts itself.
    Script,
    /// A loop that waits for nothing of what it starts.
    Loop,
}

/// Something that would destroy a machine, a home or a disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catastrophe {
    /// What is done.
    pub verb: Verb,
    /// What it is done to.
    pub target: Target,
    /// The word that names the target, as it was written; empty where none does.
    pub word: String,
    /// The command, or the line, that does it.
    pub at: String,
    /// True when it stands in a text that may be run, not in a command that certainly is.
    pub indirect: bool,
}

impl Catastrophe {
    pub(crate) fn new(verb: Verb, target: Target) -> Catastrophe {
        let (word, at) = (String::new(), String::new());
        Catastrophe { verb, target, word, at, indirect: false }
    }

    pub(crate) fn with_word(self, word: &Word) -> Catastrophe {
        Catastrophe { word: word.source.clone(), ..self }
    }

    /// The same, with the command that does it.
    pub fn with_command(self, at: impl Into<String>) -> Catastrophe {
        Catastrophe { at: at.into(), ..self }
    }

    /// True when it is one wherever the command runs, in a container too.
    pub(crate) fn is_everywhere(&self) -> bool {
        matches!(
            self.target,
            Target::FileSystem | Target::FileSystemIfUnset | Target::Device(_) | Target::Function
        )
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Verb::Delete => "deletes",
            Verb::Move => "moves",
            Verb::Overwrite => "overwrites",
            Verb::Empty => "empties",
            Verb::Change => "changes",
            Verb::ChangeRights => "changes the rights of",
            Verb::OpenToAll => "opens to everybody",
            Verb::End => "ends",
            Verb::Multiply => "starts again and again",
        })
    }
}

impl fmt::Display for Catastrophe {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Catastrophe { verb, word, .. } = self;
        if self.indirect {
            out.write_str("may be run, and ")?;
        }
        match &self.target {
            Target::FileSystem => write!(out, "{verb} the whole file system (`{word}`)"),
            Target::FileSystemIfUnset => {
                write!(out, "{verb} the whole file system if the variable is empty (`{word}`)")
            }
            Target::SystemDirectory(name) => {
                write!(out, "{verb} the system directory `{name}` (`{word}`)")
            }
            Target::Home => write!(out, "{verb} a home directory (`{word}`)"),
            Target::WorkingDirectory => {
                write!(out, "{verb} the whole working directory or one above it (`{word}`)")
            }
            Target::Device(name) => write!(out, "{verb} the device `/dev/{name}`"),
            Target::VitalFile => {
                write!(out, "{verb} `{word}`, which the machine does not work without")
            }
            Target::SystemFile => write!(out, "{verb} `{word}`, which belongs to the system"),
            Target::Tree => write!(out, "{verb} everything beneath `{word}`"),
            Target::UntrackedFiles => {
                write!(out, "{verb} everything beneath `{word}` that git does not track")
            }
            Target::Processes => write!(out, "{verb} every process"),
            Target::ScheduledTasks => write!(out, "{verb} every scheduled task"),
            Target::Boot => write!(out, "{verb} what the machine starts from"),
            Target::Account => write!(out, "{verb} a home directory with its account"),
            Target::RootAccount => out.write_str("opens or shuts the administrator's account"),
            Target::NamedPaths => write!(out, "{verb} whatever files the archive names"),
            Target::Volume if word.is_empty() => write!(out, "{verb} a disk or a volume"),
            Target::Volume => write!(out, "{verb} the volume `{word}`"),
            Target::KernelSwitch => out.write_str("writes to the switch that stops the machine"),
            Target::Machine => out.write_str("stops the machine"),
            Target::RemoteRepository => {
                write!(out, "{verb} every branch and tag of the remote repository")
            }
            Target::Function => out.write_str("a function that starts itself again and again"),
            Target::Script => out.write_str("a script that starts itself again and again"),
            Target::Loop => {
                out.write_str("an endless loop that waits for nothing of what it starts")
            }
        }
    }
}
