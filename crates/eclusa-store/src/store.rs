//! An open store, and the way to its writer and its readers.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, atomic::Ordering, mpsc},
    thread::JoinHandle,
};

use eclusa::{
    AuditSink,
    audit::{Appending, AuditError, Draft, Receipt},
};
use rusqlite::{Connection, OptionalExtension as _};
use tokio::sync::{Notify, oneshot};

use crate::{
    Options, StoreError, directory,
    error::InStore,
    schema,
    writer::{self, AtOnce, Job, Shared, Transaction},
};

/// An open store. Clones share it; the last one to go writes what is still queued.
#[derive(Clone)]
pub struct SqliteStore {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) path: PathBuf,
    pub(crate) options: Options,
    /// Rings when a question in the approval queue is answered in this process.
    pub(crate) answered: Notify,
    // INVARIANT: these go in this order. The last connection to a database moves the write-ahead
    // log to its place, which one that only reads cannot do; and without a queue the writer does
    // what is left, and ends.
    /// Opened when somebody reads: a hook only writes.
    reader: OnceLock<Mutex<Connection>>,
    /// `None` where the store is open for reading only.
    queue: Option<(mpsc::Sender<Job>, Arc<Shared>)>,
    writer: WriterThread,
}

/// The writing thread, which starts with the first job; whoever drops it waits for its end.
struct WriterThread {
    /// What it will read from.
    jobs: Mutex<Option<mpsc::Receiver<Job>>>,
    thread: OnceLock<JoinHandle<()>>,
}

impl SqliteStore {
    /// Opens the store, and makes it if it is not there yet, in a directory for its owner alone.
    pub fn open(path: &Path, options: Options) -> Result<SqliteStore, StoreError> {
        let path = &std::path::absolute(path).in_store(path)?;
        directory::prepare(path)?;
        let connection = schema::open_to_write(path, &options)?;
        if options.one_call {
            schema::leave_short_log(&connection, path)?;
        }
        if let Some(workspace) = &options.workspace
            && let Err(err) = note_workspace(&connection, workspace)
        {
            tracing::warn!("lists of approvals cannot say where this workspace is: {err}");
        }
        let (queue, jobs) = mpsc::channel();
        let shared = Arc::new(Shared::new(connection, path.to_owned(), options.clone())?);
        let inner = Inner {
            path: path.to_owned(),
            options,
            queue: Some((queue, shared)),
            writer: WriterThread::new(Some(jobs)),
            reader: OnceLock::new(),
            answered: Notify::new(),
        };
        Ok(SqliteStore { inner: Arc::new(inner) })
    }

    /// Opens a store that somebody else writes. Everything that would write is refused.
    pub fn open_read_only(path: &Path) -> Result<SqliteStore, StoreError> {
        let path = &std::path::absolute(path).in_store(path)?;
        directory::find(path)?;
        let options = Options::default();
        let reader = schema::open_to_read(path, options.busy)?;
        let inner = Inner {
            path: path.to_owned(),
            options,
            queue: None,
            writer: WriterThread::new(None),
            reader: OnceLock::from(Mutex::new(reader)),
            answered: Notify::new(),
        };
        Ok(SqliteStore { inner: Arc::new(inner) })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.inner.path
    }

    pub(crate) fn noted_workspace(&self) -> Result<Option<String>, StoreError> {
        noted_workspace(&*self.reader()?).in_store(self.path())
    }

    /// Waits until everything that was handed in before is written. Other clones stay open.
    pub fn close(self) -> Result<(), StoreError> {
        match self.inner.writer.thread.get() {
            None => Ok(()),
            Some(_) => self.write(|_| Ok(())),
        }
    }

    /// Does `work` in a transaction of its own, after everything that is queued, and waits for it.
    pub(crate) fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (tell, told) = mpsc::sync_channel(1);
        self.queue(writer::task(work, move |result| drop(tell.send(result))))?;
        told.recv().unwrap_or_else(|_| Err(StoreError::Gone(self.inner.path.clone())))
    }

    /// The same, for whoever may not block.
    pub(crate) async fn write_later<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (tell, told) = oneshot::channel();
        self.queue(writer::task(work, move |result| drop(tell.send(result))))?;
        told.await.unwrap_or_else(|_| Err(StoreError::Gone(self.inner.path.clone())))
    }

    /// Does `work` in a transaction of its own on this thread, once whoever writes has done with its
    /// own: for what is short, and read and written at the same moment.
    pub(crate) fn write_here<T>(
        &self,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match &self.inner.queue {
            Some((_, shared)) => shared.write_here(work),
            None => Err(self.only_read()),
        }
    }

    /// Reads something short: with the connection that writes, where nobody writes, because another
    /// one takes longer to open than to read.
    pub(crate) fn look<T>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let free = self.inner.queue.as_ref().and_then(|(_, shared)| shared.free_connection());
        match free {
            Some(writer) => read(writer.connection()).in_store(self.path()),
            None => read(&*self.reader()?).in_store(self.path()),
        }
    }

    fn only_read(&self) -> StoreError {
        let what = "it was opened for reading only".to_owned();
        StoreError::ReadOnly { path: self.inner.path.clone(), what }
    }

    /// Puts a job behind the others.
    pub(crate) fn queue(&self, job: Job) -> Result<(), StoreError> {
        let Some((queue, shared)) = &self.inner.queue else { return Err(self.only_read()) };
        self.inner.writer.start(shared).in_store(&self.inner.path)?;
        shared.queued.fetch_add(1, Ordering::AcqRel);
        queue.send(job).map_err(|_| StoreError::Gone(self.inner.path.clone()))
    }

    /// Writes a record on this thread, if that takes no sync or this process has one client, and
    /// nobody else is writing. Waking another thread and being woken by it costs more than the
    /// record itself.
    fn write_at_once(&self, draft: Draft) -> Result<Result<Receipt, StoreError>, Draft> {
        let Some((queue, shared)) = &self.inner.queue else { return Err(draft) };
        let writer = &self.inner.writer;
        match shared.write_at_once(draft) {
            AtOnce::NotNow(draft) => Err(draft),
            AtOnce::Tried { result, look } => {
                if look && writer.start(shared).is_ok() {
                    // It is nothing that others would have to wait for, so it is not counted. A
                    // writer that has gone away moves nothing, and that is all.
                    drop(queue.send(Job::Look));
                }
                Ok(result)
            }
        }
    }

    /// The connection for short reads.
    pub(crate) fn reader(&self) -> Result<MutexGuard<'_, Connection>, StoreError> {
        let reader = match self.inner.reader.get() {
            Some(reader) => reader,
            None => {
                let opened = schema::open_to_read(&self.inner.path, self.inner.options.busy)?;
                self.inner.reader.get_or_init(|| Mutex::new(opened))
            }
        };
        Ok(reader.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn noted_workspace(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT value FROM about WHERE name = 'workspace'";
    connection.query_row(sql, [], |row| row.get(0)).optional()
}

fn note_workspace(connection: &Connection, workspace: &str) -> rusqlite::Result<()> {
    if noted_workspace(connection)?.as_deref() == Some(workspace) {
        return Ok(());
    }
    let sql = "INSERT OR REPLACE INTO about VALUES ('workspace', ?1)";
    connection.execute(sql, [workspace]).map(drop)
}

impl AuditSink for SqliteStore {
    fn append(&self, draft: Draft) -> Appending {
        let draft = match self.write_at_once(draft) {
            Ok(written) => return Appending::Done(written.map_err(AuditError::from)),
            Err(draft) => draft,
        };
        let (tell, told) = oneshot::channel();
        match self.queue(Job::Append { draft, tell }) {
            Ok(()) => Appending::Waiting(told),
            Err(err) => Appending::Done(Err(err.into())),
        }
    }
}

impl WriterThread {
    fn new(jobs: Option<mpsc::Receiver<Job>>) -> WriterThread {
        WriterThread { jobs: Mutex::new(jobs), thread: OnceLock::new() }
    }

    /// Starts it, if it has not been started.
    fn start(&self, shared: &Arc<Shared>) -> io::Result<()> {
        if self.thread.get().is_some() {
            return Ok(());
        }
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(jobs) = jobs.take() else { return Ok(()) };
        let shared = shared.clone();
        let thread = std::thread::Builder::new().name("eclusa-store".to_owned());
        let thread = thread.spawn(move || shared.run(&jobs))?;
        self.thread.get_or_init(|| thread);
        Ok(())
    }
}

impl Drop for WriterThread {
    fn drop(&mut self) {
        // A thread cannot wait for itself: it may hold the last clone while it tells somebody
        // what came of a job, and goes on to do what is left.
        match self.thread.take() {
            Some(thread) if thread.thread().id() != std::thread::current().id() => {
                drop(thread.join());
            }
            _ => {}
        }
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.inner.path).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
