//! The layer that one command writes over the workspace: taken for it, and given back with it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use eclusa_sandbox::{
    Layer, LayerPool, Staging,
    scan::{LayerScan, Moment, ScanError},
};

use super::{ReadBack, changes};

/// Where layers come from: for the workspace, and for the home directory.
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

    /// A layer, and a second one where it is wanted.
    pub(super) fn take(&self, second: bool) -> io::Result<LayerSet> {
        let beside = if second { Some(self.home.take()?) } else { None };
        Ok(LayerSet { layer: self.workspace.take()?, beside })
    }
}

/// What one command has taken. It is given back when the last holder lets go.
#[derive(Debug)]
pub(super) struct LayerSet {
    /// For the workspace.
    pub(super) layer: Layer,
    /// For the home directory, or whatever else does not last.
    pub(super) beside: Option<Layer>,
}

/// The layers of one command, and when it began.
#[derive(Debug)]
pub(super) struct Stage {
    place: Arc<LayerSet>,
    home: Option<PathBuf>,
    began: Moment,
}

impl Stage {
    /// Takes the layers. That over the workspace has its mode, which the command then sees.
    pub(super) fn new(pools: &LayerPools, home: Option<&Path>, root: &Path) -> io::Result<Stage> {
        let home = home.and_then(|it| coverable(it, root, pools.home.place()));
        let place = pools.take(home.is_some())?;
        let upper = fs::File::open(place.layer.upper())?;
        upper.set_permissions(fs::metadata(root)?.permissions())?;
        let began = Moment::on(upper)?;
        Ok(Stage { place: Arc::new(place), home, began })
    }

    /// The layers over the home directory and over the workspace, with what is live there.
    /// Whatever is written to the former goes with the layer.
    pub(super) fn over(&self, root: &Path, live: &[PathBuf]) -> impl Iterator<Item = Staging> {
        let home = self.home.as_ref().zip(self.place.beside.as_ref());
        let home = home.map(|(home, layer)| layer.over(home, &[]));
        home.into_iter().chain([self.place.layer.over(root, live)])
    }

    /// What was written, as changes whose contents lie in the layer.
    pub(super) fn read_back(self, root: &Path) -> Result<ReadBack, ScanError> {
        let layer = LayerScan::open(root, &self.place.layer.upper(), self.began)?;
        let mut effects = layer.scan()?;
        layer.release(&mut effects)?;
        let staged = |path: &Path| Some(layer.staged(path));
        Ok(changes::read_back(staged, effects, self.place))
    }
}

/// The home directory, if a layer can be laid over it. Where it is the workspace, or lies in it,
/// there is nothing more to cover.
fn coverable(home: &Path, root: &Path, layers: &Path) -> Option<PathBuf> {
    let home = home.canonicalize().ok()?;
    let apart = !home.starts_with(root) && !layers.starts_with(&home) && home != Path::new("/");
    apart.then_some(home)
}
