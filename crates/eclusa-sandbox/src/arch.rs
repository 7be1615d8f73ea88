//! What differs between processors: system calls that only one of them has, what a filter calls them, and
//! the first process of a sandbox and its guardian in machine code. Everything else in this crate is the same on both.
#![expect(unsafe_code, reason = "two small programs are assembly, read as bytes")]

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::*;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::*;

/// The same number everywhere, like all calls since Linux 5.1.
pub(crate) const FCHMODAT2: libc::c_long = 452;
pub(crate) const SETXATTRAT: libc::c_long = 463;
pub(crate) const REMOVEXATTRAT: libc::c_long = 466;

/// What a call does that takes a path without a directory before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(dead_code, reason = "newer processors have no such calls")
)]
pub(crate) enum ByPath {
    Mode,
    Owner,
    LinkOwner,
    /// Times in seconds.
    Seconds,
    /// Times in microseconds.
    Times,
    /// The same, with a directory.
    TimesAt,
}

/// What a call of this number does, if it is one that only this processor has.
pub(crate) fn by_path(number: libc::c_long) -> Option<ByPath> {
    METADATA.iter().find(|(call, _)| *call == number).map(|(_, it)| *it)
}

unsafe extern "C" {
    static eclusa_init_begin: u8;
    static eclusa_init_end: u8;
    static eclusa_guardian_begin: u8;
    static eclusa_guardian_end: u8;
}

/// The machine code of the first process, between two labels.
pub(crate) fn init_code() -> &'static [u8] {
    let (begin, end) = (&raw const eclusa_init_begin, &raw const eclusa_init_end);
    // SAFETY: both labels are in one section, so the bytes between them are constant, initialised, and
    // as many as the addresses differ by.
    unsafe { std::slice::from_raw_parts(begin, end.addr() - begin.addr()) }
}

/// The machine code of the guardian.
pub(crate) fn guardian_code() -> &'static [u8] {
    let (begin, end) = (&raw const eclusa_guardian_begin, &raw const eclusa_guardian_end);
    // SAFETY: as for the first process.
    unsafe { std::slice::from_raw_parts(begin, end.addr() - begin.addr()) }
}
