//! What a host is, and the one way to read it.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A host.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Host {
    /// A name: lower case, in ASCII, without a final dot.
    Name(String),
    /// An address. An IPv4 address that is dressed as IPv6 is the IPv4 address.
    Ip(IpAddr),
}

/// Why a text is no host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// It is empty, or has a scheme, a path or a pattern in it.
    #[error(
        "write a host such as `example.com`, `*.example.com` or `*`, with neither scheme nor path"
    )]
    NoHost,
    /// There is something else behind the colon than a port.
    #[error("after the colon there must be a port from 1 to 65535")]
    Port,
    /// What is in brackets is no IPv6 address.
    #[error("what is in brackets is not an address")]
    Brackets,
    /// It is longer than a name can be.
    #[error("the host is longer than a name can be")]
    Long,
    /// Two dots in a row, or a part that is too long.
    #[error("the host has an empty or overlong part between dots")]
    Label,
    /// Letters that are not ASCII, and other characters that no name has.
    #[error(
        "the host has characters that names of hosts do not have; write international names in their `xn--` form"
    )]
    Characters,
    /// Something that some programs take for an address.
    #[error("the host is an odd spelling of an address; write four decimal numbers")]
    OddAddress,
    /// `*.1.2.3.4`
    #[error("nothing is below an address")]
    BelowAddress,
}

impl Host {
    /// Reads a host. What other programs would read differently is an error.
    pub fn parse(text: &str) -> Result<Host, HostError> {
        if let Some(inside) = text.strip_prefix('[') {
            let inside = inside.strip_suffix(']').ok_or(HostError::Brackets)?;
            let ip: Ipv6Addr = inside.parse().map_err(|_| HostError::Brackets)?;
            return Ok(Host::Ip(IpAddr::V6(ip).to_canonical()));
        }
        if let Ok(ip) = text.parse::<Ipv4Addr>() {
            return Ok(Host::Ip(IpAddr::V4(ip)));
        }
        let name = text.strip_suffix('.').unwrap_or(text);
        if name.is_empty() || name.contains(['/', '*', '@']) {
            return Err(HostError::NoHost);
        }
        if name.len() > 253 {
            return Err(HostError::Long);
        }
        for label in name.split('.') {
            if label.is_empty() || label.len() > 63 {
                return Err(HostError::Label);
            }
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
            if !label.bytes().all(fits) {
                return Err(HostError::Characters);
            }
        }
        // What ends in a number is an IPv4 address in another spelling, whatever it looks like.
        let last = name.rsplit('.').next().unwrap_or_default();
        let number = last.bytes().all(|it| it.is_ascii_digit());
        if number || last.starts_with("0x") || last.starts_with("0X") {
            return Err(HostError::OddAddress);
        }
        Ok(Host::Name(name.to_ascii_lowercase()))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Name(name) => out.write_str(name),
            Host::Ip(IpAddr::V4(ip)) => ip.fmt(out),
            Host::Ip(IpAddr::V6(ip)) => write!(out, "[{ip}]"),
        }
    }
}

/// A text without its port, and the port. A port is digits and nothing else: `:+80` is none.
pub fn split_port(text: &str) -> Result<(&str, Option<u16>), HostError> {
    if text.contains('/') {
        return Err(HostError::NoHost);
    }
    let inside = text.rfind(']').unwrap_or(0);
    match text.rsplit_once(':') {
        Some((host, port)) if host.len() >= inside => {
            let digits = !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit());
            let port = port.parse().ok().filter(|port| digits && *port != 0);
            Ok((host, Some(port.ok_or(HostError::Port)?)))
        }
        _ => Ok((text, None)),
    }
}
