//! The tables of sessions, and how to tell that they are there.

/// The tables. `words` of an item are searched and kept nowhere else.
pub(crate) const TABLES: &str = "
CREATE TABLE conversations (
    id TEXT PRIMARY KEY,
    parent TEXT,
    title TEXT NOT NULL,
    persona TEXT NOT NULL,
    model TEXT NOT NULL,
    created INTEGER NOT NULL,
    touched INTEGER NOT NULL,
    draft TEXT,
    taint TEXT,
    usage TEXT NOT NULL
) STRICT;
CREATE INDEX conversations_touched ON conversations (touched);

CREATE TABLE items (
    id INTEGER PRIMARY KEY,
    conversation TEXT NOT NULL,
    seq INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    message INTEGER,
    at INTEGER NOT NULL,
    role TEXT NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    blocks TEXT,
    log_at INTEGER
) STRICT;
CREATE UNIQUE INDEX items_place ON items (conversation, seq);
CREATE VIRTUAL TABLE items_words USING fts5(words, content='', contentless_delete=1);

CREATE TABLE pictures (
    sha256 TEXT PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT;
";

/// Prepared at start, so that tables that are different are found early.
pub(crate) const PROBES: [&str; 3] = [
    "SELECT id, parent, title, persona, model, created, touched, draft, taint, usage
        FROM conversations",
    "SELECT id, conversation, seq, turn, message, at, role, kind, body, blocks, log_at FROM items",
    "SELECT sha256, bytes FROM pictures",
];
