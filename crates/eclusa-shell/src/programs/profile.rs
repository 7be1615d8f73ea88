//! What reading a command by the table gives.

use crate::{Part, Unknown, Word};

use super::class::{Class, Classes};

/// What happens to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum How {
    /// Its contents are read.
    Read,
    /// It is made, emptied or changed.
    Written,
    /// It is deleted.
    Deleted,
    /// It gets another name.
    Moved,
    /// Its mode, owner or times change.
    Changed,
    /// Its entries are listed.
    Listed,
    /// It is run.
    Executed,
    /// It becomes the working directory.
    Entered,
}

/// A path that a command names, and what happens to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathUse {
    /// The path, as far as it is known.
    pub word: Word,
    /// What happens to it.
    pub how: How,
}

/// Why a command has a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The class.
    pub class: Class,
    /// What led to it: one clause, lower case.
    pub what: String,
}

/// What the table says about a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandProfile {
    /// The program and its subcommands, as they were called.
    pub program: String,
    /// The entry by which it was read.
    pub entry: Option<&'static str>,
    /// What the command itself can do, without what it runs.
    pub class: Classes,
    /// The paths that it names.
    pub paths: Vec<PathUse>,
    /// Other machines that it names.
    pub hosts: Vec<Word>,
    /// Commands that it runs, as name and arguments.
    pub runs: Vec<Vec<Word>>,
    /// Shell text that it runs.
    pub scripts: Vec<Word>,
    /// True when it runs what it reads from its standard input (`sh`).
    pub reads_script: bool,
    /// What led to each class.
    pub why: Vec<Reason>,
    /// What is not known about it, if anything is not.
    pub unknown: Option<String>,
    /// What must hold where it runs for the class to be true: `neutral-git` (configuration of the
    /// repository runs nothing), `trusted-project` (files of the project may choose what runs).
    pub needs: Vec<&'static str>,
    /// The patterns by which `find` chooses names.
    pub sought: Vec<Word>,
    /// True when `find` has some test that chooses among what is there, were it by owner or rights.
    pub tested: bool,
    /// True when `paths` are narrowed by tests on what is beneath them, as `find` does it.
    pub narrowed: bool,
}

impl CommandProfile {
    pub(crate) fn add(&mut self, class: Class, what: String) {
        self.class |= class.into();
        self.why.push(Reason { class, what });
    }

    /// Adds classes; `what` is given the name of the program.
    pub(crate) fn add_all(&mut self, classes: Classes, what: impl Fn(&str) -> String) {
        for class in classes.iter() {
            let what = what(&self.program);
            if class == Class::Unknown {
                self.doubt(what);
            } else {
                self.add(class, what);
            }
        }
    }

    /// A doubt about words of the program.
    pub(crate) fn doubt_of(&mut self, what: String) {
        let what = format!("{what} of `{}`", self.program);
        self.doubt(what);
    }

    pub(crate) fn doubt(&mut self, what: String) {
        self.class |= Class::Unknown.into();
        self.unknown.get_or_insert_with(|| what.clone());
        self.why.push(Reason { class: Class::Unknown, what });
    }

    pub(crate) fn path(&mut self, word: Word, how: How) {
        self.paths.push(PathUse { word, how });
    }
}

/// True when the word can become no word, or several.
pub(crate) fn splits(word: &Word) -> bool {
    word.parts.iter().any(|part| match part {
        Part::Glob(_) => true,
        Part::Unknown { why, splits } => *splits && !is_one_word(*why),
        Part::Text(_) => false,
    })
}

/// True when the word can become several whose beginnings nobody knows.
pub(crate) fn splits_at_blanks(word: &Word) -> bool {
    word.parts.iter().any(|part| match part {
        Part::Unknown { why: Unknown::Found, .. } => false,
        Part::Unknown { why, splits } => *splits && !is_one_word(*why),
        Part::Text(_) | Part::Glob(_) => false,
    })
}

/// True when the word can turn out to begin with a dash.
pub(crate) fn may_be_flag(word: &Word) -> bool {
    for part in &word.parts {
        match part {
            Part::Text(text) if text.is_empty() => {}
            Part::Text(text) => return text.starts_with('-'),
            Part::Glob(text) => {
                return text.starts_with(['*', '?', '[', '@', '+', '!', '-']) || text.is_empty();
            }
            Part::Unknown { why: Unknown::Home | Unknown::Here | Unknown::Process, .. } => {
                return false;
            }
            Part::Unknown { .. } => return true,
        }
    }
    false
}

/// The part of a word behind its first `bytes` bytes, which are known text.
pub(crate) fn behind(word: &Word, bytes: usize) -> Word {
    let mut parts = word.parts.clone();
    if let Some(Part::Text(text)) = parts.first_mut() {
        *text = text.get(bytes..).unwrap_or_default().to_owned();
    }
    if matches!(parts.first(), Some(Part::Text(text)) if text.is_empty()) {
        parts.remove(0);
    }
    let mut rest = Word { parts, source: String::new() };
    let source = match rest.text() {
        Some(text) => text.into_owned(),
        None => word.source.get(bytes..).unwrap_or_default().to_owned(),
    };
    rest.source = source;
    rest
}

/// A known word that something unknown is put into wherever the mark stands.
pub(crate) fn with_unknown(text: &str, mark: &str) -> Word {
    let mut parts = Vec::new();
    for (at, piece) in text.split(mark).enumerate() {
        if at > 0 {
            parts.push(Part::Unknown { why: Unknown::Input, splits: false });
        }
        if !piece.is_empty() {
            parts.push(Part::Text(piece.to_owned()));
        }
    }
    Word { parts, source: text.to_owned() }
}

/// True when the word is certainly not known in full.
pub(crate) fn is_dynamic(word: &Word) -> bool {
    word.parts.iter().any(|it| !matches!(it, Part::Text(_)))
}

/// What a program appends to the words of a command that it runs, and nobody knows beforehand.
pub(crate) fn appended(source: &str) -> Word {
    let part = Part::Unknown { why: Unknown::Input, splits: true };
    Word { parts: vec![part], source: source.to_owned() }
}

/// A word of which nobody knows anything beforehand, and that may become several.
pub(crate) fn unclear(source: &str) -> Word {
    let part = Part::Unknown { why: Unknown::Unclear, splits: true };
    Word { parts: vec![part], source: source.to_owned() }
}

/// True for the word that stands for what `xargs` reads.
pub(crate) fn is_appended(word: &Word) -> bool {
    matches!(word.parts.as_slice(), [Part::Unknown { why: Unknown::Input, .. }])
}

/// Paths that a search beneath the working directory finds.
pub(crate) fn found_beneath(source: &str, many: bool) -> Word {
    let found = Part::Unknown { why: Unknown::Found, splits: many };
    Word { parts: vec![Part::Text("./".to_owned()), found], source: source.to_owned() }
}

/// The word with its known text in one piece, so that a flag in pieces (`"-"o`) is a flag.
pub(crate) fn joined(word: &Word) -> Word {
    let mut parts: Vec<Part> = Vec::new();
    for part in &word.parts {
        match (parts.last_mut(), part) {
            (Some(Part::Text(last)), Part::Text(more)) => last.push_str(more),
            (_, Part::Text(text)) if text.is_empty() => {}
            (_, part) => parts.push(part.clone()),
        }
    }
    Word { parts, source: word.source.clone() }
}

/// True when the known text of the word is in several pieces.
pub(crate) fn is_in_pieces(word: &Word) -> bool {
    let text = |it: &Part| matches!(it, Part::Text(_));
    let empty = |it: &Part| matches!(it, Part::Text(text) if text.is_empty());
    word.parts.iter().any(empty)
        || word.parts.iter().zip(word.parts.iter().skip(1)).any(|(a, b)| text(a) && text(b))
}

fn is_one_word(why: Unknown) -> bool {
    matches!(why, Unknown::Home | Unknown::Here | Unknown::Process | Unknown::Arithmetic)
}
