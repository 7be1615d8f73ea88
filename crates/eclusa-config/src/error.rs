//! What is wrong with a configuration file, where, and how to fix it.

use std::{fmt, ops::Range};

/// One thing that is wrong with a configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The file, as the layer calls it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong: lower case, no period.
    pub message: String,
    /// How to fix it, when that is known.
    pub help: Option<String>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ConfigError {}

/// Everything that is wrong with a configuration, in the order of the layers and lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigErrors(pub Vec<ConfigError>);

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, error) in self.0.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigErrors {}

/// A problem at a place of a text, before anybody has counted lines.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) span: Range<usize>,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

impl Problem {
    pub(super) fn new(span: &Range<usize>, message: impl Into<String>) -> Problem {
        Problem { span: span.clone(), message: message.into(), help: None }
    }

    pub(super) fn help(self, help: impl Into<String>) -> Problem {
        Problem { help: Some(help.into()), ..self }
    }

    /// The same with the nearest of the words that would have been right, if one is near.
    pub(super) fn nearest<'a>(
        self,
        word: &str,
        words: impl IntoIterator<Item = &'a str>,
    ) -> Problem {
        match nearest(word, words) {
            Some(near) => self.help(format!("did you mean `{near}`?")),
            None => self,
        }
    }

    pub(super) fn in_file(self, file: &str, text: &str) -> ConfigError {
        let (line, column) = place(text, self.span.start);
        ConfigError { file: file.to_owned(), line, column, message: self.message, help: self.help }
    }
}

/// The word that is meant, if one is near enough.
pub(super) fn nearest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let far = (word.chars().count() / 3).max(1) + 1;
    words
        .into_iter()
        .map(|it| (strsim::damerau_levenshtein(word, it), it))
        .filter(|(distance, _)| *distance <= far)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, it)| it)
}

/// Line and column of a place in a text, both from 1.
pub(super) fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..text.floor_char_boundary(at.min(text.len()))).unwrap_or_default();
    let line = before.bytes().filter(|it| *it == b'\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}
