//! The terminal in raw mode, and back as it was: also when the program panics.

use std::{
    io::{self, Write},
    sync::{Mutex, Once, PoisonError},
};

use rustix::termios::{OptionalActions, OutputModes, Termios, tcgetattr, tcsetattr};

/// The terminal as it was, while it is in raw mode.
static SAVED: Mutex<Option<Termios>> = Mutex::new(None);

/// A panic restores the terminal before it is reported.
static HOOK: Once = Once::new();

/// Keys come one by one from now on, and pastes are marked.
pub(crate) fn enter() -> io::Result<()> {
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            leave();
            before(panic);
        }));
    });
    let mut saved = SAVED.lock().unwrap_or_else(PoisonError::into_inner);
    if saved.is_some() {
        return Ok(());
    }
    let as_it_was = tcgetattr(io::stdin())?;
    let mut raw = as_it_was.clone();
    raw.make_raw();
    // Lines that others print, such as warnings, still begin at the left.
    raw.output_modes |= OutputModes::OPOST;
    tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
    *saved = Some(as_it_was);
    write_codes("\x1b[?2004h")
}

/// The terminal as it was.
pub(crate) fn leave() {
    let mut saved = SAVED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(as_it_was) = saved.take() {
        // An error means that there is no terminal any more.
        let _ = write_codes("\x1b[?7h\x1b[?2026l\x1b[?2004l\x1b[?25h");
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &as_it_was);
    }
}

fn write_codes(codes: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(codes.as_bytes())?;
    out.flush()
}
