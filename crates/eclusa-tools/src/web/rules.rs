//! Which hosts may be asked, by name.

use std::net::SocketAddr;

use super::{Address, Host, WebError, address::proper_name};

/// Which hosts may be asked.
///
/// An entry is a host, `*.name` for all that is below a name but not the name itself, or `*`
/// for everything; `:port` may follow. An allowed entry without a port covers the usual port of
/// the scheme only, and a denied one every port. What is denied is denied whatever is allowed,
/// and a list that allows nothing allows nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostRules {
    allow: Vec<Entry>,
    deny: Vec<Entry>,
    private: Vec<SocketAddr>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    written: String,
    pattern: Pattern,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Pattern {
    Everything,
    /// Begins with the dot, so that the name itself and its namesakes do not match.
    Below(String),
    Exactly(Host),
}

impl HostRules {
    /// Rules that allow every host, for tools whose hosts the gate asks about. Addresses that
    /// are not public are refused all the same.
    pub fn every_host() -> HostRules {
        let every = Entry { written: "*".to_owned(), pattern: Pattern::Everything, port: None };
        HostRules { allow: vec![every], ..HostRules::default() }
    }

    /// Reads rules. An entry that cannot be read is an error, never an entry less.
    pub fn new<S: AsRef<str>>(allow: &[S], deny: &[S]) -> Result<HostRules, WebError> {
        let read = |entries: &[S]| -> Result<Vec<Entry>, WebError> {
            entries.iter().map(|entry| Entry::read(entry.as_ref())).collect()
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
        let named = |entry: &Entry| entry.pattern != Pattern::Everything && entry.allows(address);
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

impl Entry {
    fn read(written: &str) -> Result<Entry, WebError> {
        let wrong = |why: &str| WebError::Rule { entry: written.to_owned(), why: why.to_owned() };
        let (host, port) = split_port(written)
            .ok_or_else(|| wrong("after the colon there must be a port from 1 to 65535"))?;
        let pattern = if host == "*" {
            Pattern::Everything
        } else {
            let (below, host) = match host.strip_prefix("*.") {
                Some(rest) => (true, rest),
                None => (false, host),
            };
            let hint = "write a host such as `example.com`, `*.example.com` or `*`, without a scheme or a path";
            if host.contains(['*', '/', '@', '%', '\\']) {
                return Err(wrong(hint));
            }
            match (url::Host::parse(host), below) {
                (Ok(url::Host::Domain(name)), _) => {
                    let name = proper_name(&name).map_err(|why| wrong(&why))?;
                    if below {
                        Pattern::Below(format!(".{name}"))
                    } else {
                        Pattern::Exactly(Host::Name(name))
                    }
                }
                (Ok(url::Host::Ipv4(ip)), false) => Pattern::Exactly(Host::Ip(ip.into())),
                (Ok(url::Host::Ipv6(ip)), false) => {
                    Pattern::Exactly(Host::Ip(std::net::IpAddr::V6(ip).to_canonical()))
                }
                _ => return Err(wrong(hint)),
            }
        };
        Ok(Entry { written: written.to_owned(), pattern, port })
    }

    fn allows(&self, address: &Address) -> bool {
        let port = match (self.port, &self.pattern) {
            (Some(port), _) => port == address.port(),
            (None, Pattern::Everything) => true,
            (None, _) => address.usual_port(),
        };
        port && self.matches(address.host())
    }

    fn denies(&self, address: &Address) -> bool {
        self.port.is_none_or(|port| port == address.port()) && self.matches(address.host())
    }

    fn matches(&self, host: &Host) -> bool {
        match (&self.pattern, host) {
            (Pattern::Everything, _) => true,
            (Pattern::Exactly(own), host) => own == host,
            (Pattern::Below(end), Host::Name(name)) => name.ends_with(end.as_str()),
            (Pattern::Below(_), Host::Ip(_)) => false,
        }
    }
}

/// An entry without its port, and the port; nothing if there is a port that is none.
fn split_port(entry: &str) -> Option<(&str, Option<u16>)> {
    let inside = entry.rfind(']').unwrap_or(0);
    match entry.rsplit_once(':') {
        Some((host, port)) if host.len() >= inside => {
            port.parse().ok().filter(|&port| port != 0).map(|port| (host, Some(port)))
        }
        _ => Some((entry, None)),
    }
}
