//! An endpoint: a host and its port, as tools and programs name them.

use crate::{Host, HostError, split_port};

/// A host, and the port that it is asked at.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// The host.
    pub host: Host,
    /// The port, if one is written.
    pub port: Option<u16>,
    /// The port that the scheme has anyway. `None`: it is not known which of the usual ones (80, 443).
    pub usual: Option<u16>,
}

impl Endpoint {
    /// An endpoint whose port and scheme are known.
    pub fn new(host: Host, port: u16, usual: u16) -> Endpoint {
        Endpoint { host, port: Some(port), usual: Some(usual) }
    }

    /// Reads a host as tools name it: `example.com`, `example.com:8080`, `[::1]:80`, or an http or
    /// https address.
    pub fn parse(text: &str) -> Result<Endpoint, HostError> {
        let schemes = [("http://", 80), ("https://", 443)];
        let scheme = schemes.into_iter().find_map(|(scheme, port)| {
            let (head, rest) = text.split_at_checked(scheme.len())?;
            head.eq_ignore_ascii_case(scheme).then_some((rest, port))
        });
        let (authority, usual) = match scheme {
            Some((rest, usual)) => {
                (rest.split(['/', '?', '#']).next().unwrap_or_default(), Some(usual))
            }
            None => (text, None),
        };
        let (host, port) = split_port(authority)?;
        Ok(Endpoint { host: Host::parse(host)?, port, usual })
    }

    /// True when it is asked at the port that everybody expects.
    pub fn is_usual(&self) -> bool {
        self.port.is_none() || self.port == self.usual
    }

    /// True for a host that is this machine by its name or address.
    pub fn is_loopback(&self) -> bool {
        match &self.host {
            Host::Name(name) => name == "localhost" || name.ends_with(".localhost"),
            Host::Ip(ip) => ip.is_loopback(),
        }
    }
}
