//! The terminal of a chat: keys in, frames out, and away from it when somebody else needs it.

use std::{
    io::{self, Stdout},
    time::Instant,
};

use super::{
    key_decoder::Key,
    key_input::KeyInput,
    raw_mode,
    scrollback::{Scrollback, Size},
    view::View,
};
use crate::ui::screen::{Paint, size_of};

/// The terminal, in raw mode as long as the chat has it.
pub(crate) struct ChatTerminal {
    /// What is shown.
    pub(crate) view: View,
    scrollback: Scrollback<Stdout>,
    keys: Option<KeyInput>,
    size: Size,
}

impl ChatTerminal {
    /// Takes the terminal.
    pub(crate) fn open() -> io::Result<ChatTerminal> {
        let (out, size) = (io::stdout(), terminal_size());
        let view = View::new(Paint::on(&out), size.columns);
        let mut screen = ChatTerminal { view, scrollback: Scrollback::new(out), keys: None, size };
        screen.resume()?;
        Ok(screen)
    }

    /// The next key; `None` when the terminal is gone. Waits for ever while it is somebody else's.
    pub(crate) async fn key(&mut self) -> Option<Key> {
        match &mut self.keys {
            Some(keys) => keys.next().await,
            None => std::future::pending().await,
        }
    }

    /// Shows what there is now.
    pub(crate) fn draw(&mut self) -> io::Result<()> {
        if self.keys.is_none() {
            return Ok(());
        }
        let (finished, block) = self.view.frame(Instant::now());
        self.scrollback.draw(&finished, &block, self.size)
    }

    /// Looks how large the terminal is now.
    pub(crate) fn resized(&mut self) {
        self.size = terminal_size();
        self.view.resize(self.size.columns);
    }

    /// Leaves the terminal to somebody else: lines that are finished stay, the block goes, and keys
    /// are lines again. What was typed and not taken is forgotten.
    pub(crate) fn suspend(&mut self) -> io::Result<()> {
        if self.keys.take().is_none() {
            return Ok(());
        }
        let (finished, _) = self.view.frame(Instant::now());
        let cleared = self.scrollback.clear(&finished, self.size);
        raw_mode::leave();
        cleared
    }

    /// Rings the terminal's bell.
    pub(crate) fn ring(&mut self) -> io::Result<()> {
        self.scrollback.ring()
    }

    /// Takes the terminal back. The cursor stands at the left of an empty line.
    pub(crate) fn resume(&mut self) -> io::Result<()> {
        // Whoever has it keeps what was typed ahead.
        if self.keys.is_none() {
            raw_mode::enter()?;
            self.keys = Some(KeyInput::start()?);
        }
        self.resized();
        Ok(())
    }
}

impl Drop for ChatTerminal {
    fn drop(&mut self) {
        // An error means that there is no terminal any more.
        drop(self.suspend());
        raw_mode::leave();
    }
}

fn terminal_size() -> Size {
    let (columns, rows) = size_of(&io::stdout()).unwrap_or((80, 24));
    Size { columns, rows: if rows == 0 { 24 } else { rows } }
}
