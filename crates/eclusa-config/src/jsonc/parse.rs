//! Reads JSON with comments, and remembers where everything stands.

use std::ops::Range;

use serde_json::Value;

use super::JsoncError;

/// How deep settings may be nested.
const MAX_DEPTH: usize = 64;

/// A value, and where it stands.
#[derive(Debug, Clone)]
pub(super) struct JsonNode {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
}

/// What a value is.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    Object(Vec<Member>),
    Array(Vec<JsonNode>),
    Scalar(Value),
}

/// A key with its value.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) key: String,
    /// Where its key begins.
    pub(super) start: usize,
    pub(super) value: JsonNode,
}

/// The value of a text; `None` where there are only blanks and comments.
pub(super) fn parse(text: &str) -> Result<Option<JsonNode>, JsoncError> {
    let mut reader = JsonReader { text, at: 0 };
    if text.starts_with('\u{feff}') {
        reader.at = '\u{feff}'.len_utf8();
    }
    reader.blanks()?;
    if reader.peek().is_none() {
        return Ok(None);
    }
    let node = reader.node(0)?;
    reader.blanks()?;
    match reader.peek() {
        None => Ok(Some(node)),
        Some(_) => Err(reader.wrong("there is something after the end")),
    }
}

struct JsonReader<'a> {
    text: &'a str,
    at: usize,
}

impl JsonReader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn wrong(&self, what: &str) -> JsoncError {
        let before = self.text.get(..self.at).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |it| it + 1);
        let column = before.get(start..).unwrap_or_default().chars().count() + 1;
        JsoncError { line, column, what: what.to_owned() }
    }

    /// Goes past blanks and comments.
    fn blanks(&mut self) -> Result<(), JsoncError> {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            if blank > 0 {
                self.at += blank;
            } else if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                let Some(end) = rest.find("*/") else {
                    return Err(self.wrong("a comment has no end"));
                };
                self.at += end + 2;
            } else {
                return Ok(());
            }
        }
    }

    fn node(&mut self, depth: usize) -> Result<JsonNode, JsoncError> {
        if depth > MAX_DEPTH {
            return Err(self.wrong("it is nested too deeply"));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some('{') => self.object(depth)?,
            Some('[') => self.array(depth)?,
            Some('"') => Kind::Scalar(Value::String(self.string()?)),
            Some(_) => self.word()?,
            None => return Err(self.wrong("a value is missing")),
        };
        Ok(JsonNode { span: start..self.at, kind })
    }

    fn object(&mut self, depth: usize) -> Result<Kind, JsoncError> {
        self.at += 1;
        let mut members = Vec::new();
        loop {
            self.blanks()?;
            match self.peek() {
                Some('}') => {
                    self.at += 1;
                    return Ok(Kind::Object(members));
                }
                Some('"') => {}
                _ => return Err(self.wrong("a key in double quotes or `}` is missing")),
            }
            let start = self.at;
            let key = self.string()?;
            self.blanks()?;
            if self.peek() != Some(':') {
                return Err(self.wrong("a `:` is missing"));
            }
            self.at += 1;
            self.blanks()?;
            let value = self.node(depth + 1)?;
            members.push(Member { key, start, value });
            self.separator('}')?;
        }
    }

    fn array(&mut self, depth: usize) -> Result<Kind, JsoncError> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.blanks()?;
            if self.peek() == Some(']') {
                self.at += 1;
                return Ok(Kind::Array(items));
            }
            items.push(self.node(depth + 1)?);
            self.separator(']')?;
        }
    }

    /// A comma, which may be missing before the end.
    fn separator(&mut self, end: char) -> Result<(), JsoncError> {
        self.blanks()?;
        match self.peek() {
            Some(',') => {
                self.at += 1;
                Ok(())
            }
            Some(it) if it == end => Ok(()),
            _ => Err(self.wrong(&format!("a `,` or `{end}` is missing"))),
        }
    }

    fn string(&mut self) -> Result<String, JsoncError> {
        let mut escaped = false;
        let rest = self.rest();
        let end = rest.char_indices().skip(1).find(|(_, it)| {
            let ends = *it == '"' && !escaped;
            escaped = *it == '\\' && !escaped;
            ends
        });
        let text = end.and_then(|(at, _)| rest.get(..=at));
        let Some(text) = text else { return Err(self.wrong("a text has no end")) };
        let read = serde_json::from_str(text);
        let length = text.len();
        let read = read.map_err(|err| self.wrong(&format!("a text cannot be read: {err}")))?;
        self.at += length;
        Ok(read)
    }

    fn word(&mut self) -> Result<Kind, JsoncError> {
        let rest = self.rest();
        let end = rest
            .find(|it: char| !(it.is_ascii_alphanumeric() || "+-.".contains(it)))
            .unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default();
        let read = serde_json::from_str(word);
        let read = read.map_err(|_| self.wrong("a value is missing, or is none of JSON"))?;
        self.at += end;
        Ok(Kind::Scalar(read))
    }
}
