//! Whose turn it is to write, among many processes. SQLite's lock goes to whoever happens to look at the right
//! moment, and of a hundred who look some never do. So whoever finds it taken queues up for a lock of ours first:
//! of those only one looks, often.

use std::{
    fs::{File, OpenOptions},
    path::Path,
    sync::mpsc,
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode};

/// How often whoever has its turn looks.
const STEP: Duration = Duration::from_millis(1);
/// How long SQLite itself waits for what does not take long: others who open or close the store.
const REST: Duration = Duration::from_secs(5);

/// Begins to write, and waits for others for so long at most. The error after that is SQLite's.
pub(super) fn begin(connection: &Connection, path: &Path, busy: Duration) -> rusqlite::Result<()> {
    let begin = || connection.prepare_cached("BEGIN IMMEDIATE")?.execute([]).map(drop);
    let is_taken = |it: &rusqlite::Result<()>| {
        let code = it.as_ref().err().and_then(rusqlite::Error::sqlite_error_code);
        code == Some(ErrorCode::DatabaseBusy)
    };
    connection.busy_timeout(Duration::ZERO)?;
    let mut begun = begin();
    if !busy.is_zero() && is_taken(&begun) {
        begun = begin_in_turn(path, busy, begin, is_taken);
    }
    connection.busy_timeout(REST)?;
    begun
}

fn begin_in_turn(
    path: &Path,
    busy: Duration,
    begin: impl Fn() -> rusqlite::Result<()>,
    is_taken: impl Fn(&rusqlite::Result<()>) -> bool,
) -> rusqlite::Result<()> {
    let until = Instant::now() + busy;
    // Whoever has not had a turn by then looks without one.
    let _turn = wait(path, busy / 2);
    loop {
        let begun = begin();
        if !is_taken(&begun) || Instant::now() >= until {
            return begun;
        }
        std::thread::sleep(STEP);
    }
}

/// The turn, for as long as it is held. `None`: it did not come.
fn wait(path: &Path, most: Duration) -> Option<File> {
    let mut name = path.as_os_str().to_owned();
    name.push("-turn");
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let turn = options.open(name).ok()?;
    if turn.try_lock().is_ok() {
        return Some(turn);
    }
    // The kernel lets those who wait come one after another, and a wait for it has no end of its own. What comes
    // too late is let go at once.
    let (tell, told) = mpsc::channel();
    let waits = move || {
        if turn.lock().is_ok() {
            drop(tell.send(turn));
        }
    };
    std::thread::Builder::new().name("eclusa-turn".to_owned()).spawn(waits).ok()?;
    told.recv_timeout(most).ok()
}
