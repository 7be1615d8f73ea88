//! The server of a fleet: records of many machines in PostgreSQL, each exactly once, and signed documents handed out.
//!
//! It makes nothing that counts: records are chained and policies are signed elsewhere, and both are checked here and
//! again wherever they are used. It keeps no state but the database, so that any number of it stand side by side.
//! Statements are sent unnamed and hold nothing between transactions, so that a pooler may stand before the database.

mod database;
mod error;
mod export;
mod http;
mod maintain;
mod schema;
mod serve;
mod server;
mod store;

pub use database::Database;
pub use error::ServerError;
pub use export::export;
pub use maintain::{Keep, Maintained, maintain};
pub use schema::migrate;
pub use serve::serve;
pub use server::ServerOptions;
pub use store::read::{CallFilter, FoundCall, calls};
