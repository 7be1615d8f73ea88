//! Which modes a program has put a terminal into, read from what it writes: to leave them for a while
//! and to come back to them.

use std::collections::BTreeSet;

/// Shows the cursor; on where nobody said otherwise.
const CURSOR: u16 = 25;
/// What is drawn is held back until it is whole: nothing to come back to.
const SYNCHRONIZED: u16 = 2026;
/// The most modes that are kept in mind.
const MAX_MODES: usize = 32;

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
