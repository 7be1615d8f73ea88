//! A network that several sandboxes share: one loopback interface and nothing else, so that a later
//! command reaches the server that an earlier one started.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use crate::PROXY_PORT;

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
    /// Numbers the proxies that listen in it.
    next: AtomicU16,
}

impl SharedNetwork {
    /// A network whose namespaces are open.
    pub(crate) fn from_namespaces(user: Option<OwnedFd>, network: OwnedFd) -> SharedNetwork {
        SharedNetwork(Arc::new(OpenNamespaces { user, network, next: AtomicU16::new(1) }))
    }

    pub(crate) fn user(&self) -> Option<BorrowedFd<'_>> {
        self.0.user.as_ref().map(OwnedFd::as_fd)
    }

    pub(crate) fn network(&self) -> BorrowedFd<'_> {
        self.0.network.as_fd()
    }

    /// Where the next proxy listens: each at an address of its own, because those of commands that
    /// go on in the background are still there.
    pub(crate) fn proxy_address(&self) -> SocketAddrV4 {
        let [high, low] = self.0.next.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        SocketAddrV4::new(Ipv4Addr::new(127, 83, high, low), PROXY_PORT)
    }
}
