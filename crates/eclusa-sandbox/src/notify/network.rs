//! The network of a command without a network namespace: connections to its proxy and to its own servers,
//! made here and put in the place of the command's socket. No address that the command names is ever
//! given to the kernel by the command itself.
//!
//! A socket of version 6 is for the loopback of version 4, by the addresses that stand for it: so whoever listens on
//! all addresses, which with many programs is a socket of version 6, is reached by either.

use std::{
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6},
    os::fd::OwnedFd,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec},
    io::Errno,
    net::{AddressFamily, SocketFlags, SocketType, sockopt},
};

use super::{
    SyscallAnswer,
    caller::Caller,
    kernel::{self, Call},
};
use crate::OwnServers;

/// The calls that say where a socket is, or leads.
pub(crate) const SOCKETS: [libc::c_long; 3] = [libc::SYS_connect, libc::SYS_bind, libc::SYS_listen];

/// How long a server of the command's own may take to have room for a caller.
const PATIENCE: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };

/// What a command may reach.
#[derive(Debug, Default)]
pub(crate) struct Reachable {
    /// Where its proxy listens, if it has one.
    proxy: Option<SocketAddrV4>,
    /// Its own servers, and those of the commands that share them.
    servers: OwnServers,
}

impl Reachable {
    pub(crate) fn new(proxy: Option<SocketAddrV4>, servers: OwnServers) -> Reachable {
        Reachable { proxy, servers }
    }

    /// Does what a call asks for, if it may be.
    pub(super) fn answer(&self, call: &Call, caller: &Caller, listener: &OwnedFd) -> SyscallAnswer {
        let done = match libc::c_long::from(call.number) {
            libc::SYS_connect => self.connect(call, caller, listener),
            libc::SYS_bind => self.bind(call, caller, listener),
            // A server listens from the moment at which it has an address.
            _ => match caller.socket(number(call)) {
                Ok(socket) if self.servers.has(socket.inode) => Ok(()),
                Ok(_) => Err(Errno::ACCESS),
                Err(errno) => Err(errno),
            },
        };
        done.map_or_else(SyscallAnswer::Fail, |()| SyscallAnswer::Done)
    }

    fn connect(&self, call: &Call, caller: &Caller, listener: &OwnedFd) -> rustix::io::Result<()> {
        let (place, named) = (caller.socket(number(call))?, address(call, caller)?);
        let to = named.loopback.ok_or(Errno::NETUNREACH)?;
        if self.proxy != Some(to) && !self.servers.listens(to) {
            return Err(Errno::CONNREFUSED);
        }
        let socket = tcp(named.family)?;
        match rustix::net::connect(&socket, &named.for_kernel(to)) {
            Err(Errno::INPROGRESS) => {
                let mut ready = [PollFd::new(&socket, PollFlags::OUT)];
                if rustix::event::poll(&mut ready, Some(&PATIENCE))? == 0 {
                    return Err(Errno::TIMEDOUT);
                }
                sockopt::socket_error(&socket)??;
            }
            connected => connected?,
        }
        put(&socket, &place, call, listener)
    }

    fn bind(&self, call: &Call, caller: &Caller, listener: &OwnedFd) -> rustix::io::Result<()> {
        let (place, named) = (caller.socket(number(call))?, address(call, caller)?);
        let at = named.loopback.ok_or(Errno::ADDRNOTAVAIL)?;
        let socket = tcp(named.family)?;
        sockopt::set_socket_reuseaddr(&socket, true)?;
        rustix::net::bind(&socket, &named.for_kernel(at))?;
        rustix::net::listen(&socket, 128)?;
        let bound = SocketAddr::try_from(rustix::net::getsockname(&socket)?)?;
        put(&socket, &place, call, listener)?;
        let bound = SocketAddrV4::new(*at.ip(), bound.port());
        self.servers.add(bound, rustix::fs::fstat(&socket)?.st_ino);
        Ok(())
    }
}

/// The first argument of a call, which is a descriptor.
#[expect(clippy::cast_possible_truncation, reason = "the kernel takes only the lower half, too")]
fn number(call: &Call) -> i32 {
    let [first, ..] = call.arguments;
    first as u32 as i32
}

/// An address that a call names.
struct NamedAddress {
    family: AddressFamily,
    /// Where it leads, if that is this machine: all addresses are the loopback.
    loopback: Option<SocketAddrV4>,
}

impl NamedAddress {
    /// The same place as a socket of this family takes it.
    fn for_kernel(&self, at: SocketAddrV4) -> SocketAddr {
        if self.family == AddressFamily::INET6 {
            SocketAddrV6::new(at.ip().to_ipv6_mapped(), at.port(), 0, 0).into()
        } else {
            at.into()
        }
    }
}

/// The address that a call names.
fn address(call: &Call, caller: &Caller) -> rustix::io::Result<NamedAddress> {
    let [_, at, length, ..] = call.arguments;
    let length = usize::try_from(length).unwrap_or(0).min(28);
    let bytes = caller.bytes(at, length).ok_or(Errno::FAULT)?;
    let [low, high, rest @ ..] = &bytes[..] else { return Err(Errno::INVAL) };
    let (family, port, ip) = match (i32::from(u16::from_ne_bytes([*low, *high])), rest) {
        (libc::AF_INET, [high, low, a, b, c, d, ..]) => {
            (AddressFamily::INET, [*high, *low], Some(Ipv4Addr::new(*a, *b, *c, *d)))
        }
        (libc::AF_INET6, [high, low, _, _, _, _, rest @ ..]) => {
            let bytes: &[u8; 16] = rest.first_chunk().ok_or(Errno::INVAL)?;
            let ip = Ipv6Addr::from(*bytes);
            let is_own = ip.is_loopback() || ip.is_unspecified();
            let ip = if is_own { Some(Ipv4Addr::LOCALHOST) } else { ip.to_ipv4_mapped() };
            (AddressFamily::INET6, [*high, *low], ip)
        }
        (libc::AF_INET | libc::AF_INET6, _) => return Err(Errno::INVAL),
        _ => return Err(Errno::AFNOSUPPORT),
    };
    let ip = ip.map(|it| if it.is_unspecified() { Ipv4Addr::LOCALHOST } else { it });
    let loopback = ip.filter(Ipv4Addr::is_loopback);
    let loopback = loopback.map(|it| SocketAddrV4::new(it, u16::from_be_bytes(port)));
    Ok(NamedAddress { family, loopback })
}

fn tcp(family: AddressFamily) -> rustix::io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    if family == AddressFamily::INET6 {
        sockopt::set_ipv6_v6only(&socket, false)?;
    }
    Ok(socket)
}

/// Puts a socket in the place of the caller's, which then waits as that did.
fn put(
    socket: &OwnedFd,
    place: &super::caller::Socket,
    call: &Call,
    listener: &OwnedFd,
) -> rustix::io::Result<()> {
    rustix::io::ioctl_fionbio(socket, place.nonblocking)?;
    kernel::put(listener, call.id, socket, number(call), place.close_on_exec)
}
