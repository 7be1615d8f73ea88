//! What every request must show and every answer carries: the exact host, our own page for
//! whatever writes, and headers that let a browser run nothing but our own script.

use hyper::{
    HeaderMap, Method, Response,
    header::{
        CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderName, HeaderValue,
        ORIGIN, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
    },
};

/// Nothing but our own script, style and requests; nobody frames the page; and the script makes
/// markup only where one policy of its own says so.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types eclusa";

/// The names and ports that the page is reached by, such as `localhost:8378`.
pub struct Guard {
    hosts: Vec<String>,
    origins: Vec<String>,
}

/// Why a request is not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It names another host, none or several.
    Host,
    /// It writes, and does not come from our own page.
    Origin,
    /// It writes, and is not JSON.
    Type,
}

impl Guard {
    /// For a server on this port of the loopback, and at these other addresses
    /// (`https://approvals.example`).
    pub fn new(port: u16, urls: &[String]) -> Guard {
        let mut hosts: Vec<String> =
            ["localhost", "127.0.0.1", "[::1]"].map(|it| format!("{it}:{port}")).into();
        let mut origins: Vec<String> = hosts.iter().map(|it| format!("http://{it}")).collect();
        for url in urls {
            let origin = url.trim_end_matches('/');
            origins.push(origin.to_owned());
            if let Some((_, host)) = origin.split_once("://") {
                hosts.push(host.to_owned());
            }
        }
        Guard { hosts, origins }
    }

    /// Checks that a request names a host of ours, and nothing else: what a program sends is
    /// signed, and comes from no page.
    pub fn check_host<'a>(&self, headers: &'a HeaderMap) -> Result<&'a str, Refusal> {
        let host = only(headers, &HOST).ok_or(Refusal::Host)?;
        match self.hosts.iter().any(|it| it.eq_ignore_ascii_case(host)) {
            true => Ok(host),
            false => Err(Refusal::Host),
        }
    }

    /// The same, and of what writes that our own page sends it.
    pub fn check(&self, method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
        let host = self.check_host(headers)?;
        if method == Method::GET || method == Method::HEAD {
            return Ok(());
        }
        let origin = only(headers, &ORIGIN).ok_or(Refusal::Origin)?;
        let fetched = HeaderName::from_static("sec-fetch-site");
        let same_site = match headers.contains_key(&fetched) {
            true => only(headers, &fetched) == Some("same-origin"),
            false => false,
        };
        // Our own page, at the very address that it was opened with.
        let same_host = origin.split_once("://").is_some_and(|it| it.1.eq_ignore_ascii_case(host));
        if !same_site || !same_host || !self.origins.iter().any(|it| it == origin) {
            return Err(Refusal::Origin);
        }
        match only(headers, &CONTENT_TYPE) {
            Some("application/json") => Ok(()),
            _ => Err(Refusal::Type),
        }
    }
}

/// The value of a header that is there once and is text.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (Some(only), None) => only.to_str().ok(),
        _ => None,
    }
}

/// Puts the headers of every answer on this one.
pub fn protect<T>(answer: &mut Response<T>) {
    let headers = answer.headers_mut();
    let fixed = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "interest-cohort=()"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests;
