//! Work that waits for the disk.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    task::{block_in_place, spawn_blocking},
};

use crate::gate::GateSetup;

/// Does it on this thread where the setup allows that and other threads can go on with other calls,
/// and away from it otherwise, which takes two changes of threads. Once begun, it ends, whether or not
/// anybody waits for it. `None` where it panicked.
pub(super) async fn blocking<T: Send + 'static>(
    setup: &GateSetup,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    if setup.in_place && Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread {
        return catch_unwind(AssertUnwindSafe(|| block_in_place(work))).ok();
    }
    spawn_blocking(work).await.ok()
}
