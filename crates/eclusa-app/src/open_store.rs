//! Opens stores: the only file that says which kind of store this program has.

use std::{path::Path, sync::Arc};

use eclusa::store::Store;
use eclusa_store::{Options, SqliteStore, StoreError};

use crate::{context::AppContext, failure::Failure, paths::Paths};

/// The store of another workspace of this person.
pub fn open(path: &Path) -> Result<Arc<dyn Store>, Failure> {
    Ok(Arc::new(SqliteStore::open(path, Options::default()).map_err(Failure::failed)?))
}

impl Paths {
    /// The store, to look at: it must be there, and everything that would write is refused.
    pub fn log(&self) -> Result<Arc<dyn Store>, Failure> {
        Ok(Arc::new(SqliteStore::open_read_only(&self.store).map_err(Failure::failed)?))
    }
}

impl AppContext {
    /// Opens the store, and makes it if it is not there.
    pub fn store(&self) -> Result<Arc<dyn Store>, Failure> {
        self.store_for(Options::default())
    }

    /// The same for a process that serves one client.
    pub fn store_for_one_client(&self) -> Result<Arc<dyn Store>, Failure> {
        self.store_for(Options { one_client: true, ..Options::default() })
    }

    /// The same for one call of many, each of which has a process of its own.
    pub fn store_for_one_call(&self) -> Result<Arc<dyn Store>, Failure> {
        self.store_for(Options { one_call: true, one_client: true, ..Options::default() })
    }

    fn store_for(&self, options: Options) -> Result<Arc<dyn Store>, Failure> {
        let workspace = Some(self.paths.workspace.to_string_lossy().into_owned());
        let options = Options { durability: self.config.durability, workspace, ..options };
        let opened =
            SqliteStore::open(&self.paths.written_down(), options).map_err(|err| match err {
                StoreError::Missing(path) => {
                    Failure::failed(format!("no log can be made at `{}`", path.display()))
                        .hint("`--state DIR` names another directory for logs and undo history")
                }
                err => Failure::failed(err),
            })?;
        Ok(Arc::new(opened))
    }
}
