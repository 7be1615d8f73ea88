//! The store of the workspace that a command works in, opened as it is configured.

use std::sync::Arc;

use eclusa::store::Store;

use crate::{
    context::AppContext,
    failure::Failure,
    open_store::{StoreUse, open_own},
};

impl AppContext {
    /// Opens the store, and makes it if it is not there.
    pub fn store(&self) -> Result<Arc<dyn Store>, Failure> {
        self.store_for(StoreUse::default())
    }

    /// The same for a process that serves one client.
    pub fn store_for_one_client(&self) -> Result<Arc<dyn Store>, Failure> {
        self.store_for(StoreUse { one_client: true, one_call: false })
    }

    /// The same for one call of many, each of which has a process of its own.
    pub fn store_for_one_call(&self) -> Result<Arc<dyn Store>, Failure> {
        self.store_for(StoreUse { one_client: true, one_call: true })
    }

    fn store_for(&self, used: StoreUse) -> Result<Arc<dyn Store>, Failure> {
        open_own(&self.paths, self.config.durability, used)
    }
}
