//! Making text that somebody else wrote safe to show: nothing hidden, nothing left out.
//!
//! A person can only approve what they can see. [`visible`] therefore shows every character that
//! a terminal, a page or a chat window would hide, move or confuse, and it is *injective*: two
//! different texts never look the same, so what was seen is what will be run. All of its own
//! signs stand in `⟨…⟩` or are escapes, and those characters are themselves escaped where they
//! occur in the text, so that no text can forge a sign.
//!
//! | in the text | shown as |
//! |---|---|
//! | control, format, invisible, private or unassigned character, blank other than space | `\u{1B}` |
//! | combining mark that could cover its neighbours; `⟨`, `⟩`, `⏎`; `\` before `u{` | `\u{301}` |
//! | line break | `⏎`, then a line break |
//! | more than 16 spaces; spaces at an end of a line where nobody sees them | `⟨␠×500⟩` |
//! | four or more line breaks with nothing between them | `⟨⏎×200⟩`, then one line break |
//! | anything of up to 32 characters, repeated over and over | `⟨ab×300⟩` |
//! | letters from right to left | `⟨rtl שלום ltr⟩`: the Latin letters keep them from reordering the rest |
//! | letters that pass for others: mixed scripts, full width, look-alikes | `с⟨U+0441⟩url` |
//! | everything else, however long | itself |

#![warn(clippy::match_bool)]

use std::fmt::Write;

pub mod calendar;
mod characters;
mod word_table;
mod words;

pub use characters::{is_hidden, is_ignorable, is_selector};
pub use word_table::UnknownWord;

#[cfg(test)]
mod tests;

/// Runs of spaces up to this length are shown as they are: indentation, tables.
const SPACES: usize = 16;
/// Runs of any other character up to this length are shown as they are: rulers, frames, zeros.
const SAME: usize = 80;
/// Repetitions of something longer are shown as they are up to this many characters.
const REPEATED: usize = 80;
/// Nothing in a text of this length is repeated for too long.
const SHORT: usize = if SAME < REPEATED { SAME } else { REPEATED };
/// The longest thing whose repetition is looked for.
const UNIT: usize = 32;
/// So many line breaks in a row are counted instead of being made.
const BREAKS: usize = 4;

/// The text with everything visible, line breaks marked and made.
///
/// The result may have several lines; whoever prints it puts a gutter before each, see
/// `render` of `eclusa`.
pub fn visible(text: &str) -> String {
    shown(text, true)
}

/// The text with everything visible, on one line: line breaks are marked and not made.
pub fn one_line(text: &str) -> String {
    shown(text, false)
}

fn shown(text: &str, breaks: bool) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    written(text, breaks)
}

fn written(text: &str, breaks: bool) -> String {
    let chars: Vec<char> = text.chars().collect();
    let named = words::named(&chars);
    let out = String::with_capacity(text.len() + 16);
    let mut writer = Writer { chars: &chars, named: &named, naming: None, breaks, out };
    let mut at = 0;
    while at < chars.len() {
        at = writer.step(at);
    }
    writer.out
}

/// Nothing to do: printable ASCII without long runs, which is most of what is ever shown.
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() <= SHORT
        && !text.contains("  ")
        && bytes.iter().all(|byte| matches!(byte, b'!'..=b'~' | b' ') && *byte != b'\\')
        && bytes.first() != Some(&b' ')
        && bytes.last() != Some(&b' ')
}

struct Writer<'a> {
    chars: &'a [char],
    /// Which characters are to be named, because they pass for others.
    named: &'a [bool],
    /// Where those begin that were written and are still to be named.
    naming: Option<usize>,
    breaks: bool,
    out: String,
}

impl Writer<'_> {
    fn at(&self, at: usize) -> Option<char> {
        self.chars.get(at).copied()
    }

    fn is_named(&self, at: usize) -> bool {
        self.named.get(at).copied().unwrap_or(false) && !self.is_escaped(at)
    }

    /// Writes what stands at a place, and says where to go on.
    fn step(&mut self, at: usize) -> usize {
        if let Some((unit, times)) = self.repetition(at) {
            return self.repeated(at, unit, times);
        }
        match self.at(at) {
            Some(' ' | '\n') => self.blanks(at),
            Some(c) if characters::is_right_to_left(c) && !self.is_escaped(at) => {
                self.right_to_left(at)
            }
            Some(_) => self.plain(at),
            None => at + 1,
        }
    }

    /// Something that is repeated from here on for too long: its length, and how often.
    fn repetition(&self, at: usize) -> Option<(usize, usize)> {
        let rest = self.chars.get(at..).filter(|it| it.len() > SHORT)?;
        // Spaces alone and line breaks alone have limits of their own.
        let blank = |c: &&char| matches!(c, ' ' | '\n') && rest.first() == Some(*c);
        let blanks = rest.iter().take(UNIT).take_while(blank).count();
        (blanks + 1..=UNIT.min(rest.len() / 2)).find_map(|unit| {
            let most = if unit == 1 { SAME } else { REPEATED.max(4 * unit) };
            let same = rest.iter().zip(rest.iter().skip(unit)).take_while(|(a, b)| a == b).count();
            // The first one, and each that equals the one before it.
            let times = 1 + same / unit;
            (times * unit > most).then_some((unit, times))
        })
    }

    fn repeated(&mut self, at: usize, unit: usize, times: usize) -> usize {
        self.out.push('⟨');
        let mut broke = false;
        for place in at..at + unit {
            broke |= self.at(place) == Some('\n');
            self.atom(place);
        }
        let _ = write!(self.out, "×{times}⟩");
        self.line_break(broke);
        at + unit * times
    }

    /// A character inside `⟨…⟩`, where more of them have a meaning.
    fn atom(&mut self, at: usize) {
        let Some(c) = self.at(at) else { return };
        match c {
            ' ' => self.out.push('␠'),
            '\n' => self.out.push('⏎'),
            '␠' | '×' => self.escape(c),
            _ if self.is_named(at)
                || self.is_escaped(at)
                || characters::is_mark(c)
                || characters::is_right_to_left(c) =>
            {
                self.escape(c);
            }
            _ => self.out.push(c),
        }
    }

    /// Spaces and line breaks, as far as they go.
    fn blanks(&mut self, at: usize) -> usize {
        let end = self.while_(at, |c| matches!(c, ' ' | '\n'));
        let broken = self.chars.get(at..end).unwrap_or_default();
        if broken.iter().filter(|c| **c == '\n').count() >= BREAKS {
            return self.gap(at, end);
        }
        let mut place = at;
        while place < end {
            if self.at(place) == Some('\n') {
                self.out.push('⏎');
                self.line_break(true);
                place += 1;
                continue;
            }
            let after = self.while_(place, |c| c == ' ').min(end);
            let unseen = place == 0 || matches!(self.at(after), None | Some('\n'));
            if unseen || after - place > SPACES {
                self.out.push('⟨');
                self.counted('␠', after - place);
                self.out.push('⟩');
            } else {
                self.out.extend(std::iter::repeat_n(' ', after - place));
            }
            place = after;
        }
        end
    }

    /// Many line breaks, with at most spaces between them: counted, and one break made.
    fn gap(&mut self, at: usize, end: usize) -> usize {
        self.out.push('⟨');
        let mut place = at;
        while let Some(c) = self.at(place).filter(|_| place < end) {
            let after = self.while_(place, |other| other == c).min(end);
            if place > at {
                self.out.push(' ');
            }
            self.counted(if c == ' ' { '␠' } else { '⏎' }, after - place);
            place = after;
        }
        self.out.push('⟩');
        self.line_break(true);
        end
    }

    fn counted(&mut self, sign: char, times: usize) {
        self.out.push(sign);
        if times > 1 {
            let _ = write!(self.out, "×{times}");
        }
    }

    /// Words from right to left, with the blanks and stops between them. In such a stretch the
    /// display is exactly the reverse, so whoever can read it reads what is there.
    fn right_to_left(&mut self, at: usize) -> usize {
        let mut end = at;
        let mut place = at;
        while let Some(c) = self.at(place) {
            if self.is_escaped(place) || (place > at && self.repetition(place).is_some()) {
                break;
            }
            place += 1;
            match c {
                _ if characters::is_right_to_left(c) => end = place,
                ' ' if self.at(place) == Some(' ') => break,
                ' ' | ',' | '.' | '!' | '?' | '-' | '\'' => {}
                _ => break,
            }
        }
        self.out.push_str("⟨rtl ");
        self.out.extend(self.chars.get(at..end).unwrap_or_default());
        self.out.push_str(" ltr⟩");
        end
    }

    fn plain(&mut self, at: usize) -> usize {
        let Some(c) = self.at(at) else { return at + 1 };
        if self.is_escaped(at) {
            self.escape(c);
        } else {
            self.out.push(c);
        }
        if self.is_named(at) {
            let first = *self.naming.get_or_insert(at);
            if !self.is_named(at + 1) || self.repetition(at + 1).is_some() {
                self.name(first, at);
            }
        }
        at + 1
    }

    /// Names the characters from here to there, which pass for others.
    fn name(&mut self, first: usize, last: usize) {
        self.naming = None;
        self.out.push('⟨');
        for place in first..=last {
            let between = if place > first { " " } else { "" };
            let _ = write!(self.out, "{between}U+{:04X}", self.at(place).map_or(0, u32::from));
        }
        self.out.push('⟩');
    }

    /// Whether this one is shown by its number.
    fn is_escaped(&self, at: usize) -> bool {
        match self.at(at) {
            None => false,
            Some('⟨' | '⟩' | '⏎') => true,
            Some('\\') => self.at(at + 1) == Some('u') && self.at(at + 2) == Some('{'),
            Some(c) if c.is_ascii() => c.is_ascii_control() && c != '\n',
            Some(c) if characters::is_mark(c) => !self.mark_has_base(at),
            Some(c) => characters::is_hidden(c),
        }
    }

    /// A mark of a script stays on the letter that it belongs to, up to four of them.
    fn mark_has_base(&self, at: usize) -> bool {
        if self.at(at).is_none_or(characters::is_stray_mark) {
            return false;
        }
        let before = self.chars.get(at.saturating_sub(4)..at).unwrap_or_default();
        let base = before.iter().rev().find(|c| !characters::is_mark(**c));
        base.is_some_and(|c| !c.is_ascii() && c.is_alphanumeric() && !characters::is_hidden(*c))
            && !before.iter().any(|c| characters::is_stray_mark(*c))
    }

    fn escape(&mut self, c: char) {
        let _ = write!(self.out, "\\u{{{:X}}}", u32::from(c));
    }

    fn line_break(&mut self, wanted: bool) {
        if wanted && self.breaks {
            self.out.push('\n');
        }
    }

    fn while_(&self, at: usize, holds: impl Fn(char) -> bool) -> usize {
        let rest = self.chars.get(at..).unwrap_or_default();
        at + rest.iter().take_while(|c| holds(**c)).count()
    }
}
