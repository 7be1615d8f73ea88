//! Who looks at the page. A session reads; it answers nothing.

use std::time::Duration;

use tokio_postgres::types::Type;

use super::questions::back;
use crate::{Database, ServerError};

/// Somebody who has signed that they look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageSession {
    pub(crate) person: String,
    /// The key that they signed it with.
    pub(crate) key: String,
}

/// Opens a session under the digest of its cookie. False: what was signed for it has opened one before.
pub(crate) async fn open(
    database: &Database,
    (id, proof): (&[u8], &[u8]),
    session: &PageSession,
    time: Duration,
) -> Result<bool, ServerError> {
    let sql = "
insert into sessions (id, proof, person, key, expires) values ($1, $2, $3, $4, now() + make_interval(secs => $5))
on conflict do nothing returning 1";
    let seconds = time.as_secs_f64();
    let values: [crate::database::Parameter<'_>; 5] = [
        (&id, Type::BYTEA),
        (&proof, Type::BYTEA),
        (&session.person, Type::TEXT),
        (&session.key, Type::TEXT),
        (&seconds, Type::FLOAT8),
    ];
    Ok(!database.query(sql, &values).await?.is_empty())
}

/// Whose session this is.
pub(crate) async fn find(
    database: &Database,
    id: &[u8],
) -> Result<Option<PageSession>, ServerError> {
    let sql = "select person, key from sessions where id = $1 and expires > now()";
    let rows = database.query(sql, &[(&id, Type::BYTEA)]).await?;
    Ok(rows.first().map(|it| PageSession { person: it.get(0), key: it.get(1) }))
}

/// Ends a session.
pub(crate) async fn close(database: &Database, id: &[u8]) -> Result<(), ServerError> {
    let sql = "update sessions set expires = now() where id = $1";
    database.query(sql, &[(&id, Type::BYTEA)]).await.map(drop)
}

/// The time of the last change of a question, in microseconds since 1970; pages that are open hear of it.
pub(crate) async fn last_change(database: &Database) -> Result<u64, ServerError> {
    let sql =
        "select coalesce((extract(epoch from max(touched)) * 1000000)::bigint, 0) from questions";
    let rows = database.query(sql, &[]).await?;
    Ok(rows.first().map_or(0, |it| back(it.get(0))))
}
