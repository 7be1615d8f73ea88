//! A network that several sandboxes share: one loopback interface and nothing else, so that a later
//! command reaches the server that an earlier one started.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;

use crate::kernel;
use crate::step::{SandboxError, trying};

/// The ports of proxies: below those that the kernel gives out.
const FIRST_PORT: u16 = 10_000;
const PORTS: u16 = 20_000;

/// A loopback network for [`Plan::network`](crate::Plan::network). It lasts as long as somebody holds it: clones are the
/// same network.
#[derive(Debug, Clone)]
pub struct SharedNetwork(Arc<OpenNamespaces>);

/// Its namespaces, which last for as long as they are open here or somebody is in them.
#[derive(Debug)]
struct OpenNamespaces {
    /// The user namespace that owns the network, where there is one.
    user: Option<OwnedFd>,
    network: OwnedFd,
}

impl SharedNetwork {
    /// A network whose namespaces are open.
    pub(crate) fn from_namespaces(user: Option<OwnedFd>, network: OwnedFd) -> SharedNetwork {
        SharedNetwork(Arc::new(OpenNamespaces { user, network }))
    }

    /// Its namespaces, to be sent to another process.
    #[must_use]
    pub fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.user().into_iter().chain([self.network()]).collect()
    }

    pub(crate) fn user(&self) -> Option<BorrowedFd<'_>> {
        self.0.user.as_ref().map(OwnedFd::as_fd)
    }

    pub(crate) fn network(&self) -> BorrowedFd<'_> {
        self.0.network.as_fd()
    }

    /// Where the next proxy listens: each at an address and a port of its own, because those of commands
    /// that go on are still there, other processes choose too, and nobody can take it beforehand who
    /// cannot guess it.
    pub(crate) fn proxy_address(&self) -> Result<SocketAddrV4, SandboxError> {
        let [a, b, c, high, low] = kernel::random().map_err(trying("get random bytes"))?;
        let port = FIRST_PORT + u16::from_be_bytes([high, low]) % PORTS;
        Ok(SocketAddrV4::new(Ipv4Addr::new(127, 64 + a % 128, b, c), port))
    }
}
