//! Reading the web: which addresses may be asked, where they lead, and what comes back.
//!
//! An address is parsed once ([`Address`]), judged by name ([`HostRules`]), resolved once
//! ([`Resolver`]), and every answer is judged ([`special`]). The connection then goes to the
//! answers that were judged, never to a name, and all of it happens again at each redirect.

mod address;
mod cache;
mod error;
mod fetch;
mod kind;
mod markdown;
mod resolve;
mod rules;
mod tool;
mod transport;

#[cfg(test)]
mod tests;

pub use address::Address;
pub use eclusa_net::{Host, special};
pub use error::WebError;
pub use fetch::{Elsewhere, Fetched, Fetcher, Limits, MayFetch};
pub use kind::Kind;
pub use markdown::markdown;
pub use resolve::{Checked, Resolver, SystemResolver, check};
pub use rules::HostRules;
pub use tool::{WebFetch, WebFetchArgs};
pub use transport::{HttpTransport, Transport, WebAnswer};
