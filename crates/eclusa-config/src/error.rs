//! What is wrong with a configuration file, where, and how to fix it.

use std::{fmt, ops::Range};

use crate::Layer;

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
    /// The line itself.
    pub source_line: String,
    /// How many characters of it are meant, at least 1.
    pub width: usize,
}

/// How many characters of a line are shown beside what is wrong in it.
const MAX_LINE: usize = 100;

impl ConfigError {
    /// The same of something that is known by `file:line` alone.
    pub(super) fn at_origin(
        origin: &str,
        layers: &[&Layer],
        message: String,
        help: &str,
    ) -> ConfigError {
        let (file, line) = origin.rsplit_once(':').unwrap_or((origin, "1"));
        let line = line.parse().unwrap_or(1_usize).max(1);
        let text = layers.iter().find(|it| it.name == file).map_or("", |it| it.text.as_str());
        let source_line = text.lines().nth(line - 1).unwrap_or_default().to_owned();
        let width = source_line.chars().count().max(1);
        let (file, help) = (file.to_owned(), Some(help.to_owned()));
        ConfigError { file, line, column: 1, message, help, source_line, width }
    }

    /// What is wrong, and the line with marks under it, indented.
    pub fn with_excerpt(&self) -> String {
        match self.excerpt() {
            Some(lines) => format!("{self}\n    {}", lines.replace('\n', "\n    ")),
            None => self.to_string(),
        }
    }

    /// The line, and beneath it marks under what is wrong; `None` where the line shows nothing.
    /// Tabs and whatever else has no fixed width are blanks.
    pub fn excerpt(&self) -> Option<String> {
        let plain = |it: char| if it.is_control() { ' ' } else { it };
        let start = self.column.saturating_sub(1);
        let skipped = start.saturating_sub(MAX_LINE / 2);
        let shown: String =
            self.source_line.chars().skip(skipped).take(MAX_LINE).map(plain).collect();
        let left = shown.chars().count().saturating_sub(start - skipped);
        if shown.trim().is_empty() {
            return None;
        }
        let marks = "^".repeat(self.width.clamp(1, left.max(1)));
        let number = self.line.to_string();
        let (gap, blanks) = (" ".repeat(number.len()), " ".repeat(start - skipped));
        Some(format!("{number} | {}\n{gap} | {blanks}{marks}", shown.trim_end()))
    }
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
#[derive(Debug, Clone)]
pub(super) struct Problem {
    pub(super) span: Range<usize>,
    pub(super) message: String,
    pub(super) help: Option<String>,
    /// Whether the line may hold a secret, and is not shown.
    pub(super) secret: bool,
}

impl Problem {
    pub(super) fn new(span: &Range<usize>, message: impl Into<String>) -> Problem {
        Problem { span: span.clone(), message: message.into(), help: None, secret: false }
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
        let shown = text.lines().nth(line - 1).filter(|_| !self.secret);
        let source_line = shown.unwrap_or_default().to_owned();
        let meant = text.get(self.span.clone()).unwrap_or_default();
        let width = meant.lines().next().unwrap_or_default().chars().count().max(1);
        let (message, help) = (self.message, self.help);
        ConfigError { file: file.to_owned(), line, column, message, help, source_line, width }
    }
}

/// The word that is meant, if one is near enough.
pub(crate) fn nearest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
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
