//! What is said between the owner of a session and whoever asks it: one message and one answer, each bounded and
//! with its version, with descriptors beside them.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::PathBuf,
};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// The version of these messages. An owner lives longer than the program that started it.
pub(super) const VERSION: u32 = 4;
/// The longest message.
pub(super) const MAX_MESSAGE: usize = 64 << 10;
/// The most descriptors beside one.
const MAX_DESCRIPTORS: usize = 40;

/// What is read of a message first.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FrameHeader {
    /// The version.
    pub(super) v: u32,
    /// The version of the program.
    pub(super) program: String,
}

impl FrameHeader {
    pub(super) fn ours() -> FrameHeader {
        FrameHeader { v: VERSION, program: env!("CARGO_PKG_VERSION").to_owned() }
    }
}

/// What an owner is asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum Ask {
    /// The network of the session: its namespaces come with the answer.
    Network,
    /// To hold the network of a command that still runs: it comes with the message.
    Share,
    /// To hold this job. Its descriptors come with it: of the command, of its locks, of its network.
    Adopt { job: Box<JobAbout>, command: usize, locks: usize, network: usize },
    /// To end these jobs, or all. The answer comes when they have ended.
    End { jobs: Option<Vec<u64>> },
    /// To keep what this job has written to the workspace so far, as one run that a person can apply.
    Keep { job: u64 },
    /// To keep what this job has written since the last look, as a run of which rules can let a part pass.
    Offer { job: u64 },
    /// That rules have judged what was offered of this job.
    Judged { job: u64 },
    /// What its jobs see of the workspace: the mount of each comes with the answer.
    Views,
    /// To send a signal to a job.
    Signal { job: u64, signal: String },
    /// To end with everything it holds: the session is over.
    Over,
}

/// What an owner answers.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Answer {
    /// What is wrong, if anything is.
    #[serde(default)]
    pub(super) error: Option<String>,
    /// The number of the job that it holds now.
    #[serde(default)]
    pub(super) job: Option<u64>,
    /// How many paths of the workspace are kept.
    #[serde(default)]
    pub(super) kept: Option<usize>,
    /// What its jobs see, in the order of the descriptors.
    #[serde(default)]
    pub(super) views: Vec<ViewAbout>,
}

/// What is known of the view of a job besides its mount.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ViewAbout {
    /// Its number.
    pub(super) job: u64,
    /// The beginning of its command.
    pub(super) command: String,
    /// The call that started it.
    pub(super) call: Option<u64>,
    /// Its layer.
    pub(super) layer: PathBuf,
    /// The workspace.
    pub(super) root: PathBuf,
    /// When its layer began, as its filesystem tells the time.
    #[serde(default)]
    pub(super) began: String,
}

/// What is known of a job besides its descriptors.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobAbout {
    /// The command, cut to what is shown.
    pub(crate) command: String,
    /// The call that started it, in the log.
    pub(crate) call: Option<u64>,
    /// The workspace.
    pub(crate) root: PathBuf,
    /// Its first process.
    pub(crate) pid: i32,
    /// Whether the command itself had ended, and this is what it left.
    #[serde(default)]
    pub(crate) is_left: bool,
    /// The layer that it writes over the workspace.
    pub(crate) layer: Option<PathBuf>,
    /// When that layer began, as its filesystem tells the time.
    pub(crate) began: String,
    /// What is removed at its end.
    pub(crate) discard: Vec<PathBuf>,
    /// Where it writes to, as far as that is counted.
    #[serde(default)]
    pub(crate) written: Vec<PathBuf>,
    /// What it printed before anybody held it.
    #[serde(default)]
    pub(crate) early: String,
    /// What its session has as `/tmp`.
    #[serde(default)]
    pub(crate) tmp: Option<PathBuf>,
    /// Where renames of directories are helped.
    pub(crate) staged: Vec<PathBuf>,
    /// Its control group.
    pub(crate) group: Option<PathBuf>,
    /// Whether the mount of what it stages comes with it.
    #[serde(default)]
    pub(crate) mount: bool,
    /// The most memory that it may have, and by how much it may fill the disk.
    pub(crate) memory: Option<u64>,
    /// See there.
    pub(crate) disk: Option<u64>,
    /// The most processes that it may have.
    #[serde(default)]
    pub(crate) processes: Option<u32>,
}

/// A message as it goes over the wire.
#[derive(Serialize)]
struct Sent<'a, T> {
    #[serde(flatten)]
    header: FrameHeader,
    body: &'a T,
}

#[derive(Deserialize)]
struct FrameBody<T> {
    body: T,
}

/// Sends a message of ours.
pub(super) fn send<T: Serialize>(
    to: impl AsFd,
    body: &T,
    fds: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let bytes = serde_json::to_vec(&Sent { header: FrameHeader::ours(), body })?;
    if bytes.len() > MAX_MESSAGE || fds.len() > MAX_DESCRIPTORS {
        return Err(io::Error::other("the message is too long"));
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::Error::other("too many descriptors"));
    }
    sendmsg(to, &[IoSlice::new(&bytes)], &mut beside, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// A message that came, not yet read, and the descriptors beside it.
pub(super) struct Received {
    bytes: Vec<u8>,
    pub(super) fds: Vec<OwnedFd>,
}

/// Receives one message. `None`: there will be none.
pub(super) fn receive(from: impl AsFd) -> io::Result<Option<Received>> {
    let mut bytes = vec![0; MAX_MESSAGE];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let mut into = [IoSliceMut::new(&mut bytes)];
    let got = recvmsg(from, &mut into, &mut beside, RecvFlags::CMSG_CLOEXEC)?;
    let mut fds = Vec::new();
    for message in beside.drain() {
        if let RecvAncillaryMessage::ScmRights(more) = message {
            fds.extend(more);
        }
    }
    if got.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC) {
        return Err(io::Error::other(format!("the message is longer than {MAX_MESSAGE} bytes")));
    }
    if got.bytes == 0 {
        return Ok(None);
    }
    bytes.truncate(got.bytes);
    Ok(Some(Received { bytes, fds }))
}

impl Received {
    /// Who speaks which version, if it is not ours.
    pub(super) fn other_version(&self) -> io::Result<Option<FrameHeader>> {
        let header: FrameHeader = serde_json::from_slice(&self.bytes)?;
        Ok((header.v != VERSION).then_some(header))
    }

    /// What it says.
    pub(super) fn read<T: DeserializeOwned>(&self) -> io::Result<T> {
        Ok(serde_json::from_slice::<FrameBody<T>>(&self.bytes)?.body)
    }
}
