//! The approval queues of all workspaces of this person, and which approval a reference means.

use std::{fs, path::PathBuf, sync::Arc};

use eclusa::store::{ApprovalQueue, Store};

use crate::{failure::Failure, open_store, paths::Paths};

/// The approval queue of one workspace.
pub struct WorkspaceQueue {
    /// The name of its state directory, which no other workspace has.
    pub key: String,
    /// What people call it: the name of its directory, or the key where that is not enough.
    pub name: String,
    /// Where the workspace is, if that was noted.
    pub directory: Option<PathBuf>,
    /// Whether it is the workspace that the command was called for.
    pub here: bool,
    /// The queue itself.
    pub queue: Arc<dyn ApprovalQueue>,
    /// What the queue is kept in, and the log besides.
    pub store: Arc<dyn Store>,
}

impl WorkspaceQueue {
    /// How an approval of this workspace is named on the command line.
    pub fn reference(&self, id: u64) -> String {
        match self.here {
            true => id.to_string(),
            false => format!("{}:{id}", self.name),
        }
    }
}

/// All of them: this workspace first. A workspace whose log cannot be opened is told and left out,
/// unless it is this one.
pub fn all(paths: &Paths) -> Result<Vec<WorkspaceQueue>, Failure> {
    let here = paths.store.parent().and_then(|it| it.file_name()).unwrap_or_default();
    let mut found = Vec::new();
    if paths.store.exists() {
        found.push(open(&paths.store, true)?);
    }
    found.extend(others(paths, |key| key.as_bytes() == here.as_encoded_bytes()));
    let names: Vec<String> = found.iter().map(|it| it.name.clone()).collect();
    for queue in &mut found {
        if names.iter().filter(|it| **it == queue.name).count() > 1 {
            queue.name.clone_from(&queue.key);
        }
    }
    Ok(found)
}

/// The queues of all workspaces but those that are known. One that cannot be opened is told.
pub fn others(paths: &Paths, mut known: impl FnMut(&str) -> bool) -> Vec<WorkspaceQueue> {
    let entries = paths.state().map(fs::read_dir).and_then(Result::ok);
    let mut directories: Vec<PathBuf> =
        entries.into_iter().flatten().flatten().map(|it| it.path()).collect();
    directories.sort();
    let file = paths.store.file_name().unwrap_or_default();
    let mut found = Vec::new();
    for directory in directories {
        let key = directory.file_name().unwrap_or_default().to_string_lossy();
        let store = directory.join(file);
        if !store.is_file() || known(&key) {
            continue;
        }
        match open(&store, false) {
            Ok(queue) => found.push(queue),
            Err(failure) => crate::screen::note(&failure.lines().join("; ")),
        }
    }
    found
}

fn open(path: &std::path::Path, here: bool) -> Result<WorkspaceQueue, Failure> {
    let store = open_store::open(path)?;
    let key = path.parent().and_then(|it| it.file_name()).unwrap_or_default();
    let key = key.to_string_lossy().into_owned();
    let directory = store.workspace().map_err(Failure::failed)?.map(PathBuf::from);
    // The state directory is called after the workspace, with twelve digits behind it.
    let called = key.rsplit_once('-').map_or(key.as_str(), |it| it.0).to_owned();
    let named = directory.as_ref().and_then(|it| it.file_name());
    let name = named.map_or(called, |it| it.to_string_lossy().into_owned());
    // A colon would make a reference that means something else.
    let name = name.replace(|it: char| it == ':' || it.is_control() || it.is_whitespace(), "_");
    Ok(WorkspaceQueue {
        key,
        name,
        directory,
        here,
        queue: store.approval_queue(Vec::new()),
        store,
    })
}

/// The queue and the number that a reference names.
pub fn find(
    queues: Vec<WorkspaceQueue>,
    reference: &str,
) -> Result<(WorkspaceQueue, u64), Failure> {
    let wrong = || {
        Failure::usage(format!("`{reference}` is not an approval; write `12` or `NAME:12`"))
            .hint("`eclusa approvals` lists them")
    };
    let (name, number) = match reference.rsplit_once(':') {
        Some((name, number)) => (Some(name), number),
        None => (None, reference),
    };
    let id: u64 = number.parse().map_err(|_| wrong())?;
    let meant = |it: &WorkspaceQueue| match name {
        Some(name) => it.name == name || it.key == name,
        None => it.here,
    };
    let unknown = || match name {
        Some(name) => Failure::failed(format!("no workspace is called `{name}`")),
        None => Failure::failed(format!("there is no pending approval {id}")),
    };
    let queue = queues.into_iter().find(meant).ok_or_else(unknown);
    let queue = queue.map_err(|failure| failure.hint("`eclusa approvals` lists them"))?;
    Ok((queue, id))
}
