//! What is kept of sessions between their calls: read and changed by every process that has the
//! store open, one at a time.

use eclusa::session::{SessionError, SessionRecord, SessionState};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    SqliteStore, StoreError,
    error::InStore,
    writer::{Transaction, to_sql},
};

impl SessionState for SqliteStore {
    fn load(&self, session: &str) -> Result<SessionRecord, SessionError> {
        let found = self.look(|connection| state(connection, session)).map_err(failed)?;
        read(found)
    }

    fn update(
        &self,
        session: &str,
        change: &mut dyn FnMut(&mut SessionRecord),
    ) -> Result<(), SessionError> {
        let now = self.inner.options.clock.unix_ms();
        let mut unread = None;
        let work = |tx: &mut Transaction<'_>| {
            let before = match read(state(tx.connection, session).in_store(tx.path)?) {
                Ok(record) => record,
                Err(err) => {
                    unread = Some(err);
                    return Ok(());
                }
            };
            let mut after = before.clone();
            change(&mut after);
            if after == before {
                return Ok(());
            }
            if after.is_empty() {
                return remove(tx, session);
            }
            let sql = "INSERT OR REPLACE INTO sessions (name, state, changed) VALUES (?1, ?2, ?3)";
            let row = params![session, after.to_text(), to_sql(now)];
            let mut insert = tx.connection.prepare_cached(sql).in_store(tx.path)?;
            insert.execute(row).map(drop).in_store(tx.path)
        };
        self.write_here(work).map_err(failed)?;
        unread.map_or(Ok(()), Err)
    }

    fn forget(&self, session: &str) -> Result<(), SessionError> {
        // Most sessions leave nothing behind, and a look takes no lock.
        match self.look(|connection| state(connection, session)).map_err(failed)? {
            None => Ok(()),
            Some(_) => self.write_here(|tx| remove(tx, session)).map_err(failed),
        }
    }
}

fn state(connection: &Connection, session: &str) -> rusqlite::Result<Option<String>> {
    let mut select = connection.prepare_cached("SELECT state FROM sessions WHERE name = ?1")?;
    select.query_row([session], |row| row.get(0)).optional()
}

fn read(state: Option<String>) -> Result<SessionRecord, SessionError> {
    state.map_or_else(|| Ok(SessionRecord::default()), |it| SessionRecord::from_text(&it))
}

fn remove(tx: &mut Transaction<'_>, session: &str) -> Result<(), StoreError> {
    let mut delete =
        tx.connection.prepare_cached("DELETE FROM sessions WHERE name = ?1").in_store(tx.path)?;
    delete.execute([session]).map(drop).in_store(tx.path)
}

fn failed(err: StoreError) -> SessionError {
    err.to_string().into()
}
