//! A running command: started, watched by a thread of its own, ended with everything it started.

mod pipes;
mod reach;
mod supervise;
mod survivors;

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{OnceLock, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketFlags, SocketType,
};
use rustix::pipe::PipeFlags;

use crate::caps::{Caps, Group};
use crate::child::Order;
use crate::clone::{self, Child};
use crate::ground::{Enforcement, Ground, Walls};
use crate::init;
use crate::notify::Mended;
use crate::output::Output;
use crate::plan::Plan;
use crate::recipe::Recipe;
use crate::step::{CellError, Step, trying};

pub(crate) use pipes::Ends;
pub use pipes::Pipes;
pub use reach::{Cancel, Sent};

/// A command that runs. Dropping it ends the command.
///
/// Everything happens in one thread, which lives as long as the command: the kernel ends a cell
/// when the thread that made it ends. An asynchronous caller waits in a blocking task.
#[derive(Debug)]
pub struct Cell {
    thread: Option<JoinHandle<Result<Exit, CellError>>>,
    cancel: Cancel,
    listener: Option<OwnedFd>,
    held: Option<OwnedFd>,
    enforcement: Enforcement,
    caps: Caps,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// What the command's own process left with.
    pub how: How,
    /// Why the cell ended it, if the cell did.
    pub ended: Option<Ended>,
    /// Time on the clock.
    pub wall: Duration,
    /// Processor time of all its processes.
    pub cpu: Duration,
    /// The most memory that one of its processes had.
    pub peak_memory: u64,
    /// What it wrote.
    pub output: Output,
    /// Directories that were renamed for it piece by piece.
    pub mended: Mended,
    /// What held it.
    pub enforcement: Enforcement,
    /// What its caps held for.
    pub caps: Caps,
}

/// What a process leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It ended by itself, with this code.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
}

/// Why a cell ended its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It took too long.
    Time,
    /// Somebody asked for it.
    Cancelled,
    /// It wrote too much.
    Output,
    /// It filled the disk.
    Disk,
}

impl Exit {
    /// Whether the command ended by itself, and well.
    #[must_use]
    pub fn success(&self) -> bool {
        self.how == How::Code(0) && self.ended.is_none()
    }
}

/// What the thread tells before the command runs.
type Begun = Result<Handed, CellError>;

/// What the child handed over.
#[derive(Default)]
struct Handed {
    listener: Option<OwnedFd>,
    held: Option<OwnedFd>,
}

impl Cell {
    /// Starts the command of a plan. `progress` gets all output as it comes, in the cell's thread,
    /// and must not block for long.
    pub fn spawn(
        plan: &Plan,
        ground: &Ground,
        progress: impl FnMut(&[u8]) + Send + 'static,
    ) -> Result<Cell, CellError> {
        Cell::begin(Recipe::build(plan, ground)?, plan, ground, progress)
    }

    /// Starts what a recipe says, which was made from this plan.
    fn begin(
        recipe: Recipe,
        plan: &Plan,
        ground: &Ground,
        progress: impl FnMut(&[u8]) + Send + 'static,
    ) -> Result<Cell, CellError> {
        let cancel = Cancel::new().map_err(trying("make an event descriptor"))?;
        let (tell, told) = mpsc::sync_channel::<Begun>(1);
        let enforcement = ground.enforcement();
        let caps = recipe.caps;
        let watch = supervise::Watch::of(plan, cancel.clone(), enforcement.clone());
        let thread = std::thread::Builder::new()
            .name("cell".into())
            .spawn(move || match Started::new(recipe) {
                Err(error) => {
                    let message = io::Error::other(error.to_string());
                    let _ = tell.send(Err(error));
                    Err(CellError::System { what: "start the command", source: message })
                }
                Ok((started, mut handed)) => {
                    let mender = watch.mend(&mut handed.held);
                    let _ = tell.send(Ok(handed));
                    drop(tell);
                    supervise::see_through(started, watch, progress, mender)
                }
            })
            .map_err(trying("start a thread"))?;
        let begun = told.recv().unwrap_or_else(|_| {
            let gone = io::Error::other("the thread of the cell is gone");
            Err(CellError::System { what: "start the command", source: gone })
        });
        let Handed { listener, held } = begun?;
        Ok(Cell { thread: Some(thread), cancel, listener, held, enforcement, caps })
    }

    /// Builds the cell of a plan and runs nothing in it.
    pub(crate) fn trial(plan: &Plan, ground: &Ground) -> Result<(), CellError> {
        let mut recipe = Recipe::build(plan, ground)?;
        recipe.argv.truncate(1);
        let (mut started, _) = Started::new(recipe)?;
        started.child.wait().map_err(trying("wait for the self-test")).map(drop)
    }

    /// A handle that ends the command, or sends it signals.
    #[must_use]
    pub fn canceller(&self) -> Cancel {
        self.cancel.clone()
    }

    /// What holds the command.
    #[must_use]
    pub fn enforcement(&self) -> &Enforcement {
        &self.enforcement
    }

    /// What the caps of the plan hold for.
    #[must_use]
    pub fn caps(&self) -> Caps {
        self.caps
    }

    /// The listener on the cell's loopback interface, if the plan names hosts. Whoever serves it
    /// is the command's only way to the network.
    pub fn take_listener(&mut self) -> Option<OwnedFd> {
        self.listener.take()
    }

    /// Where the calls of a plan with [`Hold::Writes`](crate::Hold) wait. They wait for ever if
    /// nobody answers them; when the listener is closed, they fail.
    pub fn take_held(&mut self) -> Option<OwnedFd> {
        self.held.take()
    }

    /// Waits for the end of the command and of everything it started.
    ///
    /// Calls that wait for an answer, and whose listener nobody took, fail from now on.
    pub fn wait(mut self) -> Result<Exit, CellError> {
        drop(self.held.take());
        self.join()
    }

    fn join(&mut self) -> Result<Exit, CellError> {
        let thread = self.thread.take().map(JoinHandle::join);
        let gone = || io::Error::other("the thread of the cell is gone");
        match thread {
            Some(Ok(exit)) => exit,
            _ => Err(CellError::System { what: "wait for the command", source: gone() }),
        }
    }
}

impl Drop for Cell {
    fn drop(&mut self) {
        if self.thread.is_some() {
            drop(self.held.take());
            self.cancel.cancel();
            let _ = self.join();
        }
    }
}

/// A command that has started: its first process, and the ends of its pipes.
struct Started {
    child: Child,
    /// Whether killing the first process kills all.
    namespace: bool,
    output: OwnedFd,
    status: OwnedFd,
    caps: Caps,
    group: Option<Group>,
}

/// The least descriptor that the child does not rearrange.
const HIGH: i32 = 10;

/// A descriptor above those that the child rearranges.
fn high(fd: OwnedFd) -> Result<OwnedFd, CellError> {
    if fd.as_raw_fd() >= HIGH {
        return Ok(fd);
    }
    rustix::io::fcntl_dupfd_cloexec(fd, HIGH).map_err(trying("duplicate a descriptor"))
}

/// The standard input of a command that nobody talks to. Opened once.
fn nothing() -> Result<BorrowedFd<'static>, CellError> {
    static NOTHING: OnceLock<OwnedFd> = OnceLock::new();
    if let Some(nothing) = NOTHING.get() {
        return Ok(nothing.as_fd());
    }
    let nothing = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        .map_err(trying("open /dev/null"))?;
    let nothing = high(nothing)?;
    Ok(NOTHING.get_or_init(|| nothing).as_fd())
}

fn pipe() -> Result<(OwnedFd, OwnedFd), CellError> {
    let (read, write) =
        rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(trying("make a pipe"))?;
    Ok((high(read)?, high(write)?))
}

impl Started {
    /// Starts the first process, and hands out what it handed over.
    fn new(mut recipe: Recipe) -> Result<(Started, Handed), CellError> {
        let (output, output_end) = pipe()?;
        let (status, status_end) = pipe()?;
        let (failure, failure_end) = pipe()?;
        // A large pipe, so that a fast writer isn't stopped at each 64 KiB.
        let _ = rustix::pipe::fcntl_setpipe_size(&output, supervise::CHUNK);
        let nothing = nothing()?;
        let init = init::program().map_err(trying("make the first program"))?;
        let hand = if recipe.listen || recipe.notify.is_some() { Some(hands()?) } else { None };
        let pointers = |strings: &[std::ffi::CString]| {
            let mut list: Vec<_> = strings.iter().map(|string| string.as_ptr()).collect();
            list.push(std::ptr::null());
            list
        };
        let (argv, env) = (pointers(&recipe.argv), pointers(&recipe.env));
        let order = Order {
            recipe: &recipe,
            argv: &argv,
            env: &env,
            input: recipe.ends.as_ref().map_or(nothing, |ends| ends.input.as_fd()),
            output: recipe.ends.as_ref().map_or(output_end.as_fd(), |ends| ends.output.as_fd()),
            errors: output_end.as_fd(),
            status: status_end.as_fd(),
            failure: failure_end.as_fd(),
            hand: hand.as_ref().map(|(_, theirs)| theirs.as_fd()),
            init: init.as_raw_fd(),
        };
        let child = clone::child(&order).map_err(|source| CellError::Step {
            step: Step::Clone,
            path: None,
            source,
        })?;
        drop((output_end, status_end, failure_end, recipe.ends.take()));
        let mut message = [0; 7];
        let read = rustix::io::read(&failure, &mut message).map_err(trying("hear of the child"))?;
        if read == message.len() {
            return Err(failed(message, &recipe));
        }
        let mut handed = Handed::default();
        if let Some((ours, _)) = &hand {
            if recipe.listen {
                handed.listener = Some(receive(ours)?);
            }
            if recipe.notify.is_some() {
                handed.held = Some(receive(ours)?);
            }
        }
        let namespace = recipe.walls != Walls::None;
        let (caps, group) = (recipe.caps, recipe.group.take());
        Ok((Started { child, namespace, output, status, caps, group }, handed))
    }
}

/// Two ends for handing a descriptor over.
fn hands() -> Result<(OwnedFd, OwnedFd), CellError> {
    let (ours, theirs) = rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )
    .map_err(trying("make a pair of sockets"))?;
    Ok((high(ours)?, high(theirs)?))
}

fn receive(from: &OwnedFd) -> Result<OwnedFd, CellError> {
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
    fd.ok_or_else(none)
}

/// What the child said about the step that failed.
fn failed([step, low, high, a, b, c, d]: [u8; 7], recipe: &Recipe) -> CellError {
    let source = io::Error::from_raw_os_error(i32::from_le_bytes([a, b, c, d]));
    let which = usize::from(u16::from_le_bytes([low, high]));
    match Step::from_number(step) {
        Some(step) => CellError::Step { step, path: recipe.path_of(step, which), source },
        None => CellError::System { what: "build the cell", source },
    }
}

impl Recipe {
    /// The path that a step was about.
    fn path_of(&self, step: Step, which: usize) -> Option<PathBuf> {
        let path = match step {
            Step::Bind | Step::Attach => self.binds.get(which).map(|bind| &bind.path),
            Step::Live => self.live.get(which).map(|live| &live.target),
            Step::Overlay => self.overlays.get(which).map(|overlay| &overlay.lower),
            Step::Directories => self.directories.get(which),
            Step::Hide => self.masks.get(which).map(|mask| &mask.path),
            Step::Directory => Some(&self.cwd),
            _ => None,
        };
        path.map(|path| {
            use std::os::unix::ffi::OsStrExt as _;
            PathBuf::from(std::ffi::OsStr::from_bytes(path.to_bytes()))
        })
    }
}
