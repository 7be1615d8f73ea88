//! Writing for people and for programs: colours and wrapping on a terminal, nothing raw there.

use std::{
    borrow::Cow,
    env,
    io::{self, BufWriter, IsTerminal, Write},
    os::fd::AsFd,
    sync::atomic::{AtomicBool, AtomicU8, Ordering},
};

use rustix::termios::tcgetwinsize;

use crate::{since, timestamp::Timestamp};

pub mod diff_lines;
pub mod diff_view;
pub mod layout;
pub mod qr;
pub mod spinner;
#[cfg(test)]
mod tests;

/// When colours are used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set; everywhere with CLICOLOR_FORCE
    #[default]
    Auto,
    /// Everywhere
    Always,
    /// Nowhere
    Never,
}

/// Headings of columns that are told whole or not at all.
const FIRM: [&str; 3] = ["call", "time", "ms"];

/// How wide a relative time is.
const TIME_CELL: usize = "119 s ago ".len();

/// How wide a number is, such as the milliseconds of a call.
const NUMBER_CELL: usize = 6;

/// What `--color` says, for this process.
static COLOR: AtomicU8 = AtomicU8::new(0);
/// Whether times are exact (`--utc`), for this process.
static UTC: AtomicBool = AtomicBool::new(false);

/// Sets how this process writes, as the command line says.
pub fn configure(color: ColorChoice, utc: bool) {
    let number = match color {
        ColorChoice::Auto => 0,
        ColorChoice::Always => 1,
        ColorChoice::Never => 2,
    };
    COLOR.store(number, Ordering::Relaxed);
    UTC.store(utc, Ordering::Relaxed);
}

/// What a piece of text is, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
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
pub struct Paint(bool);

impl Paint {
    /// Colours for something that is written to this stream.
    pub fn on(stream: &impl IsTerminal) -> Paint {
        let set = |name| env::var_os(name).is_some_and(|it| !it.is_empty());
        Paint(match COLOR.load(Ordering::Relaxed) {
            1 => true,
            2 => false,
            _ if set("NO_COLOR") => false,
            _ if env::var_os("CLICOLOR_FORCE").is_some_and(|it| !it.is_empty() && it != "0") => {
                true
            }
            _ => stream.is_terminal() && env::var_os("TERM").is_none_or(|it| it != "dumb"),
        })
    }

    /// No colours.
    pub fn never() -> Paint {
        Paint(false)
    }

    /// Colours, whatever is written to.
    pub fn always() -> Paint {
        Paint(true)
    }

    /// Whether there are any.
    pub fn is_on(self) -> bool {
        self.0
    }

    /// The text in its colour.
    pub fn text<'a>(self, style: Style, text: &'a str) -> Cow<'a, str> {
        match style.code() {
            "" => Cow::Borrowed(text),
            _ if !self.0 => Cow::Borrowed(text),
            code => Cow::Owned(format!("\x1b[{code}m{text}\x1b[0m")),
        }
    }
}

/// How wide and how high a terminal is; `None` where the stream is none, or does not say.
pub fn size_of(stream: &(impl IsTerminal + AsFd)) -> Option<(usize, usize)> {
    if !stream.is_terminal() {
        return None;
    }
    let size = tcgetwinsize(stream).ok()?;
    let (columns, rows) = (usize::from(size.ws_col), usize::from(size.ws_row));
    (columns > 0).then_some((columns, rows))
}

/// Standard output, buffered.
pub struct Screen {
    out: BufWriter<io::StdoutLock<'static>>,
    terminal: bool,
    columns: Option<usize>,
    /// Colours, where there are any.
    pub paint: Paint,
}

impl Screen {
    /// Standard output.
    pub fn stdout() -> Screen {
        let out = io::stdout();
        Screen {
            terminal: out.is_terminal(),
            columns: size_of(&out).map(|(columns, _)| columns),
            paint: Paint::on(&out),
            out: BufWriter::new(out.lock()),
        }
    }

    /// Our own words, wrapped at the width of the terminal.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        self.styled(Style::Plain, text)
    }

    /// Our own words in a colour, wrapped at the width of the terminal.
    pub fn styled(&mut self, style: Style, text: &str) -> io::Result<()> {
        let Some(columns) = self.columns else { return self.verbatim(style, text) };
        text.split('\n')
            .flat_map(|line| layout::wrap(line, columns))
            .try_for_each(|line| self.verbatim(style, &line))
    }

    /// A line that is not wrapped: of a diff, of a file.
    pub fn verbatim(&mut self, style: Style, text: &str) -> io::Result<()> {
        let text = self.paint.text(style, text);
        writeln!(self.out, "{text}")
    }

    /// A time: relative for people, exact for programs and with `--utc`.
    pub fn time(&self, time: Timestamp) -> String {
        match self.terminal && !UTC.load(Ordering::Relaxed) {
            true => time.relative(since::now()),
            false => time.to_string(),
        }
    }

    /// Somebody else's words: byte for byte to a program, made harmless on a terminal.
    pub fn foreign(&mut self, text: &str) -> io::Result<()> {
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
    pub fn sanitize_on_terminal<'a>(&self, line: &'a str) -> Cow<'a, str> {
        if self.terminal { Cow::Owned(sanitize(line)) } else { Cow::Borrowed(line) }
    }

    /// A JSON value, on one line.
    pub fn json(&mut self, value: &serde_json::Value) -> io::Result<()> {
        writeln!(self.out, "{value}")
    }

    /// Columns, of which the first holds names. On a terminal the widest are cut so that each row
    /// fits a line.
    pub fn table(&mut self, rows: &[Vec<String>]) -> io::Result<()> {
        let lines = layout::table(rows, self.columns, |_| false);
        for (row, line) in rows.iter().zip(&lines) {
            let name = row.first().map(String::as_str).unwrap_or_default();
            match line.strip_prefix(name).filter(|_| !name.is_empty()) {
                Some(rest) => {
                    writeln!(self.out, "{}{rest}", self.paint.text(Style::Strong, name))?;
                }
                None => writeln!(self.out, "{line}")?,
            }
        }
        Ok(())
    }

    /// Names and texts beside each other. On a terminal a long text goes on below itself.
    pub fn details(&mut self, rows: &[Vec<String>]) -> io::Result<()> {
        let Some(columns) = self.columns else { return self.table(rows) };
        layout::details(rows, columns).iter().try_for_each(|it| writeln!(self.out, "{it}"))
    }

    /// Our own words behind a word or two; on a terminal what does not fit goes on below them.
    pub fn hanging(&mut self, head: &str, text: &str) -> io::Result<()> {
        let lines = match self.columns {
            Some(columns) => layout::hang(head, text, columns),
            None => vec![format!("{head}{text}")],
        };
        lines.iter().try_for_each(|it| self.verbatim(Style::Plain, it))
    }

    /// A time as a cell of a table, which does not change its width as time goes by.
    pub fn time_cell(&self, time: Timestamp) -> String {
        match self.terminal {
            true => format!("{:<TIME_CELL$}", self.time(time)),
            false => self.time(time),
        }
    }

    /// A number as a cell of a table: below its fellows on a terminal.
    pub fn number_cell(&self, number: &str) -> String {
        match self.terminal {
            true => format!("{number:>NUMBER_CELL$}"),
            false => number.to_owned(),
        }
    }

    /// A table whose first row holds the headings.
    pub fn headed_table(&mut self, rows: &[Vec<String>]) -> io::Result<()> {
        let headings = rows.first().map(Vec::as_slice).unwrap_or_default();
        let firm = |it: usize| headings.get(it).is_some_and(|it| FIRM.contains(&it.trim()));
        let outcome = headings.iter().position(|it| it.trim() == "outcome");
        let lines = layout::table(rows, self.columns, firm);
        for (number, (line, row)) in lines.iter().zip(rows).enumerate() {
            if number == 0 {
                self.verbatim(Style::Strong, line)?;
                continue;
            }
            let word = outcome.and_then(|it| row.get(it)).map_or("", |it| it.trim());
            let line = match line.rfind(word).filter(|_| !word.is_empty()) {
                Some(at) => {
                    let (before, rest) = line.split_at(at);
                    let painted = self.paint.text(outcome_style(word), word).into_owned();
                    format!("{before}{painted}{}", rest.strip_prefix(word).unwrap_or(rest))
                }
                None => line.clone(),
            };
            self.verbatim(Style::Plain, &line)?;
        }
        Ok(())
    }

    /// A setting and where it comes from; on a terminal cut so that it stays on its line.
    pub fn setting(&mut self, text: &str, origin: &str) -> io::Result<()> {
        let origin = format!("  # {origin}");
        let text = match self.columns {
            Some(columns) => {
                layout::cut(text, columns.saturating_sub(layout::width(&origin)).max(20))
            }
            None => text.to_owned(),
        };
        let origin = self.paint.text(Style::Faint, &origin).into_owned();
        writeln!(self.out, "{text}{origin}")
    }

    /// Everything out, now.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// How the outcome of a call is painted: what was stopped, what is neither, what went well.
fn outcome_style(word: &str) -> Style {
    match word {
        "ok" => Style::Good,
        it if it.contains("denied") || it.contains("failed") || it.contains("refused") => {
            Style::Bad
        }
        _ => Style::Warn,
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
pub fn sanitize(text: &str) -> String {
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

/// Characters that change the order or place of others, or draw nothing. An emoji may have its
/// selector.
fn moves(it: char) -> bool {
    match it {
        '\u{FE0F}' => false,
        '\u{2028}' | '\u{2029}' => true,
        it => eclusa::workspace::is_ignorable(it),
    }
}

/// Writes a note to stderr.
pub fn note(text: &str) {
    to_stderr(Style::Warn, "note:", text);
}

/// Writes to stderr why something was not done: each line with its label.
pub fn error(lines: &[String]) {
    for line in lines {
        let (label, rest) = line.split_once(' ').unwrap_or((line, ""));
        let style = if label == "hint:" { Style::Strong } else { Style::Bad };
        to_stderr(style, label, rest);
    }
}

fn to_stderr(style: Style, label: &str, text: &str) {
    let stderr = io::stderr();
    let (paint, columns) = (Paint::on(&stderr), size_of(&stderr).map(|(columns, _)| columns));
    let text = format!("{} {}", paint.text(style, label), sanitize(text));
    let mut err = stderr.lock();
    for line in text.split('\n') {
        let pieces = columns.map_or_else(|| vec![line.to_owned()], |it| layout::wrap(line, it));
        for piece in pieces {
            // An error means that nobody reads it.
            let _ = writeln!(err, "{piece}");
        }
    }
}
