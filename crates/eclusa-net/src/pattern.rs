//! Patterns over hosts.

use crate::{Endpoint, Host, HostError, split_port};

/// A host, `*.name` for all that is below a name but not the name itself, or `*` for every host;
/// `:port` may follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPattern {
    hosts: Hosts,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Hosts {
    All,
    /// Begins with the dot, so that the name itself and its namesakes do not fit.
    Below(String),
    One(Host),
}

impl HostPattern {
    /// Every host at every port.
    pub const EVERY_HOST: HostPattern = HostPattern { hosts: Hosts::All, port: None };

    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<HostPattern, HostError> {
        let (host, port) = split_port(text)?;
        let hosts = match (host, host.strip_prefix("*.")) {
            ("*", _) => Hosts::All,
            (_, Some(above)) => match Host::parse(above)? {
                Host::Name(name) => Hosts::Below(format!(".{name}")),
                Host::Ip(_) => return Err(HostError::BelowAddress),
            },
            (host, None) => Hosts::One(Host::parse(host)?),
        };
        Ok(HostPattern { hosts, port })
    }

    /// True for `*`, with or without a port.
    pub fn is_every_host(&self) -> bool {
        self.hosts == Hosts::All
    }

    /// True when it covers an endpoint, for those who allow: without a port it covers the usual one
    /// only (`*` covers all), and with one exactly that.
    pub fn covers(&self, endpoint: &Endpoint) -> bool {
        let port = match self.port {
            Some(port) => endpoint.port.or(endpoint.usual) == Some(port),
            None => self.is_every_host() || endpoint.is_usual(),
        };
        port && self.fits_host(&endpoint.host)
    }

    /// True when it may be about an endpoint, for those who deny: without a port it is about every
    /// port, and where the endpoint does not say which usual port it has, about either.
    pub fn concerns(&self, endpoint: &Endpoint) -> bool {
        let port = match (self.port, endpoint.port.or(endpoint.usual)) {
            (None, _) => true,
            (Some(own), Some(port)) => own == port,
            (Some(own), None) => matches!(own, 80 | 443),
        };
        port && self.fits_host(&endpoint.host)
    }

    fn fits_host(&self, host: &Host) -> bool {
        match (&self.hosts, host) {
            (Hosts::All, _) => true,
            (Hosts::One(own), host) => own == host,
            (Hosts::Below(end), Host::Name(name)) => name.ends_with(end.as_str()),
            (Hosts::Below(_), Host::Ip(_)) => false,
        }
    }
}
