//! The names in a git configuration file. Values matter only where they include other files.
//!
//! Where git would refuse the file, this reader may still find names: a name too many only sets
//! something harmless.

use std::fmt;

/// A name: section and key without regard to case, subsection exactly.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    pub(super) section: String,
    pub(super) subsection: Option<String>,
    pub(super) key: String,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.subsection {
            Some(subsection) => write!(f, "{}.{subsection}.{}", self.section, self.key),
            None => write!(f, "{}.{}", self.section, self.key),
        }
    }
}

/// Reads all names of a text, with their values, in order.
pub(super) fn read(text: &str) -> Vec<(Name, String)> {
    let mut names = Vec::new();
    let mut section: Option<(String, Option<String>)> = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut line = line.trim_start_matches(['\u{feff}', ' ', '\t', '\r']).to_owned();
        // A value goes on behind a backslash at the end of a line.
        while line.ends_with('\\')
            && let Some(next) = lines.next()
        {
            line.pop();
            line.push_str(next);
        }
        let mut rest = line.as_str();
        while let Some(header) = rest.strip_prefix('[') {
            let Some((found, behind)) = read_header(header) else { break };
            section = Some(found);
            rest = behind.trim_start();
        }
        if let Some((section, subsection)) = &section
            && let Some((key, value)) = read_pair(rest)
        {
            let (section, subsection) = (section.clone(), subsection.clone());
            names.push((Name { section, subsection, key }, value));
        }
    }
    names
}

/// `name]`, `name.sub]` or `name "sub"]`, and what is behind it.
fn read_header(header: &str) -> Option<((String, Option<String>), &str)> {
    let end = header.find([']', '"', ' ', '\t'])?;
    let (name, rest) = header.split_at_checked(end)?;
    let rest = rest.trim_start();
    if let Some(behind) = rest.strip_prefix(']') {
        let found = match name.split_once('.') {
            Some((section, sub)) => (section.to_lowercase(), Some(sub.to_lowercase())),
            None => (name.to_lowercase(), None),
        };
        return Some((found, behind));
    }
    let mut subsection = String::new();
    let quoted = rest.strip_prefix('"')?;
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => subsection.extend(letters.next().map(|(_, letter)| letter)),
            '"' => {
                let behind = quoted.get(at + 1..)?.trim_start().strip_prefix(']')?;
                return Some(((name.to_lowercase(), Some(subsection)), behind));
            }
            letter => subsection.push(letter),
        }
    }
    None
}

/// `key = value`, or a key alone, which means true.
fn read_pair(text: &str) -> Option<(String, String)> {
    let text = text.trim();
    let end = text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-');
    let (key, rest) = text.split_at_checked(end.unwrap_or(text.len()))?;
    if key.is_empty() {
        return None;
    }
    let value = rest.trim_start().strip_prefix('=').map(read_value).unwrap_or_default();
    Some((key.to_lowercase(), value))
}

/// A value without its quotes, escapes and comment.
fn read_value(text: &str) -> String {
    let mut value = String::new();
    let mut quoted = false;
    let mut letters = text.trim().chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => quoted = !quoted,
            '\\' => value.extend(letters.next()),
            '#' | ';' if !quoted => break,
            letter => value.push(letter),
        }
    }
    value.trim_end().to_owned()
}
