//! How this process gets its memory from the system.
#![cfg_attr(
    all(target_os = "linux", target_env = "gnu"),
    expect(unsafe_code, reason = "settings of the C library")
)]

/// How much memory is had at once: a hook needs a little less.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const STEP: usize = 640 << 10;

/// All threads take their memory from one place, which grows in large steps, and the first step is had
/// at once. For a process in which one thread at a time does the work: a thread with memory of its own asks
/// the system for each further page, and a page that is touched first costs more than what is done with it.
/// Call it before there are threads.
pub fn share_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let step = libc::c_int::try_from(STEP).unwrap_or(libc::c_int::MAX);
        // A little more or less in use is no reason to give memory back and ask for it again.
        let kept = (libc::M_TRIM_THRESHOLD, step.saturating_mul(4));
        for (setting, value) in [(libc::M_ARENA_MAX, 1), (libc::M_TOP_PAD, step), kept] {
            // SAFETY: takes two numbers and changes nothing but what later allocations do.
            unsafe { libc::mallopt(setting, value) };
        }
        // Less than what the allocator asks the system for apart; two are more than it begins with.
        let piece = 100 << 10;
        // SAFETY: `sbrk(0)` only looks. What lies between the two ends was given to the allocator, by this
        // thread and in this moment; populating it changes no byte, and a system that cannot says so.
        unsafe {
            let begun = libc::sbrk(0);
            let pieces = [libc::malloc(piece), libc::malloc(piece)];
            pieces.into_iter().for_each(|it| libc::free(it));
            let grown = libc::sbrk(0).addr().saturating_sub(begun.addr());
            if grown >= STEP {
                libc::madvise(begun, grown, libc::MADV_POPULATE_WRITE);
            }
        }
    }
}
