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

use super::{ReadBack, changes, layers, private};

/// Numbers the layers of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A process that died has left layers behind: nobody holds their locks any more.
pub(super) fn sweep(layers: &Path) -> io::Result<usize> {
    let mut swept = 0;
    let entries = match fs::read_dir(layers) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    for entry in entries {
        let path = entry?.path();
        // The lock is held until the layer is gone, so that nobody takes it for their own.
        let Ok(layer) = fs::File::open(&path) else { continue };
        if layer.try_lock().is_ok() {
            discard(&path).map_err(io::Error::other)?;
            swept += 1;
        }
    }
    Ok(swept)
}

/// An empty layer, and the lock that says that it is in use. The kernel drops the lock with the
/// process, however that ends.
fn locked(path: &Path) -> io::Result<fs::File> {
    private(path)?;
    for part in ["upper", "work"] {
        fs::create_dir_all(path.join(part))?;
    }
    let layer = fs::File::open(path)?;
    layer.lock()?;
    // Whoever swept in between has taken it away.
    match path.join("upper").is_dir() && path.join("work").is_dir() {
        true => Ok(layer),
        false => Err(io::Error::other("it was removed while it was made")),
    }
}

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
    pub(super) layer: PathBuf,
    /// Of the home directory.
    pub(super) home: PathBuf,
    /// Held for as long as they are in use.
    locks: Vec<fs::File>,
}

impl Drop for Place {
    fn drop(&mut self) {
        // The locks go last, with the struct.
        for path in [&self.layer, &self.home] {
            if let Err(err) = discard(path) {
                tracing::warn!("a layer in `{}` could not be removed: {err}", path.display());
            }
        }
    }
}

impl Place {
    /// Makes the directories.
    pub(super) fn new(state: &Path, scratch: &Path) -> io::Result<Place> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = |kind: &str| format!("{}-{number}{kind}", process::id());
        let (layer, home) = (layers(state).join(name("")), layers(scratch).join(name("-home")));
        let mut place = Place { layer, home, locks: Vec::new() };
        for path in [place.layer.clone(), place.home.clone()] {
            // A second try is for a sweep that came in between.
            let lock = locked(&path).or_else(|_| locked(&path))?;
            place.locks.push(lock);
        }
        Ok(place)
    }
}

impl Stage {
    /// Makes the layers. That over the workspace has its mode, which the command then sees.
    pub(super) fn new(state: &Path, scratch: &Path, root: &Path) -> io::Result<Stage> {
        let place = Place::new(state, scratch)?;
        fs::set_permissions(place.layer.join("upper"), fs::metadata(root)?.permissions())?;
        let place = Arc::new(place);
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
        let staged = |path: &Path| Some(layer.staged(path));
        Ok(changes::read_back(staged, effects, self.place))
    }
}
