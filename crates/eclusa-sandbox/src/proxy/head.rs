//! The head of a request: read strictly, and written anew.
//!
//! Whatever two programs could read in two ways is refused, because the second reader is the host.

use std::net::SocketAddr;

use eclusa_net::{Host, split_port};

use super::Way;

/// The most header lines of a request.
const LINES: usize = 128;

/// A request that can be read in one way only.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RequestHead {
    pub(super) host: Host,
    pub(super) port: u16,
    pub(super) way: Way,
    /// What the host is sent; empty for a tunnel.
    pub(super) rewritten: Vec<u8>,
    pub(super) body: BodyLength,
}

/// How long the body of a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyLength {
    /// This many bytes.
    Sized(u64),
    /// In chunks that say how long they are.
    Chunked,
}

/// Headers that are meant for the proxy, or for one connection only.
const OURS: [&str; 9] = [
    "connection",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "upgrade",
];

/// Where the head ends: after the first empty line.
pub(super) fn end(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|it| it == b"\r\n\r\n").map(|at| at + 4)
}

/// Reads a head, its final empty line included. `own` is the address of the proxy, where requests
/// may be made to the proxy itself: they name a path and no host.
pub(super) fn read(bytes: &[u8], own: Option<SocketAddr>) -> Result<RequestHead, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "its head is not text")?;
    let text = text.strip_suffix("\r\n\r\n").ok_or("its head has no end")?;
    if text.replace("\r\n", "").contains(|it: char| it.is_control() && it != '\t') {
        return Err(
            "its head has control characters, or lines that do not end as they should".to_owned()
        );
    }
    let mut lines = text.split("\r\n");
    let words: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let [method, target, version] = words.as_slice() else {
        return Err("its first line is not a method, an address and a version".to_owned());
    };
    if !is_token(method) || !matches!(*version, "HTTP/1.1" | "HTTP/1.0") {
        return Err("it is not HTTP/1".to_owned());
    }
    let headers = lines.map(header).collect::<Result<Vec<_>, _>>()?;
    if headers.len() > LINES {
        return Err(format!("it has more than {LINES} headers"));
    }
    match (*method, own) {
        ("CONNECT", _) => tunnel(target, &headers),
        (_, Some(own)) if target.starts_with('/') => {
            plain(method, &format!("http://{own}{target}"), &headers)
        }
        _ => plain(method, target, &headers),
    }
}

type Header<'a> = (String, &'a str);

/// A name in lower case, and a value without the blanks around it.
fn header(line: &str) -> Result<Header<'_>, String> {
    let (name, value) = line.split_once(':').ok_or("it has a header line without a colon")?;
    // A blank before the colon, or at the start of a folded line, makes it no token.
    if !is_token(name) {
        return Err("it has a header whose name is none".to_owned());
    }
    Ok((name.to_ascii_lowercase(), value.trim_matches([' ', '\t'])))
}

fn is_token(text: &str) -> bool {
    let fits = |it: u8| it.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&it);
    !text.is_empty() && text.bytes().all(fits)
}

fn tunnel(target: &str, headers: &[Header<'_>]) -> Result<RequestHead, String> {
    let (host, port) = authority(target)?;
    let port = port.ok_or("a tunnel needs a host and a port")?;
    if let Some(said) = header_value(headers)? {
        let (other, other_port) = authority(said)?;
        if other != host || other_port.is_some_and(|it| it != port) {
            return Err("its `Host` header names another host than its first line".to_owned());
        }
    }
    Ok(RequestHead {
        host,
        port,
        way: Way::Tunnel,
        rewritten: Vec::new(),
        body: BodyLength::Sized(0),
    })
}

fn plain(method: &str, target: &str, headers: &[Header<'_>]) -> Result<RequestHead, String> {
    let scheme = target.get(..7).filter(|it| it.eq_ignore_ascii_case("http://"));
    let rest = scheme.and_then(|it| target.get(it.len()..)).ok_or(
        "its address does not begin with `http://`; this is a proxy, and `https` goes through a tunnel",
    )?;
    if target.contains(['#', '\\']) || !target.is_ascii() {
        return Err("its address has characters that addresses do not have".to_owned());
    }
    let at = rest.find(['/', '?']).unwrap_or(rest.len());
    let (place, path) = rest.split_at(at);
    let (host, port) = authority(place)?;
    let port = port.unwrap_or(80);
    if let Some(said) = header_value(headers)? {
        let (other, other_port) = authority(said)?;
        if other != host || other_port.unwrap_or(80) != port {
            return Err("its `Host` header names another host than its first line".to_owned());
        }
    }
    let body = body(headers)?;
    let slash = if path.starts_with('/') { "" } else { "/" };
    let named = if port == 80 { host.to_string() } else { format!("{host}:{port}") };
    let mut out = format!("{method} {slash}{path} HTTP/1.1\r\nHost: {named}\r\n");
    let dropped = hop_by_hop(headers);
    for (name, value) in headers {
        if !OURS.contains(&name.as_str()) && !dropped.contains(name) {
            out.push_str(&format!("{name}: {value}\r\n"));
        }
    }
    // One request for each connection: what comes after it belongs to nobody.
    out.push_str("Connection: close\r\n\r\n");
    Ok(RequestHead { host, port, way: Way::Plain, rewritten: out.into_bytes(), body })
}

/// The headers that the `Connection` header names. Never those that say where the body ends.
fn hop_by_hop(headers: &[Header<'_>]) -> Vec<String> {
    let named = headers.iter().filter(|(name, _)| name == "connection");
    let names =
        named.flat_map(|(_, value)| value.split(',')).map(|it| it.trim().to_ascii_lowercase());
    names.filter(|it| it != "content-length" && it != "transfer-encoding").collect()
}

/// The host, and the port if one is written.
fn authority(text: &str) -> Result<(Host, Option<u16>), String> {
    let (host, port) = split_port(text).map_err(|err| err.to_string())?;
    if host.is_empty() {
        return Err("it names no host".to_owned());
    }
    Ok((Host::parse(host).map_err(|err| err.to_string())?, port))
}

/// What the `Host` header says; there may be one only.
fn header_value<'a>(headers: &[Header<'a>]) -> Result<Option<&'a str>, String> {
    single(headers, "host")
}

fn single<'a>(headers: &[Header<'a>], wanted: &str) -> Result<Option<&'a str>, String> {
    let mut found = headers.iter().filter(|(name, _)| name == wanted).map(|(_, value)| *value);
    let first = found.next();
    if found.next().is_some() {
        return Err(format!("it has two `{wanted}` headers"));
    }
    Ok(first)
}

fn body(headers: &[Header<'_>]) -> Result<BodyLength, String> {
    let length = single(headers, "content-length")?;
    let coding = single(headers, "transfer-encoding")?;
    match (length, coding) {
        (None, None) => Ok(BodyLength::Sized(0)),
        (None, Some(coding)) if coding.eq_ignore_ascii_case("chunked") => Ok(BodyLength::Chunked),
        (None, Some(_)) => Err("its body is in a form that is not `chunked`".to_owned()),
        (Some(_), Some(_)) => Err("it says twice how long its body is".to_owned()),
        (Some(length), None) => {
            let digits = !length.is_empty() && length.bytes().all(|it| it.is_ascii_digit());
            let length = length.parse().ok().filter(|_| digits);
            length.map(BodyLength::Sized).ok_or_else(|| "its length is no number".to_owned())
        }
    }
}
