//! The tables, how they came to be what they are, and how a connection is set up.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use eclusa::Durability;
use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig};

use crate::{
    Options, StoreError, approval_tables, error::InStore, session_tables, transcript_tables,
};

/// Marks a database as a store: `Ecls`.
const APPLICATION: i64 = 0x4563_6c73;

/// Older ones can damage a database in WAL mode that several connections write.
const OLDEST_SQLITE: i32 = 3_051_003;

/// Each step leads from the format of its place in this list to the next.
///
/// The hash of a record covers its number, its body and the hash before it, so nothing needs to
/// be stored twice: the `previous` of a record is the `hash` of the row before it. The column
/// `start` repeats what the body says, for the index; `verify` compares the two.
const STEPS: [&str; 6] = [
    FIRST_TABLES,
    QUESTIONS,
    transcript_tables::TABLES,
    approval_tables::TABLES,
    NUMBERED_CALLS,
    session_tables::TABLE,
];

const FIRST_TABLES: &str = "
CREATE TABLE records (
    seq INTEGER PRIMARY KEY,
    start INTEGER,
    hash BLOB NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX records_start ON records (start) WHERE start IS NOT NULL;

CREATE TABLE head (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    seq INTEGER NOT NULL,
    hash BLOB NOT NULL
) STRICT;
INSERT INTO head VALUES (1, 0, zeroblob(32));

CREATE TABLE spool (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    reference TEXT NOT NULL UNIQUE,
    bytes INTEGER NOT NULL,
    kept INTEGER NOT NULL,
    text BLOB NOT NULL
) STRICT;
CREATE INDEX spool_sizes ON spool (id, bytes, reference);

CREATE TABLE desk (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    binding TEXT NOT NULL,
    call TEXT NOT NULL,
    question TEXT NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    status TEXT NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'approved', 'rejected', 'expired')),
    answer TEXT,
    edit TEXT,
    answer_sha256 BLOB,
    decided_by TEXT,
    decided INTEGER,
    reason TEXT,
    taken INTEGER
) STRICT;
CREATE INDEX desk_pending ON desk (id) WHERE status = 'pending';
";

/// Questions by state, with who holds them; answers with their signatures; and the answers that
/// have opened a call. A yes to a question of the first format opens nothing: it says too little of
/// what was shown.
const QUESTIONS: &str = "
CREATE TABLE questions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    principal TEXT NOT NULL,
    conversation TEXT NOT NULL,
    call TEXT NOT NULL,
    binding TEXT NOT NULL,
    shown BLOB NOT NULL,
    question TEXT NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    valid INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'rejected', 'expired',
        'withdrawn', 'revoked', 'taken')),
    changed INTEGER NOT NULL,
    holder TEXT,
    nonce TEXT,
    held_until INTEGER NOT NULL DEFAULT 0,
    ticket TEXT,
    answer TEXT,
    edit TEXT,
    reason TEXT,
    seal BLOB,
    decided_by TEXT,
    proof TEXT,
    decided INTEGER,
    taken INTEGER
) STRICT;
INSERT INTO questions (id, principal, conversation, call, binding, shown, question, created,
        expires, valid, state, changed, answer, reason, decided_by, decided, taken)
    SELECT id, coalesce(json_extract(question, '$.principal'), ''),
        coalesce(json_extract(question, '$.conversation'), ''), call, binding, x'',
        question, created, expires, 0,
        CASE WHEN status <> 'approved' THEN status WHEN taken IS NOT NULL THEN 'taken'
            ELSE 'expired' END,
        id, answer, reason, decided_by, decided, taken FROM desk;
DROP TABLE desk;
CREATE INDEX questions_pending ON questions (id) WHERE state = 'pending';
CREATE INDEX questions_expiring ON questions (expires) WHERE state = 'pending';
CREATE INDEX questions_of ON questions (conversation) WHERE state = 'pending';
CREATE INDEX questions_held ON questions (holder) WHERE state = 'pending';
CREATE INDEX questions_bound ON questions (binding)
    WHERE state IN ('pending', 'approved', 'rejected');
CREATE INDEX questions_changed ON questions (changed);
CREATE UNIQUE INDEX questions_ticket ON questions (ticket) WHERE ticket IS NOT NULL;

CREATE TABLE answers (
    question INTEGER NOT NULL,
    person TEXT NOT NULL,
    proof TEXT NOT NULL,
    key TEXT,
    answer TEXT NOT NULL,
    statement TEXT,
    signature TEXT,
    at INTEGER NOT NULL,
    PRIMARY KEY (question, person)
) STRICT;

CREATE TABLE opened (
    question INTEGER PRIMARY KEY,
    record INTEGER NOT NULL
) STRICT;

CREATE TABLE about (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;
INSERT INTO about VALUES ('queue', lower(hex(randomblob(16))));
";

/// How many calls were numbered. Before, the number of a call was that of its first record; counting
/// goes on behind the last of them, so that no number is given twice.
const NUMBERED_CALLS: &str = "
ALTER TABLE head ADD COLUMN calls INTEGER NOT NULL DEFAULT 0;
UPDATE head SET calls = seq;
";

/// The newest format that this program knows.
pub(crate) const FORMAT: i64 = STEPS.len() as i64;

/// So many of the probes hold for the first format too.
const OLDEST_PROBES: usize = 3;

/// Prepared at start, so that a table that is missing or different is found before anything is
/// written.
const PROBES: [&str; 7] = [
    "SELECT seq, start, hash, body FROM records INDEXED BY records_start WHERE start = 0",
    "SELECT one, seq, hash FROM head",
    "SELECT id, reference, bytes, kept, text FROM spool",
    "SELECT id, principal, conversation, call, binding, shown, question, created, expires, valid,
        state, changed, holder, nonce, held_until, ticket, answer, edit, reason, seal, decided_by,
        proof, decided, taken FROM questions",
    "SELECT question, person, proof, key, answer, statement, signature, at FROM answers",
    "SELECT question, record FROM opened",
    "SELECT name, value FROM about",
];

/// A connection that writes. The tables are there and of the newest format.
pub(crate) fn open_to_write(path: &Path, options: &Options) -> Result<Connection, StoreError> {
    let (durability, busy) = (options.durability, options.busy);
    recent_enough(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).in_store(path)?;
    connection.busy_timeout(busy).in_store(path)?;
    // SQLite opens for reading what it may not write.
    if connection.is_readonly("main").in_store(path)? {
        let what = "its permissions or its disk do not allow it".to_owned();
        return Err(StoreError::ReadOnly { path: path.to_owned(), what });
    }
    // Before anything is written: is it ours to write to?
    let format = look(&connection, path)?;
    use_wal(&connection, path, busy)?;
    let level = match durability {
        Durability::PowerLoss => "FULL",
        Durability::Crash => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", level).in_store(path)?;
    // Some systems need a stronger word for a sync that reaches the disk; elsewhere no effect.
    let full = matches!(durability, Durability::PowerLoss);
    connection.pragma_update(None, "fullfsync", full).in_store(path)?;
    connection.pragma_update(None, "checkpoint_fullfsync", full).in_store(path)?;
    // It never becomes older, so nobody who finds the newest waits for the lock.
    if format != FORMAT {
        migrate(&mut connection, path)?;
    }
    // Whoever writes one record learns from that one what its tables are worth.
    if !options.one_call {
        probe(&connection, path, FORMAT)?;
    }
    Ok(connection)
}

/// A connection that moves the write-ahead log of an open store to its place, and does nothing else.
pub(crate) fn open_to_move(path: &Path, durability: Durability) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).in_store(path)?;
    connection.pragma_update(None, "synchronous", "NORMAL").in_store(path)?;
    let full = matches!(durability, Durability::PowerLoss);
    connection.pragma_update(None, "checkpoint_fullfsync", full).in_store(path)?;
    Ok(connection)
}

/// Nobody moves the write-ahead log when this connection closes, unless it is so long that whoever
/// opens the store next would wait for it to be read.
pub(crate) fn leave_short_log(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    const MAX_LOG: u64 = 512 << 10;
    let short = beside(path, "-wal").metadata().map_or(0, |it| it.len()) < MAX_LOG;
    let set = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, short);
    set.in_store(path).map(drop)
}

/// A connection that only reads.
pub(crate) fn open_to_read(path: &Path, busy: Duration) -> Result<Connection, StoreError> {
    recent_enough(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).in_store(path)?;
    connection.busy_timeout(busy).in_store(path)?;
    // Reading needs files beside the store. Where they cannot be made, on a read-only disk, and
    // nobody has left any, the file is all there is, and nobody can change it.
    let usable = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
    if let Err(err) = usable
        && matches!(err.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
        && !beside(path, "-wal").exists()
    {
        let flags = flags | OpenFlags::SQLITE_OPEN_URI;
        connection = Connection::open_with_flags(immutable(path), flags).in_store(path)?;
    }
    match look(&connection, path)? {
        0 => return Err(StoreError::Missing(path.to_owned())),
        format => probe(&connection, path, format)?,
    }
    Ok(connection)
}

/// The file of this ending that SQLite keeps beside a database.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// The address of a file that nobody changes.
fn immutable(path: &Path) -> String {
    let mut address = "file:".to_owned();
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                address.push(char::from(byte));
            }
            _ => address.push_str(&format!("%{byte:02x}")),
        }
    }
    address + "?immutable=1"
}

fn recent_enough(path: &Path) -> Result<(), StoreError> {
    if rusqlite::version_number() < OLDEST_SQLITE {
        let what = format!("SQLite {} is too old: 3.51.3 is needed", rusqlite::version());
        return Err(StoreError::Failed { path: path.to_owned(), what });
    }
    Ok(())
}

/// The format of the file, at one moment: another process may be making it meanwhile, and must not
/// be seen half done.
fn look(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    let moment = connection.unchecked_transaction().in_store(path)?;
    recognise(&moment, path)
}

/// The format of the file, if it is ours and we know it. INVARIANT: inside a transaction.
fn recognise(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    let number = |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get(0));
    let application: i64 = number("application_id").in_store(path)?;
    let format: i64 = number("user_version").in_store(path)?;
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .in_store(path)?;
    match (application, format) {
        (0, 0) if tables == 0 => Ok(0),
        (APPLICATION, 1..=FORMAT) => Ok(format),
        (APPLICATION, found) if found > FORMAT => {
            Err(StoreError::Newer { path: path.to_owned(), found, known: FORMAT })
        }
        _ => Err(StoreError::NotAStore(path.to_owned())),
    }
}

/// Readers and writers do not hold each other up in this mode.
///
/// Two processes that open a new file at once can be told that it is locked without any waiting,
/// so the waiting is done here.
fn use_wal(connection: &Connection, path: &Path, busy: Duration) -> Result<(), StoreError> {
    let deadline = Instant::now() + busy;
    loop {
        let mode = connection
            .pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0));
        match mode {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => {
                let what = format!("it cannot leave the journal mode `{mode}`");
                return Err(StoreError::Failed { path: path.to_owned(), what });
            }
            Err(err)
                if err.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && Instant::now() < deadline =>
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(err) => return Err(err).in_store(path),
        }
    }
}

/// Brings the file to the newest format, one step and one transaction at a time.
fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    keep_copy(connection, path)?;
    loop {
        let step = connection
            .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
            .in_store(path)?;
        // Under the lock: another process may have been faster.
        let format = recognise(&step, path)?;
        let next = usize::try_from(format).ok().and_then(|format| STEPS.get(format));
        let Some(sql) = next else { return Ok(()) };
        step.execute_batch(sql).in_store(path)?;
        step.pragma_update(None, "application_id", APPLICATION).in_store(path)?;
        step.pragma_update(None, "user_version", format + 1).in_store(path)?;
        step.commit().in_store(path)?;
    }
}

/// Keeps what an older program wrote beside it, before it is brought to the newest format.
fn keep_copy(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    // Not under the lock, so it may be one that somebody is making: that one has no records yet.
    let format: i64 =
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).in_store(path)?;
    let records = "SELECT EXISTS (SELECT 1 FROM records)";
    let is_used = connection.query_row(records, [], |row| row.get(0)).unwrap_or(false);
    let is_older =
        usize::try_from(format).is_ok_and(|it| (1..STEPS.len()).contains(&it) && is_used);
    let copy = beside(path, &format!(".format-{format}"));
    if !is_older || copy.exists() {
        return Ok(());
    }
    let text = copy.to_string_lossy();
    match connection.execute("VACUUM INTO ?1", [&*text]) {
        // Another process was faster.
        Err(_) if copy.exists() => Ok(()),
        copied => copied.map(|_| ()).in_store(path),
    }
}

fn probe(connection: &Connection, path: &Path, format: i64) -> Result<(), StoreError> {
    // Whoever only reads cannot bring an older file to the newest format.
    let known = if format < 2 { OLDEST_PROBES } else { PROBES.len() };
    let transcripts = transcript_tables::PROBES.into_iter().filter(|_| format >= 3);
    let approvals = approval_tables::PROBES.into_iter().filter(|_| format >= 4);
    let sessions = session_tables::PROBES.into_iter().filter(|_| format >= 6);
    let later = transcripts.chain(approvals).chain(sessions);
    for sql in PROBES.into_iter().take(known).chain(later) {
        connection.prepare(sql).map_err(|err| StoreError::Damaged {
            path: path.to_owned(),
            what: format!("its tables are not what they should be: {err}"),
        })?;
    }
    Ok(())
}
