//! Secrets inside what a command may write, where there are no mounts to hide them with: a lease on each.
//! Whoever opens such a file, by whatever name, waits in the kernel until the lease is given up. That
//! is noticed here, and the command is killed before it is given up.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::kernel;
use crate::step::SandboxError;

/// How often they are looked at. The kernel lets those who wait do so for much longer
/// (`/proc/sys/fs/lease-break-time`, 45 seconds).
pub(super) const INTERVAL: Duration = Duration::from_millis(200);

/// How long a file may still be open elsewhere: a process that another thread has just forked holds a copy
/// of every descriptor until it starts its program, and so does whoever looks at each file in passing.
const PASSING: Duration = Duration::from_secs(1);

/// Leases of this process. Dropping them lets others open the files.
pub(super) struct Leases {
    files: Vec<OwnedFd>,
    next: Instant,
}

impl Leases {
    /// A lease on each of these files, or none at all. They must be open nowhere.
    pub(super) fn take(paths: &[PathBuf]) -> Result<Leases, SandboxError> {
        let refused = |path: &PathBuf| {
            let path = path.display().to_string();
            move |errno: Errno| {
                let why = match errno {
                    Errno::AGAIN => "another program has it open".to_owned(),
                    Errno::ACCESS | Errno::PERM => "it belongs to another user".to_owned(),
                    Errno::INVAL => "its filesystem has no leases".to_owned(),
                    errno => errno.to_string(),
                };
                SandboxError::Plan(format!(
                    "`{path}` can't be kept from a command that may write around it: {why}"
                ))
            }
        };
        let began = Instant::now();
        let mut leases = Leases { files: Vec::new(), next: began };
        for path in paths {
            leases.files.extend(lease_by(path, began + PASSING).map_err(refused(path))?);
        }
        Ok(leases)
    }

    /// True when there is something to look at.
    pub(super) fn any(&self) -> bool {
        !self.files.is_empty()
    }

    /// Whether it is time to look, and somebody waits for one of the files.
    pub(super) fn wanted_by_now(&mut self) -> bool {
        let now = Instant::now();
        if !self.any() || now < self.next {
            return false;
        }
        self.next = now + INTERVAL;
        self.wanted()
    }

    /// Whether somebody waits for one of the files.
    pub(super) fn wanted(&self) -> bool {
        self.files.iter().any(|it| !kernel::holds_lease(it))
    }
}

/// A lease on a file, which others may have open until `deadline`.
fn lease_by(path: &PathBuf, deadline: Instant) -> rustix::io::Result<Option<OwnedFd>> {
    loop {
        match lease(path) {
            Err(Errno::AGAIN) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            taken => return taken,
        }
    }
}

/// A lease on a file; none on what has no contents.
fn lease(path: &PathBuf) -> rustix::io::Result<Option<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        // A socket; and a file that went away meanwhile.
        Err(Errno::NXIO | Errno::NOENT) => return Ok(None),
        file => file?,
    };
    let kind = FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode);
    if kind != FileType::RegularFile {
        return Ok(None);
    }
    kernel::take_lease(&file)?;
    Ok(Some(file))
}
