//! Hosts in words alone: who is meant by a text, and which patterns name them. Nothing here asks
//! a name server; which addresses a name has is the business of whoever connects.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::matcher::Holds;

/// Patterns over hosts, with exceptions.
///
/// A pattern is a host, `*.name` for all that is below a name but not the name itself, or `*` for
/// every host; `:port` may follow. Where a fit allows, a pattern without a port covers the usual
/// ports only; where it tightens, every port. Exceptions are read the other way.
#[derive(Debug, Clone)]
pub(crate) struct Domains {
    any: Vec<Domain>,
    but: Vec<Domain>,
    tightens: bool,
}

#[derive(Debug, Clone)]
struct Domain {
    pattern: Pattern,
    port: Option<u16>,
}

#[derive(Debug, Clone)]
enum Pattern {
    Everything,
    /// Begins with the dot, so that the name itself and its namesakes do not fit.
    Below(String),
    Exactly(Host),
}

/// Who is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    /// Lower case, without a final dot.
    Name(String),
    /// An IPv4 address that is dressed as IPv6 is the IPv4 address.
    Ip(IpAddr),
}

/// A host, and its port where that is not the usual one.
#[derive(Debug, PartialEq, Eq)]
struct Target {
    host: Host,
    port: Option<u16>,
}

impl Domains {
    /// Reads patterns; those that begin with `!` are exceptions. `tightens` says what a fit means
    /// for the call.
    pub(crate) fn new<S: AsRef<str>>(
        patterns: impl IntoIterator<Item = S>,
        tightens: bool,
    ) -> Result<Domains, String> {
        let (mut any, mut but) = (Vec::new(), Vec::new());
        for pattern in patterns {
            match pattern.as_ref().strip_prefix('!') {
                Some(exception) => but.push(Domain::read(exception)?),
                None => any.push(Domain::read(pattern.as_ref())?),
            }
        }
        match any.is_empty() {
            true => Err("there is no host here to match; write `*` for all hosts".to_owned()),
            false => Ok(Domains { any, but, tightens }),
        }
    }

    /// Whether a text names one of the hosts. What nobody can read is in doubt.
    pub(crate) fn fit(&self, text: &str) -> Holds {
        let Some(target) = Target::read(text) else { return Holds::Doubt };
        let fits = |it: &Domain, wide: bool| it.fits(&target, wide);
        let any = self.any.iter().any(|it| fits(it, self.tightens));
        (any && !self.but.iter().any(|it| fits(it, !self.tightens))).into()
    }
}

impl Domain {
    fn read(written: &str) -> Result<Domain, String> {
        let wrong = || {
            format!(
                "`{written}` is not a host; write `example.com`, `*.example.com` or `*`, with or \
                 without `:port`, and neither scheme nor path"
            )
        };
        if !written.is_ascii() {
            return Err(format!(
                "`{written}` has letters that are not ASCII; write the name as it is looked up, \
                 beginning with `xn--`"
            ));
        }
        let (host, port) = split_port(written).ok_or_else(wrong)?;
        if matches!(port, Some(80 | 443)) {
            // Who talks to a usual port does not say which: only the scheme of the address does.
            return Err(format!("`{written}` names a usual port; leave it out, it is meant then"));
        }
        let pattern = match (host, host.strip_prefix("*.")) {
            ("*", _) => Pattern::Everything,
            (_, Some(above)) => match read_host(above) {
                Some(Host::Name(name)) => Pattern::Below(format!(".{name}")),
                _ => return Err(wrong()),
            },
            (host, None) => Pattern::Exactly(read_host(host).ok_or_else(wrong)?),
        };
        Ok(Domain { pattern, port })
    }

    /// `wide`: without a port of its own it covers every port.
    fn fits(&self, target: &Target, wide: bool) -> bool {
        let port = match (self.port, &self.pattern) {
            (Some(port), _) => target.port == Some(port),
            (None, Pattern::Everything) => true,
            (None, _) => wide || target.port.is_none(),
        };
        port && match (&self.pattern, &target.host) {
            (Pattern::Everything, _) => true,
            (Pattern::Exactly(own), host) => own == host,
            (Pattern::Below(end), Host::Name(name)) => name.ends_with(end.as_str()),
            (Pattern::Below(_), Host::Ip(_)) => false,
        }
    }
}

impl Target {
    /// A host as tools name it: `example.com`, `example.com:8080`, `[::1]:80`, or an http or https
    /// address. Nothing that programs read in two ways is read at all.
    fn read(text: &str) -> Option<Target> {
        let schemes = [("http://", 80), ("https://", 443)];
        let scheme = schemes.into_iter().find_map(|(scheme, port)| {
            let (head, rest) = text.split_at_checked(scheme.len())?;
            head.eq_ignore_ascii_case(scheme).then_some((rest, port))
        });
        let (authority, usual) = match scheme {
            Some((rest, usual)) => (rest.split(['/', '?', '#']).next()?, Some(usual)),
            None => (text, None),
        };
        let (host, port) = split_port(authority)?;
        Some(Target { host: read_host(host)?, port: port.filter(|it| Some(*it) != usual) })
    }
}

/// A text without its port, and the port; nothing if there is a port that is none.
fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    let inside = text.rfind(']').unwrap_or(0);
    match text.rsplit_once(':') {
        Some((host, port)) if host.len() >= inside => {
            let plain = port.bytes().all(|it| it.is_ascii_digit());
            let port = port.parse().ok().filter(|port| plain && *port != 0)?;
            Some((host, Some(port)))
        }
        _ => Some((text, None)),
    }
}

fn read_host(text: &str) -> Option<Host> {
    if let Some(inside) = text.strip_prefix('[') {
        let ip: Ipv6Addr = inside.strip_suffix(']')?.parse().ok()?;
        return Some(Host::Ip(IpAddr::V6(ip).to_canonical()));
    }
    if let Ok(ip) = text.parse::<Ipv4Addr>() {
        return Some(Host::Ip(ip.into()));
    }
    let name = text.strip_suffix('.').unwrap_or(text);
    let proper = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_'))
    };
    // What ends in a number is an IPv4 address in another spelling, whatever it looks like.
    let last = name.rsplit('.').next()?;
    let digits = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    let number = digits(last) || last.starts_with("0x") || last.starts_with("0X");
    let fits = name.len() <= 253 && name.split('.').all(proper) && !number;
    fits.then(|| Host::Name(name.to_ascii_lowercase()))
}
