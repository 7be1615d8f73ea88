//! Which hosts may be reached, by name.

use eclusa_net::{Endpoint, Host, HostAccess, HostError, HostPattern};

use super::Way;

/// The hosts that may be reached. None unless somebody says so.
///
/// An entry is a [`HostPattern`]. Without a port it covers the usual port only: 443 for a tunnel, 80
/// for a plain request. What rules say of a command comes first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hosts {
    allow: Vec<HostPattern>,
    access: HostAccess,
}

/// An entry that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{entry}` is not a rule for hosts: {why}")]
pub struct HostRule {
    /// What was written.
    pub entry: String,
    /// What is wrong with it.
    pub why: HostError,
}

impl Hosts {
    /// No host at all.
    pub fn none() -> Hosts {
        Hosts::default()
    }

    /// Reads entries. One that cannot be read is an error, never an entry less.
    pub fn new<S: AsRef<str>>(allow: &[S]) -> Result<Hosts, HostRule> {
        let read = |entry: &S| {
            let entry = entry.as_ref();
            HostPattern::parse(entry).map_err(|why| HostRule { entry: entry.to_owned(), why })
        };
        let allow = allow.iter().map(read).collect::<Result<_, _>>()?;
        Ok(Hosts { allow, access: HostAccess::default() })
    }

    /// The same under what rules and a person say of one command.
    #[must_use]
    pub fn under(self, access: HostAccess) -> Hosts {
        Hosts { access, ..self }
    }

    /// True when a rule closes this host at this port, whatever else allows it and whoever says yes.
    pub fn closes(&self, host: &Host, port: u16, way: Way) -> bool {
        let endpoint = Endpoint::new(host.clone(), port, way.usual_port());
        self.access.denies(&endpoint)
    }

    /// True when this host may be reached at this port.
    pub fn allow(&self, host: &Host, port: u16, way: Way) -> bool {
        let endpoint = Endpoint::new(host.clone(), port, way.usual_port());
        let allowed = self.allow.iter().any(|it| it.covers(&endpoint));
        self.access.permits(&endpoint, allowed)
    }
}
