//! What a machine knows of its server: its number there, and how far each of its logs was shipped.

use std::collections::BTreeMap;

use eclusa::audit::Head;
use serde::{Deserialize, Serialize};

use crate::{
    FleetError,
    wire::{ChainHead, SyncAnswer},
};

/// How long records may wait to be shipped where the policy does not say, in milliseconds.
pub const DEFAULT_OFFLINE: u64 = 24 * 3_600 * 1_000;

/// A machine that was enrolled at a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineState {
    /// Its number there.
    pub machine: u32,
    /// The address of the server.
    pub server: String,
    /// How far the server's clock is ahead of this machine's, in milliseconds.
    #[serde(default)]
    pub offset: i64,
    /// When everything was last known to be at the server, in milliseconds since 1970.
    pub caught_up: u64,
    /// The number of the documents that were last fetched.
    #[serde(default)]
    pub documents: u64,
    /// Why the server takes nothing from this machine; `None`: it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended: Option<String>,
    /// The last seal that was checked, as it was signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
    /// A seal that does not follow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_seal: Option<RefusedSeal>,
    /// Its stores, by what they call themselves.
    #[serde(default)]
    pub stores: BTreeMap<String, ShippedStore>,
}

/// How far a store was shipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShippedStore {
    /// The number of its chain at the server, once it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain: Option<u32>,
    /// The record behind which its chain begins.
    pub begins: ChainHead,
    /// The last record that is at the server.
    pub shipped: ChainHead,
    /// Why it goes no further, if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Up to which change of its queue the questions are mirrored.
    #[serde(default)]
    pub mirrored: u64,
    /// Questions that the server had no room for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmirrored: Vec<u64>,
    /// The last record that a seal was seen to hold.
    #[serde(default)]
    pub sealed: u64,
}

/// A seal that does not follow the one that was checked last, kept as evidence beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedSeal {
    /// Since when seals are refused, in milliseconds since 1970.
    pub since: u64,
    /// Why.
    pub why: String,
    /// The seal, as it was signed.
    pub note: String,
}

impl ShippedStore {
    /// A store of which nothing was shipped, from this record on.
    pub fn begin(behind: Head) -> ShippedStore {
        let head = ChainHead::from(behind);
        ShippedStore {
            chain: None,
            begins: head.clone(),
            shipped: head,
            stopped: None,
            mirrored: 0,
            unmirrored: Vec::new(),
            sealed: 0,
        }
    }
}

impl MachineState {
    /// A machine with this number at this server, which has shipped nothing.
    pub fn enrolled(machine: u32, server: String) -> MachineState {
        MachineState {
            machine,
            server,
            offset: 0,
            caught_up: 0,
            documents: 0,
            suspended: None,
            seal: None,
            refused_seal: None,
            stores: BTreeMap::new(),
        }
    }

    /// Reads what is kept.
    pub fn parse(text: &str) -> Result<MachineState, FleetError> {
        serde_json::from_str(text).map_err(|err| {
            FleetError::malformed(format!("what is kept of the server cannot be read: {err}"))
        })
    }

    /// How it is kept.
    pub fn to_text(&self) -> String {
        // Texts and numbers can always be written.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Takes what a server says of the chains of this machine: that it has less than was shipped, or takes no more.
    pub fn hear(&mut self, answer: &SyncAnswer) {
        for state in self.stores.values_mut().filter(|it| it.stopped.is_none()) {
            let Some(chain) = state.chain else { continue };
            // What the server lost is mirrored again.
            state.mirrored = answer.mirrored.get(&chain).map_or(0, |it| state.mirrored.min(*it));
            match answer.chains.iter().find(|it| it.chain == chain) {
                Some(found) if found.stopped.is_some() => state.stopped.clone_from(&found.stopped),
                // Its records were lost there: the server says from where to go on.
                Some(found) if found.head.seq < state.shipped.seq => state.chain = None,
                Some(_) => {}
                None => (state.chain, state.shipped) = (None, state.begins.clone()),
            }
        }
    }

    /// Why nothing is shipped, or not from every store.
    pub fn stopped(&self) -> Option<&str> {
        let of_store = || self.stores.values().find_map(|it| it.stopped.as_deref());
        self.suspended.as_deref().or_else(of_store)
    }
}
