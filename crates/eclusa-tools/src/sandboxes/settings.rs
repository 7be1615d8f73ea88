//! What every command of a workspace has in common.

use std::{
    ffi::OsString,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::Arc,
};

use eclusa::{Blocked, settings::RequiredEnforcement};
use eclusa_git::is_in_git_directory;
use eclusa_sandbox::{Keep, Limits, proxy::ModelService};

use crate::owner::JobHome;

/// What every command of a workspace has in common.
#[derive(Debug, Clone)]
pub struct SandboxSettings {
    /// The workspace. Commands start in it, and what they write there is staged.
    pub root: PathBuf,
    /// Where layers are made if its filesystem can carry them, and what is kept for undo: outside the
    /// workspace, best on its filesystem.
    pub state: PathBuf,
    /// The home directory, if there is one: readable, and what is written there is lost.
    pub home: Option<PathBuf>,
    /// The whole environment, besides what keeps git and the proxy in order:
    /// [`clean_environment`](eclusa_sandbox::clean_environment) makes one.
    pub env: Vec<(OsString, OsString)>,
    /// Name and address of whoever commits, where a repository does not say.
    pub identity: Option<(String, String)>,
    /// What is neither read nor listed, besides the secrets that everybody has.
    pub hide: Vec<PathBuf>,
    /// Files of the workspace that nobody may see: at any depth, in every command.
    pub blocked: Blocked,
    /// Hosts that may be reached: `example.org`, `*.example.org`, `example.org:8080`.
    pub hosts: Vec<String>,
    /// What answers requests that are made to the proxy itself, if anybody does. Commands then
    /// have a network of their own, with the proxy at [`PROXY_PORT`](eclusa_sandbox::PROXY_PORT)
    /// of 127.0.0.1.
    pub model_proxy: Option<ModelService>,
    /// The terminal that commands have, if they have one.
    pub terminal: Option<Arc<OwnedFd>>,
    /// Whether no command writes to the workspace: what it changes there, it changes through others.
    pub read_only: bool,
    /// Directories of the workspace that are written at once and cannot be undone, where they
    /// exist.
    pub live: Vec<PathBuf>,
    /// Directories outside the workspace that are written at once and cannot be undone, where they
    /// exist.
    pub writable: Vec<PathBuf>,
    /// The least that must hold a command.
    pub least: RequiredEnforcement,
    /// How much a command may use; the time is that of the call.
    pub limits: Limits,
    /// How many processes may go on as one job.
    pub job_processes: Option<u32>,
    /// A control group in which commands are counted and capped, if one was delegated:
    /// [`delegated_group`](eclusa_sandbox::delegated_group) finds it.
    pub cgroup: Option<PathBuf>,
    /// How much of the output is kept.
    pub keep: Keep,
    /// Where what goes on after a call lives.
    pub jobs: JobHome,
}

/// How much of an output is kept in memory until it is in the output store, of its beginning and of
/// its end. The gate cuts it to what a model gets.
const KEEP: Keep = Keep { head: 8 << 20, tail: 8 << 20 };

/// How many processes may go on as one job, unless the settings say so.
const DEFAULT_JOB_PROCESSES: u32 = 64;

impl SandboxSettings {
    /// The directories outside the workspace that are written at once, as far as they are there and
    /// have nothing to do with it. None lies in a repository: what is written there runs later.
    pub(super) fn writable_now(&self) -> impl Iterator<Item = PathBuf> {
        let apart = |it: &Path, other: &Path| !it.starts_with(other) && !other.starts_with(it);
        let there = self.writable.iter().filter_map(|it| it.canonicalize().ok());
        there.filter(move |it| {
            let free = apart(it, &self.root) && apart(it, &self.state);
            it.is_dir() && free && !is_in_git_directory(it)
        })
    }

    /// Those of the directories that are left out because they lie in a repository.
    pub fn refused_writable(&self) -> impl Iterator<Item = &PathBuf> {
        self.writable.iter().filter(|it| it.canonicalize().is_ok_and(|it| is_in_git_directory(&it)))
    }

    /// Settings for a workspace, with nothing but a path to look for programs in.
    pub fn new(root: impl Into<PathBuf>, state: impl Into<PathBuf>) -> SandboxSettings {
        SandboxSettings {
            root: root.into(),
            state: state.into(),
            home: None,
            env: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
            identity: None,
            hide: Vec::new(),
            blocked: Blocked::default(),
            hosts: Vec::new(),
            model_proxy: None,
            terminal: None,
            read_only: false,
            live: Vec::new(),
            writable: Vec::new(),
            least: RequiredEnforcement::default(),
            limits: Limits::default(),
            job_processes: Some(DEFAULT_JOB_PROCESSES),
            cgroup: None,
            keep: KEEP,
            jobs: JobHome::Here,
        }
    }
}
