//! How a command ended, and what is known of it then.

use std::time::Duration;

use crate::capabilities::Enforcement;
use crate::output::Output;
use crate::resource_caps::Caps;

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// What the command's own process left with.
    pub how: How,
    /// Why the sandbox ended it, if the sandbox did.
    pub ended: Option<Ended>,
    /// Time on the clock.
    pub wall: Duration,
    /// Processor time of all its processes.
    pub cpu: Duration,
    /// The most memory that one of its processes had.
    pub peak_memory: u64,
    /// What it wrote.
    pub output: Output,
    /// How many processes it left running, which were ended.
    pub left: usize,
    /// Directories that were renamed for it piece by piece.
    pub dir_renames: DirRenames,
    /// What held it.
    pub enforcement: Enforcement,
    /// What its caps held for.
    pub caps: Caps,
}

/// What a process leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It ended by itself, with this code.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
}

impl How {
    /// From a wait status.
    #[cfg(enforced)]
    pub(crate) fn of(status: i32) -> How {
        match status & 0x7f {
            0 => How::Code((status >> 8) & 0xff),
            signal => How::Signal(signal),
        }
    }
}

/// Why a sandbox ended its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It took too long.
    Time,
    /// Somebody asked for it.
    Cancelled,
    /// It wrote too much.
    Output,
    /// It filled the disk.
    Disk,
    /// It had more memory than it may.
    Memory,
    /// It was a job and had more processes than one may.
    Processes,
    /// It opened a file that is hidden from it, and read nothing of it.
    Secret,
}

impl Exit {
    /// Whether the command ended by itself, and well.
    #[must_use]
    pub fn success(&self) -> bool {
        self.how == How::Code(0) && self.ended.is_none()
    }
}

/// Renames of directories that were done in place of the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DirRenames {
    /// Directories that were moved piece by piece.
    pub moved: u64,
    /// Moves that could not be made, and failed as they would have without help.
    pub failed: u64,
}
