//! The input of a chat: some lines of text, a cursor in them, what was sent before, and pastes that
//! are folded to a mark.

use super::clusters::{end_after, start_before};
use crate::ui::screen::layout::width;

#[cfg(test)]
mod tests;

/// Pastes with more lines than this are folded.
const MAX_PASTED_LINES: usize = 20;

/// And pastes with more characters than this.
const MAX_PASTED_CHARS: usize = 4_000;

/// How many sent messages can be had again.
const MAX_HISTORY: usize = 200;

/// What a folded paste looks like in the input: this character, which nobody types, and a number.
const FOLD: char = '\u{E000}';

/// Text that is being written.
#[derive(Debug, Default)]
pub(crate) struct Composer {
    text: Vec<char>,
    cursor: usize,
    folded: Vec<String>,
    history: Vec<String>,
    /// Which message of the history is shown, and what had been typed before it was.
    recalled: Option<(usize, Vec<char>)>,
}

/// A character of the input in its row.
struct InputCell {
    /// Its place in the text.
    at: usize,
    shown: String,
    wide: usize,
}

impl Composer {
    /// Whether nothing has been typed.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// All of the text, folded pastes unfolded.
    pub(crate) fn text(&self) -> String {
        let mut whole = String::new();
        for it in &self.text {
            match self.fold(*it) {
                Some(paste) => whole.push_str(paste),
                None => whole.push(*it),
            }
        }
        whole
    }

    /// Replaces the text; the cursor stands at its end.
    pub(crate) fn set(&mut self, text: &str) {
        self.text = text.chars().filter(|it| !is_mark(*it)).collect();
        self.cursor = self.text.len();
        self.recalled = None;
    }

    /// Takes the text out, to send it.
    pub(crate) fn take(&mut self) -> String {
        let text = self.text();
        if !text.trim().is_empty() && self.history.last() != Some(&text) {
            self.history.push(text.clone());
            if self.history.len() > MAX_HISTORY {
                self.history.remove(0);
            }
        }
        self.clear();
        text
    }

    /// Forgets what was typed.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.folded.clear();
        self.cursor = 0;
        self.recalled = None;
    }

    /// Types a character.
    pub(crate) fn insert(&mut self, it: char) {
        if is_mark(it) || (it.is_control() && it != '\n' && it != '\t') {
            return;
        }
        self.insert_char(it);
    }

    /// Inserts a paste. A long one is folded to a mark.
    pub(crate) fn paste(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let room = u32::from(FOLD) + u32::try_from(self.folded.len()).unwrap_or(u32::MAX);
        match char::from_u32(room).filter(|it| is_mark(*it)) {
            Some(mark) if is_long(&text) => {
                self.folded.push(text.chars().filter(|it| !is_mark(*it)).collect());
                self.insert_char(mark);
            }
            _ => text.chars().for_each(|it| self.insert(it)),
        }
    }

    fn insert_char(&mut self, it: char) {
        self.text.insert(self.cursor, it);
        self.cursor += 1;
        self.recalled = None;
    }

    /// Deletes the character before the cursor.
    pub(crate) fn backspace(&mut self) {
        let from = start_before(&self.text, self.cursor);
        self.text.drain(from..self.cursor);
        self.cursor = from;
    }

    /// Deletes the character at the cursor.
    pub(crate) fn delete(&mut self) {
        let to = end_after(&self.text, self.cursor);
        self.text.drain(self.cursor..to);
    }

    /// Deletes the word before the cursor.
    pub(crate) fn delete_word(&mut self) {
        let from = self.word_start();
        self.text.drain(from..self.cursor);
        self.cursor = from;
    }

    /// Deletes what stands before the cursor on its line.
    pub(crate) fn delete_to_line_start(&mut self) {
        let from = self.line_start();
        self.text.drain(from..self.cursor);
        self.cursor = from;
    }

    /// Deletes what stands after the cursor on its line.
    pub(crate) fn delete_to_line_end(&mut self) {
        let to = self.line_end();
        self.text.drain(self.cursor..to);
    }

    /// One character to the left.
    pub(crate) fn left(&mut self) {
        self.cursor = start_before(&self.text, self.cursor);
    }

    /// One character to the right.
    pub(crate) fn right(&mut self) {
        self.cursor = end_after(&self.text, self.cursor);
    }

    /// To the start of the word before the cursor.
    pub(crate) fn word_left(&mut self) {
        self.cursor = self.word_start();
    }

    /// To the end of the word after the cursor.
    pub(crate) fn word_right(&mut self) {
        let rest = self.text.get(self.cursor..).unwrap_or_default();
        let gap = rest.iter().take_while(|it| it.is_whitespace()).count();
        let word = rest.iter().skip(gap).take_while(|it| !it.is_whitespace()).count();
        self.cursor += gap + word;
    }

    /// To the start of the line.
    pub(crate) fn home(&mut self) {
        self.cursor = self.line_start();
    }

    /// To the end of the line.
    pub(crate) fn end(&mut self) {
        self.cursor = self.line_end();
    }

    /// One line up. From the first line: the message that was sent before.
    pub(crate) fn up(&mut self) {
        let start = self.line_start();
        if start == 0 {
            return self.recall_older();
        }
        let column = self.cursor - start;
        self.cursor = start - 1;
        let above = self.line_start();
        self.cursor = (above + column).min(start - 1);
    }

    /// One line down. From the last line: the message that was sent after.
    pub(crate) fn down(&mut self) {
        let (start, end) = (self.line_start(), self.line_end());
        if end == self.text.len() {
            return self.recall_newer();
        }
        let column = self.cursor - start;
        self.cursor = end + 1;
        self.cursor = (end + 1 + column).min(self.line_end());
    }

    fn recall_older(&mut self) {
        let (at, typed) = match self.recalled.take() {
            Some((at, typed)) => (at.saturating_sub(1), typed),
            None => (self.history.len().saturating_sub(1), self.text.clone()),
        };
        self.recall(at, typed);
    }

    fn recall_newer(&mut self) {
        let Some((at, typed)) = self.recalled.take() else { return };
        if at + 1 < self.history.len() {
            self.recall(at + 1, typed);
        } else {
            self.text = typed;
            self.cursor = self.text.len();
        }
    }

    fn recall(&mut self, at: usize, typed: Vec<char>) {
        if let Some(text) = self.history.get(at) {
            self.text = text.chars().collect();
            self.cursor = self.text.len();
            self.recalled = Some((at, typed));
        }
    }

    /// The word that the cursor stands behind, if it begins with this character at the start of the
    /// text or after a blank: what a completion completes.
    pub(crate) fn word_behind(&self, first: char) -> Option<String> {
        let from = self.word_start();
        let word = self.text.get(from..self.cursor)?;
        if word.last().is_some_and(|it| it.is_whitespace()) {
            return None;
        }
        (word.first() == Some(&first)).then(|| word.iter().collect())
    }

    /// Whether the cursor stands behind a word that can be completed: a file or a command.
    pub(crate) fn completable(&self) -> bool {
        self.word_behind('@').is_some()
            || self.word_behind('/').is_some_and(|word| self.text.len() == word.chars().count())
    }

    /// Replaces the word that the cursor stands behind.
    pub(crate) fn complete(&mut self, word: &str) {
        let from = self.word_start();
        self.text.splice(from..self.cursor, word.chars());
        self.cursor = from + word.chars().count();
    }

    /// The rows of the input at this width, broken between words, and where the cursor stands in them.
    pub(crate) fn rows(&self, columns: usize) -> (Vec<String>, (usize, usize)) {
        let columns = columns.max(4);
        let (mut rows, mut row, mut used) = (Vec::new(), Vec::<InputCell>::new(), 0);
        for (at, it) in self.text.iter().enumerate() {
            let mut shown = self.shown(*it);
            let mut wide = width(&shown);
            if *it == '\n' {
                row.push(InputCell { at, shown: String::new(), wide: 0 });
                rows.push(std::mem::take(&mut row));
                used = 0;
                continue;
            }
            if used + wide > columns && used > 0 {
                // A blank at the end of a row is not seen, and no word is broken that fits a row.
                if *it == ' ' {
                    (shown, wide) = (String::new(), 0);
                } else {
                    let blank = row.iter().rposition(|it| it.shown == " " || it.shown.is_empty());
                    let rest = row.split_off(blank.map_or(row.len(), |at| at + 1));
                    rows.push(std::mem::replace(&mut row, rest));
                    used = row.iter().map(|it| it.wide).sum();
                }
            }
            row.push(InputCell { at, shown, wide });
            used += wide;
        }
        let end = (rows.len(), used);
        rows.push(row);
        let place = rows.iter().enumerate().find_map(|(number, row)| {
            let at = row.iter().position(|it| it.at == self.cursor)?;
            Some((number, row.iter().take(at).map(|it| it.wide).sum()))
        });
        let text = |row: &Vec<InputCell>| row.iter().map(|it| it.shown.as_str()).collect();
        (rows.iter().map(text).collect(), place.unwrap_or(end))
    }

    /// A character of the input as it is drawn.
    fn shown(&self, it: char) -> String {
        match self.fold(it) {
            Some(paste) => match paste.lines().count() {
                1 => format!("[{} characters]", paste.chars().count()),
                lines => format!("[{lines} lines]"),
            },
            None if it == '\t' => "    ".to_owned(),
            None => it.to_string(),
        }
    }

    fn fold(&self, it: char) -> Option<&str> {
        let at = u32::from(it).checked_sub(u32::from(FOLD)).filter(|_| is_mark(it))?;
        self.folded.get(usize::try_from(at).ok()?).map(String::as_str)
    }

    fn line_start(&self) -> usize {
        let before = self.text.get(..self.cursor).unwrap_or_default();
        before.iter().rposition(|it| *it == '\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        let after = self.text.get(self.cursor..).unwrap_or_default();
        after.iter().position(|it| *it == '\n').map_or(self.text.len(), |at| self.cursor + at)
    }

    fn word_start(&self) -> usize {
        let before = self.text.get(..self.cursor).unwrap_or_default();
        let trimmed = before.iter().rposition(|it| !it.is_whitespace()).map_or(0, |at| at + 1);
        let word = before.get(..trimmed).unwrap_or_default();
        word.iter().rposition(|it| it.is_whitespace()).map_or(0, |at| at + 1)
    }
}

fn is_long(paste: &str) -> bool {
    paste.lines().count() > MAX_PASTED_LINES || paste.chars().count() > MAX_PASTED_CHARS
}

/// Private characters stand for folded pastes and are never taken from outside.
fn is_mark(it: char) -> bool {
    ('\u{E000}'..='\u{F8FF}').contains(&it)
}
