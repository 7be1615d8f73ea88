//! The layer that one command writes over the workspace: taken for it, and given back with it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Duration,
};

use eclusa::{
    Staged, Workspace,
    workspace::{Snapshot, SnapshotError, SnapshotOptions},
};
use eclusa_git::linked_repository;
use eclusa_sandbox::{
    HostCapabilities, Layer, LayerPool, Staging,
    scan::{LayerScan, Moment, ScanError, copy_layer},
    shared_layer_places,
};

use super::RunError;
use crate::read_back::ReadBack;

/// Where layers come from. Where they lie is known when the machine has been looked at.
#[derive(Debug)]
pub(super) struct LayerPools {
    state: PathBuf,
    pool: OnceLock<LayerPool>,
}

impl LayerPools {
    /// Layers in this directory, or in another one where it cannot carry them.
    pub(super) fn new(state: &Path) -> LayerPools {
        LayerPools { state: state.to_owned(), pool: OnceLock::new() }
    }

    /// The layers of this machine.
    pub(super) fn on(&self, machine: &HostCapabilities) -> &LayerPool {
        self.pool.get_or_init(|| pool(machine.layers().unwrap_or(&self.state)))
    }

    /// Removes what processes that died have left behind, and says how much that was.
    pub(super) fn sweep(&self) -> io::Result<usize> {
        let places = std::iter::once(self.state.clone()).chain(shared_layer_places());
        places.map(|it| pool(&it).sweep()).sum()
    }

    /// Waits until what commands have left is cleared.
    pub(super) fn settle(&self) {
        if let Some(pool) = self.pool.get() {
            pool.settle();
        }
    }
}

fn pool(place: &Path) -> LayerPool {
    LayerPool::new(place.join("stages"), |path, err| {
        tracing::warn!("a layer in `{}` could not be removed: {err}", path.display());
    })
}

/// The layer of one command, and when it began.
#[derive(Debug)]
pub(super) struct Stage {
    layer: Arc<Layer>,
    began: Moment,
}

impl Stage {
    /// Takes a layer with the mode of the workspace, which the command then sees.
    pub(super) fn new(pool: &LayerPool, root: &Path) -> io::Result<Stage> {
        let layer = pool.take()?;
        let upper = fs::File::open(layer.upper())?;
        upper.set_permissions(fs::metadata(root)?.permissions())?;
        let began = Moment::on(upper)?;
        Ok(Stage { layer: Arc::new(layer), began })
    }

    /// The layer over the workspace, with what is live there.
    pub(super) fn over(&self, root: &Path, live: &[PathBuf]) -> Staging {
        self.layer.over(root, live)
    }

    /// What was written, as changes whose contents lie in the layer.
    pub(super) fn read_back(self, root: &Path) -> Result<ReadBack, ScanError> {
        self.read_back_as(root, Path::new(""))
    }

    /// The same of a directory whose paths begin with another name in changes.
    fn read_back_as(self, root: &Path, name: &Path) -> Result<ReadBack, ScanError> {
        let layer = LayerScan::open(root, &self.layer.upper(), self.began)?;
        let mut effects = layer.scan()?;
        layer.release(&mut effects)?;
        if !name.as_os_str().is_empty() {
            effects.root = None;
            for effect in &mut effects.entries {
                effect.path = name.join(&effect.path);
                effect.from = effect.from.as_ref().map(|it| name.join(it));
            }
        }
        let staged =
            |path: &Path| path.strip_prefix(name).ok().map(|beneath| layer.staged(beneath));
        Ok(ReadBack::of(staged, effects, self.layer))
    }

    /// A copy, for what is taken while somebody still writes to the layer, and which paths it has.
    pub(super) fn copied(&self, pool: &LayerPool) -> io::Result<(Stage, Vec<PathBuf>)> {
        let layer = pool.take()?;
        let paths = copy_layer(&self.layer.upper(), &layer.upper())?;
        Ok((Stage { layer: Arc::new(layer), began: self.began }, paths))
    }

    /// Where changes go.
    pub(super) fn upper(&self) -> PathBuf {
        self.layer.upper()
    }

    /// Leaves the layer to somebody else: its directory, its lock, and when it began.
    pub(super) fn leave(self) -> Option<(PathBuf, fs::File, Moment)> {
        let (path, lock) = Arc::into_inner(self.layer)?.leave()?;
        Some((path, lock, self.began))
    }
}

/// The layer over the repository of a workspace whose `.git` is a file.
#[derive(Debug)]
pub(super) struct RepositoryStage {
    common: PathBuf,
    stage: Stage,
}

impl RepositoryStage {
    /// Takes a layer for the repository that the workspace is linked to, if it is.
    pub(super) fn new(pool: &LayerPool, root: &Path) -> io::Result<Option<RepositoryStage>> {
        let Some(linked) = linked_repository(root) else { return Ok(None) };
        let stage = Stage::new(pool, &linked.common)?;
        Ok(Some(RepositoryStage { common: linked.common, stage }))
    }

    /// The layer over the repository.
    pub(super) fn staging(&self) -> Staging {
        self.stage.over(&self.common, &[])
    }

    /// What was written there, beside what was written to the workspace: beneath `.git`.
    pub(super) fn read_back(self, workspace: ReadBack) -> Result<ReadBack, String> {
        if workspace.changes.iter().any(|it| it.path.starts_with(".git")) {
            let text = "it replaces `.git`, the file that names the repository of this working tree; \
                        a person can do that in a terminal";
            return Err(text.to_owned());
        }
        let read = self.stage.read_back_as(&self.common, Path::new(".git"));
        Ok(workspace.beside(read.map_err(|err| err.to_string())?))
    }

    /// A copy, see [`Stage::copied`].
    pub(super) fn copied(&self, pool: &LayerPool) -> io::Result<RepositoryStage> {
        let (stage, _) = self.stage.copied(pool)?;
        Ok(RepositoryStage { common: self.common.clone(), stage })
    }

    /// Leaves the layer to somebody else: its directory and its lock.
    pub(super) fn leave(self) -> Option<(PathBuf, fs::File)> {
        self.stage.leave().map(|(path, lock, _)| (path, lock))
    }
}

/// The workspace as it was before a command that runs on the real files, and the layer that its changes
/// will lie in.
#[derive(Debug)]
pub(super) struct SnapshotStage {
    snapshot: Snapshot,
    layer: Layer,
    /// Directories of the workspace that are written at once.
    pub(super) live: Vec<PathBuf>,
}

impl SnapshotStage {
    /// Takes a snapshot. Another command that runs on the same files is waited for.
    pub(super) fn new(
        pool: &LayerPool,
        workspace: &Workspace,
        live: Vec<PathBuf>,
        patience: Duration,
    ) -> Result<SnapshotStage, RunError> {
        let options =
            SnapshotOptions { live: live.clone(), patience, ..SnapshotOptions::default() };
        let snapshot = workspace.snapshot(&options)?;
        let path = pool.place().to_owned();
        let layer = pool.take().map_err(|source| RunError::Layer { path, source })?;
        Ok(SnapshotStage { snapshot, layer, live })
    }

    /// The command runs in this process group.
    pub(super) fn started(&mut self, group: i32) -> Result<(), SnapshotError> {
        self.snapshot.started(group)
    }

    /// Puts the workspace back, and gives what was written as changes whose contents lie in the layer.
    pub(super) fn read_back(self) -> Result<ReadBack, SnapshotError> {
        let outcome = self.snapshot.put_back(&self.layer.upper())?;
        let staged = Some(Staged::new(self.layer));
        Ok(ReadBack { changes: outcome.changes, staged, notes: outcome.notes })
    }
}
