//! The layer that one command writes over the workspace: taken for it, and given back with it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use eclusa::{
    Staged, Workspace,
    workspace::{Snapshot, SnapshotError, SnapshotOptions},
};
use eclusa_sandbox::{
    Layer, LayerPool, Staging,
    scan::{LayerScan, Moment, ScanError},
};

use super::{ReadBack, RunError, changes};

/// Where layers come from: for the workspace, and for what goes with a command.
#[derive(Debug)]
pub(super) struct LayerPools {
    workspace: LayerPool,
    home: LayerPool,
}

impl LayerPools {
    /// Layers in these directories, which may be one.
    pub(super) fn new(state: &Path, scratch: &Path) -> LayerPools {
        let pool = |state: &Path| {
            LayerPool::new(state.join("stages"), |path, err| {
                tracing::warn!("a layer in `{}` could not be removed: {err}", path.display());
            })
        };
        let workspace = pool(state);
        let home = if scratch == state { workspace.clone() } else { pool(scratch) };
        LayerPools { workspace, home }
    }

    /// Removes what processes that died have left behind, and says how much that was.
    pub(super) fn sweep(&self) -> io::Result<usize> {
        let swept = self.workspace.sweep()?;
        let one = self.home.place() == self.workspace.place();
        Ok(swept + if one { 0 } else { self.home.sweep()? })
    }

    /// Where they are: the layers of other commands are nobody's business inside.
    pub(super) fn places(&self) -> [PathBuf; 2] {
        [&self.workspace, &self.home].map(|it| it.place().to_owned())
    }

    /// Waits until what commands have left is cleared.
    pub(super) fn settle(&self) {
        self.workspace.settle();
        self.home.settle();
    }

    /// A layer for what goes with the command.
    pub(super) fn passing(&self) -> io::Result<Layer> {
        self.home.take()
    }
}

/// The layer of one command, and when it began.
#[derive(Debug)]
pub(super) struct Stage {
    layer: Arc<Layer>,
    began: Moment,
}

impl Stage {
    /// Takes a layer with the mode of the workspace, which the command then sees.
    pub(super) fn new(pools: &LayerPools, root: &Path) -> io::Result<Stage> {
        let layer = pools.workspace.take()?;
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
        let layer = LayerScan::open(root, &self.layer.upper(), self.began)?;
        let mut effects = layer.scan()?;
        layer.release(&mut effects)?;
        let staged = |path: &Path| Some(layer.staged(path));
        Ok(changes::read_back(staged, effects, self.layer))
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
        pools: &LayerPools,
        workspace: &Workspace,
        live: Vec<PathBuf>,
        patience: Duration,
    ) -> Result<SnapshotStage, RunError> {
        let options =
            SnapshotOptions { live: live.clone(), patience, ..SnapshotOptions::default() };
        let snapshot = workspace.snapshot(&options)?;
        let path = workspace.state().to_owned();
        let layer = pools.workspace.take().map_err(|source| RunError::Layer { path, source })?;
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
