//! The gate, or the promise of one: a client gets its first answer before anything slow is opened.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use eclusa::Gate;
use tokio::sync::watch;

use crate::gateway::Gateway;

/// A gate that may still be opening: configuration is read and the log is opened while the first
/// messages go back and forth.
#[derive(Clone)]
pub struct Startup {
    alone: bool,
    opened: watch::Receiver<Option<Result<StartedGate, Arc<str>>>>,
}

/// What is there once the workspace is open.
#[derive(Clone)]
pub struct StartedGate {
    /// The gate.
    pub gate: Gate,
    /// The servers behind it, if there are any.
    pub gateway: Option<Arc<Gateway>>,
}

impl From<Gate> for StartedGate {
    fn from(gate: Gate) -> StartedGate {
        StartedGate { gate, gateway: None }
    }
}

impl Startup {
    /// Opens a gate on a thread of its own. What is wrong is told to every request that needs it.
    pub fn start(open: impl FnOnce() -> Result<StartedGate, String> + Send + 'static) -> Startup {
        let (tell, opened) = watch::channel(None);
        tokio::task::spawn_blocking(move || {
            let opened = catch_unwind(AssertUnwindSafe(open))
                .unwrap_or_else(|_panic| Err("opening the workspace crashed".to_owned()));
            tell.send_replace(Some(opened.map_err(Arc::from)));
        });
        Startup { alone: false, opened }
    }

    /// A gate that is open already.
    pub fn ready(opened: impl Into<StartedGate>) -> Startup {
        Startup { alone: false, opened: watch::channel(Some(Ok(opened.into()))).1 }
    }

    /// Says that one server is wrapped alone: the client waits for it as it would without us.
    pub fn of_one_server(self) -> Startup {
        Startup { alone: true, ..self }
    }

    pub(crate) fn is_of_one_server(&self) -> bool {
        self.alone || self.now().and_then(|it| it.gateway).is_some_and(|it| it.is_plain())
    }

    /// What is there, if it is open already.
    pub(crate) fn now(&self) -> Option<StartedGate> {
        self.opened.borrow().as_ref().and_then(|it| it.clone().ok())
    }

    /// Waits until it is open; an error says why it is not going to be.
    pub async fn wait(&self) -> Result<StartedGate, Arc<str>> {
        let mut opened = self.opened.clone();
        let opened = match opened.wait_for(Option::is_some).await {
            Ok(opened) => opened.clone(),
            Err(_gone) => None,
        };
        opened.unwrap_or_else(|| Err("opening the workspace was given up".into()))
    }
}
