//! Whether a connection on the loopback is of a program of this very user, as the kernel's table of
//! sockets says.

use std::{
    fs,
    net::{IpAddr, SocketAddr},
    os::unix::fs::MetadataExt,
};

/// How often the table is read. The kernel writes it piece by piece, and leaves lines out or repeats
/// them where other connections come and go meanwhile.
const LOOKS: usize = 5;

/// True when the socket at the other end of a loopback connection belongs to our own user. What
/// cannot be found out is a no.
pub(super) fn is_same_user(peer: SocketAddr, local: SocketAddr) -> bool {
    let Ok(own) = fs::metadata("/proc/self").map(|it| it.uid()) else { return false };
    let table = match peer.ip() {
        IpAddr::V4(ip) if ip.is_loopback() => "/proc/net/tcp",
        IpAddr::V6(ip) if ip.is_loopback() => "/proc/net/tcp6",
        _ => return false,
    };
    let look = || user_of(&fs::read_to_string(table).unwrap_or_default(), peer, local);
    (0..LOOKS).find_map(|_| look()) == Some(own)
}

/// The user of the socket between these two ends, seen from the first.
fn user_of(table: &str, local: SocketAddr, remote: SocketAddr) -> Option<u32> {
    let (local, remote) = (spelt(local), spelt(remote));
    let mut users = table.lines().skip(1).filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let ours = words.next()?.eq_ignore_ascii_case(&local)
            && words.next()?.eq_ignore_ascii_case(&remote);
        // State, queues, timer and retransmits stand before it.
        ours.then(|| words.nth(4)?.parse().ok()).flatten()
    });
    let user = users.next()?;
    // Two of them would be a table that we do not understand.
    users.next().is_none().then_some(user)
}

/// An address as the table has it: words of four bytes in the machine's order, and the port.
fn spelt(address: SocketAddr) -> String {
    let bytes: Vec<u8> = match address.ip() {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let words = bytes.chunks_exact(4).map(|it| {
        let word = u32::from_ne_bytes(it.try_into().unwrap_or_default());
        format!("{word:08X}")
    });
    format!("{}:{:04X}", words.collect::<String>(), address.port())
}

#[cfg(test)]
mod tests;
