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

/// Removes the layer when it is dropped.
#[derive(Debug)]
pub(super) struct Place(PathBuf);

impl Drop for Place {
    fn drop(&mut self) {
        if let Err(err) = discard(&self.0) {
            tracing::warn!("a layer in `{}` could not be removed: {err}", self.0.display());
        }
    }
}

impl Stage {
    pub(super) fn new(state: &Path) -> io::Result<Stage> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let place = layers(state).join(format!("{}-{number}", process::id()));
        fs::create_dir_all(&place)?;
        let place = Arc::new(Place(place));
        for part in ["upper", "work"] {
            fs::create_dir(place.0.join(part))?;
        }
        let began = Moment::on(fs::File::open(place.0.join("upper"))?)?;
        Ok(Stage { place, began })
    }

    /// The layer over a workspace.
    pub(super) fn over(&self, root: &Path, live: &[PathBuf]) -> Staging {
        Staging {
            lower: root.to_owned(),
            upper: self.place.0.join("upper"),
            work: self.place.0.join("work"),
            live: live.to_vec(),
        }
    }

    /// What was written, as changes whose contents lie in the layer.
    pub(super) fn read_back(self, root: &Path) -> Result<ReadBack, ScanError> {
        let layer = Layer::open(root, &self.place.0.join("upper"), self.began)?;
        let mut effects = layer.scan()?;
        layer.release(&mut effects)?;
        Ok(changes::read_back(&layer, effects, self.place))
    }
}
