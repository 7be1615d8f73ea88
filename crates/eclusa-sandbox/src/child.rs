//! What happens between clone and exec, in a process that shares the caller's memory.
//!
//! INVARIANT: nothing here allocates, takes a lock, panics or drops anything of the caller's.
//! Whatever is needed is borrowed from the [`ChildSpec`]; descriptors live on this stack.

mod device;
mod files;
mod guardian;
pub(crate) mod mounts;
mod network;
pub(crate) mod overlay;
mod root;

use std::os::fd::{AsRawFd as _, BorrowedFd, RawFd};

use rustix::event::{PollFd, PollFlags};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, Signal};
use rustix::thread::{CapabilitySet, CapabilitySets, LinkNameSpaceType, move_into_link_name_space};

use crate::capabilities::Namespaces;
use crate::child_spec::{ChildSpec, IdMaps};
use crate::kernel;
use crate::step::Step;

pub(crate) use guardian::GuardianOrder;
pub(crate) use network::NetworkOrder;

/// What the child gets besides the spec: descriptors, all of them above 9.
pub(crate) struct ChildOrder<'a> {
    pub(crate) spec: &'a ChildSpec,
    pub(crate) argv: &'a [*const libc::c_char],
    pub(crate) env: &'a [*const libc::c_char],
    pub(crate) input: BorrowedFd<'a>,
    pub(crate) output: BorrowedFd<'a>,
    pub(crate) errors: BorrowedFd<'a>,
    /// Where the first process reports the end of the command.
    pub(crate) status: BorrowedFd<'a>,
    /// Where a failure is reported; it closes when everything went well.
    pub(crate) failure: BorrowedFd<'a>,
    /// Where descriptors are handed over.
    pub(crate) hand: Option<BorrowedFd<'a>>,
    /// Where a guardian is told whom it guards.
    pub(crate) guardian: Option<BorrowedFd<'a>>,
    pub(crate) init: RawFd,
}

/// A step that failed, and for which of several paths.
pub(crate) struct Failed {
    pub(crate) step: Step,
    which: u16,
    pub(crate) errno: Errno,
}

pub(crate) type Done = Result<(), Failed>;

/// For `map_err`: which step it was.
pub(crate) fn at(step: Step) -> impl Fn(Errno) -> Failed {
    move |errno| Failed { step, which: u16::MAX, errno }
}

/// For `map_err`: which step it was, and for which of several paths.
pub(crate) fn at_nth(step: Step, n: usize) -> impl Fn(Errno) -> Failed {
    move |errno| Failed { step, which: u16::try_from(n).unwrap_or(u16::MAX), errno }
}

/// Builds the sandbox around this process and becomes its first program. Never returns.
pub(crate) fn run(order: &ChildOrder<'_>) -> ! {
    if let Err(failed) = build(order) {
        let [low, high] = failed.which.to_le_bytes();
        let [a, b, c, d] = failed.errno.raw_os_error().to_le_bytes();
        let message = [failed.step.number(), low, high, a, b, c, d];
        let _ = rustix::io::write(order.failure, &message);
    }
    kernel::leave(126)
}

fn build(order: &ChildOrder<'_>) -> Done {
    let spec = order.spec;
    if let Some(procs) = &spec.cgroup {
        rustix::io::write(procs, b"0").map_err(at(Step::Cgroup))?;
    }
    // If memory runs out, the kernel ends a command before anybody else.
    let _ = write_to(c"/proc/self/oom_score_adj", b"1000");
    rustix::process::setsid().map_err(at(Step::Session))?;
    if let Some(guardian) = order.guardian {
        let group = rustix::process::getpid().as_raw_pid().to_ne_bytes();
        rustix::io::write(guardian, &group).map_err(at(Step::Guardian))?;
    }
    streams(order)?;
    if spec.namespaces == Namespaces::User && spec.join.is_none() {
        map_user(&spec.maps)?;
    }
    if let Some(shared) = &spec.join {
        let kind = Some(LinkNameSpaceType::Network);
        move_into_link_name_space(shared.network(), kind).map_err(at(Step::Join))?;
    }
    let mut filter = &spec.filter;
    if spec.namespaces != Namespaces::None {
        if mounts::build(spec, order.hand)? {
            filter = &spec.sockets_filter;
        }
        let _ = rustix::system::sethostname(b"sandbox");
    }
    if spec.network {
        network::build(spec, order.hand)?;
    }
    rustix::process::chdir(spec.cwd.as_c_str()).map_err(at(Step::Directory))?;
    for (n, (resource, most)) in spec.rlimits.iter().enumerate() {
        limit(*resource, *most).map_err(at_nth(Step::Rlimit, n))?;
    }
    confine(order, filter)?;
    let errno = kernel::execute(order.init, order.argv, order.env);
    Err(at(Step::Init)(errno))
}

/// Standard input is empty, output and error are one pipe, unless the command is talked to or has a
/// terminal; 3 is for the first process.
fn streams(order: &ChildOrder<'_>) -> Done {
    let failed = at(Step::Streams);
    rustix::stdio::dup2_stdin(order.input).map_err(&failed)?;
    rustix::stdio::dup2_stdout(order.output).map_err(&failed)?;
    rustix::stdio::dup2_stderr(order.errors).map_err(&failed)?;
    if order.spec.terminal.is_some() {
        rustix::process::ioctl_tiocsctty(order.input).map_err(&failed)?;
    }
    kernel::duplicate(order.status.as_raw_fd(), 3).map_err(&failed)
}

pub(crate) fn map_user(maps: &IdMaps) -> Done {
    write_to(c"/proc/self/setgroups", b"deny").map_err(at(Step::Groups))?;
    write_to(c"/proc/self/gid_map", &maps.gid).map_err(at(Step::UserMap))?;
    write_to(c"/proc/self/uid_map", &maps.uid).map_err(at(Step::UserMap))
}

/// Writes a short text to a file of the kernel's.
pub(crate) fn write_to(path: &std::ffi::CStr, text: &[u8]) -> rustix::io::Result<()> {
    let file = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, text).map(drop)
}

fn limit(resource: Resource, most: u64) -> rustix::io::Result<()> {
    // A limit that the caller is held to is not raised.
    let hard = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let most = Some(most.min(hard));
    rustix::process::setrlimit(resource, Rlimit { current: most, maximum: most })
}

/// Gives up everything that could be used against the caller, in an order in which each step still
/// may be taken.
fn confine(order: &ChildOrder<'_>, filter: &[libc::sock_filter]) -> Done {
    let spec = order.spec;
    kernel::new_session_keyring();
    drop_capabilities().map_err(at(Step::Capabilities))?;
    rustix::thread::set_no_new_privs(true).map_err(at(Step::NoNewPrivileges))?;
    if spec.namespaces == Namespaces::None {
        // Orphans come back to the first process, where they can be found.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    }
    if let Some(rules) = &spec.landlock {
        files::restrict(rules)?;
    }
    kernel::default_signals();
    kernel::close_on_exec_from(4).map_err(at(Step::Descriptors))?;
    stay_with_parent(order)?;
    if filter.is_empty() {
        return Ok(());
    }
    let listener = kernel::seccomp(filter, spec.holds).map_err(at(Step::Seccomp))?;
    match (listener, order.hand) {
        (None, _) => Ok(()),
        (Some(listener), Some(hand)) => {
            network::hand_over(hand, &listener).map_err(at(Step::HandOver))
        }
        (Some(_), None) => Err(at(Step::HandOver)(Errno::BADF)),
    }
}

fn drop_capabilities() -> rustix::io::Result<()> {
    for capability in 0..64 {
        if kernel::drop_from_bounding_set(capability).is_err() {
            break;
        }
    }
    let _ = rustix::thread::clear_ambient_capability_set();
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::set_capabilities(None, sets)
}

/// The sandbox dies with the thread that made it, unless it outlives that. If that is dead already, nobody reads failures.
fn stay_with_parent(order: &ChildOrder<'_>) -> Done {
    let failed = at(Step::Orphaned);
    if !order.spec.job {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(&failed)?;
    }
    let mut polled = [PollFd::from_borrowed_fd(order.failure, PollFlags::OUT)];
    let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
    rustix::event::poll(&mut polled, Some(&now)).map_err(&failed)?;
    let [polled] = polled;
    if polled.revents().contains(PollFlags::ERR) { Err(failed(Errno::PIPE)) } else { Ok(()) }
}
