//! Which modes a program has put a terminal into, read from what it writes: to leave them for a while
//! and to come back to them.

use std::collections::BTreeSet;

/// Shows the cursor; on where nobody said otherwise.
const CURSOR: u16 = 25;
/// What is drawn is held back until it is whole: nothing to come back to.
const SYNCHRONIZED: u16 = 2026;
/// The most modes that are kept in mind.
const MAX_MODES: usize = 32;

/// Gives a terminal back its sense, whatever a program has written to it: what is unfinished ends
/// (CAN, ST), then the soft reset, the other screen, margins, scroll region, insert, origin and wrap
/// modes, keypad, mouse, keys, character sets, guarded areas, colours and the palette; last the screen
/// is cleared. Terminals pass over what they do not know.
const RESET: &str = concat!(
    "\x18\x1b\\\x1b[!p",
    "\x1b[?1049l\x1b[?1047l\x1b[?47l",
    "\x1b[?69l\x1b[?6l\x1b[r\x1b[4l\x1b[20l\x1b[2l\x1b[?7h\x1b[?45l\x1b[?5l\x1b[?25h",
    "\x1b[?1l\x1b[?66l\x1b>\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l",
    "\x1b[?1006l\x1b[?1015l\x1b[?1016l\x1b[?2004l\x1b[?2026l\x1b[>4m\x1b[=0u",
    "\x1b%G\x1b(B\x1b)B\x1b*B\x1b+B\x0f\x1bW\x1b[0\"q\x1b[0m",
    "\x1b]104\x1b\\\x1b]105\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\\x1b]117\x1b\\\x1b]119\x1b\\",
    "\x1b[2J\x1b[H",
);

/// The private modes (`ESC [ ? 1049 h`) that are on.
#[derive(Debug)]
pub(super) struct TerminalModes {
    on: BTreeSet<u16>,
    state: ParserState,
    numbers: Vec<u16>,
}

/// How far into a sequence we are.
#[derive(Debug, Clone, Copy)]
enum ParserState {
    Text,
    Escape,
    Bracket,
    Private,
}

impl Default for TerminalModes {
    fn default() -> TerminalModes {
        TerminalModes {
            on: BTreeSet::from([CURSOR]),
            state: ParserState::Text,
            numbers: Vec::new(),
        }
    }
}

impl TerminalModes {
    /// Reads what was written, which may end anywhere.
    pub(super) fn read(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.state = match (self.state, byte) {
                (_, 0x1b) => ParserState::Escape,
                (ParserState::Escape, b'[') => ParserState::Bracket,
                (ParserState::Bracket, b'?') => {
                    self.numbers = vec![0];
                    ParserState::Private
                }
                (ParserState::Private, b'0'..=b'9') => {
                    if let Some(last) = self.numbers.last_mut() {
                        *last = last.saturating_mul(10).saturating_add(u16::from(byte - b'0'));
                    }
                    ParserState::Private
                }
                (ParserState::Private, b';') if self.numbers.len() < MAX_MODES => {
                    self.numbers.push(0);
                    ParserState::Private
                }
                (ParserState::Private, b'h') => {
                    let room = MAX_MODES.saturating_sub(self.on.len());
                    self.on.extend(self.numbers.iter().take(room));
                    ParserState::Text
                }
                (ParserState::Private, b'l') => {
                    self.on.retain(|it| !self.numbers.contains(it));
                    ParserState::Text
                }
                _ => ParserState::Text,
            };
        }
    }

    /// What leaves them.
    pub(super) fn leave(&self) -> String {
        let modes = self.on.iter().rev().filter(|it| **it != CURSOR);
        let mut text: String = modes.map(|it| format!("\x1b[?{it}l")).collect();
        if !self.on.contains(&CURSOR) {
            text += "\x1b[?25h";
        }
        text
    }

    /// What makes room for a question: nothing that was written before has a say in how it looks.
    pub(super) fn make_room(&self) -> String {
        // One that is left by the reset is not left twice: the second time would bring back an
        // earlier screen.
        let modes = self.on.iter().rev().map(|it| format!("\x1b[?{it}l"));
        let others: String = modes.filter(|it| !RESET.contains(it.as_str())).collect();
        format!("\x18\x1b\\{others}{RESET}")
    }

    /// What comes back to them.
    pub(super) fn enter(&self) -> String {
        let modes = self.on.iter().filter(|it| ![CURSOR, SYNCHRONIZED].contains(it));
        let mut text: String = modes.map(|it| format!("\x1b[?{it}h")).collect();
        if !self.on.contains(&CURSOR) {
            text += "\x1b[?25l";
        }
        text
    }
}

#[cfg(test)]
mod tests;
