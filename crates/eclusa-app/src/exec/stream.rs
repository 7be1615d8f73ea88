//! The output of a command, as it comes: byte for byte to a program, harmless on a terminal.

use std::{
    io::{self, IsTerminal, Write},
    sync::{Mutex, PoisonError},
};

use crate::screen::{sanitize, spinner};

/// Standard output, written to while the command runs.
pub(super) struct CommandOutput {
    terminal: bool,
    /// The beginning of a character whose end has not come yet.
    rest: Mutex<Vec<u8>>,
}

impl CommandOutput {
    pub(super) fn new() -> CommandOutput {
        CommandOutput { terminal: io::stdout().is_terminal(), rest: Mutex::default() }
    }

    /// Writes some of it. That nobody reads it does not end the command.
    pub(super) fn write(&self, bytes: &[u8]) {
        spinner::written(bytes);
        let mut out = io::stdout().lock();
        if !self.terminal {
            let _ = out.write_all(bytes).and_then(|()| out.flush());
            return;
        }
        let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        rest.extend_from_slice(bytes);
        let whole = rest.len() - unfinished(&rest);
        let bytes: Vec<u8> = rest.drain(..whole).collect();
        let text = sanitize(&String::from_utf8_lossy(&bytes));
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }

    /// Writes what is left.
    pub(super) fn finish(&self) {
        let rest = std::mem::take(&mut *self.rest.lock().unwrap_or_else(PoisonError::into_inner));
        if !rest.is_empty() {
            let text = sanitize(&String::from_utf8_lossy(&rest));
            let _ = io::stdout().write_all(text.as_bytes());
        }
    }
}

/// How many bytes at the end are the beginning of a character.
fn unfinished(bytes: &[u8]) -> usize {
    let tail = bytes.get(bytes.len().saturating_sub(3)..).unwrap_or_default();
    let needs = |byte: u8| match byte {
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF7 => 4,
        _ => 1,
    };
    let starts = tail.iter().rev().enumerate().find(|(_, byte)| **byte & 0xC0 != 0x80);
    match starts {
        Some((behind, byte)) if needs(*byte) > behind + 1 => behind + 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
