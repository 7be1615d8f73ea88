//! What happens, told to whoever listens. Listeners cannot hold anything up.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use arc_swap::ArcSwap;
use serde_json::Value;
use tokio::sync::broadcast;

use crate::Hash;

/// Something that happened. Arguments in events are redacted.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A call arrived.
    Received {
        /// The session that the call is part of.
        session: Arc<str>,
        /// The model's id for the call.
        call: String,
        /// The tool, in the model's word for it.
        tool: String,
    },
    /// The call waits for its turn to ask a person: another question is open.
    Queued {
        /// The session that the call is part of.
        session: Arc<str>,
        /// The model's id for the call.
        call: String,
        /// The tool.
        tool: String,
    },
    /// A person is being asked.
    Asked {
        /// The session that the call is part of.
        session: Arc<str>,
        /// The model's id for the call.
        call: String,
        /// The tool.
        tool: String,
    },
    /// A question was answered, or could not be.
    ToolApproval {
        /// The session that the call is part of.
        session: Arc<str>,
        /// The model's id for the call.
        call: String,
        /// The tool.
        tool: String,
        /// The arguments, redacted.
        params: Value,
        /// Digest of the arguments.
        digest: Hash,
        /// Whether the call may go on.
        approved: bool,
        /// Who answered, or why nobody did.
        source: String,
    },
    /// A tool starts.
    Started {
        /// The session that the call is part of.
        session: Arc<str>,
        /// The model's id for the call.
        call: String,
        /// The tool.
        tool: String,
        /// The number of the call in the log, if it has one before it ends.
        number: Option<u64>,
    },
    /// A tool says how far it has come.
    Progress {
        /// The session that the call is part of.
        session: Arc<str>,
        /// The model's id for the call.
        call: String,
        /// The tool.
        tool: String,
        /// From 0 to 1.
        fraction: f64,
        /// What it is at.
        detail: String,
    },
    /// A call was answered.
    Ended {
        /// The session that the call is part of.
        session: Arc<str>,
        /// The model's id for the call.
        call: String,
        /// The tool.
        tool: String,
        /// The stable code of the outcome.
        code: &'static str,
        /// Milliseconds from arrival to answer.
        ms: u64,
    },
    /// People should know this.
    Warning {
        /// The call it is about.
        call: Option<String>,
        /// The sentence.
        text: String,
    },
}

/// Where events go out.
#[derive(Clone)]
pub struct Events {
    sender: broadcast::Sender<Arc<Event>>,
    heard: Arc<AtomicBool>,
    ears: Arc<ArcSwap<Vec<Ear>>>,
}

/// Who hears an event where it happens.
type Ear = Arc<dyn Fn(&Event) + Send + Sync>;

/// How many events a slow listener may be behind before it loses the oldest.
const BACKLOG: usize = 1024;

impl Default for Events {
    fn default() -> Events {
        let (sender, _) = broadcast::channel(BACKLOG);
        Events { sender, heard: Arc::default(), ears: Arc::default() }
    }
}

impl Events {
    /// Listens from now on. A listener that falls behind is told how many it lost.
    pub fn listen(&self) -> broadcast::Receiver<Arc<Event>> {
        self.heard.store(true, Ordering::Release);
        self.sender.subscribe()
    }

    /// Hears every event from now on in the middle of the call that it is about, which waits
    /// meanwhile: for whoever has nothing to do but to note it, and wakes nobody for it. Whatever
    /// takes longer belongs to a [listener](Events::listen). One that panics is passed over.
    pub fn overhear(&self, ear: impl Fn(&Event) + Send + Sync + 'static) {
        let ear: Ear = Arc::new(ear);
        self.ears.rcu(|ears| ears.iter().chain([&ear]).cloned().collect::<Vec<_>>());
    }

    /// Tells the listeners; the event is made only if there has ever been one.
    pub(crate) fn send(&self, event: impl FnOnce() -> Event) {
        let (ears, listeners) = (self.ears.load(), self.heard.load(Ordering::Acquire));
        if ears.is_empty() && !listeners {
            return;
        }
        let event = event();
        for ear in ears.iter() {
            drop(catch_unwind(AssertUnwindSafe(|| ear(&event))));
        }
        if listeners {
            // An error means that nobody listens any more.
            let _ = self.sender.send(Arc::new(event));
        }
    }
}
