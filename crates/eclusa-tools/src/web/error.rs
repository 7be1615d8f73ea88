//! Why something was not fetched.

use std::{net::IpAddr, time::Duration};

/// Why something was not fetched. Every one of them means that nothing was sent any further.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebError {
    /// The text is no address, or not one written in the normal way.
    #[error("`{text}` cannot be fetched: {why}")]
    Written {
        /// The text, with characters that cannot be seen made visible.
        text: String,
        /// What is wrong with it, and what would be right.
        why: String,
    },
    /// A rule of the configuration is not a host.
    #[error("`{entry}` is not a host rule: {why}")]
    Rule {
        /// The rule as it was written.
        entry: String,
        /// What is wrong with it, and what would be right.
        why: String,
    },
    /// A rule names the host.
    #[error("`{host}` is on the list of hosts that are denied (`{rule}`)")]
    Denied {
        /// The host.
        host: String,
        /// The rule.
        rule: String,
    },
    /// No rule names the host.
    #[error(
        "`{host}` is not on the list of hosts that are allowed; a rule for it would have to name exactly this host and port"
    )]
    NotAllowed {
        /// The host, with its port where that is not the usual one.
        host: String,
    },
    /// The address does not belong to the public internet.
    #[error("`{host}` leads to {ip}, {what}; only public addresses are fetched")]
    Special {
        /// The host.
        host: String,
        /// The address.
        ip: IpAddr,
        /// What it is instead.
        what: &'static str,
    },
    /// The name has no address, or nobody could tell.
    #[error("`{host}` could not be resolved: {why}")]
    Unresolved {
        /// The host.
        host: String,
        /// Why.
        why: String,
    },
    /// A redirect gives up encryption.
    #[error("`{from}` redirects to `{to}`, which is not encrypted; redirect refused")]
    Downgrade {
        /// From where.
        from: String,
        /// Where to.
        to: String,
    },
    /// A redirect leads to a host that nobody has agreed to.
    #[error(
        "`{from}` redirects to another host, `{to}`, and was not followed: {why}; fetch that address if it is wanted"
    )]
    Elsewhere {
        /// From where.
        from: String,
        /// Where to.
        to: String,
        /// Why it was not followed.
        why: String,
    },
    /// A redirect leads to something that cannot be fetched.
    #[error("`{from}` redirects: {why}")]
    Redirect {
        /// From where.
        from: String,
        /// What is wrong with where it leads.
        why: Box<WebError>,
    },
    /// Redirects without an end.
    #[error("`{url}` redirects more than {limit} times")]
    Loop {
        /// Where it began.
        url: String,
        /// How many are followed.
        limit: usize,
    },
    /// The server took too long.
    #[error("`{url}` did not answer in full within {} s; try again later, or another address", limit.as_secs_f32())]
    Slow {
        /// The address.
        url: String,
        /// How long it was given.
        limit: Duration,
    },
    /// The connection failed.
    #[error("`{url}` could not be fetched: {why}")]
    Failed {
        /// The address.
        url: String,
        /// Why.
        why: String,
    },
}
