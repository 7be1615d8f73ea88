//! The journal of a snapshot: that a command runs on the real files, and which processes it has.

use std::{
    io::{self, Read as _},
    os::fd::OwnedFd,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};

use super::manifest::{self, Manifest};
use crate::commit::stat;

/// How long the kernel may take to end what it was told to kill.
const DEATH: Duration = Duration::from_secs(10);

/// What stands in the journal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Journal {
    v: u32,
    /// When the snapshot was complete, in nanoseconds since 1970.
    pub(super) began: i64,
    /// Which snapshot.
    manifest: String,
    group: Option<CommandGroup>,
}

/// The processes of a command: a group in a session of its own.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct CommandGroup {
    id: i32,
    /// When its first process started, in ticks since the machine did.
    started: Option<u64>,
    /// Which start of the machine.
    boot: Option<String>,
}

impl Journal {
    pub(super) fn new(manifest: &Manifest) -> Journal {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // The clocks of filesystems lag behind by a tick.
        let began = since.saturating_sub(Duration::from_millis(10)).as_nanos();
        let began = i64::try_from(began).unwrap_or(i64::MAX);
        Journal { v: 1, began, manifest: hex(manifest), group: None }
    }

    pub(super) fn is_of(&self, manifest: &Manifest) -> bool {
        self.v == 1 && self.manifest == hex(manifest)
    }

    /// The command runs in this group.
    pub(super) fn note_group(&mut self, id: i32) {
        let started = process(id).map(|it| it.started);
        self.group = Some(CommandGroup { id, started, boot: boot() });
    }

    pub(super) fn write(&self, dir: &OwnedFd) -> io::Result<()> {
        manifest::replace(dir, "journal", &serde_json::to_vec(self)?)
    }

    pub(super) fn read(dir: &OwnedFd) -> io::Result<Journal> {
        let mut bytes = Vec::new();
        stat::open_file(dir, "journal".as_ref())?.read_to_end(&mut bytes)?;
        Ok(serde_json::from_slice(&bytes)?)
    }

    pub(super) fn remove(dir: &OwnedFd) -> io::Result<()> {
        manifest::remove(dir, "journal")
    }

    /// Ends what is left of the command. Numbers are used again: nobody is ended who is not of the
    /// same start of the machine, of the same session, and behind a filter.
    pub(super) fn end_processes(&self) -> io::Result<()> {
        let Some(CommandGroup { id, started, boot: then }) = &self.group else { return Ok(()) };
        let is_other = process(*id).is_some_and(|it| Some(it.started) != *started);
        if then.is_none() || *then != boot() || is_other {
            return Ok(());
        }
        let Some(group) = Pid::from_raw(*id) else { return Ok(()) };
        let until = Instant::now() + DEATH;
        while processes().any(|it| it.group == *id && it.session == *id && it.is_filtered()) {
            if Instant::now() >= until {
                return Err(io::Error::other(format!("process group {id} goes on")));
            }
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

fn hex(manifest: &Manifest) -> String {
    blake3::Hash::from_bytes(manifest.check).to_hex().to_string()
}

/// A process that runs. Those that only wait for somebody to ask how they ended do not.
struct Process {
    id: i32,
    group: i32,
    session: i32,
    started: u64,
}

impl Process {
    /// Every command runs behind a filter, and few other programs do.
    fn is_filtered(&self) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id));
        status.is_ok_and(|it| it.lines().any(|line| line == "Seccomp:\t2"))
    }
}

fn process(id: i32) -> Option<Process> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name of the program is in brackets, and may hold anything.
    let words: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let state = words.first()?;
    let number = |at: usize| words.get(at)?.parse::<i32>().ok();
    let (group, session) = (number(2)?, number(3)?);
    let started = words.get(19)?.parse().ok()?;
    (!matches!(*state, "Z" | "X" | "x")).then_some(Process { id, group, session, started })
}

fn processes() -> impl Iterator<Item = Process> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|it| process(it.file_name().to_str()?.parse().ok()?))
}

/// Which start of the machine this is.
pub(super) fn boot() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}
