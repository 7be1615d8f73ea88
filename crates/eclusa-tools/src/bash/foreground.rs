//! A command that somebody waits for: it ends when they go away, and tells how it goes.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use eclusa::{Job, one_line};
use eclusa_sandbox::Cancel;

use super::LongOutput;
use crate::sandboxes::{CommandOrder, Ran, RunError, Sandboxes};

/// Sees the output of a command as it comes, and says how far it is (0 to 1) and what it is at, if that
/// is news.
pub(super) type Watcher = Arc<dyn Fn(&[u8]) -> Option<(f64, String)> + Send + Sync>;

/// How often it is looked whether a command that still runs serves something.
const LOOK: Duration = Duration::from_secs(1);
/// How often it is said that it still does: an owner that nobody asks for anything ends.
const AGAIN: Duration = Duration::from_secs(300);

/// Ends a command that nobody waits for any more.
struct EndOnDrop(Arc<Mutex<RunningCommand>>);

#[derive(Default)]
struct RunningCommand {
    cancel: Option<Cancel>,
    /// Its first process.
    first: Option<i32>,
    gone: bool,
}

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        let mut watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        watched.gone = true;
        if let Some(cancel) = &watched.cancel {
            cancel.cancel();
        }
    }
}

/// Runs a command for as long as somebody waits, and tells how it goes.
pub(super) async fn run(
    sandboxes: Sandboxes,
    order: CommandOrder,
    (watcher, long): (Option<Watcher>, LongOutput),
    job: &Job,
) -> Result<Ran, RunError> {
    let watch = EndOnDrop(Arc::default());
    let (watched, started) = (watch.0.clone(), watch.0.clone());
    let shared = order.session.clone().filter(|_| sandboxes.are_apart());
    let sharing = sandboxes.clone();
    let (tell, mut told) = tokio::sync::mpsc::channel::<(f64, String)>(8);
    let (ended, mut end) = tokio::sync::mpsc::channel::<()>(1);
    let mut reading = None;
    let mut running = tokio::task::spawn_blocking(move || {
        let progress = move |bytes: &[u8]| {
            long.add(bytes);
            let progress = match &watcher {
                Some(watcher) => watcher(bytes),
                None => Some((0.0, last_line(bytes))),
            };
            // Whoever listens sees the latest; a slow one misses some, and holds up nobody.
            if let Some(progress) = progress {
                let _ = tell.try_send(progress);
            }
        };
        let running = sandboxes.start(&order, progress)?;
        let gone = {
            let mut watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
            watched.cancel = Some(running.canceller());
            watched.first = Some(running.first());
            watched.gone
        };
        if gone {
            running.canceller().cancel();
        }
        running.wait_and_tell(|| {
            // Whoever waits has room for one.
            let _ = ended.try_send(());
        })
    });
    let mut next = tokio::time::Instant::now() + LOOK;
    let ran = loop {
        tokio::select! {
            ran = &mut running => break ran,
            () = tokio::time::sleep_until(next), if shared.is_some() => {
                let first = started.lock().unwrap_or_else(PoisonError::into_inner).first;
                let (session, sharing) = (shared.clone().unwrap_or_default(), sharing.clone());
                let share = move || first.map(|it| sharing.share_network(&session, it));
                let done = tokio::task::spawn_blocking(share).await;
                let done = matches!(done, Ok(Some(Ok(true))));
                next = tokio::time::Instant::now() + if done { AGAIN } else { LOOK };
            }
            Some((fraction, line)) = told.recv() => job.progress(fraction, &line),
            Some(()) = end.recv() => reading = Some(job.reading_back()),
        }
    };
    drop((watch, reading));
    ran.unwrap_or_else(|_| Err(RunError::Effects("the thread that ran it crashed".to_owned())))
}

/// The last line of some output, for people who watch.
pub(super) fn last_line(bytes: &[u8]) -> String {
    let end = bytes.trim_ascii_end();
    let start = memchr::memrchr(b'\n', end).map_or(0, |at| at + 1);
    let line = end.get(start..).unwrap_or_default();
    let line = line.get(..line.len().min(200)).unwrap_or_default();
    one_line(&String::from_utf8_lossy(line))
}
