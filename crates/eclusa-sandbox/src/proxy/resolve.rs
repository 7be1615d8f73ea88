//! From a name to the addresses that may be connected to.

use std::{
    io,
    net::{IpAddr, SocketAddr, ToSocketAddrs},
};

use eclusa_net::{AddressError, Host, judge_addresses};

use super::{Proxy, Refusal};

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
        let unresolved = |why: String| Refusal::Unresolved { host: host.to_string(), why };
        let ips = match host {
            Host::Ip(ip) => vec![*ip],
            Host::Name(name) => {
                self.resolver.resolve(name).map_err(|err| unresolved(err.to_string()))?
            }
        };
        let private = |it| self.private.contains(&it);
        judge_addresses(ips, port, private).map_err(|err| match err {
            AddressError::Special(address, what) => {
                Refusal::Special { host: host.to_string(), address, what }
            }
            AddressError::None | AddressError::TooMany => unresolved(err.to_string()),
        })
    }
}
