//! Which hosts may be reached, by name, and what a name is.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use super::Way;

/// Who is to be reached.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Host {
    /// A name: lower case, in ASCII, without a final dot.
    Name(String),
    /// An address. An IPv4 address that is dressed as IPv6 is the IPv4 address.
    Ip(IpAddr),
}

/// The hosts that may be reached. None unless somebody says so.
///
/// An entry is a host, `*.name` for all that is below a name but not the name itself, or `*` for
/// everything; `:port` may follow. Without a port, an entry covers the usual port only: 443 for a
/// tunnel, 80 for a plain request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hosts {
    allow: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
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

/// An entry that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{entry}` is no rule for hosts: {why}")]
pub struct HostRule {
    /// What was written.
    pub entry: String,
    /// What is wrong with it.
    pub why: String,
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
            Entry::read(entry).map_err(|why| HostRule { entry: entry.to_owned(), why })
        };
        Ok(Hosts { allow: allow.iter().map(read).collect::<Result<_, _>>()? })
    }

    /// True when an entry covers this host at this port.
    pub fn allow(&self, host: &Host, port: u16, way: Way) -> bool {
        self.allow.iter().any(|it| it.allows(host, port, way))
    }
}

impl Entry {
    fn read(written: &str) -> Result<Entry, String> {
        let (host, port) =
            split_port(written).ok_or("after the colon there must be a port from 1 to 65535")?;
        let pattern = match (host, host.strip_prefix("*.")) {
            ("*", _) => Pattern::Everything,
            (_, Some(below)) => match Host::read(below)? {
                Host::Name(name) => Pattern::Below(format!(".{name}")),
                Host::Ip(_) => return Err("nothing is below an address".to_owned()),
            },
            (host, None) => Pattern::Exactly(Host::read(host)?),
        };
        Ok(Entry { pattern, port })
    }

    fn allows(&self, host: &Host, port: u16, way: Way) -> bool {
        let fits = match (self.port, &self.pattern) {
            (Some(own), _) => own == port,
            (None, Pattern::Everything) => true,
            (None, _) => port == way.usual_port(),
        };
        fits && match (&self.pattern, host) {
            (Pattern::Everything, _) => true,
            (Pattern::Exactly(own), host) => own == host,
            (Pattern::Below(end), Host::Name(name)) => name.ends_with(end.as_str()),
            (Pattern::Below(_), Host::Ip(_)) => false,
        }
    }
}

impl Host {
    /// Reads a host as it stands in a request. What other programs would read differently is an
    /// error: addresses in odd spellings, user names, letters that are not ASCII.
    pub fn read(text: &str) -> Result<Host, String> {
        if let Some(inner) = text.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            let ip: Ipv6Addr = inner.parse().map_err(|_| "what is in brackets is no address")?;
            return Ok(Host::Ip(IpAddr::V6(ip).to_canonical()));
        }
        if let Ok(ip) = text.parse::<Ipv4Addr>() {
            return Ok(Host::Ip(IpAddr::V4(ip)));
        }
        let name = text.strip_suffix('.').unwrap_or(text);
        if name.len() > 253 {
            return Err("the host is longer than a name can be".to_owned());
        }
        for label in name.split('.') {
            if label.is_empty() || label.len() > 63 {
                return Err("the host has an empty or overlong part between dots".to_owned());
            }
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
            if !label.bytes().all(fits) {
                return Err("the host has characters that names of hosts do not have; \
                            write international names in their `xn--` form"
                    .to_owned());
            }
        }
        let last = name.rsplit('.').next().unwrap_or_default();
        let hex = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
        let number = hex.map_or(last, |it| if it.is_empty() { "0" } else { it });
        let digit =
            |byte: u8| if hex.is_some() { byte.is_ascii_hexdigit() } else { byte.is_ascii_digit() };
        if number.bytes().all(digit) {
            return Err(
                "the host is an odd spelling of an address; write four decimal numbers".to_owned()
            );
        }
        Ok(Host::Name(name.to_ascii_lowercase()))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Name(name) => f.write_str(name),
            Host::Ip(IpAddr::V4(ip)) => ip.fmt(f),
            Host::Ip(IpAddr::V6(ip)) => write!(f, "[{ip}]"),
        }
    }
}

/// A host without its port, and the port; nothing if there is a port that is none.
pub(super) fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    let inside = text.rfind(']').unwrap_or(0);
    match text.rsplit_once(':') {
        Some((host, port)) if host.len() >= inside => {
            let digits = !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit());
            let port = port.parse().ok().filter(|&port| port != 0 && digits)?;
            Some((host, Some(port)))
        }
        _ => Some((text, None)),
    }
}
