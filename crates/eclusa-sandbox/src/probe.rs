//! The self-test: what this machine can do is found by doing it.

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::capabilities::{HostCapabilities, Missing, Namespaces, PartRefusal, StagingMethod};
use crate::child_spec::RootLayout;
use crate::kernel;
use crate::layer_places;
use crate::network_pool;
use crate::plan::{Plan, Staging};
use crate::sandbox::Sandbox;
use crate::small_text::small_text;
use crate::step::{SandboxError, Step};

/// Finds out what this machine can hold a command to, in some milliseconds. `state` is where the
/// layers of staged commands will be: whether they work depends on its filesystem. Two directories
/// are made there and removed.
#[must_use]
pub fn probe(state: &Path) -> HostCapabilities {
    find(Search { workspace: None, places: vec![state.to_owned()], refused: None })
}

/// The same for the layers over a workspace, which may lie in other places where `state` cannot carry
/// them. That it can be written is needed all the same: what is kept for undo lies there.
pub(crate) fn probe_workspace(state: &Path, workspace: &Path) -> HostCapabilities {
    let mut search = Search { workspace: Some(workspace), places: Vec::new(), refused: None };
    match ProbeLayers::directories(state) {
        Ok(_) => search.places = layer_places::candidates(state, workspace),
        Err(error) => search.refuse(&error),
    }
    find(search)
}

fn find(search: Search<'_>) -> HostCapabilities {
    let mut capabilities = kernel_features();
    for namespaces in [Namespaces::Root, Namespaces::User] {
        if namespaces == Namespaces::Root && !rustix::process::geteuid().is_root() {
            continue;
        }
        if let Some(found) = with_namespaces(&mut capabilities, namespaces, search.clone()) {
            return found;
        }
    }
    in_place(capabilities)
}

/// The places that are left to be tried for layers, and what was said to the first.
#[derive(Clone)]
struct Search<'a> {
    /// What the layers will lie over.
    workspace: Option<&'a Path>,
    places: Vec<PathBuf>,
    refused: Option<PartRefusal>,
}

impl Search<'_> {
    fn refuse(&mut self, error: &SandboxError) {
        self.refused.get_or_insert_with(|| error.refusing(Missing::Staging));
    }

    /// The next place, best first.
    fn next(&mut self) -> Option<PathBuf> {
        (!self.places.is_empty()).then(|| self.places.remove(0))
    }
}

/// True when the level is more than `none` by what the kernel says of itself, which takes a few system
/// calls. Where somebody else confines this process the kernel's word is not enough. Otherwise [`probe`] finds
/// it out.
#[must_use]
pub fn surely_holds_something() -> bool {
    let features = kernel_features();
    features.landlock > 0 && features.seccomp && !kernel::is_filtered() && !is_confined()
}

/// Whether a profile of AppArmor or SELinux holds this process, or the kernel executes nothing that lies in
/// memory, as the first process of a sandbox does.
fn is_confined() -> bool {
    let label = small_text(Path::new("/proc/thread-self/attr/current")).unwrap_or_default();
    let label = label.trim_end_matches(['\0', '\n']);
    let is_free =
        label.is_empty() || label.starts_with("unconfined") || label.ends_with("(unconfined)");
    let executes =
        small_text(Path::new("/proc/sys/vm/memfd_noexec")).is_none_or(|it| it.trim() != "2");
    !(is_free && executes)
}

/// What the kernel says of itself; whether it lets this process use it is found by trying.
pub(crate) fn kernel_features() -> HostCapabilities {
    let known = kernel::seccomp_knows(libc::SECCOMP_RET_ERRNO);
    HostCapabilities {
        namespaces: Namespaces::None,
        overlay: false,
        layers: None,
        join: false,
        proc: false,
        landlock: kernel::landlock_version(),
        seccomp: known,
        notify: known && kernel::seccomp_knows(libc::SECCOMP_RET_USER_NOTIF),
        sockets: Err("there are no namespaces".to_owned()),
        refusals: Vec::new(),
    }
}

/// What there is with namespaces, if there are namespaces. What fails is left out, and the rest
/// tried again.
fn with_namespaces(
    capabilities: &mut HostCapabilities,
    namespaces: Namespaces,
    mut search: Search<'_>,
) -> Option<HostCapabilities> {
    let layers = search.next();
    if layers.is_none() && search.refused.is_none() {
        let text = "no place for layers lies outside the workspace".to_owned();
        let part = Missing::Staging;
        search.refused =
            Some(PartRefusal { part, errno: None, text, unstarted: false, is_workspace: false });
    }
    let overlay = layers.is_some();
    let mut with = HostCapabilities {
        namespaces,
        overlay,
        layers,
        join: true,
        proc: true,
        sockets: RootLayout::new(namespaces).map(drop),
        ..capabilities.clone()
    };
    loop {
        if let (None, Some(refusal)) = (&with.layers, search.refused.take()) {
            with.overlay = false;
            with.refused(refusal);
        }
        let error = match trial(&with, search.workspace) {
            Ok(()) => return Some(with),
            Err(error) => error,
        };
        let refused = match step_of(&error) {
            Some(Step::Seccomp | Step::HandOver) if with.notify => {
                with.notify = false;
                with.refused(error.refusing(Missing::Seccomp));
                continue;
            }
            Some(Step::Root | Step::Sockets | Step::EnterRoot) if with.sockets.is_ok() => {
                with.sockets = Err(error.to_string());
                continue;
            }
            // Then every command has a network of its own.
            Some(Step::Join | Step::Clone) if with.join => {
                with.join = false;
                continue;
            }
            Some(Step::Proc | Step::Processes) if with.proc => Missing::FreshProc,
            Some(Step::Overlay | Step::Hide) | None if with.overlay => {
                search.refuse(&error);
                let last = with.layers.take();
                with.layers = search.next();
                if with.layers.is_none() && search.workspace.is_some() {
                    // Over a directory of their own they may work there.
                    let alone = HostCapabilities { layers: last, ..with.clone() };
                    let is_workspace = trial(&alone, None).is_ok();
                    search.refused.iter_mut().for_each(|it| it.is_workspace = is_workspace);
                }
                continue;
            }
            _ => {
                capabilities.refused(error.refusing(Missing::Namespaces));
                return None;
            }
        };
        with = with.without(refused);
        with.refused(error.refusing(refused));
    }
}

/// What there is without namespaces.
fn in_place(mut capabilities: HostCapabilities) -> HostCapabilities {
    while capabilities.seccomp || capabilities.landlock > 0 {
        let Err(error) = trial(&capabilities, None) else { break };
        let refused = match step_of(&error) {
            Some(Step::Seccomp | Step::HandOver) if capabilities.notify => {
                capabilities.notify = false;
                capabilities.refused(error.refusing(Missing::Seccomp));
                continue;
            }
            Some(Step::Landlock) => Missing::Landlock,
            _ => {
                capabilities.landlock = 0;
                capabilities.refused(error.refusing(Missing::Landlock));
                Missing::Seccomp
            }
        };
        capabilities = capabilities.without(refused);
        capabilities.refused(error.refusing(refused));
    }
    capabilities
}

fn step_of(error: &SandboxError) -> Option<Step> {
    match error {
        SandboxError::Step { step, .. } => Some(*step),
        _ => None,
    }
}

/// Runs a sandbox that does nothing.
fn trial(capabilities: &HostCapabilities, workspace: Option<&Path>) -> Result<(), SandboxError> {
    if capabilities.staging_method() == StagingMethod::Refuse {
        return Ok(());
    }
    let layers = capabilities.layers().map(ProbeLayers::new).transpose()?;
    let mut plan = Plan::new(vec!["/".into()], "/");
    plan.may_lack = capabilities.missing();
    plan.stage.extend(layers.as_ref().map(|it| it.staging(workspace)));
    if capabilities.namespaces == Namespaces::None {
        // So that there is something for a supervisor to look at.
        plan.write.push("/dev/null".into());
    }
    if capabilities.join {
        plan.network = Some(network_pool::make(capabilities.namespaces)?);
    }
    let sockets = layers.as_ref().filter(|_| capabilities.opens_sockets());
    let sockets = sockets.map(ProbeSockets::new).transpose()?;
    Sandbox::trial(&plan, capabilities, sockets.as_ref().map(|it| it.directory.as_path()))
}

/// Sockets that somebody outside has bound, for as long as this lives. They go with the layers.
struct ProbeSockets {
    directory: PathBuf,
    _stream: UnixListener,
    _datagram: UnixDatagram,
}

impl ProbeSockets {
    fn new(layers: &ProbeLayers) -> Result<ProbeSockets, SandboxError> {
        let failed = |source| SandboxError::Step { step: Step::Sockets, path: None, source };
        let directory = layers.0.join("sockets");
        std::fs::create_dir(&directory).map_err(failed)?;
        // A socket's path may have hardly more than a hundred bytes.
        let open = File::open(&directory).map_err(failed)?;
        let short = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd()));
        let stream = UnixListener::bind(short.join("stream")).map_err(failed)?;
        let datagram = UnixDatagram::bind(short.join("datagram")).map_err(failed)?;
        Ok(ProbeSockets { directory, _stream: stream, _datagram: datagram })
    }
}

/// Three empty directories, gone afterwards.
struct ProbeLayers(PathBuf);

impl ProbeLayers {
    /// In a place that may carry the writable side of an overlay.
    fn new(place: &Path) -> Result<ProbeLayers, SandboxError> {
        let layers = ProbeLayers::directories(place)?;
        // Without them an overlay is made, and then cannot replace a directory.
        let attribute = rustix::fs::setxattr(
            layers.0.join("upper"),
            c"user.eclusa",
            b"",
            rustix::fs::XattrFlags::empty(),
        );
        attribute.map_err(|errno| SandboxError::Step {
            step: Step::Overlay,
            path: Some(place.to_owned()),
            source: errno.into(),
        })?;
        Ok(layers)
    }

    /// In a place that can be written.
    fn directories(place: &Path) -> Result<ProbeLayers, SandboxError> {
        sweep(place);
        let failed =
            |source| SandboxError::System { what: "make a directory for the self-test", source };
        let nanos = std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos());
        let layers = ProbeLayers(place.join(format!("{PREFIX}{}-{nanos}", std::process::id())));
        let made = std::fs::create_dir(&layers.0).or_else(|error| match error.kind() {
            // One of the places that every user may make.
            std::io::ErrorKind::NotFound => {
                layer_places::open(place).and_then(|()| std::fs::create_dir(&layers.0))
            }
            _ => Err(error),
        });
        made.map_err(failed)?;
        for name in ["lower", "upper", "work"] {
            std::fs::create_dir(layers.0.join(name)).map_err(failed)?;
        }
        Ok(layers)
    }

    fn staging(&self, workspace: Option<&Path>) -> Staging {
        let [lower, upper, work] = ["lower", "upper", "work"].map(|name| self.0.join(name));
        let lower = workspace.map_or(lower, Path::to_owned);
        Staging { lower, covers: Vec::new(), upper, work, live: Vec::new() }
    }
}

/// What the directories of self-tests are called.
const PREFIX: &str = ".probe-";

/// A self-test takes milliseconds. What is older was left behind by one that was killed.
const STALE: Duration = Duration::from_secs(600);

/// Removes what self-tests have left behind.
fn sweep(state: &Path) {
    let Ok(entries) = std::fs::read_dir(state) else { return };
    for entry in entries.flatten() {
        let ours = entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes());
        let changed = entry.metadata().and_then(|it| it.modified()).ok().filter(|_| ours);
        if changed.and_then(|it| it.elapsed().ok()).is_some_and(|age| age > STALE) {
            drop(ProbeLayers(entry.path()));
        }
    }
}

impl Drop for ProbeLayers {
    #[expect(clippy::disallowed_methods, reason = "its own directory, or one nobody uses any more")]
    fn drop(&mut self) {
        use std::os::unix::fs::PermissionsExt as _;
        // The overlay leaves a directory of mode 0.
        let inner = self.0.join("work").join("work");
        let _ = std::fs::set_permissions(&inner, std::fs::Permissions::from_mode(0o700));
        let volatile = inner.join("incompat");
        let _ = std::fs::set_permissions(&volatile, std::fs::Permissions::from_mode(0o700));
        let volatile = volatile.join("volatile");
        let _ = std::fs::set_permissions(&volatile, std::fs::Permissions::from_mode(0o700));
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
