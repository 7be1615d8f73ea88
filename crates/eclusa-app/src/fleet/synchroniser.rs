//! One process of a machine synchronises: it looks, ships what is new, and hears of newer documents.

use std::{collections::BTreeMap, fs, time::Duration};

use eclusa::{
    Redactor,
    audit::{Clock as _, SystemClock},
};
use eclusa_fleet::{
    DocumentKind, MAX_SHIPPED, MachineState, RequestFailure, ShipStep, ShippedStore, Shipper,
    mirror::Ack,
    wire::{ForkedChain, InForce, NumberedDocuments, OfferedSeal, SyncAnswer, SyncRequest},
};
use reqwest::Method;

use super::{
    client::{REQUEST_TIME, ServerClient},
    messages,
    mirror::{self, Mirroring},
};
use crate::{
    context::AppContext,
    failure::Failure,
    fleet_machine::{local_stores::LocalStores, machine_files},
    global::Global,
    paths::Paths,
};

/// How often it looks for new records.
const LOOK: Duration = Duration::from_millis(300);

/// For how many seconds the server may wait with its answer where there is no news.
const WAIT: u64 = 25;

/// The longest pause after failures, in milliseconds.
const MAX_PAUSE: u64 = 60_000;

/// How long ago it may have been noted that everything is shipped, while nothing is new, in milliseconds.
const NOTE: u64 = 60_000;

/// The one that synchronises.
pub struct Synchroniser {
    paths: Paths,
    client: ServerClient,
    state: MachineState,
    /// As it was last written.
    noted: MachineState,
    stores: LocalStores,
    /// How many records the next shipment of a store has at most.
    limits: BTreeMap<String, usize>,
    /// Why newer documents are not in force.
    trouble: Option<String>,
    /// The version of their policy; 0 where there are none.
    not_loaded: u64,
    /// What became of the messages that came last.
    acks: Vec<Ack>,
    /// Whether questions that there was no room for are tried again.
    again: bool,
    /// Whether the server takes no questions; it is asked again after it has said something else.
    refused: bool,
    /// Takes secrets out of what is shown elsewhere.
    redactor: Redactor,
    global: Global,
    _lock: fs::File,
}

/// Whether somebody can be the one.
pub enum Turn {
    /// It is this process's.
    Own(Box<Synchroniser>),
    /// Another process has it.
    Taken,
    /// This machine was enrolled at no server.
    NoServer,
}

impl Synchroniser {
    /// Takes the turn, if nobody has it.
    pub fn open(global: &Global, paths: &Paths) -> Result<Turn, Failure> {
        let Some(standing) = super::look(paths)? else { return Ok(Turn::NoServer) };
        if machine_files::state(paths).map_err(Failure::failed)?.is_none() {
            return Ok(Turn::NoServer);
        }
        let Some(lock) = machine_files::shipping_lock(paths)? else { return Ok(Turn::Taken) };
        let state = machine_files::state(paths).map_err(Failure::failed)?;
        let Some(state) = state else { return Ok(Turn::NoServer) };
        let client = connect(paths, &standing.anchor.name, &state)?;
        Ok(Turn::Own(Box::new(Synchroniser {
            paths: paths.clone(),
            client,
            noted: state.clone(),
            state,
            stores: LocalStores::default(),
            limits: BTreeMap::new(),
            trouble: None,
            not_loaded: 0,
            acks: Vec::new(),
            again: true,
            refused: false,
            // Where the configuration cannot be used, the kinds of secrets that are shipped are taken out.
            redactor: AppContext::open(global).and_then(|it| it.redactor()).unwrap_or_default(),
            global: global.clone(),
            _lock: lock,
        })))
    }

    /// Ships everything that there is. An error says why not all of it is at the server.
    pub async fn ship(&mut self) -> Result<(), String> {
        let asked = machine_files::was_asked_to_flush(&self.paths);
        let begun = SystemClock.unix_ms();
        let unread = self.stores.refresh(&self.paths);
        let mut failed = unread.into_iter().next();
        for store in self.stores.iter() {
            let state = self.state.stores.entry(store.id.clone());
            let state = state.or_insert_with(|| ShippedStore::begin(Default::default()));
            let limit = self.limits.entry(store.id.clone()).or_insert(MAX_SHIPPED);
            let mut shipper =
                Shipper { id: &store.id, workspace: &store.workspace, log: &*store.store, limit };
            loop {
                match shipper.step(&mut self.client, state).await {
                    Ok(ShipStep::Moved) => {}
                    Ok(ShipStep::CaughtUp) => break,
                    Ok(ShipStep::Stopped) => {
                        failed = failed.or_else(|| state.stopped.clone());
                        break;
                    }
                    Err(why) => {
                        failed = Some(why);
                        break;
                    }
                }
            }
            if failed.is_some() || self.refused {
                continue;
            }
            match mirror::mirror(store, &mut self.client, state, (self.again, &self.redactor)).await
            {
                Ok(Mirroring::Done) => {}
                Ok(Mirroring::Refused) => self.refused = true,
                Err(why) => failed = Some(why),
            }
        }
        self.again = false;
        if failed.is_none() {
            self.state.caught_up = begun;
        }
        self.state.offset = self.client.offset;
        self.note(asked)?;
        failed.map_or(Ok(()), Err)
    }

    /// Ships what there is, and says that nothing more comes.
    pub async fn leave(&mut self) -> Result<(), String> {
        self.ship().await?;
        let told: Result<serde_json::Value, RequestFailure> =
            self.client.post("/v1/leave", &serde_json::json!({}), REQUEST_TIME).await;
        told.map(drop).map_err(|err| err.describe())
    }

    /// Writes down how far it is, where that has changed.
    fn note(&mut self, now: bool) -> Result<(), String> {
        let old = self.state.caught_up.saturating_sub(self.noted.caught_up) > NOTE;
        let same = MachineState { caught_up: 0, ..self.state.clone() }
            == MachineState { caught_up: 0, ..self.noted.clone() };
        if now || old || !same {
            machine_files::keep_state(&self.paths, &self.state)
                .map_err(|err| err.message().to_owned())?;
            self.noted = self.state.clone();
        }
        Ok(())
    }

    /// What holds here, as the server is told.
    fn request(&mut self, wait: u64) -> SyncRequest {
        // What cannot be read is told where it is shipped.
        self.stores.refresh(&self.paths);
        let standing = super::look(&self.paths).ok().flatten();
        let stale = standing.as_ref().and_then(|it| it.stale(SystemClock.unix_ms()));
        let membership = standing.and_then(|it| it.membership.ok());
        let (unshipped_since, unshipped) = self.stores.unshipped(&self.state);
        let in_force = membership.map(|it| InForce {
            root: it.root().version,
            policy: it.policy().heading().version,
            people: it.people().map_or(0, |it| it.0.heading().version),
        });
        let forked = self.stores.iter().filter_map(|it| {
            let state = self.state.stores.get(&it.id).filter(|it| it.stopped.is_some())?;
            Some(ForkedChain { chain: state.chain?, head: it.store.head().ok()?.into() })
        });
        SyncRequest {
            program: env!("CARGO_PKG_VERSION").to_owned(),
            in_force: in_force.unwrap_or_default(),
            trouble: self.trouble.clone(),
            forked: forked.collect(),
            documents: self.state.documents,
            wait,
            not_loaded: self.not_loaded,
            stale,
            unshipped,
            unshipped_since,
            acks: self.acks.clone(),
            sealed: Some(self.state.seen_seal()),
            seal_refused: self.state.refused_seal.as_ref().map(|it| it.why.clone()),
        }
    }

    /// Synchronises once: says what holds here, and takes what is new.
    pub async fn sync(&mut self) -> Result<(), String> {
        let taken = loop {
            let request = self.request(0);
            let answer = self.client.post("/v1/sync", &request, REQUEST_TIME).await;
            let taken = self.take(answer).await;
            // What became of messages is told, and the rest of them is heard.
            if taken.is_err() || self.acks.is_empty() {
                break taken;
            }
        };
        if self.not_loaded > 0 {
            // Whoever rolls the version out hears of it before this process ends.
            let request = self.request(0);
            let told: Result<SyncAnswer, _> =
                self.client.post("/v1/sync", &request, REQUEST_TIME).await;
            drop(told);
        }
        taken
    }

    /// Takes what the server says: newer documents, and chains of which it has less than was shipped.
    async fn take(&mut self, answer: Result<SyncAnswer, RequestFailure>) -> Result<(), String> {
        let answer = match answer {
            Ok(answer) => answer,
            Err(RequestFailure::Refused { status: 423, said }) => {
                self.state.suspended = Some(said.error.clone());
                self.note(false)?;
                return Err(said.error);
            }
            Err(err) => return Err(err.describe()),
        };
        self.state.suspended = None;
        (self.acks, self.again, self.refused) = (Vec::new(), true, false);
        self.state.hear(&answer);
        if answer.documents != self.state.documents {
            let held = super::look(&self.paths).ok().flatten().and_then(|it| it.membership.ok());
            let policy = held.map_or(0, |it| it.policy().heading().version);
            let path = format!("/v1/documents?policy={policy}");
            let documents = self.client.send(Method::GET, &path, Vec::new(), REQUEST_TIME);
            let new: NumberedDocuments = documents.await.map_err(|err| err.describe())?;
            let offered = new.documents.document(DocumentKind::Policy);
            let offered = offered.and_then(|it| it.heading().ok()).map_or(0, |it| it.version);
            let taken = super::take(&self.paths, new.documents);
            self.trouble = taken.err().map(|err| err.message().to_owned());
            self.not_loaded = if self.trouble.is_some() { offered } else { 0 };
            self.state.documents = new.number;
        }
        if let Some(seal) = &answer.seal {
            self.take_seal(seal);
        }
        // After newer documents: whose answers count is what they say.
        self.acks = messages::apply(&self.global, &self.paths, &answer.messages).await;
        self.note(false)?;
        self.trouble.clone().map_or(Ok(()), Err)
    }

    /// After newer documents: by whose key seals are signed is what they say.
    fn take_seal(&mut self, seal: &OfferedSeal) {
        let held = super::look(&self.paths).ok().flatten().and_then(|it| it.membership.ok());
        let Some(held) = held else { return };
        self.stores.refresh(&self.paths);
        let stores = &self.stores;
        let own = |store: &str, seq: u64| {
            let store = stores.iter().find(|it| it.id == store)?;
            let found = store.store.records(seq, 1).ok()?;
            found.first().filter(|it| it.seq == seq).map(|it| it.hash)
        };
        self.state.take_seal(seal, held.roots(), SystemClock.unix_ms(), own);
    }

    /// Synchronises until `stop` resolves. `tell` hears of trouble, once each.
    pub async fn keep_up(
        &mut self,
        stop: impl Future<Output = ()>,
        mut tell: impl FnMut(&str),
    ) -> Result<(), Failure> {
        let fleet = super::look(&self.paths)?.map(|it| it.anchor.name).unwrap_or_default();
        let mut listener = connect(&self.paths, &fleet, &self.state)?;
        tokio::pin!(stop);
        let (mut told, mut failures): (Option<String>, u32) = (None, 0);
        loop {
            let request = self.request(if failures == 0 { WAIT } else { 0 });
            let time = REQUEST_TIME + Duration::from_secs(request.wait);
            let news = listener.post("/v1/sync", &request, time);
            tokio::pin!(news);
            let mut result = Ok(());
            let answer = loop {
                tokio::select! {
                    () = &mut stop => return Ok(()),
                    answer = &mut news => break Some(answer),
                    () = tokio::time::sleep(LOOK) => result = self.ship().await,
                }
                if result.is_err() {
                    break None;
                }
            };
            let synced = match answer {
                Some(answer) => self.take(answer).await,
                None => Ok(()),
            };
            match result.and(synced) {
                Ok(()) => (told, failures) = (None, 0),
                Err(why) => {
                    if told.as_ref() != Some(&why) {
                        tell(&why);
                        told = Some(why);
                    }
                    failures = (failures + 1).min(16);
                    tokio::select! {
                        () = &mut stop => return Ok(()),
                        () = tokio::time::sleep(pause(failures)) => {}
                    }
                }
            }
        }
    }
}

fn connect(paths: &Paths, fleet: &str, state: &MachineState) -> Result<ServerClient, Failure> {
    let of = (state.machine, state.offset);
    ServerClient::new(&state.server, fleet, machine_files::key(paths)?, of)
}

/// A pause after so many failures: at random, up to a second at first and a minute at last.
pub(super) fn pause(failures: u32) -> Duration {
    let longest = 1_000_u64.saturating_mul(1 << failures.min(6)).min(MAX_PAUSE);
    let random = eclusa::random::random_bytes::<2>().map_or(0x8000, u16::from_le_bytes);
    Duration::from_millis(longest * u64::from(random) / u64::from(u16::MAX) + 50)
}
