//! From outside into the network of a session: a connection to what listens there.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};

use rustix::net::AddressFamily;

use crate::{clone, shared_network::SharedNetwork};

impl SharedNetwork {
    /// Connects to what listens on this port of it, from outside.
    pub fn connect(&self, port: u16) -> io::Result<TcpStream> {
        let try_at = |ip: IpAddr, family| {
            let socket = clone::socket_in(self.user(), self.network(), family)?;
            rustix::net::connect(&socket, &SocketAddr::from((ip, port)))?;
            Ok(socket.into())
        };
        try_at(Ipv4Addr::LOCALHOST.into(), AddressFamily::INET).or_else(|err| {
            try_at(Ipv6Addr::LOCALHOST.into(), AddressFamily::INET6).map_err(|_: io::Error| err)
        })
    }
}
