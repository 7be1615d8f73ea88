//! From a name to the addresses that may be connected to.

use std::{
    io,
    net::{IpAddr, SocketAddr, ToSocketAddrs},
};

use super::{Host, Proxy, Refusal, range::special};

/// The longest list of addresses that one name may have.
const MOST: usize = 64;

/// Tells the addresses of a name.
pub trait Resolver: Send + Sync {
    /// All addresses of a name. Asked once for each attempt; nobody asks again before connecting.
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// Asks the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok((name, 0).to_socket_addrs()?.map(|it| it.ip()).collect())
    }
}

impl Proxy {
    /// Resolves a host once and judges every answer. One bad answer among good ones is a no: an
    /// honest name has none.
    pub(super) fn places(&self, host: &Host, port: u16) -> Result<Vec<SocketAddr>, Refusal> {
        let ips = match host {
            Host::Ip(ip) => vec![*ip],
            Host::Name(name) => {
                let unresolved = |why: String| Refusal::Unresolved { host: name.clone(), why };
                let ips = self.resolver.resolve(name).map_err(|err| unresolved(err.to_string()))?;
                if ips.is_empty() {
                    return Err(unresolved("it has no address".to_owned()));
                }
                if ips.len() > MOST {
                    return Err(unresolved(format!("it has more than {MOST} addresses")));
                }
                ips
            }
        };
        let mut places = Vec::with_capacity(ips.len());
        for ip in ips {
            let place = SocketAddr::new(ip.to_canonical(), port);
            if let Some(what) = special(ip)
                && !self.private.contains(&place)
            {
                return Err(Refusal::Special { host: host.to_string(), address: ip, what });
            }
            if !places.contains(&place) {
                places.push(place);
            }
        }
        Ok(places)
    }
}
