//! The server of a fleet: records of many machines in PostgreSQL, each exactly once, and signed documents handed out.
//!
//! It makes nothing that counts: records are chained and policies are signed elsewhere, and both are checked here and
//! again wherever they are used. It keeps no state but the database, so that any number of it stand side by side.
//! Statements are sent unnamed and hold nothing between transactions, so that a pooler may stand before the database.

mod database;
mod delivery;
mod error;
mod export;
mod http;
mod issuers;
mod maintain;
mod metrics;
mod notify;
mod operations;
mod pace;
mod page_state;
mod receive;
mod rollout;
mod schema;
mod serve;
mod server;
mod store;

pub use database::Database;
pub use error::ServerError;
pub use export::export;
pub use issuers::FetchKeys;
pub use maintain::{Keep, Maintained, maintain};
pub use notify::{DueAnnouncement, NotificationRoute, due_announcements, note_attempt};
pub use page_state::page_address;
pub use rollout::{OfferedVersion, hold, machines, offered, old_policy, push, roll_out, stop};
pub use schema::migrate;
pub use serve::serve;
pub use server::ServerOptions;
pub use store::acts::{FleetAct, acts};
pub use store::overview::{FleetMachine, MachineStop};
pub use store::pending_keys::{PendingKey, pending_keys};
pub use store::read::{CallFilter, FoundCall, calls};
pub use store::rollouts::Staging;
pub use store::ship::{CheckedShipment, ship};
pub use store::shipped::{ShippedChain, shipped_chains, shipped_records};

#[cfg(test)]
mod tests;
