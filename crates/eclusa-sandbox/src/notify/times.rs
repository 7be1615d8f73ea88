//! Times as programs hand them to the kernel.

use rustix::{
    fs::{Timespec, Timestamps},
    io::Errno,
};

/// Two times as they lie in memory: seconds, and parts of one of which `each` is a nanosecond.
pub(super) fn timestamps(words: &[u8], each: i64) -> rustix::io::Result<Timestamps> {
    let mut words = words.as_chunks::<8>().0.iter().map(|it| i64::from_ne_bytes(*it));
    let mut next = || {
        let (seconds, parts) = words.next().zip(words.next()).ok_or(Errno::FAULT)?;
        if each != 1 && !(0..1_000_000).contains(&parts) {
            return Err(Errno::INVAL);
        }
        Ok(Timespec { tv_sec: seconds, tv_nsec: parts.saturating_mul(each) })
    };
    Ok(Timestamps { last_access: next()?, last_modification: next()? })
}

/// The time that it is, for both.
pub(super) fn now() -> Timestamps {
    let now = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
    Timestamps { last_access: now, last_modification: now }
}
