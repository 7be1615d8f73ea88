//! From a name to the addresses that may be connected to.

use std::{
    io,
    net::{IpAddr, SocketAddr},
};

use eclusa_net::{AddressError, judge_addresses};
use futures::future::BoxFuture;

use super::{Address, Host, HostRules, WebError};

/// Tells the addresses of a name.
pub trait Resolver: Send + Sync {
    /// All addresses of a name. Asked once for each hop; nobody asks again before connecting.
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// Asks the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            Ok(tokio::net::lookup_host((name, 0)).await?.map(|found| found.ip()).collect())
        })
    }
}

/// An address whose host was judged, with the places that were judged for it.
///
/// [`check`] is the only way to one, so that nothing can be connected to without it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    address: Address,
    places: Vec<SocketAddr>,
}

impl Checked {
    /// The address.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Where to connect, and nowhere else. Never empty.
    pub fn places(&self) -> &[SocketAddr] {
        &self.places
    }
}

/// Judges the host by the rules, resolves it once and judges every answer. One bad answer among
/// good ones is a no: an honest name has none.
pub async fn check(
    address: Address,
    rules: &HostRules,
    resolver: &dyn Resolver,
) -> Result<Checked, WebError> {
    rules.judge(&address)?;
    let host = address.host().to_string();
    let unresolved = |why: String| WebError::Unresolved { host: host.clone(), why };
    let ips = match address.host() {
        Host::Ip(ip) => vec![*ip],
        Host::Name(name) => {
            resolver.resolve(name).await.map_err(|err| unresolved(err.to_string()))?
        }
    };
    let allowed = |it| rules.allows_private(it);
    let judged = judge_addresses(ips, address.port(), allowed);
    let places = judged.map_err(|err| match err {
        AddressError::Special(ip, what) => WebError::Special { host: host.clone(), ip, what },
        AddressError::None | AddressError::TooMany => unresolved(err.to_string()),
    })?;
    Ok(Checked { address, places })
}
