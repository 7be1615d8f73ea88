//! Hosts in one reading: rules, commands, servers and the web all ask here what a text names, which
//! pattern covers it, and whether an address is one of the public internet.
//!
//! What programs read in two ways is not read at all: odd spellings of addresses, user names, letters
//! that are not ASCII. Nothing here asks a name server or opens a connection;
//! the feature `client` makes the client with which others do.
//!
//! ```
//! use eclusa_net::{Endpoint, HostPattern};
//!
//! let pattern = HostPattern::parse("*.example.com").unwrap();
//! let endpoint = Endpoint::parse("https://docs.example.com/page").unwrap();
//! assert!(pattern.covers(&endpoint));
//! assert!(!pattern.covers(&Endpoint::parse("https://docs.example.com:8443/").unwrap()));
//! assert!(Endpoint::parse("https://example.com@evil.example/").is_err());
//! ```

#![warn(clippy::match_bool)]

mod access;
mod address;
#[cfg(feature = "client")]
mod client;
mod endpoint;
mod host;
mod metadata;
mod pattern;
mod range;

pub use access::{ClosedHosts, HostAccess, HostSet};
pub use address::{AddressError, MAX_ADDRESSES, judge_addresses};
#[cfg(feature = "client")]
pub use client::{choose_encryption, http_client};
pub use endpoint::Endpoint;
pub use host::{Host, HostError, split_port};
pub use metadata::metadata_service;
pub use pattern::HostPattern;
pub use range::special;
