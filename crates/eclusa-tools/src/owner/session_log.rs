//! What a job prints, for later commands of its session: a file in their `/tmp`. What such a command prints is reviewed
//! and redacted as any output is.

use std::{
    fs::File,
    io::{self, Write as _},
    path::Path,
};

use rustix::fs::{CWD, Mode, OFlags, openat};

/// The most that is kept there. Then it begins anew: the latest part is what matters.
const MAX_LOG: u64 = 4 << 20;

/// Output of a job as its session sees it.
#[derive(Debug)]
pub(super) struct SessionLog {
    file: File,
    length: u64,
}

impl SessionLog {
    /// Makes it in this directory, which the session has as `/tmp`, and says under which name commands find it. It is
    /// never one that is there: a command may have put a link to somewhere else in its place.
    pub(super) fn make(tmp: &Path, job: u64) -> io::Result<(SessionLog, String)> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = openat(CWD, tmp, flags, Mode::empty())?;
        let name = format!("eclusa-job-{job}.log");
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL;
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&dir, &name, flags, Mode::RUSR | Mode::WUSR)?;
        Ok((SessionLog { file: file.into(), length: 0 }, format!("/tmp/{name}")))
    }

    /// Adds some. What the disk does not take is told with the output that is kept.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let length = bytes.len() as u64;
        if self.length.saturating_add(length) > MAX_LOG && self.file.set_len(0).is_ok() {
            self.length = 0;
        }
        if self.file.write_all(bytes).is_ok() {
            self.length = self.length.saturating_add(length);
        }
    }
}
