//! The gate, or the promise of one: a client gets its first answer before anything slow is opened.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use eclusa::Gate;
use tokio::sync::watch;

/// A gate that may still be opening: configuration is read and the log is opened while the first
/// messages go back and forth.
#[derive(Clone)]
pub struct Opening {
    opened: watch::Receiver<Option<Result<Gate, Arc<str>>>>,
}

impl Opening {
    /// Opens a gate on a thread of its own. What is wrong is told to every request that needs it.
    pub fn start(open: impl FnOnce() -> Result<Gate, String> + Send + 'static) -> Opening {
        let (tell, opened) = watch::channel(None);
        tokio::task::spawn_blocking(move || {
            let gate = catch_unwind(AssertUnwindSafe(open))
                .unwrap_or_else(|_panic| Err("opening the workspace crashed".to_owned()));
            tell.send_replace(Some(gate.map_err(Arc::from)));
        });
        Opening { opened }
    }

    /// A gate that is open already.
    pub fn ready(gate: Gate) -> Opening {
        Opening { opened: watch::channel(Some(Ok(gate))).1 }
    }

    /// Waits for the gate; an error says why there is none.
    pub async fn gate(&self) -> Result<Gate, Arc<str>> {
        let mut opened = self.opened.clone();
        let gate = match opened.wait_for(Option::is_some).await {
            Ok(gate) => gate.clone(),
            Err(_gone) => None,
        };
        gate.unwrap_or_else(|| Err("opening the workspace was given up".into()))
    }
}
