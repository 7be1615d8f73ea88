//! An instance: what it holds in memory (nothing that counts), and what it does beside answering.

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use eclusa::audit::{Clock as _, SystemClock};
use eclusa_fleet::{
    DocumentBundle, FleetAnchor, MachinePublicKey, SigningKey, SigningRole, wire::ChainState,
};
use tokio::{
    net::TcpListener,
    sync::{Semaphore, mpsc, oneshot, watch},
    task::JoinSet,
};

use crate::{
    Database, ServerError,
    delivery::{self, Delivery},
    issuers::{FetchKeys, Issuers},
    metrics::ServerMetrics,
    pace::Quotas,
    page_state::PageState,
    receive::TrailStore,
    schema,
    store::{
        chains,
        documents::{self, CurrentDocuments},
        machines::{self, KnownMachine},
        questions, rollouts,
        sealed_tree::SealedTree,
        seals,
        ship::{CheckedShipment, ship},
    },
};

/// How many shipments are in hand at once; who comes beyond that is told to come later.
const MAX_SHIPMENTS: usize = 24;

/// How many bring documents at once.
const MAX_PUSHES: usize = 2;

/// How many shipments one statement keeps.
const MAX_GROUP: usize = 128;

/// How many statements ship at once.
const WRITERS: usize = 2;

/// How often an instance looks at what others have changed.
const LOOK: Duration = Duration::from_secs(1);

/// After so many looks for messages, questions whose time is over are forgotten.
const EXPIRE: u32 = 40;

/// What an instance is started with.
pub struct ServerOptions {
    /// Where its state is.
    pub database: Database,
    /// The key that it seals with; without one it does not seal.
    pub seal_key: Option<SigningKey>,
    /// How often it seals.
    pub seal_every: Duration,
    /// Where whoever operates it asks how it is.
    pub operations: Option<TcpListener>,
    /// The addresses that people reach the page by, such as `https://fleet.example`, besides those of this machine.
    pub urls: Vec<String>,
    /// How keys of platforms are fetched whose jobs may enrol; without it only those count that the policy names.
    pub fetch_keys: Option<FetchKeys>,
}

/// A shipment on its way into the database, and who waits for it: whether its chain moved.
type Queued = (CheckedShipment, oneshot::Sender<Result<bool, String>>);

/// An instance.
pub(crate) struct FleetServer {
    pub(crate) database: Database,
    /// What it counts.
    pub(crate) metrics: ServerMetrics,
    /// The fleet that it serves.
    pub(crate) anchor: FleetAnchor,
    /// Room for shipments.
    pub(crate) room: Semaphore,
    /// What machines may send.
    pub(crate) quotas: Quotas,
    /// Room for documents, which anybody may bring.
    pub(crate) pushing: Semaphore,
    /// What the page holds.
    pub(crate) page: PageState,
    /// Keys of platforms.
    pub(crate) issuers: Issuers,
    documents: Mutex<Arc<CurrentDocuments>>,
    machines: Mutex<HashMap<u32, KnownMachine>>,
    shipments: mpsc::Sender<Queued>,
    /// The newest seal that was seen.
    sealed: Mutex<Option<Arc<SealedTree>>>,
    /// Machines that wait for messages.
    pub(crate) delivery: Delivery,
    /// Counts changes of documents, rollouts and machines, for whoever waits for one.
    news: watch::Sender<u64>,
}

/// Starts an instance, and what it does beside answering: that ends when it is dropped.
pub(crate) async fn start(
    options: ServerOptions,
    port: u16,
) -> Result<(Arc<FleetServer>, JoinSet<()>), ServerError> {
    let ServerOptions { database, seal_key, seal_every, urls, fetch_keys, .. } = options;
    schema::check(&database).await?;
    let anchor = schema::fleet(&database).await?;
    let current = documents::current(&database, &anchor).await?;
    if let Some(key) = &seal_key {
        let role = current.held.root().role(SigningRole::Seal);
        if !role.keys.contains(key.public()) {
            return Err(ServerError::Schema(format!(
                "the root lets `{}` seal nothing; use a key of `seal`, or give it that role with `eclusa fleet rotate`",
                key.public().name()
            )));
        }
    }
    let (shipments, queued) = mpsc::channel(MAX_SHIPMENTS);
    let server = Arc::new(FleetServer {
        database,
        metrics: ServerMetrics::default(),
        anchor,
        room: Semaphore::new(MAX_SHIPMENTS),
        quotas: Quotas::new(),
        pushing: Semaphore::new(MAX_PUSHES),
        page: PageState::new(port, &urls),
        issuers: Issuers::new(fetch_keys),
        news: watch::Sender::new(0),
        documents: Mutex::new(Arc::new(current)),
        machines: Mutex::default(),
        shipments,
        sealed: Mutex::default(),
        delivery: Delivery::default(),
    });
    let queued = Arc::new(tokio::sync::Mutex::new(queued));
    let mut beside = JoinSet::new();
    for _ in 0..WRITERS {
        beside.spawn(write(server.clone(), queued.clone()));
    }
    beside.spawn(look(server.clone()));
    beside.spawn(deliver(server.clone()));
    if let Some(key) = seal_key {
        beside.spawn(seal(server.clone(), key, seal_every));
    }
    Ok((server, beside))
}

impl FleetServer {
    /// The documents that are handed out.
    pub(crate) fn documents(&self) -> Arc<CurrentDocuments> {
        lock(&self.documents).clone()
    }

    /// Hands out others from now on.
    pub(crate) fn set_documents(&self, new: CurrentDocuments) {
        *lock(&self.documents) = Arc::new(new);
        self.tell_news();
    }

    /// The tree of the newest seal. It is looked for where the one that is known is older than what somebody has seen.
    pub(crate) async fn sealed_tree(
        &self,
        seen: u64,
    ) -> Result<Option<Arc<SealedTree>>, ServerError> {
        if let Some(known) = lock(&self.sealed).clone().filter(|it| it.seal.size >= seen) {
            return Ok(Some(known));
        }
        self.look_for_seal().await?;
        Ok(lock(&self.sealed).clone())
    }

    async fn look_for_seal(&self) -> Result<(), ServerError> {
        let newest = SealedTree::newest(&self.database).await?;
        let mut known = lock(&self.sealed);
        if newest.as_ref().map(|it| &it.note) != known.as_ref().map(|it| &it.note) {
            *known = newest.map(Arc::new);
        }
        Ok(())
    }

    /// Whoever waits for news looks again.
    pub(crate) fn tell_news(&self) {
        self.news.send_modify(|it| *it += 1);
    }

    /// What a machine is offered, on which this version of the policy is in force, and by which number.
    pub(crate) fn offer(&self, machine: &KnownMachine, policy: u64) -> (u64, DocumentBundle) {
        let documents = self.documents();
        match documents.offer((MachinePublicKey(machine.key), &machine.labels), policy) {
            Some(it) => (it.number, it.documents.clone()),
            None => (documents.number, documents.held.documents().clone()),
        }
    }

    /// The number alone.
    pub(crate) fn offer_number(&self, machine: &KnownMachine, policy: u64) -> u64 {
        let documents = self.documents();
        let offer = documents.offer((MachinePublicKey(machine.key), &machine.labels), policy);
        offer.map_or(documents.number, |it| it.number)
    }

    /// Waits until a machine is offered other documents or is stopped, and no longer than this.
    pub(crate) async fn wait_for_news(
        &self,
        machine: &KnownMachine,
        policy: u64,
        known: u64,
        time: Duration,
    ) {
        let mut news = self.news.subscribe();
        let changed = async {
            while self.offer_number(machine, policy) == known && !self.is_stopped(machine.id) {
                // The server ends.
                if news.changed().await.is_err() {
                    return;
                }
            }
        };
        // That it took too long is no error here.
        drop(tokio::time::timeout(time, changed).await);
    }

    fn is_stopped(&self, machine: u32) -> bool {
        lock(&self.machines).get(&machine).is_some_and(|it| it.stopped.is_some())
    }

    /// A machine, from memory where it is known.
    pub(crate) async fn machine(&self, id: u32) -> Result<Option<KnownMachine>, ServerError> {
        let known = lock(&self.machines).get(&id).cloned();
        if known.is_some() {
            return Ok(known);
        }
        let found = machines::find(&self.database, id).await?;
        if let Some(machine) = &found {
            lock(&self.machines).insert(id, machine.clone());
        }
        Ok(found)
    }
}

impl TrailStore for FleetServer {
    async fn keep(&self, shipment: CheckedShipment) -> Result<bool, ServerError> {
        let gone = || ServerError::Database("the server ends".to_owned());
        let (tell, told) = oneshot::channel();
        self.shipments.send((shipment, tell)).await.map_err(|_| gone())?;
        told.await.map_err(|_| gone())?.map_err(ServerError::Database)
    }

    async fn chain(&self, machine: u32, chain: u32) -> Result<Option<ChainState>, ServerError> {
        chains::find(&self.database, machine, chain).await
    }
}

/// Takes what queued up and ships it with one statement, again and again.
async fn write(server: Arc<FleetServer>, queue: Arc<tokio::sync::Mutex<mpsc::Receiver<Queued>>>) {
    let mut later: VecDeque<Queued> = VecDeque::new();
    loop {
        let mut group: Vec<Queued> = Vec::new();
        // The other writer may wait for the next one while it holds the queue.
        let waiting = match later.is_empty() {
            true => Some(queue.lock().await),
            false => queue.try_lock().ok(),
        };
        if let Some(mut queue) = waiting {
            if later.is_empty() {
                let Some(first) = queue.recv().await else { return };
                later.push_back(first);
            }
            while later.len() < MAX_GROUP
                && let Ok(next) = queue.try_recv()
            {
                later.push_back(next);
            }
        }
        // Two of one chain do not fit into one statement.
        let mut chains = BTreeSet::new();
        for it in std::mem::take(&mut later) {
            match chains.insert(it.0.chain) {
                true => group.push(it),
                false => later.push_back(it),
            }
        }
        let (shipments, waiting): (Vec<CheckedShipment>, Vec<_>) = group.into_iter().unzip();
        match ship(&server.database, &shipments).await {
            Ok(moved) => {
                for (shipment, tell) in shipments.iter().zip(waiting) {
                    // Whoever went away ships again, and hears then that it is there.
                    drop(tell.send(Ok(moved.contains(&shipment.chain))));
                }
            }
            // One that the database refuses does not keep the others out.
            Err(_) if shipments.len() > 1 => {
                for (shipment, tell) in shipments.into_iter().zip(waiting) {
                    let chain = shipment.chain;
                    let done = ship(&server.database, &[shipment]).await;
                    drop(
                        tell.send(
                            done.map(|it| it.contains(&chain)).map_err(|err| err.to_string()),
                        ),
                    );
                }
            }
            Err(err) => {
                for tell in waiting {
                    drop(tell.send(Err(err.to_string())));
                }
            }
        }
    }
}

/// Seals, whenever it is this instance's turn.
async fn seal(server: Arc<FleetServer>, key: SigningKey, every: Duration) {
    loop {
        let (fleet, seconds) = (&server.anchor.name, every.as_secs_f64());
        if let Err(err) = seals::seal(&server.database, fleet, &key, seconds).await {
            tracing::warn!("cannot seal: {err}");
        }
        tokio::time::sleep(every.min(LOOK)).await;
    }
}

/// Wakes the machines for which something came at another instance, and forgets questions whose time is over.
async fn deliver(server: Arc<FleetServer>) {
    let mut looks: u32 = 0;
    loop {
        tokio::time::sleep(delivery::LOOK).await;
        server.delivery.look(&server.database).await;
        server.page.look(&server.database).await;
        looks = looks.wrapping_add(1);
        if looks.is_multiple_of(EXPIRE)
            && let Err(err) = questions::expire(&server.database, SystemClock.unix_ms()).await
        {
            tracing::debug!("questions whose time is over are kept for now: {err}");
        }
    }
}

/// Looks at what other instances have changed.
async fn look(server: Arc<FleetServer>) {
    let mut away = false;
    loop {
        tokio::time::sleep(LOOK).await;
        match look_once(&server, away).await {
            Ok(()) if away => {
                tracing::warn!("the database answers again");
                away = false;
            }
            Ok(()) => {}
            Err(err) if !away => {
                tracing::warn!("{err}; machines keep their records until it does");
                away = true;
            }
            Err(_) => {}
        }
    }
}

async fn look_once(server: &FleetServer, was_away: bool) -> Result<(), ServerError> {
    let changed = machines::changed(&server.database).await?;
    {
        let mut known = lock(&server.machines);
        // What changed while the database was away is looked up again.
        if was_away {
            known.clear();
        }
        for machine in changed {
            let id = machine.id;
            let before = known.insert(id, machine);
            if before.as_ref() != known.get(&id) {
                server.tell_news();
            }
        }
    }
    server.look_for_seal().await?;
    server.quotas.look(&server.database).await?;
    let current = server.documents();
    if documents::newest(&server.database).await? != current.number
        || rollouts::newest(&server.database).await? != current.stages
    {
        server.set_documents(documents::current(&server.database, &server.anchor).await?);
    }
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
