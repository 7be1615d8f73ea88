//! A plan, checked and turned into everything that the child needs: strings that end in NUL,
//! opened descriptors, a filter. The child shares the caller's memory and may not allocate.

mod env;
mod mount_table;
mod places;
mod readable;
mod root_layout;
mod supervised_calls;

use std::ffi::{CString, OsStr};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use libc::{c_long, sock_filter};
use rustix::process::Resource;

use crate::capabilities::{HostCapabilities, Missing, Namespaces};
use crate::filter::{self, Boundary};
use crate::init::JOB;
use crate::notify::OwnTmp;
use crate::plan::{Outlives, Plan};
use crate::proxy::ProxySecret;
use crate::resource_caps::{Caps, Group};
use crate::shared_network::SharedNetwork;
use crate::step::{SandboxError, trying};
use env::env;
use places::Places;
use supervised_calls::{held, own_tmp, writes};

pub(crate) use root_layout::{MAX_EARLY, NO_SOCKETS, PartKind, RootLayout, RootPart};

/// The most directories of one kind, because the child keeps their descriptors on its stack.
pub(crate) const MAX_PATHS: usize = 48;

/// The command's ends of the pipes that it is talked to through.
pub(crate) struct PipeEnds {
    pub(crate) input: OwnedFd,
    pub(crate) output: OwnedFd,
}

/// Everything that the child needs.
pub(crate) struct ChildSpec {
    pub(crate) namespaces: Namespaces,
    pub(crate) maps: IdMaps,
    pub(crate) overlays: Vec<Overlay>,
    pub(crate) live: Vec<LiveDir>,
    /// Directories in layers that nothing is written to.
    pub(crate) sealed: Vec<CString>,
    /// Bound at their own place: writable ones, and those read beneath a private directory.
    pub(crate) binds: Vec<Bind>,
    /// Made inside the private directories, parents first.
    pub(crate) directories: Vec<CString>,
    pub(crate) masks: Vec<Mask>,
    /// Hidden files inside what may be written that no mount can cover.
    pub(crate) leased: Vec<PathBuf>,
    /// What is mounted at `/tmp`; without it a new one in memory.
    pub(crate) tmp: Option<CString>,
    pub(crate) tmp_options: CString,
    pub(crate) var_tmp: bool,
    pub(crate) proc: bool,
    pub(crate) pid_max: Option<Vec<u8>>,
    /// Whether the kernel counts process numbers for each namespace (since 6.14).
    pub(crate) own_pid_max: bool,
    pub(crate) network: bool,
    /// Where the proxy listens, if there is one.
    pub(crate) proxy: Option<SocketAddrV4>,
    /// Whether the mount of the first overlay is handed over.
    pub(crate) hands_mount: bool,
    /// The word of the proxy, where others could find it.
    pub(crate) secret: Option<ProxySecret>,
    /// The proxy's listener, where it is made outside.
    pub(crate) listener: Option<OwnedFd>,
    /// The network that it joins, instead of a new one.
    pub(crate) join: Option<SharedNetwork>,
    pub(crate) cwd: CString,
    pub(crate) rlimits: Vec<(Resource, u64)>,
    pub(crate) landlock: Option<Rules>,
    pub(crate) filter: Vec<sock_filter>,
    /// The root that is tried first, in which sockets of the file system may be used.
    pub(crate) root: Option<RootLayout>,
    /// The filter that holds in it instead of the other.
    pub(crate) sockets_filter: Vec<sock_filter>,
    /// For the self-test: where the caller has bound sockets that must be refused in it.
    pub(crate) probed_sockets: Option<CString>,
    /// Whether it outlives the thread that makes it.
    pub(crate) job: bool,
    /// Whether the filter has calls that go to a supervisor.
    pub(crate) holds: bool,
    /// Without namespaces: what the command may write, for that supervisor.
    pub(crate) own: Vec<PathBuf>,
    /// Without namespaces: what stands in the place of `/tmp`, for a command that names it.
    pub(crate) own_tmp: Option<OwnTmp>,
    /// Where the child enters its control group.
    pub(crate) cgroup: Option<OwnedFd>,
    pub(crate) group: Option<Group>,
    pub(crate) caps: Caps,
    pub(crate) argv: Vec<CString>,
    pub(crate) env: Vec<CString>,
    /// The terminal that the command has.
    pub(crate) terminal: Option<OwnedFd>,
    /// Standard input and output of a command that is talked to.
    pub(crate) ends: Option<PipeEnds>,
    /// Standard input of one that is not.
    input: Option<OwnedFd>,
}

/// What `/proc/self/uid_map` and `gid_map` of a new user namespace get: the caller alone.
pub(crate) struct IdMaps {
    pub(crate) uid: Vec<u8>,
    pub(crate) gid: Vec<u8>,
}

impl IdMaps {
    pub(crate) fn of_caller() -> IdMaps {
        let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
        IdMaps {
            uid: format!("{uid} {uid} 1\n").into_bytes(),
            gid: format!("{gid} {gid} 1\n").into_bytes(),
        }
    }
}

pub(crate) struct Overlay {
    pub(crate) lower: CString,
    /// What covers it, the uppermost first.
    pub(crate) covers: Vec<CString>,
    pub(crate) upper: CString,
    pub(crate) work: CString,
}

/// A directory beneath a staged one, found without following links.
pub(crate) struct LiveDir {
    pub(crate) root: CString,
    pub(crate) beneath: CString,
    pub(crate) target: CString,
}

pub(crate) struct Bind {
    pub(crate) source: CString,
    pub(crate) target: CString,
    pub(crate) writable: bool,
    /// Whether it is left out where there is no place for it.
    pub(crate) optional: bool,
}

pub(crate) struct Mask {
    pub(crate) path: CString,
    pub(crate) directory: bool,
}

/// What Landlock lets through.
pub(crate) struct Rules {
    pub(crate) version: u32,
    pub(crate) read: Vec<CString>,
    /// Where directories may be listed, and nothing else.
    pub(crate) list: Vec<CString>,
    pub(crate) write: Vec<CString>,
    /// Whether TCP is refused too, for want of a network namespace.
    pub(crate) no_tcp: bool,
}

/// The least descriptor that the child does not rearrange.
pub(crate) const HIGH: i32 = 10;

/// A path as the kernel takes it.
pub(crate) fn c_path(path: &Path) -> Result<CString, SandboxError> {
    c_string(path.as_os_str())
}

/// A descriptor as the child needs it: above those that it rearranges.
fn high(descriptor: &OwnedFd) -> Result<OwnedFd, SandboxError> {
    rustix::io::fcntl_dupfd_cloexec(descriptor, HIGH).map_err(trying("duplicate a descriptor"))
}

fn c_string(text: &OsStr) -> Result<CString, SandboxError> {
    CString::new(text.as_bytes())
        .map_err(|_| SandboxError::Plan(format!("`{}` contains a NUL byte", text.display())))
}

impl ChildSpec {
    /// Checks the plan against what the machine can do, and builds what the child needs.
    pub(crate) fn build(
        plan: &Plan,
        capabilities: &HostCapabilities,
    ) -> Result<ChildSpec, SandboxError> {
        demand(plan, capabilities)?;
        let namespaces = capabilities.namespaces;
        let mut places = Places::new(plan)?;
        let network = namespaces != Namespaces::None;
        let join = plan.network.clone().filter(|_| network);
        let own_tmp = own_tmp(plan, capabilities, &places);
        let held = held(plan, capabilities, own_tmp.as_ref());
        let objects = own_tmp.is_some();
        let wanted = plan.proxy || !plan.hosts.is_empty();
        // Without a network of its own the command is led to a listener on the machine's loopback.
        let reaches = !network && held.contains(&libc::SYS_connect);
        let listener = if wanted && reaches { Some(listener()?) } else { None };
        let proxy = match (&listener, &join) {
            (Some((_, address)), _) => Some(*address),
            (None, Some(shared)) if wanted => Some(shared.proxy_address()?),
            (None, None) if wanted && network => {
                Some(SocketAddrV4::new(Ipv4Addr::LOCALHOST, crate::PROXY_PORT))
            }
            _ => None,
        };
        // Nobody else is in a network of its own.
        let shared = proxy.is_some() && (listener.is_some() || join.is_some());
        let secret = if shared {
            let random = crate::kernel::random().map_err(trying("get random bytes"))?;
            Some(ProxySecret::new(random))
        } else {
            None
        };
        let tmp = places.tmp.as_deref().filter(|_| !network);
        let env = env(plan, proxy.map(|it| (it, secret.as_ref())), tmp)?;
        let own_pid_max = kernel_is_at_least((6, 14));
        let group = Group::new(plan)?;
        let root = match capabilities.opens_sockets() && !places.shows_sockets() {
            true => RootLayout::new(namespaces).ok(),
            false => None,
        };
        let root = root.map(|it| it.with(&plan.made)).transpose()?;
        if root.is_none() {
            places.drop_made();
        }
        Ok(ChildSpec {
            namespaces,
            maps: IdMaps::of_caller(),
            overlays: places.overlays()?,
            live: places.live()?,
            sealed: places.sealed()?,
            binds: places.binds()?,
            directories: places.directories()?,
            masks: places.masks()?,
            leased: if network { Vec::new() } else { places.leased()? },
            tmp: places.tmp.as_deref().map(c_path).transpose()?,
            tmp_options: c_string(OsStr::new(&format!("mode=1777,size={}", plan.limits.tmp)))?,
            var_tmp: std::fs::symlink_metadata("/var/tmp").is_ok_and(|at| at.is_dir()),
            proc: capabilities.proc,
            pid_max: plan.limits.processes.map(|most| most.max(301).to_string().into_bytes()),
            own_pid_max,
            network,
            proxy,
            secret,
            hands_mount: network && plan.hands_mount && !plan.stage.is_empty(),
            listener: listener.map(|(listener, _)| listener),
            join,
            cwd: c_path(&places.cwd)?,
            rlimits: rlimits(plan, namespaces),
            landlock: match capabilities.landlock {
                0 => None,
                version => Some(places.rules(plan, version, namespaces)?),
            },
            filter: match capabilities.seccomp {
                true => seccomp(plan, capabilities, &held, Opens { sockets: false, objects }),
                false => Vec::new(),
            },
            sockets_filter: match root {
                Some(_) => seccomp(plan, capabilities, &held, Opens { sockets: true, objects }),
                None => Vec::new(),
            },
            root,
            probed_sockets: None,
            job: network && plan.outlives == Outlives::All,
            holds: !held.is_empty(),
            own: if network { Vec::new() } else { places.own() },
            own_tmp,
            cgroup: group.as_ref().map(Group::entrance).transpose()?,
            group,
            caps: Caps::new(plan, namespaces, own_pid_max),
            argv: argv(plan, network)?,
            env,
            terminal: plan.terminal.as_deref().map(high).transpose()?,
            ends: None,
            input: plan.input.as_deref().map(high).transpose()?,
        })
    }

    /// The standard input of the command, if it has one.
    pub(crate) fn input(&self) -> Option<BorrowedFd<'_>> {
        let ends = self.ends.as_ref().map(|it| &it.input);
        self.terminal.as_ref().or(ends).or(self.input.as_ref()).map(|it| it.as_fd())
    }
}

/// Refuses a plan that wants more than there is: nothing is ever weakened silently.
fn demand(plan: &Plan, capabilities: &HostCapabilities) -> Result<(), SandboxError> {
    let enforcement = capabilities.enforcement();
    let lacking = if enforcement == crate::Enforcement::None {
        capabilities.missing().into_iter().next()
    } else {
        capabilities.missing().into_iter().find(|missing| {
            let staged = *missing == Missing::Staging && !plan.stage.is_empty();
            staged || !plan.may_lack.contains(missing)
        })
    };
    lacking.map_or(Ok(()), |lacking| Err(SandboxError::Unable { lacking, enforcement }))
}

/// A listener on the machine's loopback, at a port that is free.
fn listener() -> Result<(OwnedFd, SocketAddrV4), SandboxError> {
    let failed = |error| trying("make a listener for the proxy")(error);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    match listener.local_addr().map_err(failed)? {
        SocketAddr::V4(address) => Ok((listener.into(), address)),
        SocketAddr::V6(_) => Err(failed(std::io::ErrorKind::AddrNotAvailable.into())),
    }
}

/// What may be opened besides files.
#[derive(Clone, Copy)]
struct Opens {
    /// With namespaces: sockets of the file system.
    sockets: bool,
    /// Without: semaphores and shared memory, by a supervisor.
    objects: bool,
}

fn seccomp(
    plan: &Plan,
    capabilities: &HostCapabilities,
    held: &[c_long],
    opens: Opens,
) -> Vec<sock_filter> {
    let boundary = match capabilities.namespaces {
        Namespaces::None => {
            let version = capabilities.landlock;
            // Where they are held it is known whose they are.
            let writes = writes(plan) || held.contains(&libc::SYS_fchmod);
            let network = held.contains(&libc::SYS_connect);
            Boundary::Landlock { version, writes, network, objects: opens.objects }
        }
        Namespaces::User | Namespaces::Root => Boundary::Namespaces { sockets: opens.sockets },
    };
    filter::sandbox(boundary, held)
}

/// What holds for each process. The number of processes counts the user's others too, unless the
/// user namespace has its own count.
fn rlimits(plan: &Plan, namespaces: Namespaces) -> Vec<(Resource, u64)> {
    let limits = &plan.limits;
    let cpu = limits.cpu.map(|cpu| cpu.as_secs().max(1));
    let processes = limits.processes.filter(|_| namespaces == Namespaces::User).map(u64::from);
    [
        (Resource::Core, Some(0)),
        (Resource::Cpu, cpu),
        (Resource::Fsize, limits.file),
        (Resource::Nproc, processes),
    ]
    .into_iter()
    .filter_map(|(resource, most)| most.map(|most| (resource, most)))
    .collect()
}

/// The name of the first process, then the command.
fn argv(plan: &Plan, namespaces: bool) -> Result<Vec<CString>, SandboxError> {
    let Some(program) = plan.argv.first() else {
        return Err(SandboxError::Plan("no program to run".into()));
    };
    if !Path::new(program).is_absolute() {
        let program = program.display();
        return Err(SandboxError::Plan(format!("program `{program}` is not an absolute path")));
    }
    let job = namespaces && plan.outlives == Outlives::All;
    let mut argv = vec![if job { JOB } else { c"sandbox-init" }.to_owned()];
    for argument in &plan.argv {
        argv.push(c_string(argument)?);
    }
    Ok(argv)
}

fn kernel_is_at_least(wanted: (u32, u32)) -> bool {
    let uname = rustix::system::uname();
    let release = uname.release().to_string_lossy();
    let mut numbers = release.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    numbers.next().zip(numbers.next()).is_some_and(|version| version >= wanted)
}
