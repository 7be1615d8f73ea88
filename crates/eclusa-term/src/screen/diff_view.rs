//! A diff as people read it: on a terminal with a rule beside the name of each file, line numbers, and two columns where
//! there is room; everywhere with the names alone where very many files change.

use std::{io::IsTerminal, os::fd::AsFd};

use eclusa::workspace::LineNumbers;

use super::{
    Paint, Style,
    diff_lines::{BETWEEN_HUNKS, changed_words, style},
    layout, sanitize, size_of,
};

/// From so many files on their lines are not shown.
const MAX_FILES: usize = 50;

/// So many names stand for them.
const MAX_NAMED: usize = 20;

/// From this width on old and new lines stand beside each other.
const BESIDE: usize = 160;

/// How a diff is shown.
#[derive(Debug, Clone, Copy)]
pub struct DiffView {
    paint: Paint,
    /// How wide the terminal is; `None`: nobody reads it on one, or without colours.
    columns: Option<usize>,
    all: bool,
}

/// What becomes of one path.
struct FileLines<'a> {
    heading: &'a str,
    lines: Vec<&'a str>,
}

/// A line of a file with its numbers before and after.
struct NumberedLine<'a> {
    numbers: LineNumbers,
    line: &'a str,
    painted: String,
}

impl NumberedLine<'_> {
    /// It is on one side alone.
    fn is_changed(&self) -> bool {
        self.numbers.old.is_some() != self.numbers.new.is_some()
    }
}

impl DiffView {
    /// For what is written to this stream.
    pub fn on(stream: &(impl IsTerminal + AsFd)) -> DiffView {
        let paint = Paint::on(stream);
        let columns = size_of(stream).map(|it| it.0).filter(|_| paint.0);
        DiffView { paint, columns, all: false }
    }

    /// The same for a terminal of this width.
    pub fn of_width(paint: Paint, columns: usize) -> DiffView {
        DiffView { paint, columns: Some(columns).filter(|_| paint.0), all: false }
    }

    /// Every line, however many files there are.
    pub fn whole(self) -> DiffView {
        DiffView { all: true, ..self }
    }

    /// With so many columns less.
    pub fn indented(self, by: usize) -> DiffView {
        DiffView { columns: self.columns.map(|it| it.saturating_sub(by)), ..self }
    }

    /// The lines of a diff for people ([`eclusa::Diff::shown`]), each in its colour and harmless.
    pub fn lines(self, diff: &str) -> Vec<String> {
        let clean: Vec<String> = diff.lines().map(sanitize).collect();
        let (before, files) = split(&clean);
        let mut shown = self.paint.diff(&before);
        if files.len() > MAX_FILES && !self.all {
            shown.extend(files.iter().take(MAX_NAMED).map(|it| self.heading(it.heading)));
            let rest = files.len() - MAX_NAMED;
            let text = format!("… and {rest} more: too many to show their lines here");
            shown.push(self.paint.text(Style::Warn, &text).into_owned());
            return shown;
        }
        for file in &files {
            match self.columns {
                None => {
                    let lines: Vec<&str> =
                        [file.heading].into_iter().chain(file.lines.iter().copied()).collect();
                    shown.extend(self.paint.diff(&lines));
                }
                Some(columns) => {
                    shown.push(self.heading(file.heading));
                    self.numbered(&file.lines, columns, &mut shown);
                }
            }
        }
        shown
    }

    /// The name of a file, and a rule up to the end of the line.
    fn heading(self, text: &str) -> String {
        let painted = self.paint.text(Style::Strong, text).into_owned();
        let Some(columns) = self.columns else { return painted };
        let room = columns.saturating_sub(layout::width(text) + 1);
        format!("{painted} {}", self.paint.text(Style::Faint, &"─".repeat(room)))
    }

    fn numbered(self, lines: &[&str], columns: usize, shown: &mut Vec<String>) {
        let mut hunk: Vec<NumberedLine<'_>> = Vec::new();
        let mut hunks = 0;
        let all = LineNumbers::of(lines);
        // Below each other in all of a file.
        let digits = LineNumbers::digits(&all);
        for ((line, mark), numbers) in lines.iter().zip(changed_words(lines)).zip(all) {
            if numbers.begins_hunk {
                self.hunk(&hunk, digits, columns, shown);
                hunk.clear();
                hunks += 1;
                if hunks > 1 {
                    shown.push(self.paint.text(Style::Faint, BETWEEN_HUNKS).into_owned());
                }
                continue;
            }
            let painted = self.paint.marked(style(line), line, mark).into_owned();
            hunk.push(NumberedLine { numbers, line, painted });
        }
        self.hunk(&hunk, digits, columns, shown);
    }

    fn hunk(
        self,
        lines: &[NumberedLine<'_>],
        digits: usize,
        columns: usize,
        shown: &mut Vec<String>,
    ) {
        let half = columns.saturating_sub(3) / 2;
        let room = half.saturating_sub(digits + 1);
        let fits = lines.iter().all(|it| layout::width(it.line) <= room);
        if columns >= BESIDE && fits {
            return self.beside(lines, digits, room, shown);
        }
        for it in lines {
            let gutter = format!("{} │", it.numbers.gutter(digits));
            shown.push(format!("{}{}", self.paint.text(Style::Faint, &gutter), it.painted));
        }
    }

    /// Old lines on the left, and on the right what stands in their place.
    fn beside(
        self,
        lines: &[NumberedLine<'_>],
        digits: usize,
        room: usize,
        shown: &mut Vec<String>,
    ) {
        let mut rest = lines.iter().peekable();
        while let Some(first) = rest.peek() {
            if !first.is_changed() {
                if let Some(same) = rest.next() {
                    shown.push(self.pair(Some(same), Some(same), digits, room));
                }
                continue;
            }
            let (mut gone, mut come) = (Vec::new(), Vec::new());
            while let Some(it) = rest.next_if(|it| it.is_changed()) {
                if it.numbers.old.is_some() { gone.push(it) } else { come.push(it) }
            }
            for at in 0..gone.len().max(come.len()) {
                shown.push(self.pair(gone.get(at).copied(), come.get(at).copied(), digits, room));
            }
        }
    }

    fn pair(
        self,
        old: Option<&NumberedLine<'_>>,
        new: Option<&NumberedLine<'_>>,
        digits: usize,
        room: usize,
    ) -> String {
        let side = |it: Option<&NumberedLine<'_>>, number: Option<u64>| {
            let number = number.map(|it| it.to_string()).unwrap_or_default();
            let gutter = format!("{number:>digits$} ");
            let (text, width) =
                it.map_or(("", 0), |it| (it.painted.as_str(), layout::width(it.line)));
            let gap = " ".repeat(room.saturating_sub(width));
            format!("{}{text}{gap}", self.paint.text(Style::Faint, &gutter))
        };
        let bar = self.paint.text(Style::Faint, " │ ").into_owned();
        let (left, right) = (
            side(old, old.and_then(|it| it.numbers.old)),
            side(new, new.and_then(|it| it.numbers.new)),
        );
        format!("{left}{bar}{right}").trim_end().to_owned()
    }
}

/// The files of a diff, and what stands before the first.
fn split(lines: &[String]) -> (Vec<&str>, Vec<FileLines<'_>>) {
    let (mut before, mut files): (Vec<&str>, Vec<FileLines<'_>>) = (Vec::new(), Vec::new());
    for line in lines {
        match files.last_mut() {
            _ if line.starts_with(char::is_alphabetic) => {
                files.push(FileLines { heading: line, lines: Vec::new() });
            }
            Some(file) => file.lines.push(line),
            None => before.push(line),
        }
    }
    (before, files)
}

#[cfg(test)]
mod tests;
