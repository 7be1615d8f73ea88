//! Handing descriptors from a sandbox to whoever made it.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketFlags, SocketType,
};

use crate::clone::high;
use crate::step::{SandboxError, trying};

/// Two ends for handing a descriptor over.
pub(super) fn socket_pair() -> Result<(OwnedFd, OwnedFd), SandboxError> {
    let (ours, theirs) = rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )
    .map_err(trying("make a pair of sockets"))?;
    Ok((high(ours)?, high(theirs)?))
}

pub(super) fn receive(from: &OwnedFd) -> Result<OwnedFd, SandboxError> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let mut into = [io::IoSliceMut::new(&mut byte)];
    let flags = RecvFlags::CMSG_CLOEXEC;
    rustix::net::recvmsg(from, &mut into, &mut ancillary, flags)
        .map_err(trying("receive a descriptor"))?;
    let fd = ancillary.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    let none = || trying("receive a descriptor")(io::Error::other("none was sent"));
    // The child rearranges the low ones, and may be given this one.
    high(fd.ok_or_else(none)?)
}
