//! Layers for commands: empty directories, ready before a command wants them, and cleared after it
//! by a thread for which nobody waits.
//!
//! ```text
//! PLACE/PID-NUMBER         locked for as long as a process has it: ready, in use or to be cleared
//! PLACE/PID-NUMBER/upper   what a command writes
//! PLACE/PID-NUMBER/work    the overlay's own
//! ```
//!
//! INVARIANT: a layer is used by one command. What comes back is removed with `upper` and `work`
//! themselves, and both are made anew: no content, mode, attribute or time of one command is left
//! for another, and a process that still has the old ones open has nothing of the new ones. Only
//! the directory around them stays, which no command ever sees.

use std::collections::VecDeque;
use std::fmt;
use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::plan::Staging;
use crate::scan::{discard, empty};

/// The most layers that wait for a command.
const READY: usize = 4;

/// The most layers that wait to be cleared: whoever brings another one clears it then and there.
const RETURNED: usize = 8;

/// How often a layer is begun again that a sweep of another process took for one of the dead.
const TRIES: usize = 16;

/// Numbers the layers of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Layers in one place. Clones share them. What is ready is removed when the last clone and the
/// last layer are dropped; what a process that died has left is removed by [`LayerPool::sweep`].
#[derive(Debug, Clone)]
pub struct LayerPool(Arc<Owner>);

/// An empty layer for one command. Dropping it gives it back, with whatever is in it.
#[derive(Debug)]
pub struct Layer {
    layer: Option<Held>,
    owner: Arc<Owner>,
}

/// Ends the thread, and removes what is ready. The thread knows nothing of it, so that it is never
/// the last one to have it.
#[derive(Debug)]
struct Owner {
    inside: Arc<Inside>,
    clearing: Mutex<Option<JoinHandle<()>>>,
}

/// Who hears of what could not be removed, and why.
type RemovalReport = dyn Fn(&Path, &io::Error) + Send + Sync;

/// What a pool and its thread share.
struct Inside {
    place: PathBuf,
    report: Box<RemovalReport>,
    layers: Mutex<Layers>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Layers {
    ready: Vec<Held>,
    returned: VecDeque<Held>,
    /// True while one is being cleared.
    busy: bool,
    closed: bool,
}

/// A layer that is this process's own.
#[derive(Debug)]
struct Held {
    path: PathBuf,
    /// Says so to other processes. The kernel lets go of it with the process, however that ends.
    lock: File,
}

impl LayerPool {
    /// Layers beneath `place`, which is made when the first is wanted. `report` hears of what could
    /// not be removed.
    pub fn new(
        place: impl Into<PathBuf>,
        report: impl Fn(&Path, &io::Error) + Send + Sync + 'static,
    ) -> LayerPool {
        let inside = Inside {
            place: place.into(),
            report: Box::new(report),
            layers: Mutex::default(),
            changed: Condvar::new(),
        };
        LayerPool(Arc::new(Owner { inside: Arc::new(inside), clearing: Mutex::default() }))
    }

    /// Where the layers are. A plan should hide it: the layers of other commands are there too.
    #[must_use]
    pub fn place(&self) -> &Path {
        &self.0.inside.place
    }

    /// An empty layer: one that is ready, or a new one.
    pub fn take(&self) -> io::Result<Layer> {
        let wrap = |layer| Layer { layer: Some(layer), owner: self.0.clone() };
        loop {
            let ready = self.0.inside.lock().ready.pop();
            match ready {
                // Somebody who tidies up may have removed it meanwhile.
                Some(layer) if !layer.is_whole() => {}
                Some(layer) => return Ok(wrap(layer)),
                None => return self.0.inside.make().map(wrap),
            }
        }
    }

    /// Removes the layers of processes that died: nobody holds their locks any more. Says how many
    /// there were.
    pub fn sweep(&self) -> io::Result<usize> {
        let mut swept = 0;
        let entries = match fs::read_dir(self.place()) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(0),
            entries => entries?,
        };
        for entry in entries {
            let path = entry?.path();
            // The lock is held until the layer is gone, so that nobody takes it for their own.
            let Ok(layer) = File::open(&path) else { continue };
            if layer.try_lock().is_ok() {
                discard(&path)?;
                swept += 1;
            }
        }
        Ok(swept)
    }

    /// Waits until everything that came back is cleared.
    pub fn settle(&self) {
        let inside = &self.0.inside;
        let mut layers = inside.lock();
        while layers.busy || !layers.returned.is_empty() {
            layers = inside.changed.wait(layers).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Layer {
    /// The directory that holds both.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.layer.as_ref().map_or(Path::new(""), |it| &it.path)
    }

    /// Where changes go.
    #[must_use]
    pub fn upper(&self) -> PathBuf {
        self.path().join("upper")
    }

    /// The overlay's own.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.path().join("work")
    }

    /// The layer over a directory, with directories beneath it that are written live.
    #[must_use]
    pub fn over(&self, lower: impl Into<PathBuf>, live: &[PathBuf]) -> Staging {
        let (upper, work) = (self.upper(), self.work());
        Staging { lower: lower.into(), covers: Vec::new(), upper, work, live: live.to_vec() }
    }

    /// Leaves the layer to somebody else: its directory, and the lock that says whose it is. Whoever has
    /// the lock removes the directory.
    #[must_use]
    pub fn leave(mut self) -> Option<(PathBuf, File)> {
        self.layer.take().map(|it| (it.path, it.lock))
    }
}

impl Drop for Layer {
    fn drop(&mut self) {
        if let Some(layer) = self.layer.take() {
            self.owner.give_back(layer);
        }
    }
}

impl Owner {
    /// Leaves a layer to the thread, which is started with the first one.
    fn give_back(&self, layer: Held) {
        let inside = &self.inside;
        let mut clearing = self.clearing.lock().unwrap_or_else(PoisonError::into_inner);
        if clearing.is_none() {
            let theirs = inside.clone();
            let thread = std::thread::Builder::new().name("layer-pool".into());
            *clearing = thread.spawn(move || theirs.clear_all()).ok();
        }
        let mut layers = inside.lock();
        if clearing.is_none() || layers.returned.len() >= RETURNED {
            drop((layers, clearing));
            inside.remove(layer);
            return;
        }
        layers.returned.push_back(layer);
        drop(layers);
        inside.changed.notify_all();
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.inside.lock().closed = true;
        self.inside.changed.notify_all();
        let clearing = self.clearing.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = clearing.take() {
            let _ = thread.join();
        }
        let ready = std::mem::take(&mut self.inside.lock().ready);
        for layer in ready {
            self.inside.remove(layer);
        }
    }
}

impl Inside {
    fn lock(&self) -> MutexGuard<'_, Layers> {
        self.layers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new layer. The lock comes first: a sweep that was quicker has it, or has removed the
    /// directory, and then another one is made.
    fn make(&self) -> io::Result<Held> {
        let mut last = io::Error::other("other processes removed each while it was made");
        for _ in 0..TRIES {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = self.place.join(format!("{}-{number}", std::process::id()));
            let made = private(&path).or_else(|err| match err.kind() {
                io::ErrorKind::NotFound => {
                    let mut parents = DirBuilder::new();
                    parents.recursive(true).mode(0o700).create(&self.place)?;
                    private(&path)
                }
                _ => Err(err),
            });
            match made.and_then(|()| Held::lock(path)) {
                Ok(layer) => return Ok(layer),
                Err(err) if is_passing(&err) => last = err,
                Err(err) => return Err(err),
            }
        }
        Err(last)
    }

    /// What the thread does: clears what comes back, until there is nobody who could want it.
    fn clear_all(&self) {
        let mut layers = self.lock();
        loop {
            let Some(layer) = layers.returned.pop_front() else {
                if layers.closed {
                    return;
                }
                layers = self.changed.wait(layers).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let wanted = !layers.closed && layers.ready.len() < READY;
            layers.busy = true;
            drop(layers);
            let cleared = if wanted { self.renew(layer) } else { self.remove(layer) };
            layers = self.lock();
            layers.ready.extend(cleared);
            layers.busy = false;
            self.changed.notify_all();
        }
    }

    /// Makes a used layer as good as new.
    fn renew(&self, layer: Held) -> Option<Held> {
        match empty(&layer.path).and_then(|()| layer.furnish()) {
            Ok(()) => Some(layer),
            Err(_) => self.remove(layer),
        }
    }

    /// Removes a layer, and lets go of its lock last.
    fn remove(&self, layer: Held) -> Option<Held> {
        if let Err(err) = discard(&layer.path) {
            (self.report)(&layer.path, &err);
        }
        None
    }
}

impl Held {
    fn lock(path: PathBuf) -> io::Result<Held> {
        let lock = File::open(&path)?;
        lock.try_lock().map_err(|err| match err {
            TryLockError::Error(err) => err,
            TryLockError::WouldBlock => io::ErrorKind::WouldBlock.into(),
        })?;
        let layer = Held { path, lock };
        layer.furnish().map(|()| layer)
    }

    fn furnish(&self) -> io::Result<()> {
        ["upper", "work"].iter().try_for_each(|part| fs::create_dir(self.path.join(part)))
    }

    fn is_whole(&self) -> bool {
        ["upper", "work"].iter().all(|part| self.path.join(part).is_dir())
    }
}

impl fmt::Debug for Inside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Inside");
        shown.field("place", &self.place).field("layers", &self.layers).finish_non_exhaustive()
    }
}

/// A directory that nobody else can look into.
fn private(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Whether it is because of another process that sweeps, or has the same number elsewhere.
fn is_passing(err: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, NotFound, WouldBlock};
    matches!(err.kind(), AlreadyExists | NotFound | WouldBlock)
}
