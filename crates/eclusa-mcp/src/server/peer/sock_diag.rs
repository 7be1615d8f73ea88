//! Whose a connection is, as the kernel of Linux says when it is asked for that one (`sock_diag`).

use std::net::{IpAddr, SocketAddr};

use rustix::{
    io::Errno,
    net::{
        AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink::SOCK_DIAG, recv,
        send, socket_with,
    },
};

/// `SOCK_DIAG_BY_FAMILY`: the kind of the question and of its answer.
const BY_FAMILY: u16 = 20;
/// `TCP_ESTABLISHED`.
const ESTABLISHED: u8 = 1;
/// The header of a message, and a question (`inet_diag_req_v2`) with it, in bytes.
const HEADER: usize = 16;
const QUESTION: usize = HEADER + 56;
/// The first bytes of what names a socket (`inet_diag_sockid`): ports and addresses of both ends.
const ENDS: usize = 36;

/// The user of the socket between these two ends, seen from the first.
pub(super) fn user_of(local: SocketAddr, remote: SocketAddr) -> Option<u32> {
    let question = question(local, remote);
    let mut answer = [0; 512];
    let said = ask(&question, &mut answer).ok()?;
    user_in(answer.get(..said)?, question.get(HEADER + 8..)?.get(..ENDS)?)
}

/// Puts a question to the kernel, which has answered when it has taken it.
fn ask(question: &[u8], answer: &mut [u8]) -> Result<usize, Errno> {
    let (family, flags) = (AddressFamily::NETLINK, SocketFlags::CLOEXEC);
    let kernel = socket_with(family, SocketType::RAW, flags, Some(SOCK_DIAG))?;
    send(&kernel, question, SendFlags::empty())?;
    Ok(recv(&kernel, answer, RecvFlags::DONTWAIT)?.0)
}

/// The question for one connection.
fn question(local: SocketAddr, remote: SocketAddr) -> [u8; QUESTION] {
    let family = match local {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let (all, request, tcp) = (u32::MAX, 1u16, 6);
    let fields: [&[u8]; 12] = [
        &u32::try_from(QUESTION).unwrap_or_default().to_ne_bytes(),
        &BY_FAMILY.to_ne_bytes(),
        &request.to_ne_bytes(),
        // Its number, and who asks: the kernel knows.
        &[0; 8],
        &[u8::try_from(family.as_raw()).unwrap_or_default(), tcp, 0, 0],
        // In whichever state.
        &all.to_ne_bytes(),
        &local.port().to_be_bytes(),
        &remote.port().to_be_bytes(),
        &octets(local.ip()),
        &octets(remote.ip()),
        // On any interface.
        &[0; 4],
        // Without the socket's own number, which nobody knows yet.
        &[u8::MAX; 8],
    ];
    let mut bytes = fields.into_iter().flatten().copied();
    std::array::from_fn(|_| bytes.next().unwrap_or_default())
}

fn octets(ip: IpAddr) -> [u8; 16] {
    match ip {
        IpAddr::V4(ip) => {
            let [a, b, c, d] = ip.octets();
            [a, b, c, d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        }
        IpAddr::V6(ip) => ip.octets(),
    }
}

/// The user in an answer about the socket with these ends.
fn user_in(answer: &[u8], ends: &[u8]) -> Option<u32> {
    let number = |at: usize| answer.get(at..)?.first_chunk().map(|it| u32::from_ne_bytes(*it));
    let kind = answer.get(4..)?.first_chunk().map(|it| u16::from_ne_bytes(*it))?;
    // The kernel answers for whoever listens there when it knows no such connection.
    let same = answer.get(HEADER + 4..)?.get(..ENDS)? == ends;
    let state = *answer.get(HEADER + 1)?;
    let (user, file) = (number(HEADER + 64)?, number(HEADER + 68)?);
    // Whatever its program has closed counts as root's.
    (kind == BY_FAMILY && same && state == ESTABLISHED && file != 0).then_some(user)
}

#[cfg(test)]
mod tests;
