//! The network of a command without a network namespace: connections to its proxy and to its own servers,
//! made here and put in the place of the command's socket. No address that the command names is ever
//! given to the kernel by the command itself.

use std::{
    collections::HashMap,
    net::{Ipv4Addr, SocketAddrV4},
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

/// The calls that say where a socket is, or leads.
pub(crate) const SOCKETS: [libc::c_long; 3] = [libc::SYS_connect, libc::SYS_bind, libc::SYS_listen];

/// How long a server of the command's own may take to have room for a caller.
const PATIENCE: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };

/// What a command may reach.
#[derive(Debug, Default)]
pub(crate) struct Reachable {
    /// Where its proxy listens, if it has one.
    proxy: Option<SocketAddrV4>,
    /// Its own servers, by port: the number of the socket, by which it is known to be still the same.
    servers: HashMap<u16, u64>,
}

impl Reachable {
    pub(crate) fn new(proxy: Option<SocketAddrV4>) -> Reachable {
        Reachable { proxy, servers: HashMap::new() }
    }

    /// Does what a call asks for, if it may be.
    pub(super) fn answer(
        &mut self,
        call: &Call,
        caller: &Caller,
        listener: &OwnedFd,
    ) -> SyscallAnswer {
        let done = match libc::c_long::from(call.number) {
            libc::SYS_connect => self.connect(call, caller, listener),
            libc::SYS_bind => self.bind(call, caller, listener),
            // A server listens from the moment at which it has an address.
            _ => match caller.socket(number(call)) {
                Ok(socket) if self.servers.values().any(|it| *it == socket.inode) => Ok(()),
                Ok(_) => Err(Errno::ACCESS),
                Err(errno) => Err(errno),
            },
        };
        done.map_or_else(SyscallAnswer::Fail, |()| SyscallAnswer::Done)
    }

    fn connect(&self, call: &Call, caller: &Caller, listener: &OwnedFd) -> rustix::io::Result<()> {
        let (place, to) = (caller.socket(number(call))?, address(call, caller)?);
        if !to.ip().is_loopback() {
            return Err(Errno::NETUNREACH);
        }
        if self.proxy != Some(to) && !self.is_own(to.port()) {
            return Err(Errno::CONNREFUSED);
        }
        let socket = tcp()?;
        match rustix::net::connect(&socket, &to) {
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

    fn bind(&mut self, call: &Call, caller: &Caller, listener: &OwnedFd) -> rustix::io::Result<()> {
        let (place, at) = (caller.socket(number(call))?, address(call, caller)?);
        if !at.ip().is_loopback() {
            return Err(Errno::ADDRNOTAVAIL);
        }
        let socket = tcp()?;
        sockopt::set_socket_reuseaddr(&socket, true)?;
        rustix::net::bind(&socket, &at)?;
        rustix::net::listen(&socket, 128)?;
        let bound = SocketAddrV4::try_from(rustix::net::getsockname(&socket)?)?;
        put(&socket, &place, call, listener)?;
        self.servers.insert(bound.port(), rustix::fs::fstat(&socket)?.st_ino);
        Ok(())
    }

    /// Whether a server of the command listens at this port, and not somebody who came after it.
    fn is_own(&self, port: u16) -> bool {
        let Some(inode) = self.servers.get(&port) else { return false };
        let table = std::fs::read_to_string("/proc/thread-self/net/tcp").unwrap_or_default();
        table.lines().any(|line| {
            let mut words = line.split_whitespace().skip(1);
            let at = words.next().and_then(|it| it.split_once(':'));
            let at = at.and_then(|(_, it)| u16::from_str_radix(it, 16).ok());
            let listens = words.nth(1) == Some("0A");
            let number = words.nth(5).and_then(|it| it.parse().ok());
            at == Some(port) && listens && number == Some(*inode)
        })
    }
}

/// The first argument of a call, which is a descriptor.
#[expect(clippy::cast_possible_truncation, reason = "the kernel takes only the lower half, too")]
fn number(call: &Call) -> i32 {
    let [first, ..] = call.arguments;
    first as u32 as i32
}

/// The address that a call names. Every address of the machine is the loopback.
fn address(call: &Call, caller: &Caller) -> rustix::io::Result<SocketAddrV4> {
    let [_, at, length, ..] = call.arguments;
    let length = usize::try_from(length).unwrap_or(0).min(16);
    let bytes = caller.bytes(at, length).ok_or(Errno::FAULT)?;
    let [low, high, rest @ ..] = &bytes[..] else { return Err(Errno::INVAL) };
    if i32::from(u16::from_ne_bytes([*low, *high])) != libc::AF_INET {
        return Err(Errno::AFNOSUPPORT);
    }
    let [high, low, a, b, c, d, ..] = rest else { return Err(Errno::INVAL) };
    let ip = Ipv4Addr::new(*a, *b, *c, *d);
    let ip = if ip.is_unspecified() { Ipv4Addr::LOCALHOST } else { ip };
    Ok(SocketAddrV4::new(ip, u16::from_be_bytes([*high, *low])))
}

fn tcp() -> rustix::io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)
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
