//! A word of a command: what the program will be handed, as far as it is known beforehand.

use std::borrow::Cow;

/// Why a part of a word cannot be known before the command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unknown {
    /// `$NAME`, `${NAME}` and everything that begins so.
    Variable,
    /// `$(…)` or backquotes. The commands inside are listed on their own.
    Substitution,
    /// `$((…))` or `$[…]`.
    Arithmetic,
    /// `<(…)` or `>(…)`. The commands inside are listed on their own.
    Process,
    /// `{a,b}` or `{1..9}` that were not worked out.
    Brace,
    /// `~`, `~name` or `$HOME`.
    Home,
    /// `$PWD` or `~+`: the directory in which the script began.
    Here,
    /// `$NAME` of a variable that certainly got its value from the script (a loop's, or from
    /// `read`), or that the shell keeps itself (`$?`): unknown, but nothing of the environment's.
    Local,
    /// Paths beneath what stands before it, which a search finds when it runs. None is a flag.
    Found,
    /// What `xargs` and `find` put into the words of the commands that they run.
    Input,
    /// The two parsers do not agree, or the word is of a kind nobody worked out.
    Unclear,
}

/// A piece of a word, quotes and escapes removed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Part {
    /// Exactly this text.
    Text(String),
    /// An unquoted pattern (`*`, `?`, `[…]`, extended patterns), as written.
    Glob(String),
    /// Something that only the run decides.
    Unknown {
        /// What stands there.
        why: Unknown,
        /// True when it was not quoted: it can become no word, or several.
        splits: bool,
    },
}

/// One word.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Word {
    /// Its pieces, in order. None: the empty word (`''`).
    pub parts: Vec<Part>,
    /// As it was written, for people.
    pub source: String,
}

impl Word {
    /// A word that is exactly this text.
    pub fn literal(text: impl Into<String>) -> Word {
        let text = text.into();
        Word { source: text.clone(), parts: vec![Part::Text(text)] }
    }

    /// Its final text, if that is known.
    pub fn text(&self) -> Option<Cow<'_, str>> {
        match self.parts.as_slice() {
            [] => Some(Cow::Borrowed("")),
            [Part::Text(text)] => Some(Cow::Borrowed(text)),
            parts => parts
                .iter()
                .map(|part| match part {
                    Part::Text(text) => Some(text.as_str()),
                    Part::Glob(_) | Part::Unknown { .. } => None,
                })
                .collect::<Option<String>>()
                .map(Cow::Owned),
        }
    }

    /// The text it certainly begins with.
    pub fn prefix(&self) -> &str {
        match self.parts.first() {
            Some(Part::Text(text)) => text,
            Some(Part::Glob(_) | Part::Unknown { .. }) | None => "",
        }
    }

    /// True when it has an unquoted pattern and is otherwise known.
    pub fn is_glob(&self) -> bool {
        self.parts.iter().any(|it| matches!(it, Part::Glob(_)))
            && !self.parts.iter().any(|it| matches!(it, Part::Unknown { .. }))
    }

    /// True when it may become no word or several.
    pub fn may_split(&self) -> bool {
        self.parts.iter().any(|it| match it {
            Part::Glob(_) => true,
            Part::Unknown { splits, .. } => *splits,
            Part::Text(_) => false,
        })
    }
}
