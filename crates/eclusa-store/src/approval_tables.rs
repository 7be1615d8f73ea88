//! The tables that approvals got later: notifications that are yet to be sent, requests from elsewhere
//! that were answered, allowances, and how many questions wait.

/// The tables. How many questions wait is counted as they come and go: counting them each time would
/// take longer the more there are. The index over bindings has no condition: one over several states is
/// not used where a statement names some of them.
pub(crate) const TABLES: &str = "
CREATE TABLE notifications (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    question INTEGER NOT NULL,
    target TEXT NOT NULL,
    event TEXT NOT NULL,
    due INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    error TEXT
) STRICT;
CREATE INDEX notifications_due ON notifications (due);
CREATE INDEX notifications_of ON notifications (question);

CREATE TABLE hook_requests (
    id TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    status INTEGER NOT NULL,
    answer TEXT NOT NULL
) STRICT;
CREATE INDEX hook_requests_at ON hook_requests (at);

CREATE TABLE allowances (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    rule TEXT NOT NULL,
    times INTEGER NOT NULL,
    until INTEGER NOT NULL,
    used INTEGER NOT NULL DEFAULT 0 CHECK (used <= times),
    created INTEGER NOT NULL,
    proposed_by TEXT NOT NULL,
    revoked INTEGER,
    revoked_by TEXT
) STRICT;
CREATE INDEX allowances_live ON allowances (until) WHERE revoked IS NULL;

CREATE TABLE allowance_votes (
    allowance INTEGER NOT NULL,
    person TEXT NOT NULL,
    proof TEXT NOT NULL,
    key TEXT,
    statement TEXT,
    signature TEXT,
    at INTEGER NOT NULL,
    PRIMARY KEY (allowance, person)
) STRICT;

DROP INDEX questions_bound;
CREATE INDEX questions_bound ON questions (binding);
CREATE INDEX questions_calling ON questions (call) WHERE state = 'pending';

CREATE TABLE waiting (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    count INTEGER NOT NULL
) STRICT;
INSERT INTO waiting SELECT 1, count(*) FROM questions WHERE state = 'pending';
CREATE TRIGGER questions_asked AFTER INSERT ON questions WHEN NEW.state = 'pending' BEGIN
    UPDATE waiting SET count = count + 1;
END;
CREATE TRIGGER questions_over AFTER UPDATE OF state ON questions
    WHEN OLD.state = 'pending' AND NEW.state <> 'pending' BEGIN
    UPDATE waiting SET count = count - 1;
END;
CREATE TRIGGER questions_gone AFTER DELETE ON questions WHEN OLD.state = 'pending' BEGIN
    UPDATE waiting SET count = count - 1;
END;
";

/// Prepared at start, so that tables that are different are found early.
pub(crate) const PROBES: [&str; 5] = [
    "SELECT id, question, target, event, due, attempts, error FROM notifications",
    "SELECT id, at, status, answer FROM hook_requests",
    "SELECT id, rule, times, until, used, created, proposed_by, revoked, revoked_by FROM allowances",
    "SELECT allowance, person, proof, key, statement, signature, at FROM allowance_votes",
    "SELECT one, count FROM waiting",
];
