//! The table of what is kept of sessions.

/// The table. `changed` is when it last was, in milliseconds since 1970.
pub(crate) const TABLE: &str = "
CREATE TABLE sessions (
    name TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    changed INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
";

/// Prepared at start, so that a table that is different is found early.
pub(crate) const PROBES: [&str; 1] = ["SELECT name, state, changed FROM sessions"];
