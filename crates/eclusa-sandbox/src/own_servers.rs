//! Servers that commands have started on the machine's loopback, where there is no network namespace.

use std::{
    collections::HashMap,
    net::SocketAddrV4,
    sync::{Arc, Mutex},
};

#[cfg(enforced)]
use std::sync::PoisonError;

/// Servers for [`Plan::servers`](crate::Plan::servers): a command reaches those that it has started, and those of the
/// commands that have the same. Clones are the same servers.
#[derive(Debug, Clone, Default)]
#[cfg_attr(not(enforced), expect(dead_code, reason = "no command starts one"))]
pub struct OwnServers(Arc<Mutex<HashMap<SocketAddrV4, u64>>>);

#[cfg(enforced)]
impl OwnServers {
    /// From so many on those that are gone are forgotten.
    const MANY: usize = 256;

    /// One more, by its address, because others may listen at the same port of another one, and by the number of its
    /// socket, by which it is known to be still the same.
    pub(crate) fn add(&self, at: SocketAddrV4, socket: u64) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= Self::MANY {
            let there = listeners();
            all.retain(|at, socket| there.contains(&(at.port(), *socket)));
        }
        all.insert(at, socket);
    }

    /// Whether a socket is that of one of them.
    pub(crate) fn has(&self, socket: u64) -> bool {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.values().any(|it| *it == socket)
    }

    /// Whether one of them listens there, and not somebody who came after it.
    pub(crate) fn listens(&self, at: SocketAddrV4) -> bool {
        let socket = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&at).copied();
        socket.is_some_and(|it| listeners().contains(&(at.port(), it)))
    }
}

/// The ports of the machine that somebody listens at, and the numbers of the sockets.
#[cfg(enforced)]
fn listeners() -> std::collections::HashSet<(u16, u64)> {
    let tables = ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"];
    let tables = tables.map(|it| std::fs::read_to_string(it).unwrap_or_default());
    let of_line = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        let port = u16::from_str_radix(words.next()?.split_once(':')?.1, 16).ok()?;
        let listens = words.nth(1) == Some("0A");
        let socket = words.nth(5)?.parse().ok()?;
        listens.then_some((port, socket))
    };
    tables.iter().flat_map(|it| it.lines()).filter_map(of_line).collect()
}
