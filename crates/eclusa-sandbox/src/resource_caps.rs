//! What counts a sandbox's memory and processes: a control group where one was delegated, otherwise a
//! look at the memory five times a second and a limit of the namespace. And whether it holds.

mod delegated;

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{Mode, OFlags};

use crate::capabilities::Namespaces;
use crate::plan::Plan;
use crate::step::SandboxError;

pub use delegated::delegated_group;

/// What a cap holds for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cap {
    /// For all processes of the sandbox together.
    Sandbox,
    /// Not at all: none was asked for, or there is nothing here that could hold it.
    Open,
}

/// What the caps of a sandbox hold for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// The memory.
    pub memory: Cap,
    /// The number of processes.
    pub processes: Cap,
}

impl Caps {
    pub(crate) fn new(plan: &Plan, namespaces: Namespaces, own_pid_max: bool) -> Caps {
        let group = plan.cgroup.is_some();
        let memory = match plan.limits.memory {
            None => Cap::Open,
            Some(_) => Cap::Sandbox,
        };
        let counted = group
            || namespaces == Namespaces::User
            || (namespaces == Namespaces::Root && own_pid_max);
        let processes = match plan.limits.processes {
            Some(_) if counted => Cap::Sandbox,
            _ => Cap::Open,
        };
        Caps { memory, processes }
    }
}

/// A control group of one sandbox, removed with it.
#[derive(Debug)]
pub(crate) struct Group(PathBuf);

impl Group {
    /// Makes a group beneath a delegated one, with the limits of the plan. What can't be set is an
    /// error: a plan that names a group relies on it.
    pub(crate) fn new(plan: &Plan) -> Result<Option<Group>, SandboxError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let Some(parent) = &plan.cgroup else { return Ok(None) };
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("sandbox-{}-{count}", std::process::id()));
        std::fs::create_dir(&path).map_err(failed(&path))?;
        let group = Group(path);
        if let Some(memory) = plan.limits.memory {
            group.set("memory.max", &memory.to_string())?;
            // Swap would only make the end slower. A kernel without it has no such file.
            let _ = group.set("memory.swap.max", "0");
        }
        if let Some(processes) = plan.limits.processes {
            group.set("pids.max", &processes.to_string())?;
        }
        Ok(Some(group))
    }

    /// A group that another process has made.
    pub(crate) fn of_others(path: PathBuf) -> Group {
        Group(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Leaves it to somebody else.
    pub(crate) fn leave(self) {
        std::mem::forget(self);
    }

    fn set(&self, name: &str, value: &str) -> Result<(), SandboxError> {
        let path = self.0.join(name);
        // Not `create`: what isn't there is not a control.
        let open = rustix::fs::open(&path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty());
        let write = open.and_then(|file| rustix::io::write(&file, value.as_bytes()));
        write.map(drop).map_err(|errno| failed(&path)(errno.into()))
    }

    /// Where the child writes itself in.
    pub(crate) fn entrance(&self) -> Result<OwnedFd, SandboxError> {
        let path = self.0.join("cgroup.procs");
        rustix::fs::open(&path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())
            .and_then(|file| rustix::io::fcntl_dupfd_cloexec(file, 10))
            .map_err(|errno| failed(&path)(errno.into()))
    }

    /// True when the kernel ended somebody of the group for the memory that it used.
    pub(crate) fn ran_out_of_memory(&self) -> bool {
        let events = std::fs::read_to_string(self.0.join("memory.events")).unwrap_or_default();
        out_of_memory(&events)
    }

    /// Kills everything that is in the group.
    pub(crate) fn kill(&self) {
        let _ = self.set("cgroup.kill", "1");
    }
}

impl Drop for Group {
    #[expect(clippy::disallowed_methods, reason = "a group is removed like a directory")]
    fn drop(&mut self) {
        self.kill();
        // The kernel needs a moment to take the dead out.
        for _ in 0..100 {
            match std::fs::remove_dir(&self.0) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    std::thread::sleep(std::time::Duration::from_millis(2));
                }
                _ => return,
            }
        }
    }
}

fn out_of_memory(events: &str) -> bool {
    let killed = events.lines().filter_map(|it| it.strip_prefix("oom_kill ")).next();
    killed.and_then(|it| it.trim().parse::<u64>().ok()).is_some_and(|it| it > 0)
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> SandboxError {
    let path = path.display().to_string();
    move |error| SandboxError::Plan(format!("control group `{path}`: {error}"))
}

#[cfg(test)]
mod tests;
