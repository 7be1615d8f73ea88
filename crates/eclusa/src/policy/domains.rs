//! Hosts in words alone: who is meant by a text, and which patterns name them. Nothing here asks
//! a name server; which addresses a name has is the business of whoever connects.

use eclusa_net::{Endpoint, HostSet, metadata_service};

use super::{deny, matcher::Holds, plainly};
use crate::Reason;

/// Why nothing may talk to a host, whoever allows it: whoever asks there gets the keys of this machine,
/// and no connection to it is ever made.
pub(super) fn refused(host: &str) -> Option<Reason> {
    let what = metadata_service(host)?;
    let text = format!("`{}` is {what}, and nothing may talk to it", plainly(host));
    Some(Reason { text: text.into(), ..deny("metadata") })
}

/// Patterns over hosts, with exceptions.
///
/// Where a fit allows, a pattern without a port covers the usual ports only; where it tightens, every
/// port. Exceptions are read the other way.
#[derive(Debug, Clone)]
pub(crate) struct Domains {
    hosts: HostSet,
    tightens: bool,
}

impl Domains {
    /// Reads patterns; those that begin with `!` are exceptions. `tightens` says what a fit means
    /// for the call.
    pub(crate) fn new<S: AsRef<str>>(
        patterns: impl IntoIterator<Item = S>,
        tightens: bool,
    ) -> Result<Domains, String> {
        let hosts = HostSet::parse(patterns)
            .map_err(|(written, err)| format!("`{written}` is not a host: {err}"))?;
        match hosts.is_empty() {
            true => Err("there is no host here to match; write `*` for all hosts".to_owned()),
            false => Ok(Domains { hosts, tightens }),
        }
    }

    /// Whether a text names one of the hosts. What nobody can read is in doubt.
    pub(crate) fn fit(&self, text: &str) -> Holds {
        let Ok(endpoint) = Endpoint::parse(text) else { return Holds::Doubt };
        match self.tightens {
            true => self.hosts.concerns(&endpoint).into(),
            false => self.hosts.covers(&endpoint).into(),
        }
    }

    /// The hosts, for whoever connects.
    pub(crate) fn hosts(&self) -> &HostSet {
        &self.hosts
    }
}
