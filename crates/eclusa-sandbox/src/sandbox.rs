//! A running command: started, watched by a thread of its own, ended with everything it started.

mod answering;
mod disk;
mod handing;
mod leases;
mod left;
mod listening;
mod memory;
mod pipes;
mod process_count;
mod supervise;
mod survivors;
mod watch;

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{OnceLock, mpsc};
use std::thread::JoinHandle;

use rustix::fs::{Mode, OFlags};
use rustix::pipe::PipeFlags;

use crate::capabilities::{Enforcement, HostCapabilities, Namespaces};
use crate::child::ChildOrder;
use crate::child_spec::{ChildSpec, c_path};
use crate::clone::{self, Child, high};
use crate::exit::Exit;
use crate::guardian::Guardian;
use crate::init;
use crate::network_pool;
use crate::notify::{OwnSide, Reachable};
use crate::plan::{Keep, Limits, Plan};
use crate::proxy::ProxyListener;
use crate::reach::Cancel;
use crate::resource_caps::{Caps, Group};
use crate::step::{SandboxError, Step, not_cloned, trying};
use answering::Answering;
use handing::{receive, socket_pair};
use leases::Leases;
pub use left::{LeftParts, LeftRunning, while_stopped, while_stopped_until};
pub use listening::{listening_ports, processes_of};

/// A command that runs. Dropping it ends the command.
///
/// Everything happens in one thread, which lives as long as the command: the kernel ends a sandbox
/// when the thread that made it ends. An asynchronous caller waits in a blocking task.
#[derive(Debug)]
pub struct Sandbox {
    thread: Option<JoinHandle<Result<Watched, SandboxError>>>,
    cancel: Cancel,
    listener: Option<ProxyListener>,
    mount: Option<OwnedFd>,
    group: i32,
    enforcement: Enforcement,
    caps: Caps,
}

/// What the thread has seen at its end.
struct Watched {
    exit: Exit,
    /// What goes on, for somebody else to watch.
    left: Option<LeftRunning>,
}

/// What the thread tells before the command runs: what was handed over, and its first process.
type Begun = Result<(HandedFds, i32), SandboxError>;

/// What the child handed over.
struct HandedFds {
    mount: Option<OwnedFd>,
    listener: Option<ProxyListener>,
    held: Option<OwnedFd>,
}

impl Sandbox {
    /// Starts the command of a plan. `progress` gets all output as it comes, in the sandbox's thread,
    /// and must not block for long.
    pub fn spawn(
        plan: &Plan,
        capabilities: &HostCapabilities,
        progress: impl FnMut(&[u8]) + Send + 'static,
    ) -> Result<Sandbox, SandboxError> {
        Sandbox::begin(ChildSpec::build(plan, capabilities)?, plan, capabilities, progress)
    }

    /// Starts what a spec says, which was made from this plan.
    fn begin(
        mut spec: ChildSpec,
        plan: &Plan,
        capabilities: &HostCapabilities,
        progress: impl FnMut(&[u8]) + Send + 'static,
    ) -> Result<Sandbox, SandboxError> {
        let cancel = Cancel::new().map_err(trying("make an event descriptor"))?;
        let (tell, told) = mpsc::sync_channel::<Begun>(1);
        let enforcement = capabilities.enforcement();
        let caps = spec.caps;
        if spec.join.is_none() && capabilities.join {
            spec.join = network_pool::take(spec.namespaces);
        }
        let leases = Leases::take(&spec.leased)?;
        let own = spec.holds && spec.namespaces == Namespaces::None;
        let own = own
            .then(|| {
                OwnSide::new(
                    &spec.own,
                    Reachable::new(spec.proxy, plan.servers.clone()),
                    spec.own_tmp.take(),
                )
            })
            .transpose();
        let own = own.map_err(trying("open what may be written"))?;
        let watch = watch::Watch::new(plan, cancel.clone(), enforcement.clone(), leases, own);
        let thread = std::thread::Builder::new()
            .name("sandbox".into())
            .spawn(move || match StartedCommand::new(spec) {
                Err(error) => {
                    let message = io::Error::other(error.to_string());
                    let _ = tell.send(Err(error));
                    Err(SandboxError::System { what: "start the command", source: message })
                }
                Ok((started, mut handed)) => {
                    let answering = Answering::new(handed.held.take());
                    let _ = tell.send(Ok((handed, started.child.pid)));
                    drop(tell);
                    supervise::supervise(started, watch, progress, answering)
                }
            })
            .map_err(trying("start a thread"))?;
        let begun = told.recv().unwrap_or_else(|_| {
            let gone = io::Error::other("the thread of the sandbox is gone");
            Err(SandboxError::System { what: "start the command", source: gone })
        });
        let (HandedFds { mount, listener, .. }, group) = begun?;
        Ok(Sandbox { thread: Some(thread), cancel, listener, mount, group, enforcement, caps })
    }

    /// Builds the sandbox of a plan and runs nothing in it. Where its capabilities open sockets of the file system,
    /// those that the caller has bound in a directory must be refused.
    pub(crate) fn trial(
        plan: &Plan,
        capabilities: &HostCapabilities,
        sockets: Option<&Path>,
    ) -> Result<(), SandboxError> {
        let mut spec = ChildSpec::build(plan, capabilities)?;
        if spec.root.is_some() {
            spec.probed_sockets = sockets.map(c_path).transpose()?;
        }
        spec.argv.truncate(1);
        let (mut started, _) = StartedCommand::new(spec)?;
        started.child.wait().map_err(trying("wait for the self-test")).map(drop)
    }

    /// A handle that ends the command, or sends it signals.
    #[must_use]
    pub fn canceller(&self) -> Cancel {
        self.cancel.clone()
    }

    /// The process group of the command: the number of its first process, which leads it.
    #[must_use]
    pub fn group(&self) -> i32 {
        self.group
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

    /// The listener on the sandbox's loopback interface, if the plan names hosts. Whoever serves it
    /// is the command's only way to the network.
    pub fn take_listener(&mut self) -> Option<ProxyListener> {
        self.listener.take()
    }

    /// The mount of the first staged directory, if the plan hands it over: what is written through it, the
    /// command sees.
    pub fn take_mount(&mut self) -> Option<OwnedFd> {
        self.mount.take()
    }

    /// Waits for the end of the command and of everything it started.
    pub fn wait(self) -> Result<Exit, SandboxError> {
        Ok(self.wait_or_leave()?.0)
    }

    /// Waits for the end of the command. What it has left running comes with it, if the plan lets that
    /// outlive the command: dropped, it ends.
    pub fn wait_or_leave(mut self) -> Result<(Exit, Option<LeftRunning>), SandboxError> {
        let Watched { exit, mut left } = self.join()?;
        if let Some(left) = &mut left {
            left.mount = self.mount.take();
        }
        Ok((exit, left))
    }

    /// Leaves the command running, for somebody else to watch. The error means that it has ended, or may not
    /// outlive whoever started it.
    pub fn let_go(mut self) -> Result<LeftRunning, Box<(Option<Exit>, SandboxError)>> {
        self.cancel.let_go();
        let over = || SandboxError::Plan("the command cannot be left running".to_owned());
        match self.join() {
            Ok(Watched { left: Some(mut left), .. }) => {
                left.mount = self.mount.take();
                Ok(left)
            }
            Ok(Watched { exit, left: None }) => Err(Box::new((Some(exit), over()))),
            Err(error) => Err(Box::new((None, error))),
        }
    }

    /// Watches what somebody else has left running, in a thread of this process.
    pub fn adopt(
        left: LeftRunning,
        limits: &Limits,
        keep: Keep,
        progress: impl FnMut(&[u8]) + Send + 'static,
    ) -> Result<Sandbox, SandboxError> {
        let cancel = Cancel::new().map_err(trying("make an event descriptor"))?;
        let (group, caps) = (left.pid(), left.caps);
        let mut left = left;
        let mount = left.mount.take();
        let watch = watch::Watch::adopted(&left, limits, keep, cancel.clone())?;
        let (started, answering) = left.taken_over();
        let thread = std::thread::Builder::new()
            .name("sandbox".into())
            .spawn(move || supervise::supervise(started, watch, progress, answering))
            .map_err(trying("start a thread"))?;
        let enforcement = Enforcement::Full;
        let thread = Some(thread);
        Ok(Sandbox { thread, cancel, listener: None, mount, group, enforcement, caps })
    }

    fn join(&mut self) -> Result<Watched, SandboxError> {
        let thread = self.thread.take().map(JoinHandle::join);
        let gone = || io::Error::other("the thread of the sandbox is gone");
        match thread {
            Some(Ok(watched)) => watched,
            _ => Err(SandboxError::System { what: "wait for the command", source: gone() }),
        }
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.cancel.cancel();
            let _ = self.join();
        }
    }
}

/// A command that has started: its first process, and the ends of its pipes.
struct StartedCommand {
    /// Goes before the first process does.
    guardian: Option<Guardian>,
    child: Child,
    /// Whether killing the first process kills all.
    namespace: bool,
    output: OwnedFd,
    status: OwnedFd,
    caps: Caps,
    group: Option<Group>,
}

/// The standard input of a command that nobody talks to. Opened once.
fn dev_null() -> Result<BorrowedFd<'static>, SandboxError> {
    static NOTHING: OnceLock<OwnedFd> = OnceLock::new();
    if let Some(nothing) = NOTHING.get() {
        return Ok(nothing.as_fd());
    }
    let nothing = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        .map_err(trying("open /dev/null"))?;
    let nothing = high(nothing)?;
    Ok(NOTHING.get_or_init(|| nothing).as_fd())
}

fn pipe() -> Result<(OwnedFd, OwnedFd), SandboxError> {
    let (read, write) =
        rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(trying("make a pipe"))?;
    Ok((high(read)?, high(write)?))
}

impl StartedCommand {
    /// Starts the first process, and hands out what it handed over.
    fn new(mut spec: ChildSpec) -> Result<(StartedCommand, HandedFds), SandboxError> {
        let (output, output_end) = pipe()?;
        let (status, status_end) = socket_pair()?;
        let (failure, failure_end) = pipe()?;
        // A large pipe, so that a fast writer isn't stopped at each 64 KiB.
        let _ = rustix::pipe::fcntl_setpipe_size(&output, supervise::CHUNK);
        let nothing = dev_null()?;
        let init = init::program().map_err(trying("make the first program"))?;
        let listens = spec.proxy.is_some() && spec.listener.is_none();
        let handed = listens || spec.holds || spec.hands_mount;
        let hand = if handed { Some(socket_pair()?) } else { None };
        let pointers = |strings: &[std::ffi::CString]| {
            let mut list: Vec<_> = strings.iter().map(|string| string.as_ptr()).collect();
            list.push(std::ptr::null());
            list
        };
        let (argv, env) = (pointers(&spec.argv), pointers(&spec.env));
        let terminal = spec.terminal.as_ref().map(OwnedFd::as_fd);
        let ends = spec.ends.as_ref();
        let namespace = spec.namespaces != Namespaces::None;
        let guardian = if namespace { None } else { Some(Guardian::start(pipe()?, nothing)?) };
        let order = ChildOrder {
            spec: &spec,
            argv: &argv,
            env: &env,
            input: spec.input().unwrap_or(nothing),
            output: terminal.or(ends.map(|it| it.output.as_fd())).unwrap_or(output_end.as_fd()),
            errors: terminal.unwrap_or(output_end.as_fd()),
            status: status_end.as_fd(),
            failure: failure_end.as_fd(),
            hand: hand.as_ref().map(|(_, theirs)| theirs.as_fd()),
            guardian: guardian.as_ref().map(Guardian::pipe),
            init: init.as_raw_fd(),
        };
        let child = clone::child(&order).map_err(not_cloned)?;
        drop((output_end, status_end, failure_end, spec.ends.take(), spec.terminal.take()));
        // Who holds the other end too would wait for a child that is dead.
        let hand = hand.map(|(ours, _)| ours);
        let mut message = [0; 7];
        let read = rustix::io::read(&failure, &mut message).map_err(trying("hear of the child"))?;
        if read == message.len() {
            return Err(failed(message, &spec));
        }
        let (mut listener, mut held, mut mount) = (spec.listener.take(), None, None);
        if let Some(ours) = &hand {
            if spec.hands_mount {
                mount = Some(receive(ours)?);
            }
            if listens {
                listener = Some(receive(ours)?);
            }
            if spec.holds {
                held = Some(receive(ours)?);
            }
        }
        let listener = listener.map(|it| ProxyListener::new(it, spec.secret.take()));
        let handed = HandedFds { mount, listener, held };
        let (caps, group) = (spec.caps, spec.group.take());
        Ok((StartedCommand { guardian, child, namespace, output, status, caps, group }, handed))
    }
}

/// What the child said about the step that failed.
fn failed([step, low, high, a, b, c, d]: [u8; 7], spec: &ChildSpec) -> SandboxError {
    let source = io::Error::from_raw_os_error(i32::from_le_bytes([a, b, c, d]));
    let which = usize::from(u16::from_le_bytes([low, high]));
    match Step::from_number(step) {
        Some(step) => SandboxError::Step { step, path: spec.path_of(step, which), source },
        None => SandboxError::System { what: "build the sandbox", source },
    }
}

impl ChildSpec {
    /// The path that a step was about.
    fn path_of(&self, step: Step, which: usize) -> Option<PathBuf> {
        let path = match step {
            Step::Root => self.root.as_ref()?.parts.get(which).map(|part| &part.path),
            Step::Bind => self.binds.get(which).map(|bind| &bind.source),
            Step::Attach => self.binds.get(which).map(|bind| &bind.target),
            Step::Live => self.live.get(which).map(|live| &live.target),
            Step::Seal => self.sealed.get(which),
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
