//! Opens stores: the only file that says which kind of store this program has.

use std::{path::Path, sync::Arc};

use eclusa::{Durability, store::Store};
use eclusa_store::{Options, SqliteStore, StoreError};

use crate::{failure::Failure, paths::Paths};

/// The store of another workspace of this person.
pub fn open(path: &Path) -> Result<Arc<dyn Store>, Failure> {
    Ok(Arc::new(SqliteStore::open(path, Options::default()).map_err(Failure::failed)?))
}

/// The same to look at: it must be there, and everything that would write is refused.
pub(crate) fn open_to_read(path: &Path) -> Result<Arc<dyn Store>, Failure> {
    Ok(Arc::new(SqliteStore::open_read_only(path).map_err(Failure::failed)?))
}

impl Paths {
    /// The store, to look at.
    pub fn log(&self) -> Result<Arc<dyn Store>, Failure> {
        open_to_read(&self.store)
    }
}

/// Who will use a store.
#[derive(Clone, Copy, Default)]
pub(crate) struct StoreUse {
    /// A process that serves one client.
    pub(crate) one_client: bool,
    /// One call of many, each of which has a process of its own.
    pub(crate) one_call: bool,
}

/// The store of this workspace, which is made if it is not there.
pub(crate) fn open_own(
    paths: &Paths,
    durability: Durability,
    StoreUse { one_client, one_call }: StoreUse,
) -> Result<Arc<dyn Store>, Failure> {
    let workspace = Some(paths.workspace.to_string_lossy().into_owned());
    let options = Options { durability, workspace, one_client, one_call, ..Options::default() };
    let opened = SqliteStore::open(&paths.written_down(), options).map_err(|err| match err {
        StoreError::Missing(path) => {
            Failure::failed(format!("no log can be made at `{}`", path.display()))
                .hint("`--state DIR` names another directory for logs and undo history")
        }
        err => Failure::failed(err),
    })?;
    Ok(Arc::new(opened))
}
