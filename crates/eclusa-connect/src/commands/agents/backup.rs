//! What files were before an installation, so that they can be exactly that again.

use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::InstallScope;
use crate::AgentSpec;
use crate::commands::{
    failure::Failure,
    global::Global,
    paths::{self, Paths},
    remember::replace,
    tickets::remove,
};

/// The files of one installation.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Backup {
    pub(super) files: Vec<SavedFile>,
}

/// A file before and after.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SavedFile {
    pub(super) path: PathBuf,
    /// `None`: it was not there.
    pub(super) before: Option<String>,
    pub(super) after: String,
}

impl Backup {
    /// The backup of an installation; an empty one where there is none.
    pub(super) fn load(
        global: &Global,
        agent: &AgentSpec,
        scope: InstallScope,
    ) -> Result<Backup, Failure> {
        let file = place(global, agent, scope)?;
        if scope == InstallScope::Managed && !is_ours_alone(&file) {
            return Ok(Backup::default());
        }
        match fs::read(&file) {
            Ok(text) => serde_json::from_slice(&text).map_err(|err| {
                Failure::failed(format!("the backup `{}` is damaged: {err}", file.display()))
                    .hint("move it away: uninstall then removes its own entries one by one")
            }),
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(Backup::default()),
            Err(err) => Err(Failure::failed(format!("`{}`: {err}", file.display()))),
        }
    }

    pub(super) fn save(
        &self,
        global: &Global,
        agent: &AgentSpec,
        scope: InstallScope,
    ) -> Result<(), Failure> {
        let file = place(global, agent, scope)?;
        if scope == InstallScope::Managed && !is_ours_alone(&file) {
            let text = format!("`{}` belongs to another user, or is a link", file.display());
            return Err(Failure::failed(text)
                .hint("use a home of your own (`sudo -H`), or another directory (`--state DIR`)"));
        }
        let text = serde_json::to_vec_pretty(self).map_err(Failure::failed)?;
        replace(&file, text).map_err(|err| {
            Failure::failed(format!("no backup could be made in `{}`: {err}", file.display()))
        })
    }

    /// Keeps it as it was before an installation that failed.
    pub(super) fn save_or_forget(
        &self,
        global: &Global,
        agent: &AgentSpec,
        scope: InstallScope,
    ) -> Result<(), Failure> {
        match self.files.is_empty() {
            true => Backup::forget(global, agent, scope),
            false => self.save(global, agent, scope),
        }
    }

    pub(super) fn forget(
        global: &Global,
        agent: &AgentSpec,
        scope: InstallScope,
    ) -> Result<(), Failure> {
        match remove(&place(global, agent, scope)?) {
            Err(err) if err.kind() != io::ErrorKind::NotFound => Err(err.into()),
            _ => Ok(()),
        }
    }

    pub(super) fn file(&self, path: &Path) -> Option<&SavedFile> {
        self.files.iter().find(|it| it.path == path)
    }
}

/// False for a file that another user could have written: with a home that `sudo` kept, it lies there. What
/// it says would become the settings of the whole machine.
fn is_ours_alone(file: &Path) -> bool {
    let user = rustix::process::geteuid().as_raw();
    let ours = |it: &Path| match it.symlink_metadata() {
        Ok(found) => found.uid() == user && found.mode() & 0o022 == 0 && !found.is_symlink(),
        Err(err) => err.kind() == io::ErrorKind::NotFound,
    };
    [Some(file), file.parent()].into_iter().flatten().all(ours)
}

fn place(global: &Global, agent: &AgentSpec, scope: InstallScope) -> Result<PathBuf, Failure> {
    let name = format!("{}-{}.json", agent.name, scope.name());
    // Each project has its own.
    let directory = match scope {
        InstallScope::Project => {
            let paths = Paths::find(global)?;
            paths.store.with_file_name("agents")
        }
        InstallScope::User | InstallScope::Managed => {
            paths::state_directory(global)?.join(paths::AGENTS).join("installed")
        }
    };
    Ok(directory.join(name))
}
