//! The stores of this machine, as whoever ships them sees them: opened to be read, new ones found while it looks.

use std::{collections::BTreeMap, fs, path::PathBuf, sync::Arc};

use eclusa::store::Store;
use eclusa_fleet::MachineState;
use futures::FutureExt as _;
use serde_json::Value;

use crate::{open_store, paths::Paths};

/// A store of this machine.
pub(crate) struct LocalStore {
    /// What it calls itself.
    pub(crate) id: String,
    /// The workspace whose calls are recorded there.
    pub(crate) workspace: String,
    pub(crate) store: Arc<dyn Store>,
}

/// All of them, by their files.
#[derive(Default)]
pub(crate) struct LocalStores {
    open: BTreeMap<PathBuf, LocalStore>,
}

impl LocalStores {
    /// Opens what is new. A store that cannot be opened now is tried again at the next look.
    pub(crate) fn refresh(&mut self, paths: &Paths) -> Vec<String> {
        let mut unread = Vec::new();
        let file = paths.store.file_name().unwrap_or_default();
        let entries = paths.state().and_then(|it| fs::read_dir(it).ok()).into_iter().flatten();
        let found: Vec<PathBuf> =
            entries.flatten().map(|it| it.path().join(file)).filter(|it| it.is_file()).collect();
        self.open.retain(|path, _| found.contains(path));
        for path in found {
            if self.open.contains_key(&path) {
                continue;
            }
            match open(&path) {
                Ok(store) => drop(self.open.insert(path, store)),
                Err(why) => unread.push(format!("`{}` cannot be read: {why}", path.display())),
            }
        }
        unread
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &LocalStore> {
        self.open.values()
    }

    /// When the oldest record was written that is not at the server, and how many there are.
    pub(crate) fn unshipped(&self, state: &MachineState) -> (Option<u64>, u64) {
        let (mut oldest, mut count): (Option<u64>, u64) = (None, 0);
        for store in self.iter() {
            let shipped = state.stores.get(&store.id).map_or(0, |it| it.shipped.seq);
            let end = store.store.head().map_or(0, |it| it.seq);
            count += end.saturating_sub(shipped);
            let next = store.store.records(shipped + 1, 1).ok();
            let next = next.and_then(|it| it.first().map(|it| it.body.clone()));
            // A record that says no time is as old as any.
            let at = next.map(|body| {
                let body: Value = serde_json::from_str(&body).unwrap_or_default();
                body.get("at").and_then(Value::as_u64).unwrap_or(0)
            });
            oldest = oldest.into_iter().chain(at).min();
        }
        (oldest, count)
    }
}

fn open(path: &std::path::Path) -> Result<LocalStore, String> {
    let store = open_store::open_to_read(path).map_err(|err| err.message().to_owned())?;
    // It is one look into the file, and waits for nobody.
    let id = store.approval_queue(Vec::new()).queue().now_or_never();
    let id = id.and_then(Result::ok).filter(|it| !it.is_empty());
    let id = id.ok_or("an older program wrote it; run any call in its workspace once")?;
    let named = store.workspace().ok().flatten();
    let directory = || path.parent().and_then(|it| it.file_name()).map(|it| it.to_string_lossy());
    let workspace = named.or_else(|| directory().map(Into::into)).unwrap_or_default();
    Ok(LocalStore { id, workspace, store })
}

/// When the oldest record was written that is not at the server, and how many there are.
pub(crate) fn unshipped(paths: &Paths, state: &MachineState) -> (Option<u64>, u64) {
    let mut stores = LocalStores::default();
    stores.refresh(paths);
    stores.unshipped(state)
}
