//! The layer that one command writes over the workspace: made for it, and gone with it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use eclusa_sandbox::{
    Staging,
    scan::{Layer, Moment, ScanError, discard},
};

use super::{ReadBack, changes, layers};

/// Numbers the layers of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The directories of one layer. They are removed when the last holder lets go.
#[derive(Debug)]
pub(super) struct Stage {
    place: Arc<Place>,
    began: Moment,
}

/// Removes the layers when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    /// Of the workspace.
    layer: PathBuf,
    /// Of the home directory.
    home: PathBuf,
}

impl Drop for Place {
    fn drop(&mut self) {
        for path in [&self.layer, &self.home] {
            if let Err(err) = discard(path) {
                tracing::warn!("a layer in `{}` could not be removed: {err}", path.display());
            }
        }
    }
}

impl Stage {
    /// Makes the layers. That over the workspace has its mode, which the command then sees.
    pub(super) fn new(state: &Path, scratch: &Path, root: &Path) -> io::Result<Stage> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = |kind: &str| format!("{}-{number}{kind}", process::id());
        let (layer, home) = (layers(state).join(name("")), layers(scratch).join(name("-home")));
        let place = Arc::new(Place { layer, home });
        for place in [&place.layer, &place.home] {
            for part in ["upper", "work"] {
                fs::create_dir_all(place.join(part))?;
            }
        }
        fs::set_permissions(place.layer.join("upper"), fs::metadata(root)?.permissions())?;
        let began = Moment::on(fs::File::open(place.layer.join("upper"))?)?;
        Ok(Stage { place, began })
    }

    /// The layer over a workspace.
    pub(super) fn over(&self, root: &Path, live: &[PathBuf]) -> Staging {
        Staging {
            lower: root.to_owned(),
            upper: self.place.layer.join("upper"),
            work: self.place.layer.join("work"),
            live: live.to_vec(),
        }
    }

    /// The layer over the home directory: whatever is written there goes with the layer. Where
    /// home is the workspace, or lies in it, there is nothing more to cover.
    pub(super) fn over_home(&self, home: Option<&Path>, root: &Path) -> Option<Staging> {
        let home = home?.canonicalize().ok()?;
        let (upper, work) = (self.place.home.join("upper"), self.place.home.join("work"));
        let apart = !home.starts_with(root) && !upper.starts_with(&home) && home != Path::new("/");
        apart.then_some(Staging { lower: home, upper, work, live: Vec::new() })
    }

    /// What was written, as changes whose contents lie in the layer.
    pub(super) fn read_back(self, root: &Path) -> Result<ReadBack, ScanError> {
        let layer = Layer::open(root, &self.place.layer.join("upper"), self.began)?;
        let mut effects = layer.scan()?;
        layer.release(&mut effects)?;
        Ok(changes::read_back(&layer, effects, self.place))
    }
}
