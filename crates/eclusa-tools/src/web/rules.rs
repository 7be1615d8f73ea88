//! Which hosts may be asked, by name.

use std::net::SocketAddr;

use eclusa_net::HostPattern;

use super::{Address, WebError};

/// Which hosts may be asked.
///
/// An entry is a host, `*.name` for all that is below a name but not the name itself, or `*`
/// for everything; `:port` may follow. An allowed entry without a port covers the usual port of
/// the scheme only, and a denied one every port. What is denied is denied whatever is allowed,
/// and a list that allows nothing allows nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostRules {
    allow: Vec<DomainEntry>,
    deny: Vec<DomainEntry>,
    private: Vec<SocketAddr>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct DomainEntry {
    written: String,
    pattern: HostPattern,
}

impl HostRules {
    /// Rules that allow every host, for tools whose hosts the gate asks about. Addresses that
    /// are not public are refused all the same.
    pub fn every_host() -> HostRules {
        let every = DomainEntry { written: "*".to_owned(), pattern: HostPattern::EVERY_HOST };
        HostRules { allow: vec![every], ..HostRules::default() }
    }

    /// Reads rules. An entry that cannot be read is an error, never an entry less.
    pub fn new<S: AsRef<str>>(allow: &[S], deny: &[S]) -> Result<HostRules, WebError> {
        let read = |entries: &[S]| -> Result<Vec<DomainEntry>, WebError> {
            entries.iter().map(|entry| DomainEntry::read(entry.as_ref())).collect()
        };
        Ok(HostRules { allow: read(allow)?, deny: read(deny)?, private: Vec::new() })
    }

    /// The same rules, and this address and port may be connected to although it is not public.
    #[must_use]
    pub fn with_private(mut self, place: SocketAddr) -> HostRules {
        self.private.push(canonical(place));
        self
    }

    /// Says no unless the host is allowed and not denied.
    pub fn judge(&self, address: &Address) -> Result<(), WebError> {
        if let Some(entry) = self.deny.iter().find(|entry| entry.denies(address)) {
            let (host, rule) = (address.authority(), entry.written.clone());
            return Err(WebError::Denied { host, rule });
        }
        if self.allow.iter().any(|entry| entry.allows(address)) {
            return Ok(());
        }
        Err(WebError::NotAllowed { host: address.authority() })
    }

    /// True if a rule allows this host by name, and not only because it allows every host.
    pub fn names(&self, address: &Address) -> bool {
        let named = |entry: &DomainEntry| !entry.pattern.is_every_host() && entry.allows(address);
        self.judge(address).is_ok() && self.allow.iter().any(named)
    }

    /// True if somebody has allowed this address and port although it is not public.
    pub fn allows_private(&self, place: SocketAddr) -> bool {
        self.private.contains(&canonical(place))
    }
}

fn canonical(place: SocketAddr) -> SocketAddr {
    SocketAddr::new(place.ip().to_canonical(), place.port())
}

impl DomainEntry {
    fn read(written: &str) -> Result<DomainEntry, WebError> {
        let pattern = HostPattern::parse(written)
            .map_err(|err| WebError::Rule { entry: written.to_owned(), why: err.to_string() })?;
        Ok(DomainEntry { written: written.to_owned(), pattern })
    }

    fn allows(&self, address: &Address) -> bool {
        self.pattern.covers(&address.endpoint())
    }

    fn denies(&self, address: &Address) -> bool {
        self.pattern.concerns(&address.endpoint())
    }
}
