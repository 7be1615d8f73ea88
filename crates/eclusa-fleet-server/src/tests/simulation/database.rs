//! What the database keeps, in memory: the same that the statements of `store` do, one after the other.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
};

use eclusa::audit::Head;
use eclusa_fleet::{
    mirror::{CarriedAnswer, Message},
    shipment,
    wire::{ChainRequest, ChainState, SyncAnswer},
};

use super::moves::Mechanisms;
use crate::{ServerError, receive::TrailStore, store::ship::CheckedShipment};

#[derive(Clone)]
pub(super) struct SimulatedChain {
    pub(super) id: u32,
    pub(super) machine: u32,
    pub(super) store: String,
    pub(super) begins: Head,
    pub(super) head: Head,
    pub(super) stopped: Option<String>,
}

/// Everything that a backup holds.
#[derive(Clone, Default)]
pub(super) struct SimulatedDatabase {
    pub(super) chains: Vec<SimulatedChain>,
    /// Shipments by their chain, in the order in which they were kept.
    segments: Vec<(u32, Vec<u8>)>,
    messages: Vec<(u32, Message)>,
    next_message: u64,
    /// The newest documents that were pushed.
    pub(super) pushed: usize,
}

#[derive(Clone)]
pub(super) struct SimulatedServer {
    database: Arc<Mutex<SimulatedDatabase>>,
    mechanisms: Mechanisms,
}

impl SimulatedServer {
    pub(super) fn new(mechanisms: Mechanisms) -> SimulatedServer {
        SimulatedServer { database: Arc::default(), mechanisms }
    }

    pub(super) fn database(&self) -> MutexGuard<'_, SimulatedDatabase> {
        self.database.lock().unwrap()
    }

    /// As `chains::begin`.
    pub(super) fn begin(&self, machine: u32, asked: &ChainRequest) -> ChainState {
        let mut database = self.database();
        let known =
            database.chains.iter().find(|it| it.machine == machine && it.store == asked.store);
        if let Some(known) = known {
            return known.state();
        }
        let (id, begins) = (database.chains.len() as u32 + 1, asked.begins.head().unwrap());
        let (store, stopped) = (asked.store.clone(), None);
        let new = SimulatedChain { id, machine, store, begins, head: begins, stopped };
        let state = new.state();
        database.chains.push(new);
        state
    }

    /// As `chains::stop`.
    pub(super) fn stop(&self, machine: u32, chain: u32, why: &str) {
        let mut database = self.database();
        let found = database.chains.iter_mut().find(|it| it.machine == machine && it.id == chain);
        if let Some(found) = found {
            found.stopped.get_or_insert(why.to_owned());
        }
    }

    /// Sends an answer on its way.
    pub(super) fn send(&self, machine: u32, body: CarriedAnswer) {
        let mut database = self.database();
        database.next_message += 1;
        let message = Message { id: database.next_message, kind: "vote".to_owned(), body };
        database.messages.push((machine, message));
    }

    pub(super) fn acknowledge(&self, machine: u32, id: u64) {
        self.database().messages.retain(|it| it.0 != machine || it.1.id != id);
    }

    /// The answer to a synchronisation.
    pub(super) fn answer(&self, machine: u32, now: u64) -> SyncAnswer {
        let database = self.database();
        let chains = database.chains.iter().filter(|it| it.machine == machine);
        let messages = database.messages.iter().filter(|it| it.0 == machine);
        SyncAnswer {
            now,
            documents: database.pushed as u64,
            chains: chains.map(SimulatedChain::state).collect(),
            mirrored: BTreeMap::new(),
            messages: messages.map(|it| it.1.clone()).collect(),
            seal: None,
        }
    }

    /// The records of a chain, each hash computed anew: an error where they do not follow one another.
    pub(super) fn records(&self, chain: &SimulatedChain) -> Result<Vec<eclusa::Record>, String> {
        let (database, mut head, mut all) = (self.database(), chain.begins, Vec::new());
        for (_, body) in database.segments.iter().filter(|it| it.0 == chain.id) {
            let records = shipment::unpack(body, head).map_err(|err| err.to_string())?;
            head = records.last().map_or(head, |it| Head { seq: it.seq, hash: it.hash });
            all.extend(records);
        }
        match head == chain.head {
            true => Ok(all),
            false => Err(format!(
                "what chain {} keeps leads to record {} and another hash than its head, {}",
                chain.id, head.seq, chain.head.seq
            )),
        }
    }
}

impl SimulatedChain {
    fn state(&self) -> ChainState {
        ChainState { chain: self.id, head: self.head.into(), stopped: self.stopped.clone() }
    }
}

impl TrailStore for SimulatedServer {
    async fn keep(&self, shipment: CheckedShipment) -> Result<bool, ServerError> {
        let (compare, owner) = (self.mechanisms.compare, self.mechanisms.owner);
        let mut database = self.database();
        let found = database.chains.iter_mut().find(|it| it.id == shipment.chain);
        let Some(chain) = found.filter(|it| it.machine == shipment.machine || !owner) else {
            return Ok(false);
        };
        if chain.stopped.is_some() || (compare && chain.head != shipment.before) {
            return Ok(false);
        }
        chain.head = shipment.last();
        let id = chain.id;
        database.segments.push((id, shipment.body));
        Ok(true)
    }

    async fn chain(&self, machine: u32, chain: u32) -> Result<Option<ChainState>, ServerError> {
        let database = self.database();
        let found = database.chains.iter().find(|it| it.id == chain && it.machine == machine);
        Ok(found.map(SimulatedChain::state))
    }
}
