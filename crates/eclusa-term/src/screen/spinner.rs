//! A line on the terminal that says what is waited for, once that takes longer than a second.
//!
//! It goes to stderr, and only where that is a terminal. It has no escape codes: it is written over.

use std::{
    io::{self, IsTerminal, Write},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use eclusa::one_line;

use super::{layout, size_of};

/// How long nothing is said.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often the line is drawn anew.
const FRAME: Duration = Duration::from_millis(120);

const FRAMES: [char; 8] = ['⠋', '⠙', '⠸', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// The one line that there is.
static LINE: Mutex<WaitingLine> = Mutex::new(WaitingLine {
    running: false,
    paused: 0,
    drawn: 0,
    quiet_since: None,
    in_line: false,
});

/// Wakes the thread that draws.
static ENDED: Condvar = Condvar::new();

struct WaitingLine {
    /// Somebody waits for something.
    running: bool,
    /// How many want the terminal for themselves.
    paused: usize,
    /// How many columns are drawn now.
    drawn: usize,
    /// Since when nothing else was written.
    quiet_since: Option<Instant>,
    /// The cursor stands behind text of a command.
    in_line: bool,
}

impl WaitingLine {
    fn erase(&mut self) {
        if self.drawn > 0 {
            let _ = write!(io::stderr(), "\r{}\r", " ".repeat(self.drawn));
            self.drawn = 0;
        }
    }

    fn draw(&mut self, what: &str, since: Instant, frame: usize) {
        let quiet = self.quiet_since.is_none_or(|it| it.elapsed() >= PATIENCE);
        if self.paused > 0 || self.in_line || !quiet {
            return;
        }
        let columns = size_of(&io::stderr()).map_or(80, |(columns, _)| columns);
        let sign = FRAMES.get(frame % FRAMES.len()).copied().unwrap_or('.');
        let time = format!(" ({} s)", since.elapsed().as_secs());
        let room = columns.saturating_sub(layout::width(&time) + 3);
        let text = format!("{sign} {}{time}", layout::cut(what, room));
        self.erase();
        self.drawn = layout::width(&text);
        let mut err = io::stderr().lock();
        let _ = write!(err, "{text}").and_then(|()| err.flush());
    }
}

fn line() -> MutexGuard<'static, WaitingLine> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says what is waited for until it is dropped.
pub struct Spinner(Option<JoinHandle<()>>);

impl Spinner {
    /// Waits for this: `bash: make test`.
    pub fn start(what: &str) -> Spinner {
        let dumb = std::env::var_os("TERM").is_some_and(|it| it == "dumb");
        if dumb || !io::stderr().is_terminal() || std::mem::replace(&mut line().running, true) {
            return Spinner(None);
        }
        let (what, since) = (one_line(what), Instant::now());
        Spinner(Some(std::thread::spawn(move || {
            let mut state = line();
            let mut frame = 0;
            while state.running {
                if since.elapsed() >= PATIENCE {
                    state.draw(&what, since, frame);
                    frame += 1;
                }
                state = match ENDED.wait_timeout(state, FRAME) {
                    Ok((state, _)) => state,
                    Err(poisoned) => poisoned.into_inner().0,
                };
            }
            state.erase();
        })))
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            line().running = false;
            ENDED.notify_all();
            let _ = thread.join();
        }
    }
}

/// Keeps the line away while something else is on the terminal.
pub struct Paused;

/// Takes the line away until the answer is dropped: somebody is asked something.
pub fn pause() -> Paused {
    let mut line = line();
    line.erase();
    line.paused += 1;
    Paused
}

impl Drop for Paused {
    fn drop(&mut self) {
        let mut line = line();
        line.paused = line.paused.saturating_sub(1);
        line.quiet_since = Some(Instant::now());
    }
}

/// Takes the line away for what a command writes to the same terminal.
pub fn written(bytes: &[u8]) {
    let mut line = line();
    line.erase();
    line.quiet_since = Some(Instant::now());
    if let Some(last) = bytes.last() {
        line.in_line = *last != b'\n';
    }
}

/// Waits until nobody has the terminal for themselves any more: a prompt that is given up notices it
/// a moment later.
pub async fn until_resumed() {
    while line().paused > 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
