//! Ctrl-C, a polite end and a terminal that goes away.

use tokio_util::sync::CancellationToken;

/// Ctrl-C, a polite end and a terminal that goes away take the call back: it is answered and
/// recorded like any other.
pub fn cancel_on_signal(cancel: CancellationToken) {
    tokio::spawn(async move {
        asked_to_end().await;
        cancel.cancel();
    });
}

/// True when whoever started the program wants it to outlive the terminal, as `nohup` does.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|it| it.strip_prefix("SigIgn:"));
    // The first signal is the lowest bit.
    ignored.and_then(|it| u64::from_str_radix(it.trim(), 16).ok()).is_some_and(|it| it & 1 == 1)
}

/// Resolves at Ctrl-C, at a polite end, and when the terminal goes away.
pub async fn asked_to_end() {
    use tokio::signal::unix::{SignalKind, signal};
    let received = async |kind: SignalKind| match signal(kind) {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => std::future::pending().await,
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = received(SignalKind::terminate()) => {}
        () = received(SignalKind::hangup()), if !ignores_hangup() => {}
    }
}
