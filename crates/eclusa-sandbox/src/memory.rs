//! How this process gets its memory from the system.
#![cfg_attr(
    all(target_os = "linux", target_env = "gnu"),
    expect(unsafe_code, reason = "settings of the C library")
)]

/// All threads take their memory from one place, which grows in large steps. For a process that
/// answers once and ends: a thread with memory of its own asks the system for each further page.
/// Call it before there are threads.
pub fn share_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    for (setting, value) in [(libc::M_ARENA_MAX, 1), (libc::M_TOP_PAD, 1 << 20)] {
        // SAFETY: takes two numbers and changes nothing but what later allocations do.
        unsafe { libc::mallopt(setting, value) };
    }
}
