//! An address as it is written, and the one meaning it has.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr},
};

use eclusa_net::{Endpoint, Host};
use url::Url;

use super::WebError;

/// The longest address that is accepted, in bytes.
const MAX_LENGTH: usize = 8 * 1024;

/// An `http` or `https` address that was parsed once, in its normal form.
///
/// Whoever is asked about it, whoever resolves it and whoever connects sees this value and
/// never the text it was made from, so that nobody can read the text in another way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    url: Url,
    host: Host,
    port: u16,
}

impl Address {
    /// Reads an address, if it is written in the normal way: nothing that other programs read
    /// differently is accepted, even where the standard has a meaning for it.
    pub fn parse(text: &str) -> Result<Address, WebError> {
        read(text).map_err(|why| WebError::Written { text: visible(text), why })
    }

    /// Where a redirect from here leads, as the `Location` header says it.
    pub fn redirect(&self, location: &str) -> Result<Address, WebError> {
        let wrong = |why: String| WebError::Written { text: visible(location), why };
        plain(location).map_err(wrong)?;
        let joined = self.url.join(location).map_err(|err| wrong(err.to_string()))?;
        let next = Address::parse(joined.as_str())?;
        if self.encrypted() && !next.encrypted() {
            return Err(WebError::Downgrade { from: self.to_string(), to: next.to_string() });
        }
        Ok(next)
    }

    /// The host.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The port, written out or not.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// True if the port is the one that the scheme has anyway.
    pub fn usual_port(&self) -> bool {
        self.url.port().is_none()
    }

    /// True for `https`.
    pub fn encrypted(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// The host and the port, for patterns over hosts.
    pub(super) fn endpoint(&self) -> Endpoint {
        let usual = if self.encrypted() { 443 } else { 80 };
        Endpoint::new(self.host.clone(), self.port, usual)
    }

    /// The host, with its port where that is not the usual one: what rules and people judge.
    pub fn authority(&self) -> String {
        match self.url.port() {
            Some(port) => format!("{}:{port}", self.host),
            None => self.host.to_string(),
        }
    }

    /// The address as a URL, without a fragment.
    pub fn url(&self) -> &Url {
        &self.url
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.url.as_str())
    }
}

fn read(text: &str) -> Result<Address, String> {
    plain(text)?;
    let (scheme, rest) = text
        .split_once(':')
        .ok_or("it has no scheme; write the whole address, as in `https://example.com/`")?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return Err("only http and https addresses are fetched".to_owned());
    }
    let rest = rest.strip_prefix("//").ok_or("after the scheme there must be `//` and a host")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.is_empty() {
        return Err("it has no host".to_owned());
    }
    if authority.contains('@') {
        return Err("names and passwords in addresses are refused; leave out the part before `@`"
            .to_owned());
    }
    if authority.contains('%') {
        return Err("its host is written with `%`; write the name itself".to_owned());
    }
    let mut url = Url::parse(text).map_err(|err| err.to_string())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("only http and https addresses are fetched".to_owned());
    }
    let host = match url.host().map(|host| host.to_owned()) {
        Some(url::Host::Domain(name)) => Host::parse(&name).map_err(|err| err.to_string())?,
        Some(url::Host::Ipv4(ip)) => Host::Ip(IpAddr::V4(proper_v4(ip, authority)?)),
        Some(url::Host::Ipv6(ip)) => Host::Ip(IpAddr::V6(ip).to_canonical()),
        None => return Err("it has no host".to_owned()),
    };
    match &host {
        Host::Name(name) => url.set_host(Some(name)).map_err(|err| err.to_string())?,
        Host::Ip(ip) => url.set_ip_host(*ip).map_err(|()| "its host cannot be written out")?,
    }
    url.set_fragment(None);
    let port = url.port_or_known_default().ok_or("it has no port")?;
    if port == 0 {
        return Err("port 0 cannot be connected to".to_owned());
    }
    Ok(Address { url, host, port })
}

/// Refuses what cannot be seen, what parsers drop, and what they disagree about.
fn plain(text: &str) -> Result<(), String> {
    if text.len() > MAX_LENGTH {
        return Err(format!("it is longer than {MAX_LENGTH} bytes"));
    }
    if text.contains('\\') {
        return Err("it has a backslash, which programs read in two ways; write %5C".to_owned());
    }
    match text.chars().find(|&char| unseen(char)) {
        Some(' ') => Err("it has a blank; write %20, or leave it out at the ends".to_owned()),
        Some(char) => Err(format!(
            "it has a character that cannot be seen (U+{:04X}); leave it out",
            u32::from(char)
        )),
        None => Ok(()),
    }
}

fn unseen(char: char) -> bool {
    char == ' ' || eclusa::workspace::is_hidden(char)
}

/// An IPv4 address, if it is written as four decimal numbers.
fn proper_v4(ip: Ipv4Addr, authority: &str) -> Result<Ipv4Addr, String> {
    let written = authority.split(':').next().unwrap_or_default();
    if written == ip.to_string() {
        return Ok(ip);
    }
    Err(format!("its host is another spelling of {ip}; write the address in the normal way"))
}

/// Text for a message: nothing in it is invisible, and it is not long.
fn visible(text: &str) -> String {
    let mut shown = String::new();
    for (at, char) in text.chars().enumerate() {
        if at == 200 {
            shown.push('…');
            break;
        }
        if unseen(char) && char != ' ' {
            shown.extend(char.escape_unicode());
        } else {
            shown.push(char);
        }
    }
    shown
}
