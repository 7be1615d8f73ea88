//! In which era a server is talked to: what is known of it, what was settled, and the second
//! connection for clients of the other era.

use std::sync::{
    Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak,
    atomic::{AtomicBool, Ordering},
};

use eclusa::settings::{Endpoint, ServerPermission};
use rmcp::model::DiscoverResult;
use tokio::sync::{Notify, OnceCell};

use super::upstream::Upstream;
use crate::{
    client::{CLIENT, Client},
    era::Era,
};

/// The era of a server, as far as it is known.
#[derive(Default)]
pub(super) struct EraChoice {
    /// The era that the next start begins with: a server told it too late for the start before, or
    /// it was settled.
    known: Mutex<Option<Era>>,
    /// Whether it said that it speaks both.
    both: AtomicBool,
    change: Notify,
    /// Filled by the first call.
    settled: OnceCell<()>,
    /// The era that every start begins with, for a second connection.
    fixed: Option<Era>,
    /// The connection that has the catalogues, for a second one.
    first: Weak<Upstream>,
    /// The connection in the other era, once a client needed it.
    second: OnceLock<Arc<Upstream>>,
    /// Whether a second connection has ever come up.
    reached: AtomicBool,
}

impl EraChoice {
    /// For a second connection to a server.
    fn fixed(era: Era, first: &Arc<Upstream>) -> EraChoice {
        EraChoice { fixed: Some(era), first: Arc::downgrade(first), ..EraChoice::default() }
    }

    /// The era that a start begins with. What was known is forgotten until the start has shown it.
    pub(super) fn take_known(&self) -> Option<Era> {
        self.fixed.or_else(|| self.known().take())
    }

    /// True for a second connection: it lists nothing when it starts.
    pub(super) fn is_second(&self) -> bool {
        self.fixed.is_some()
    }

    /// Notes that the server is up.
    pub(super) fn reached(&self) {
        self.reached.store(true, Ordering::Relaxed);
    }

    /// True for a second connection that never came up: the server does not speak that era.
    pub(super) fn is_hopeless(&self) -> bool {
        self.is_second() && !self.reached.load(Ordering::Relaxed)
    }

    /// The connection that has the catalogues, for a second one.
    pub(super) fn first(&self) -> Option<Arc<Upstream>> {
        self.first.upgrade()
    }

    /// The second connection, if there is one.
    pub(super) fn second(&self) -> Option<&Arc<Upstream>> {
        self.second.get()
    }

    pub(super) fn known(&self) -> MutexGuard<'_, Option<Era>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what a server says about itself.
    pub(super) fn discovered(&self, found: &DiscoverResult) {
        self.both.store(Era::includes_legacy(found), Ordering::Relaxed);
    }

    pub(super) fn speaks_both(&self) -> bool {
        self.both.load(Ordering::Relaxed)
    }

    /// Has the server started again.
    pub(super) fn change(&self) {
        self.change.notify_one();
    }

    /// Waits until the server shall be started again.
    pub(super) async fn changed(&self) {
        self.change.notified().await;
    }
}

impl Upstream {
    /// The connection that serves the client of this call.
    ///
    /// A server that speaks both eras is talked to in the era of the client that first calls it. A
    /// client that needs the other era gets a second connection: a client of the newer era asks and
    /// is asked in ways that the older does not have, and a server that asks with requests of its
    /// own can do so in the older era alone. Where the server cannot be started twice, the first
    /// connection serves everybody.
    pub(super) async fn for_caller(self: &Arc<Upstream>) -> Arc<Upstream> {
        let client = CLIENT.try_with(Client::clone).ok();
        let Some(wanted) = client.as_ref().and_then(|it| self.era_for(it)) else {
            self.era.settled.get_or_init(|| std::future::ready(())).await;
            return self.clone();
        };
        self.era.settled.get_or_init(|| self.settle(wanted)).await;
        let spoken = self.connection().await.ok().map(|it| it.era);
        // A program of the newer era may speak the older one without saying so: it is tried once.
        // One behind an address is not: it would be sent a request that its era does not have.
        let is_program = !matches!(self.settings.reach, Endpoint::Url { .. });
        let may_speak = self.era.speaks_both() || (wanted == Era::Legacy && is_program);
        if spoken.is_none_or(|it| it == wanted) || !may_speak {
            return self.clone();
        }
        let start = || self.start_second(EraChoice::fixed(wanted, self));
        let second = self.era.second.get_or_init(start);
        // One for each era: the first connection may have come back in the other era meanwhile.
        let fits = second.connection().await.is_ok_and(|it| it.era == wanted);
        if fits { second.clone() } else { self.clone() }
    }

    /// The era that a client needs; `None` where either will do.
    fn era_for(&self, client: &Client) -> Option<Era> {
        use ServerPermission::{Elicitation, Roots, Sampling};
        let may_ask = [Elicitation, Sampling, Roots].into_iter().any(|it| self.settings.may(it));
        match client.profile.era {
            Era::Stateless => Some(Era::Stateless),
            Era::Legacy => (client.profile.can_be_asked() && may_ask).then_some(Era::Legacy),
        }
    }

    /// Before the first call: a server that speaks both eras is started again in the older one, if
    /// that is wanted.
    async fn settle(&self, wanted: Era) {
        let up = self.connection().await;
        if wanted == Era::Legacy
            && up.is_ok_and(|it| it.era == Era::Stateless)
            && self.era.speaks_both()
        {
            *self.era.known() = Some(Era::Legacy);
            self.starting();
            self.era.change();
        }
    }
}
