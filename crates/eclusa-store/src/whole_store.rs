//! The store as a whole: everything that a program keeps, in one file of SQLite.

use std::sync::Arc;

use eclusa::{
    approve::NotificationTarget,
    audit::AuditError,
    store::{ApprovalQueue, Store},
};

use crate::{SqliteQueue, SqliteStore};

impl Store for SqliteStore {
    fn workspace(&self) -> Result<Option<String>, AuditError> {
        Ok(self.noted_workspace()?)
    }

    fn approval_queue(&self, targets: Vec<NotificationTarget>) -> Arc<dyn ApprovalQueue> {
        Arc::new(SqliteQueue::new(self.clone()).notifying(targets))
    }
}
