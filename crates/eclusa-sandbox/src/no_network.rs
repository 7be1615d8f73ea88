//! The network that sandboxes share, where nothing can be enforced: there is none.

use std::convert::Infallible;
use std::io;
use std::net::TcpStream;
use std::os::fd::{BorrowedFd, OwnedFd};

use crate::capabilities::{HostCapabilities, Missing};
use crate::step::SandboxError;

/// A network that several sandboxes share. There is none.
#[derive(Debug, Clone)]
pub struct SharedNetwork(Infallible);

impl SharedNetwork {
    /// Refuses.
    pub fn new(capabilities: &HostCapabilities) -> Result<SharedNetwork, SandboxError> {
        let enforcement = capabilities.enforcement();
        Err(SandboxError::Unable { lacking: Missing::Namespaces, enforcement })
    }

    /// Refuses.
    pub fn from_descriptors(_: Vec<OwnedFd>) -> Result<SharedNetwork, SandboxError> {
        Err(SandboxError::Plan("there is no network here".to_owned()))
    }

    /// Connects to what listens on this port of it.
    pub fn connect(&self, _: u16) -> io::Result<TcpStream> {
        match self.0 {}
    }

    /// Its namespaces.
    #[must_use]
    pub fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        match self.0 {}
    }
}
