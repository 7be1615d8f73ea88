//! The process group of one program, and its end.

use std::{
    io,
    process::ExitStatus,
    sync::{Mutex, PoisonError},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::{Child, ChildStdin};

/// How long a group may tidy up between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(1);

/// How long the end of a group is waited for after SIGKILL.
const REAP: Duration = Duration::from_secs(1);

/// A program and everybody it started that stayed in its group. Dropping it ends them all.
pub struct Group {
    child: Option<Child>,
    id: Option<Pid>,
}

impl Group {
    /// The group that this program leads.
    pub fn new(child: Child) -> Group {
        let id = child.id().and_then(|it| i32::try_from(it).ok()).and_then(Pid::from_raw);
        Group { child: Some(child), id }
    }

    /// The pipe to the program, for whoever asks first.
    pub(super) fn stdin(&mut self) -> Option<ChildStdin> {
        self.child.as_mut()?.stdin.take()
    }

    /// Waits for the end of the program itself.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        match &mut self.child {
            Some(child) => child.wait().await,
            // Only drop takes the child away.
            None => Err(io::Error::other("the program was given up")),
        }
    }

    /// After the program has ended: ends whoever it left behind.
    pub(super) fn end_rest(&mut self) {
        if let Some(id) = self.id.take() {
            // An error means that nobody is left.
            let _ = kill_process_group(id, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let (Some(child), Some(id)) = (self.child.take(), self.id.take()) else { return };
        let _ = kill_process_group(id, Signal::TERM);
        // Waiting is not for whoever drops a future; main waits for this thread before it ends.
        wait_later(std::thread::spawn(move || kill(child, id)));
    }
}

/// Waits until the group has gone, and helps.
fn kill(mut child: Child, id: Pid) {
    if gone_within(GRACE, &mut child, id) {
        return;
    }
    let _ = kill_process_group(id, Signal::KILL);
    gone_within(REAP, &mut child, id);
}

fn gone_within(limit: Duration, child: &mut Child, id: Pid) -> bool {
    let until = Instant::now() + limit;
    loop {
        // Reaping the program comes first: a dead one that nobody reaped still counts as there.
        let reaped = !matches!(child.try_wait(), Ok(None));
        if reaped && test_kill_process_group(id).is_err() {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

static KILLERS: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());

fn killers() -> std::sync::MutexGuard<'static, Vec<JoinHandle<()>>> {
    KILLERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has main wait for a thread that sees to the end of a program.
pub fn wait_later(killer: JoinHandle<()>) {
    let mut killers = killers();
    killers.retain(|it| !it.is_finished());
    killers.push(killer);
}

/// Waits until every group that was given up has gone: the last thing before the program ends.
/// Whoever else waits at the same time waits as long.
pub fn wait_for_killers() {
    for killer in killers().drain(..) {
        let _ = killer.join();
    }
}
