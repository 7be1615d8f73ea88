//! A network that ends at the loopback interface, and the one listener that the caller serves.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};

use super::{Done, Failed, at, map_user};
use crate::child_spec::{ChildSpec, IdMaps};
use crate::kernel;
use crate::step::Step;

pub(super) fn build(spec: &ChildSpec, hand: Option<BorrowedFd<'_>>) -> Done {
    // A network that is joined has been made with it.
    if spec.join.is_none() {
        loopback()?;
    }
    let (Some(hand), Some(address)) = (hand, spec.proxy) else { return Ok(()) };
    let failed = at(Step::Listen);
    let listener = socket(SocketType::STREAM).map_err(&failed)?;
    rustix::net::bind(&listener, &address).map_err(&failed)?;
    rustix::net::listen(&listener, 128).map_err(&failed)?;
    hand_over(hand, &listener).map_err(at(Step::HandOver))
}

fn socket(kind: SocketType) -> rustix::io::Result<OwnedFd> {
    rustix::net::socket_with(AddressFamily::INET, kind, SocketFlags::CLOEXEC, None)
}

fn loopback() -> Done {
    let failed = at(Step::Loopback);
    let control = socket(SocketType::DGRAM).map_err(&failed)?;
    kernel::loopback_up(control.as_fd()).map_err(&failed)
}

/// A network that is wanted for later: whoever makes it shares descriptors with the caller, opens
/// the namespaces in which it is, and leaves. A namespace lasts for as long as somebody has it open.
pub(crate) struct NetworkOrder {
    /// For an ordinary user: what the user namespace maps that owns the network.
    pub(crate) maps: Option<IdMaps>,
    pub(crate) user: Option<OwnedFd>,
    pub(crate) network: Option<OwnedFd>,
    pub(crate) failed: Option<Failed>,
}

impl NetworkOrder {
    /// In a process that has just been made in new namespaces, and shares the caller's memory.
    pub(crate) fn fulfil(&mut self) {
        self.failed = self.open().err();
    }

    fn open(&mut self) -> Done {
        let failed = at(Step::Join);
        let open = |path| rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        if let Some(maps) = &self.maps {
            map_user(maps)?;
            self.user = Some(open(c"/proc/self/ns/user").map_err(&failed)?);
        }
        loopback()?;
        self.network = Some(open(c"/proc/self/ns/net").map_err(&failed)?);
        Ok(())
    }
}

/// Sends a descriptor through the caller's socket. A socket stays in the network namespace in
/// which it was made, so the caller then accepts connections from inside the sandbox.
pub(super) fn hand_over(hand: BorrowedFd<'_>, what: &OwnedFd) -> rustix::io::Result<()> {
    let fds = [what.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(&fds));
    let byte = [IoSlice::new(&[0])];
    rustix::net::sendmsg(hand, &byte, &mut ancillary, SendFlags::empty()).map(drop)
}
