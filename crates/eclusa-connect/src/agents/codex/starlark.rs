//! The little of Starlark that rules files are written in: calls with named texts and lists.

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StarlarkValue {
    Text(String),
    List(Vec<StarlarkValue>),
    /// Anything else, as written.
    Other(String),
}

/// A call at the top of a file: its name, its named arguments, and its line.
pub(super) struct StarlarkCall {
    pub(super) name: String,
    pub(super) args: Vec<(String, StarlarkValue)>,
    pub(super) line: usize,
}

/// Every call of a file, or what cannot be read and where.
pub(super) fn calls(text: &str) -> Result<Vec<StarlarkCall>, String> {
    let mut reader = StarlarkReader { rest: text, whole: text };
    let mut calls = Vec::new();
    loop {
        reader.blanks();
        if reader.rest.is_empty() {
            return Ok(calls);
        }
        let line = reader.line();
        let name = reader.name();
        if name.is_empty() || !reader.eat('(') {
            return Err(format!("line {line}: only calls such as `prefix_rule(…)` can be read"));
        }
        let mut args = Vec::new();
        while !reader.eat(')') {
            let line = reader.line();
            let key = reader.name();
            if key.is_empty() || !reader.eat('=') {
                return Err(format!("line {line}: arguments must be written `name = value`"));
            }
            args.push((key, reader.value()?));
            if !reader.eat(',') && !reader.rest.starts_with(')') {
                return Err(format!("line {}: `,` or `)` is expected", reader.line()));
            }
        }
        calls.push(StarlarkCall { name, args, line });
    }
}

struct StarlarkReader<'a> {
    rest: &'a str,
    whole: &'a str,
}

impl StarlarkReader<'_> {
    fn line(&self) -> usize {
        let read = self.whole.len() - self.rest.len();
        self.whole.get(..read).unwrap_or_default().matches('\n').count() + 1
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn blanks(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            if !self.rest.starts_with('#') {
                return;
            }
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            self.skip(end);
        }
    }

    fn eat(&mut self, wanted: char) -> bool {
        self.blanks();
        let there = self.rest.starts_with(wanted);
        if there {
            self.skip(wanted.len_utf8());
            self.blanks();
        }
        there
    }

    fn name(&mut self) -> String {
        self.blanks();
        let end = self.rest.find(|it: char| !it.is_alphanumeric() && it != '_');
        let end = end.unwrap_or(self.rest.len());
        let name = self.rest.get(..end).unwrap_or_default().to_owned();
        self.skip(end);
        name
    }

    fn value(&mut self) -> Result<StarlarkValue, String> {
        self.blanks();
        match self.rest.chars().next() {
            Some(quote @ ('"' | '\'')) => self.text(quote),
            Some('[') => {
                self.eat('[');
                let mut items = Vec::new();
                while !self.eat(']') {
                    items.push(self.value()?);
                    if !self.eat(',') && !self.rest.starts_with(']') {
                        return Err(format!("line {}: `,` or `]` is expected", self.line()));
                    }
                }
                Ok(StarlarkValue::List(items))
            }
            _ => match self.name() {
                none if none.is_empty() => {
                    Err(format!("line {}: a text or a list is expected", self.line()))
                }
                name => Ok(StarlarkValue::Other(name)),
            },
        }
    }

    fn text(&mut self, quote: char) -> Result<StarlarkValue, String> {
        let line = self.line();
        self.skip(1);
        let mut text = String::new();
        let mut chars = self.rest.char_indices();
        while let Some((at, it)) = chars.next() {
            match it {
                it if it == quote => {
                    self.skip(at + 1);
                    return Ok(StarlarkValue::Text(text));
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, it @ ('\\' | '"' | '\''))) => text.push(it),
                    _ => return Err(format!("line {line}: an escape that is not known")),
                },
                '\n' => break,
                it => text.push(it),
            }
        }
        Err(format!("line {line}: a text has no end"))
    }
}
