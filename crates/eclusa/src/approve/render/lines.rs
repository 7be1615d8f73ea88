//! Laying out the lines of a question: titles, blocks behind a bar, and wrapping to a width.

use super::{Line, Rendered, Role};

/// Lines as they are made.
#[derive(Default)]
pub(super) struct Page {
    pub(super) lines: Vec<Line>,
}

impl Page {
    /// A line that the gate says itself.
    pub(super) fn line(&mut self, role: Role, label: String) {
        self.lines.push(Line { role, label, text: None });
    }

    pub(super) fn title(&mut self, title: &str) {
        self.line(Role::Title, title.to_owned());
    }

    /// Somebody else's words, each with a name: every line behind the bar, the name at the first
    /// one only. A line without a name goes on with what stands above it.
    pub(super) fn block(&mut self, role: Role, entries: Vec<(String, String)>) {
        let width = entries.iter().map(|(label, _)| width(label)).max().unwrap_or(0);
        for (label, text) in entries {
            for (index, line) in text.split('\n').enumerate() {
                let label = if index == 0 { label.as_str() } else { "" };
                let padding = " ".repeat(width - self::width(label).min(width));
                let label = format!("  {label}{padding}");
                self.lines.push(Line { role, label, text: Some(line.to_owned()) });
            }
        }
    }
}

impl Rendered {
    /// The same lines, none wider than this many columns, for a surface that would otherwise
    /// break them itself and so let somebody else's words start a line of their own. Broken lines
    /// go on behind a dotted bar (`┊`). Only where they are broken differs; nothing is left out.
    pub fn wrapped(&self, columns: usize) -> String {
        let mut out = String::new();
        for piece in self.lines.iter().flat_map(|line| line.wrapped(columns)) {
            out.push_str(&piece);
            out.push('\n');
        }
        out
    }
}

impl Line {
    /// The line in pieces, none wider than this many columns; see [`Rendered::wrapped`].
    pub fn wrapped(&self, columns: usize) -> Vec<String> {
        let Some(text) = &self.text else { return vec![self.label.clone()] };
        // Room for one wide character, however narrow the surface.
        let room = columns.saturating_sub(width(&self.label) + 3).max(2);
        let piece = |(index, piece): (usize, String)| match index {
            0 => format!("{} │ {piece}", self.label),
            _ => format!("{} ┊ {piece}", " ".repeat(width(&self.label))),
        };
        // Sentences are broken between words; what is run or changed, exactly where the room ends.
        let prose = matches!(self.role, Role::Rule | Role::Thought | Role::Model);
        pieces(text, room, prose).enumerate().map(piece).collect()
    }
}

/// The text in pieces of at most so many columns; at least one piece. Of `prose` a piece ends with a
/// space, where there is one.
fn pieces(text: &str, room: usize, prose: bool) -> impl Iterator<Item = String> {
    let mut pieces = vec![String::new()];
    let mut used = 0;
    for c in text.chars() {
        let columns = columns(c);
        if used + columns > room {
            let space = |it: &mut String| Some(it.split_off(it.rfind(' ').filter(|_| prose)? + 1));
            let rest = pieces.last_mut().and_then(space).unwrap_or_default();
            used = width(&rest);
            pieces.push(rest);
        }
        if used + columns > room && used > 0 {
            pieces.push(String::new());
            used = 0;
        }
        used += columns;
        if let Some(last) = pieces.last_mut() {
            last.push(c);
        }
    }
    pieces.into_iter()
}

fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// How many columns a character takes at most. Too many is safe: the line breaks earlier.
fn columns(c: char) -> usize {
    match c {
        '\0'..='\u{10FF}' | '\u{2000}'..='\u{27FF}' => 1,
        _ => 2,
    }
}
