//! The watch over a running command: its output, its time, its end, and the end of its children.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Pid, Signal};

use super::answering::Answering;
use super::disk;
use super::leases;
use super::memory;
use super::process_count;
use super::watch::Watch;
use super::{StartedCommand, Watched, survivors};
use crate::exit::{DirRenames, Ended, Exit, How};
use crate::init::{ENDED, LEFT, NOT_EXECUTED, OUTLIVE, REAP};
use crate::kernel;
use crate::output::Keeper;
use crate::plan::Outlives;
use crate::step::{SandboxError, Step, trying};

/// How much is read at once, and the size of the pipe.
pub(super) const CHUNK: usize = 1 << 20;

/// How much is read at once as long as that has been enough: most commands say little, and a large
/// buffer would be most of what they cost.
const LITTLE: usize = 1 << 14;

/// How long the kernel may take to end what it was told to kill. Only a process that waits for
/// broken hardware takes longer, and no call waits for that.
const DEATH: Duration = Duration::from_secs(10);

/// How long those who are left by a command may take to end by themselves before anything is made of them.
const LINGER: Duration = Duration::from_millis(100);

/// How far along the end is.
enum Phase {
    Runs,
    /// Asked to end; killed at this time.
    Asked(Instant),
    /// It has ended, and others that it started have until this time.
    Lingers(Instant),
    Over,
}

/// What has been learned so far.
struct Supervision<F> {
    started: StartedCommand,
    watch: Watch,
    progress: F,
    keeper: Keeper,
    answering: Answering,
    buffer: Vec<u8>,
    open: bool,
    phase: Phase,
    ended: Option<Ended>,
    /// The wait status that the first process reported.
    status: Option<i32>,
    not_executed: Option<i32>,
    /// Whether what runs is left to somebody else.
    leaves: bool,
    /// How many of those who are left are ended.
    ended_left: usize,
}

/// Watches a command until it and everything it started is gone.
pub(super) fn supervise(
    started: StartedCommand,
    watch: Watch,
    progress: impl FnMut(&[u8]),
    answering: Answering,
) -> Result<Watched, SandboxError> {
    let began = Instant::now();
    rustix::io::ioctl_fionbio(&started.output, true).map_err(trying("watch the output"))?;
    let deadline = watch.limits.wall.map(|wall| began + wall);
    let keeper = Keeper::new(watch.keep);
    let mut supervision = Supervision {
        started,
        watch,
        progress,
        keeper,
        answering,
        buffer: Vec::new(),
        open: true,
        phase: Phase::Runs,
        ended: None,
        status: None,
        not_executed: None,
        leaves: false,
        ended_left: 0,
    };
    while !matches!(supervision.phase, Phase::Over) {
        supervision.turn(deadline)?;
    }
    supervision.finish(began)
}

impl<F: FnMut(&[u8])> Supervision<F> {
    /// Waits for the next thing to happen, and deals with it.
    fn turn(&mut self, deadline: Option<Instant>) -> Result<(), SandboxError> {
        let timeout = self.timeout(deadline);
        let (calls, wanted) = match &self.answering {
            Answering::Waiting(listener) => (listener, PollFlags::IN),
            Answering::Nobody | Answering::At(_) => (self.watch.cancel.event(), PollFlags::empty()),
        };
        let mut polled = [
            PollFd::new(&self.started.status, PollFlags::IN),
            PollFd::new(&self.started.child.pidfd, PollFlags::IN),
            PollFd::new(self.watch.cancel.event(), PollFlags::IN),
            PollFd::new(calls, wanted),
            PollFd::new(&self.started.output, PollFlags::IN),
        ];
        // A closed pipe would wake us for ever.
        let count = if self.open { 5 } else { 4 };
        let some = polled.get_mut(..count).unwrap_or_default();
        match rustix::event::poll(some, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(trying("watch the command")(error)),
        }
        let calls = polled.get(3).map_or(PollFlags::empty(), PollFd::revents);
        let [status, gone, cancel, _, output] =
            polled.map(|one| one.revents().intersects(PollFlags::IN | PollFlags::HUP));
        if calls.contains(PollFlags::IN) {
            let group = self.started.child.pid;
            self.answering.begin(&mut self.watch.own, &self.watch.staged, group);
        } else if calls.contains(PollFlags::HUP) {
            // Nobody is left who could make one.
            self.answering = Answering::Nobody;
        }
        if output && self.open {
            self.read();
        }
        if status {
            self.hear();
        }
        if gone {
            self.phase = Phase::Over;
        }
        if cancel {
            let wanted = self.watch.cancel.take();
            for sent in wanted.signals {
                survivors::send(self.started.child.pid, sent);
            }
            if wanted.end && self.ended.is_none() {
                self.ask(Ended::Cancelled);
            }
            if wanted.let_go && matches!(self.phase, Phase::Runs) && self.may_leave(Outlives::All) {
                self.leaves = true;
                self.phase = Phase::Over;
            }
        }
        self.check(deadline);
        Ok(())
    }

    /// How long nothing needs to be looked at.
    fn timeout(&self, deadline: Option<Instant>) -> Option<Timespec> {
        let next = match self.phase {
            Phase::Runs => deadline,
            Phase::Asked(until) | Phase::Lingers(until) => Some(until),
            Phase::Over => None,
        };
        let next = next.map(|at| at.saturating_duration_since(Instant::now()));
        let disk = self.watch.disk.first().map(|_| disk::INTERVAL);
        let memory = self.watch.memory.as_ref().map(|_| memory::INTERVAL);
        let processes = self.watch.processes.as_ref().map(|_| process_count::INTERVAL);
        let leases = self.watch.leases.any().then_some(leases::INTERVAL);
        let next = [next, disk, memory, processes, leases].into_iter().flatten().min();
        next.and_then(|next| Timespec::try_from(next + Duration::from_micros(500)).ok())
    }

    /// Takes what output there is, up to one chunk.
    fn read(&mut self) -> usize {
        if self.buffer.is_empty() {
            self.buffer.resize(LITTLE, 0);
        }
        match rustix::io::read(&self.started.output, &mut self.buffer[..]) {
            Ok(0) => {
                self.open = false;
                0
            }
            Ok(count) => {
                let new = self.buffer.get(..count).unwrap_or_default();
                self.keeper.push(new);
                (self.progress)(new);
                if count == self.buffer.len() && count < CHUNK {
                    self.buffer.resize(CHUNK, 0);
                }
                count
            }
            Err(_) => 0,
        }
    }

    fn may_leave(&self, what: Outlives) -> bool {
        self.started.namespace && self.watch.outlives == what
    }

    /// Hears from the first process how the command ended. What is left of it has a moment to end too,
    /// and more if it was asked to end and still has time. A job goes on until nobody is left.
    fn hear(&mut self) {
        let mut message = [0; 8];
        if let Ok(8) = rustix::io::read(&self.started.status, &mut message) {
            let [a, b, c, d, rest @ ..] = message;
            let value = i32::from_le_bytes(rest);
            let kind = u32::from_le_bytes([a, b, c, d]);
            match kind {
                ENDED | LEFT => self.status = Some(value),
                NOT_EXECUTED => self.not_executed = Some(value),
                _ => {}
            }
            let asked = matches!(self.phase, Phase::Asked(_));
            let stays = self.may_leave(Outlives::Left) && !asked;
            if kind == LEFT {
                let answer = if stays { OUTLIVE } else { REAP };
                // Where it cannot be told, it is ended.
                let told = rustix::io::write(&self.started.status, &[answer]);
                if !asked && told.is_ok() {
                    self.phase = Phase::Lingers(Instant::now() + LINGER);
                    return;
                }
            }
            let job = self.may_leave(Outlives::All);
            if (asked || job) && self.not_executed.is_none() {
                return;
            }
        }
        self.phase = Phase::Over;
    }

    /// Looks at the limits that nobody tells us about.
    fn check(&mut self, deadline: Option<Instant>) {
        let now = Instant::now();
        if self.watch.leases.wanted_by_now() {
            // Whoever waits for the file gets nothing of it, as long as it is dead before it is given up.
            self.ended = Some(Ended::Secret);
            self.phase = Phase::Over;
            return;
        }
        if matches!(self.phase, Phase::Runs)
            && let Some(why) = self.too_much()
        {
            // Every further moment costs others.
            (self.ended, self.phase) = (Some(why), Phase::Over);
            return;
        }
        let full = matches!(self.phase, Phase::Runs)
            && self.watch.disk.iter_mut().any(disk::DiskWatch::is_full);
        match self.phase {
            Phase::Asked(kill) if now >= kill => self.phase = Phase::Over,
            Phase::Lingers(until) if now >= until => {
                let left = survivors::beneath(self.started.child.pid).len();
                let most = self.watch.limits.going_on;
                let too_many = most.is_some_and(|most| process_count::is_more(left, most));
                self.leaves = self.may_leave(Outlives::Left) && !too_many;
                if !self.leaves {
                    self.ended_left = left;
                }
                self.phase = Phase::Over;
            }
            Phase::Runs if deadline.is_some_and(|deadline| now >= deadline) => {
                self.ask(Ended::Time);
            }
            Phase::Runs if self.too_much_output() => self.ask(Ended::Output),
            Phase::Runs if full => self.ask(Ended::Disk),
            _ => {}
        }
    }

    fn too_much_output(&self) -> bool {
        self.watch.limits.output.is_some_and(|most| self.keeper.total() > most)
    }

    /// Whether it has too much memory, or too many processes.
    fn too_much(&mut self) -> Option<Ended> {
        let (root, watch) = (self.started.child.pid, &mut self.watch);
        let memory = watch.memory.as_mut().is_some_and(|it| it.exceeded(root));
        let mut processes = || watch.processes.as_mut().is_some_and(|it| it.exceeded(root));
        if memory { Some(Ended::Memory) } else { processes().then_some(Ended::Processes) }
    }

    /// Asks the command and its children to end, and remembers when to stop asking.
    fn ask(&mut self, why: Ended) {
        if matches!(self.phase, Phase::Over) {
            return;
        }
        self.ended = Some(why);
        self.phase = Phase::Asked(Instant::now() + self.watch.limits.grace);
        if self.watch.outlives == Outlives::All && self.started.namespace {
            // What goes on may have left the group.
            for signal in [Signal::TERM, Signal::CONT] {
                survivors::signal_all(self.started.child.pid, signal);
            }
        } else if self.started.namespace {
            // The session's group. Its first process is out of reach of this signal.
            if let Some(group) = Pid::from_raw(self.started.child.pid) {
                // Who was stopped can end only when it goes on.
                for signal in [Signal::TERM, Signal::CONT] {
                    let _ = rustix::process::kill_process_group(group, signal);
                }
            }
        } else {
            survivors::signal_all(self.started.child.pid, Signal::TERM);
        }
    }

    /// Kills what is left, takes what was written, and adds up.
    fn finish(mut self, began: Instant) -> Result<Watched, SandboxError> {
        if self.leaves {
            return self.leave(began);
        }
        if !self.started.namespace {
            survivors::kill_group(self.started.child.pid, DEATH);
        }
        if self.watch.leases.wanted() {
            self.ended = Some(Ended::Secret);
        }
        drop(self.started.guardian.take());
        if let Some(group) = &self.started.group {
            if self.ended.is_none() && group.ran_out_of_memory() {
                self.ended = Some(Ended::Memory);
            }
            group.kill();
        }
        self.started.child.kill();
        let used = self.reap();
        // Nobody writes any more, so what is in the pipe is all there is.
        let mut left = CHUNK;
        while self.open && left > 0 {
            match self.read() {
                0 => break,
                count => left = left.saturating_sub(count),
            }
        }
        if let Some(errno) = self.not_executed {
            let source = std::io::Error::from_raw_os_error(errno);
            return Err(SandboxError::Step { step: Step::Execute, path: None, source });
        }
        let dir_renames = std::mem::replace(&mut self.answering, Answering::Nobody).finish();
        let exit = Exit { dir_renames, ..self.exit(began, used) };
        Ok(Watched { exit, left: None })
    }

    /// How the command ended, as far as it is known.
    fn exit(self, began: Instant, used: Option<kernel::Used>) -> Exit {
        let status = self.status.or(used.as_ref().map(|used| used.status));
        Exit {
            how: status.map_or(How::Signal(libc::SIGKILL), How::of),
            ended: self.ended,
            wall: began.elapsed(),
            cpu: used.as_ref().map(|used| used.cpu).unwrap_or_default(),
            peak_memory: used.map_or(0, |used| used.peak_kib.saturating_mul(1024)),
            output: self.keeper.finish(),
            left: self.ended_left,
            dir_renames: DirRenames::default(),
            enforcement: self.watch.enforcement,
            caps: self.started.caps,
        }
    }

    /// Hands over what runs, with what it has written so far where its command has ended.
    fn leave(mut self, began: Instant) -> Result<Watched, SandboxError> {
        let mut left = CHUNK;
        while self.status.is_some() && self.open && left > 0 {
            match self.read() {
                0 => break,
                count => left = left.saturating_sub(count),
            }
        }
        let held = std::mem::replace(&mut self.answering, Answering::Nobody).leave();
        let written = std::mem::take(&mut self.watch.written);
        let staged = std::mem::take(&mut self.watch.staged);
        let left = self.started.left(held, written, staged)?;
        Ok(Watched { exit: self.exit(began, None), left: Some(left) })
    }

    /// Waits for the end of the first process, but not for ever.
    fn reap(&mut self) -> Option<kernel::Used> {
        let ours = !self.started.child.is_reaped();
        let until = Instant::now() + DEATH;
        loop {
            let mut polled = [PollFd::new(&self.started.child.pidfd, PollFlags::IN)];
            let left = until.saturating_duration_since(Instant::now());
            let timeout = Timespec::try_from(left).ok()?;
            match rustix::event::poll(&mut polled, Some(&timeout)) {
                Ok(0) => {
                    self.started.child.abandon();
                    return None;
                }
                Ok(_) if ours => return self.started.child.wait().ok(),
                Ok(_) => return None,
                Err(Errno::INTR) => {}
                Err(_) => return None,
            }
        }
    }
}
