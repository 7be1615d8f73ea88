//! Which host a request says it is for, and which page it comes from: read strictly, because a page
//! that a browser was led to by another name must not get in (DNS rebinding).

use std::net::Ipv6Addr;

use hyper::{
    HeaderMap,
    header::{HOST, HeaderName, ORIGIN},
};

/// The names that this host has for its clients.
pub(super) struct HostNames(pub(super) Vec<String>);

impl HostNames {
    /// True when the request names this host, once, and comes from no page or from one of this
    /// host.
    pub(super) fn accept(&self, headers: &HeaderMap) -> bool {
        let host = match only(headers, &HOST) {
            Header::One(host) => authority(host).is_some_and(|it| self.has(it)),
            Header::None | Header::Bad => false,
        };
        let origin = match only(headers, &ORIGIN) {
            Header::None => true,
            Header::One(origin) => origin_host(origin).is_some_and(|it| self.has(it)),
            Header::Bad => false,
        };
        host && origin
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|it| it.eq_ignore_ascii_case(name))
    }
}

enum Header<'a> {
    None,
    One(&'a str),
    /// More than one, or one that is no text.
    Bad,
}

fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Header<'a> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (None, _) => Header::None,
        (Some(only), None) => only.to_str().map_or(Header::Bad, Header::One),
        (Some(_), Some(_)) => Header::Bad,
    }
}

/// The host of `host`, `host:port`, `[address]` or `[address]:port`, and of nothing else.
fn authority(text: &str) -> Option<&str> {
    let (host, rest) = match text.strip_prefix('[') {
        Some(text) => {
            let (host, rest) = text.split_once(']')?;
            host.parse::<Ipv6Addr>().ok()?;
            (host, rest)
        }
        None => match text.split_once(':') {
            Some((host, _)) => (host, text.get(host.len()..)?),
            None => (text, ""),
        },
    };
    let port = rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port);
    let plain = |it: u8| it.is_ascii_alphanumeric() || b"-._:".contains(&it);
    (port && !host.is_empty() && host.bytes().all(plain)).then_some(host)
}

fn is_port(text: &str) -> bool {
    text.bytes().all(|it| it.is_ascii_digit()) && text.parse::<u16>().is_ok()
}

fn origin_host(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"))?;
    authority(rest)
}

#[cfg(test)]
mod tests;
