//! The writer: one thread per open store, which writes everything that queues up in one
//! transaction, and tells nobody before that transaction is durable. Where that takes no sync, or
//! one caller is all there is, and nothing is queued, a caller writes its record itself and wakes
//! nobody. What is in the write-ahead log is moved to its place beside both.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use eclusa::{
    Durability, Hash, Record,
    audit::{AuditError, Draft, Head, Receipt},
};
use rusqlite::{CachedStatement, Connection, params};
use tokio::sync::oneshot;

use crate::{Options, StoreError, directory, error::InStore};
use wal_checkpoint::WalCheckpointer;

mod here;
mod turn;
mod wal_checkpoint;

/// Something to write.
pub(crate) enum Job {
    /// A record. Neighbours share a transaction.
    Append { draft: Draft, tell: Tell },
    /// Anything else, in a transaction of its own.
    Task(Task),
    /// Somebody has written by themselves: there may be something to move to its place.
    Look,
}

type Tell = oneshot::Sender<Result<Receipt, AuditError>>;
type Task = Box<dyn FnOnce(&Writer) + Send>;

/// A job that does `work` in a transaction of its own and says what came of it.
pub(crate) fn task<T>(
    work: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
    tell: impl FnOnce(Result<T, StoreError>) + Send + 'static,
) -> Job {
    Job::Task(Box::new(move |writer| tell(writer.transaction(work))))
}

/// So many records share a transaction at most.
const BATCH: usize = 1_024;

/// With nothing to do for so long, the writer moves what is in the write-ahead log to its place.
const IDLE: Duration = Duration::from_millis(500);

/// The write-ahead log is moved to its place when about so many bytes have gone into it, busy or
/// not, after everybody has been told. Not many, because SQLite's index of the log passes by every
/// earlier copy of a page when it notes another, and the page of the head is in every transaction.
const CHECKPOINT: usize = 4 << 20;

/// What a transaction writes beyond its records: the pages of the head, the index and the tables.
const OVERHEAD: usize = 4 * 4_096;

/// A caller waits for the disk by itself as long as the last wait was shorter than this. Beyond, two
/// changes of thread do not matter, and others who share the caller's thread would.
const SHORT_WAIT: Duration = Duration::from_millis(1);

/// If several processes keep each other from it, SQLite does it at this number of pages.
const CHECKPOINT_PAGES: i64 = 16_384;

pub(crate) struct Writer {
    connection: Connection,
    path: PathBuf,
    /// Which file was opened.
    identity: (u64, u64),
    /// How long it waits for other processes.
    busy: Duration,
}

/// What the writing thread shares with whoever finds it free.
pub(crate) struct Shared {
    // INVARIANT: it goes before the writer: the last connection moves the write-ahead log to its
    // place, unless it was told not to.
    /// What moves the log while others write. Opened when it is first needed.
    beside: Mutex<Option<Connection>>,
    writer: Mutex<Writer>,
    options: Options,
    /// Whether the last transaction took longer than a caller should wait for by itself.
    slow: AtomicBool,
    /// How many jobs are queued or being done.
    pub(crate) queued: AtomicUsize,
    /// About so many bytes have gone into the write-ahead log since it was moved to its place.
    written: AtomicUsize,
}

/// What came of writing a record at once.
pub(crate) enum AtOnce {
    /// It was tried. With `look`, the writing thread has something to see to.
    Tried { result: Result<Receipt, StoreError>, look: bool },
    /// Somebody else is writing, here or in another process.
    NotNow(Draft),
}

impl Shared {
    pub(crate) fn new(
        connection: Connection,
        path: PathBuf,
        options: Options,
    ) -> Result<Shared, StoreError> {
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES).in_store(&path)?;
        let identity = directory::identity(&path).in_store(&path)?;
        let busy = options.busy;
        let writer = Mutex::new(Writer { connection, path, identity, busy });
        let (queued, written) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (beside, slow) = (Mutex::new(None), AtomicBool::new(false));
        Ok(Shared { beside, writer, options, slow, queued, written })
    }

    /// Writes a record right here, if nobody else is writing or waits to.
    pub(crate) fn write_at_once(&self, draft: Draft) -> AtOnce {
        let free = |_: &MutexGuard<'_, Writer>| self.queued.load(Ordering::Acquire) == 0;
        let syncs = self.options.durability == Durability::PowerLoss;
        if syncs && (!self.options.one_client || self.slow.load(Ordering::Relaxed)) {
            return AtOnce::NotNow(draft);
        }
        let Some(writer) = self.writer.try_lock().ok().filter(free) else {
            return AtOnce::NotNow(draft);
        };
        let bytes = draft.body().len() + OVERHEAD;
        let mut draft = Some(draft);
        let append = |tx: &mut Transaction<'_>| match draft.take() {
            Some(draft) => tx.append_draft(draft),
            None => Err(StoreError::Gone(writer.path.clone())),
        };
        // Whoever has to wait for another process waits on the writing thread.
        let result = self.timed(|| writer.transaction_within(Duration::ZERO, append));
        match draft {
            Some(draft) => AtOnce::NotNow(draft),
            None => {
                let before = self.written.fetch_add(bytes, Ordering::AcqRel);
                let full = before <= CHECKPOINT && before + bytes > CHECKPOINT;
                // A process that ends soon leaves the log to the next one.
                let look = !self.options.one_call && (before == 0 || full);
                AtOnce::Tried { result, look }
            }
        }
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes whether this took long.
    fn timed<T>(&self, work: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let done = work();
        self.slow.store(began.elapsed() > SHORT_WAIT, Ordering::Relaxed);
        done
    }

    /// Does what is queued until nobody can queue anything any more.
    pub(crate) fn run(self: &Arc<Shared>, jobs: &Receiver<Job>) {
        let mut batch = Vec::new();
        let mut checkpointer = WalCheckpointer::default();
        while let Some(first) = self.next(jobs, &mut checkpointer) {
            let mut job = Some(first);
            while let Some(next) = job.take() {
                match next {
                    Job::Append { draft, tell } => batch.push((draft, tell)),
                    Job::Task(task) => {
                        self.append(&mut batch);
                        self.work(1, OVERHEAD, |writer| task(writer));
                        break;
                    }
                    Job::Look => {}
                }
                if batch.len() < BATCH {
                    job = jobs.try_recv().ok();
                }
            }
            self.append(&mut batch);
            if self.written.load(Ordering::Acquire) > CHECKPOINT {
                checkpointer.start(self);
            }
        }
        checkpointer.end();
    }

    fn append(&self, batch: &mut Vec<(Draft, Tell)>) {
        let bytes = batch.iter().map(|(draft, _)| draft.body().len()).sum::<usize>();
        self.work(batch.len(), bytes + OVERHEAD, |writer| writer.append(batch));
    }

    /// Does so many of the queued jobs, which write about so many bytes.
    fn work(&self, jobs: usize, bytes: usize, work: impl FnOnce(&Writer)) {
        if jobs > 0 {
            let writer = self.writer();
            self.timed(|| work(&writer));
            drop(writer);
            self.written.fetch_add(bytes, Ordering::AcqRel);
            self.queued.fetch_sub(jobs, Ordering::AcqRel);
        }
    }

    /// Waits for something to do; `None` when there will never be anything again.
    fn next(
        self: &Arc<Shared>,
        jobs: &Receiver<Job>,
        checkpointer: &mut WalCheckpointer,
    ) -> Option<Job> {
        loop {
            let before = self.written.load(Ordering::Acquire);
            match jobs.recv_timeout(IDLE) {
                // Others write by themselves meanwhile.
                Err(RecvTimeoutError::Timeout)
                    if self.written.load(Ordering::Acquire) != before => {}
                Err(RecvTimeoutError::Timeout) => {
                    if before > 0 {
                        checkpointer.start(self);
                    }
                    return jobs.recv().ok();
                }
                job => return job.ok(),
            }
        }
    }
}

impl Writer {
    /// Writes all of these records or none, and tells everybody who waits.
    fn append(&self, batch: &mut Vec<(Draft, Tell)>) {
        if batch.is_empty() {
            return;
        }
        let (drafts, tells): (Vec<Draft>, Vec<Tell>) = batch.drain(..).unzip();
        let written =
            self.transaction(|tx| drafts.into_iter().map(|draft| tx.append_draft(draft)).collect());
        match written {
            Ok(receipts) => {
                let receipts: Vec<Receipt> = receipts;
                for (tell, receipt) in tells.into_iter().zip(receipts) {
                    // Whoever has stopped listening loses nothing but the news.
                    drop(tell.send(Ok(receipt)));
                }
            }
            Err(err) => {
                let err = AuditError::new(err.to_string());
                tracing::error!("{} records were refused: {err}", tells.len());
                for tell in tells {
                    drop(tell.send(Err(err.clone())));
                }
            }
        }
    }

    /// Does `work` under the lock, for which it waits no longer than this.
    fn transaction_within<T>(
        &self,
        busy: Duration,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let done = self.attempt(busy, work);
        if done.is_err()
            && !self.connection.is_autocommit()
            && let Err(err) = self.connection.execute_batch("ROLLBACK")
        {
            tracing::error!("a failed transaction could not be taken back: {err}");
        }
        done
    }

    fn attempt<T>(
        &self,
        busy: Duration,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let run = |sql: &str| {
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.execute([]).map(drop)
        };
        self.still_there()?;
        turn::begin(&self.connection, &self.path, busy).in_store(&self.path)?;
        let mut tx = Transaction::new(&self.connection, &self.path)?;
        let done = work(&mut tx)?;
        tx.finish()?;
        run("COMMIT").in_store(&self.path)?;
        Ok(done)
    }

    /// A file that nobody can find any more still takes what is written to it, and loses it.
    fn still_there(&self) -> Result<(), StoreError> {
        match directory::identity(&self.path) {
            Ok(identity) if identity == self.identity => Ok(()),
            _ => Err(StoreError::Moved(self.path.clone())),
        }
    }
}

/// Writes within one transaction.
pub(crate) struct Transaction<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) path: &'a Path,
    insert: CachedStatement<'a>,
    /// Other processes append too, so it is read anew under each lock.
    head: Head,
    found: u64,
    /// How many calls have a number.
    calls: u64,
}

impl<'a> Transaction<'a> {
    fn new(connection: &'a Connection, path: &'a Path) -> Result<Transaction<'a>, StoreError> {
        let insert = connection
            .prepare_cached("INSERT INTO records (seq, start, hash, body) VALUES (?1, ?2, ?3, ?4)")
            .in_store(path)?;
        let head = stored_head(connection, path)?;
        let calls = stored_calls(connection).in_store(path)?;
        Ok(Transaction { connection, path, insert, head, found: head.seq, calls })
    }

    /// Puts what somebody handed in at the end of the chain. A question of the approval queue
    /// opens one call: the second record that names it is refused.
    fn append_draft(&mut self, mut draft: Draft) -> Result<Receipt, StoreError> {
        let question = draft.question();
        let call = draft.opens_call().then(|| self.calls + 1);
        if let Some(number) = call {
            draft.set_number(number);
            self.calls = number;
        }
        let receipt = self.append(draft.start(), draft.into_body())?;
        if let Some(question) = question {
            let sql = "INSERT OR IGNORE INTO opened (question, record) VALUES (?1, ?2)";
            let mut insert = self.connection.prepare_cached(sql).in_store(self.path)?;
            let row = [to_sql(question), to_sql(receipt.seq)];
            if insert.execute(row).in_store(self.path)? != 1 {
                return Err(StoreError::Opened(question));
            }
        }
        Ok(Receipt { call, ..receipt })
    }

    /// Puts a record at the end of the chain.
    pub(crate) fn append(
        &mut self,
        start: Option<u64>,
        body: String,
    ) -> Result<Receipt, StoreError> {
        let record = Record::chain(body, &mut self.head);
        let start = start.map(to_sql);
        self.insert
            .execute(params![to_sql(record.seq), start, &record.hash.as_bytes()[..], record.body])
            .in_store(self.path)?;
        Ok(record.receipt())
    }

    fn finish(self) -> Result<(), StoreError> {
        if self.head.seq == self.found {
            return Ok(());
        }
        let sql = "UPDATE head SET seq = ?1, hash = ?2, calls = ?3 WHERE one = 1";
        let mut update = self.connection.prepare_cached(sql).in_store(self.path)?;
        let (head, calls) = (self.head, to_sql(self.calls));
        let changed = update.execute(params![to_sql(head.seq), &head.hash.as_bytes()[..], calls]);
        match changed.in_store(self.path)? {
            1 => Ok(()),
            _ => Err(no_head(self.path)),
        }
    }
}

/// Where the chain is known to end.
pub(crate) fn stored_head(connection: &Connection, path: &Path) -> Result<Head, StoreError> {
    let sql = "SELECT seq, hash FROM head WHERE one = 1";
    let mut statement = connection.prepare_cached(sql).in_store(path)?;
    let mut rows = statement.query([]).in_store(path)?;
    let row = rows.next().in_store(path)?.ok_or_else(|| no_head(path))?;
    let seq = row.get::<_, i64>(0).in_store(path)?;
    let hash = row.get::<_, [u8; 32]>(1).in_store(path)?;
    Ok(Head { seq: u64::try_from(seq).map_err(|_| no_head(path))?, hash: Hash::from(hash) })
}

/// How many calls have a number.
fn stored_calls(connection: &Connection) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare_cached("SELECT calls FROM head WHERE one = 1")?;
    statement.query_row([], |row| row.get::<_, i64>(0)).map(|it| u64::try_from(it).unwrap_or(0))
}

fn no_head(path: &Path) -> StoreError {
    let what = "the place where its chain ends is missing".to_owned();
    StoreError::Damaged { path: path.to_owned(), what }
}

/// Numbers beyond the range of the database are found by nobody, and never lead to another row.
pub(crate) fn to_sql(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
