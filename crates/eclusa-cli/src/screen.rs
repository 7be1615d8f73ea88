//! Writing for people and for programs: colours only on a terminal, nothing raw on a terminal.

use std::{
    borrow::Cow,
    io::{self, BufWriter, IsTerminal, Write},
};

/// What a piece of text is, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Ordinary text.
    Plain,
    /// A heading or a name.
    Strong,
    /// What matters less.
    Faint,
    /// It went well.
    Good,
    /// Look here.
    Warn,
    /// It did not.
    Bad,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Style::Plain => "",
            Style::Strong => "1",
            Style::Faint => "2",
            Style::Good => "32",
            Style::Warn => "33",
            Style::Bad => "31",
        }
    }
}

/// Colours, where they are wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint(bool);

impl Paint {
    /// For something that is written to this stream.
    pub(crate) fn on(stream: &impl IsTerminal) -> Paint {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty())
            || std::env::var_os("TERM").is_some_and(|it| it == "dumb");
        Paint(stream.is_terminal() && !unwanted)
    }

    /// The text in its colour.
    pub(crate) fn text<'a>(self, style: Style, text: &'a str) -> Cow<'a, str> {
        match style.code() {
            "" => Cow::Borrowed(text),
            _ if !self.0 => Cow::Borrowed(text),
            code => Cow::Owned(format!("\x1b[{code}m{text}\x1b[0m")),
        }
    }
}

/// Standard output, buffered.
pub(crate) struct Screen {
    out: BufWriter<io::StdoutLock<'static>>,
    terminal: bool,
    pub(crate) paint: Paint,
}

impl Screen {
    /// Standard output.
    pub(crate) fn stdout() -> Screen {
        let out = io::stdout();
        Screen {
            terminal: out.is_terminal(),
            paint: Paint::on(&out),
            out: BufWriter::new(out.lock()),
        }
    }

    /// Our own words.
    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        self.styled(Style::Plain, text)
    }

    /// Our own words, in a colour.
    pub(crate) fn styled(&mut self, style: Style, text: &str) -> io::Result<()> {
        let text = self.paint.text(style, text);
        writeln!(self.out, "{text}")
    }

    /// Somebody else's words: byte for byte to a program, made harmless on a terminal.
    pub(crate) fn foreign(&mut self, text: &str) -> io::Result<()> {
        let text = match self.terminal {
            true => Cow::Owned(sanitize(text)),
            false => Cow::Borrowed(text),
        };
        self.out.write_all(text.as_bytes())?;
        if !text.is_empty() && !text.ends_with('\n') {
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Somebody else's line, to be styled: as it is for a program, made harmless on a terminal.
    pub(crate) fn sanitize_on_terminal<'a>(&self, line: &'a str) -> Cow<'a, str> {
        if self.terminal { Cow::Owned(sanitize(line)) } else { Cow::Borrowed(line) }
    }

    /// A JSON value, on one line.
    pub(crate) fn json(&mut self, value: &serde_json::Value) -> io::Result<()> {
        writeln!(self.out, "{value}")
    }

    /// Columns, the widest cell deciding; the last one is not padded.
    pub(crate) fn table(&mut self, rows: &[Vec<String>]) -> io::Result<()> {
        let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        let width = |column: usize| {
            rows.iter().filter_map(|row| row.get(column)).map(|it| it.chars().count()).max()
        };
        let widths: Vec<usize> = (0..columns).map(|it| width(it).unwrap_or_default()).collect();
        for row in rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                line.push_str(&format!("{cell:width$}  "));
            }
            writeln!(self.out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    /// Everything out, now.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Somebody else's text without what a terminal would obey or reorder: shown by number instead.
pub(crate) fn sanitize(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '\n' | '\t' => shown.push(it),
            _ if it.is_control() || moves(it) => {
                shown.push_str(&format!("\\u{{{:X}}}", u32::from(it)));
            }
            _ => shown.push(it),
        }
    }
    shown
}

/// Characters that change the order or place of others.
fn moves(it: char) -> bool {
    matches!(it, '\u{61C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}')
}

/// Says on stderr what somebody should know.
pub(crate) fn note(text: &str) {
    let paint = Paint::on(&io::stderr());
    // An error means that nobody reads it.
    let _ = writeln!(io::stderr(), "{} {}", paint.text(Style::Warn, "note:"), sanitize(text));
}

/// Says on stderr why something was not done.
pub(crate) fn error(lines: &[String]) {
    let paint = Paint::on(&io::stderr());
    let mut err = io::stderr().lock();
    for line in lines {
        let line = sanitize(line);
        let (label, rest) = line.split_once(' ').unwrap_or((&line, ""));
        let style = if label == "error:" { Style::Bad } else { Style::Strong };
        // An error means that nobody reads it.
        let _ = writeln!(err, "{} {rest}", paint.text(style, label));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown_by_number() {
        let table = [
            ("plain text\n\ttab", "plain text\n\ttab"),
            ("\x1b[2J", "\\u{1B}[2J"),
            ("a\rb\u{7}", "a\\u{D}b\\u{7}"),
            ("\u{9b}31m", "\\u{9B}31m"),
            ("a\u{202e}b\u{200b}", "a\\u{202E}b\\u{200B}"),
            ("größe 数 🙂", "größe 数 🙂"),
        ];
        for (text, shown) in table {
            assert_eq!(sanitize(text), shown);
        }
    }
}
