//! Whether a connection on the loopback is of a program of this very user.

use std::net::SocketAddr;

use rustix::process::geteuid;

#[cfg(target_os = "linux")]
mod sock_diag;
#[cfg(test)]
mod tests;

#[cfg(target_os = "linux")]
use sock_diag::user_of;

/// True when the socket at the other end of a loopback connection belongs to our own user. What
/// cannot be found out is a no.
pub(super) fn is_same_user(peer: SocketAddr, local: SocketAddr) -> bool {
    peer.ip().is_loopback() && user_of(peer, local) == Some(geteuid().as_raw())
}

/// Other systems are not asked.
#[cfg(not(target_os = "linux"))]
fn user_of(_: SocketAddr, _: SocketAddr) -> Option<u32> {
    None
}
