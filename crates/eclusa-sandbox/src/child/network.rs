//! A network that ends at the loopback interface, and the one listener that the caller serves.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};

use super::{Done, at};
use crate::capabilities::Namespaces;
use crate::child_spec::ChildSpec;
use crate::kernel;
use crate::step::Step;

pub(super) fn build(spec: &ChildSpec, hand: Option<BorrowedFd<'_>>) -> Done {
    let socket =
        |kind| rustix::net::socket_with(AddressFamily::INET, kind, SocketFlags::CLOEXEC, None);
    if spec.join.is_none() {
        let control = socket(SocketType::DGRAM).map_err(at(Step::Loopback))?;
        kernel::loopback_up(control.as_fd()).map_err(at(Step::Loopback))?;
    }
    let (Some(hand), Some(address)) = (hand, spec.proxy) else { return Ok(()) };
    let failed = at(Step::Listen);
    let listener = socket(SocketType::STREAM).map_err(&failed)?;
    rustix::net::bind(&listener, &address).map_err(&failed)?;
    rustix::net::listen(&listener, 128).map_err(&failed)?;
    hand_over(hand, &listener).map_err(at(Step::HandOver))
}

/// Hands the namespaces over in which this process is: a network lasts as long as somebody has it.
pub(super) fn lend(spec: &ChildSpec, hand: Option<BorrowedFd<'_>>) -> Done {
    let failed = at(Step::HandOver);
    let Some(hand) = hand else { return Err(failed(Errno::BADF)) };
    let open = |path| rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    if spec.namespaces == Namespaces::User {
        hand_over(hand, &open(c"/proc/self/ns/user").map_err(&failed)?).map_err(&failed)?;
    }
    hand_over(hand, &open(c"/proc/self/ns/net").map_err(&failed)?).map_err(&failed)
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
