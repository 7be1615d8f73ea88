//! Who is told of what waits: kept beside the questions, claimed by one instance at a time, tried again until it is sent or
//! the question is over.

use std::time::Duration;

use tokio_postgres::types::Type;

use super::questions::{back, big};
use crate::{Database, ServerError};

/// So many are sent at once.
const MAX_CLAIMED: i64 = 20;

/// Somebody who is told, and of what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotificationRoute {
    /// Its name.
    pub name: String,
    /// Told of what this group may answer.
    pub group: Option<String>,
    /// Told of what nobody in particular must answer, on machines of this team.
    pub team: Option<String>,
    /// Told of what still waits after this time.
    pub after: Duration,
}

/// A notification that was claimed.
pub(crate) struct ClaimedNotification {
    pub(crate) id: u64,
    pub(crate) target: String,
    pub(crate) question: u64,
}

/// Keeps for a receiver what changed within the last seconds. Of identical questions the first is told.
pub(crate) async fn keep(
    database: &Database,
    route: &NotificationRoute,
    (within, now): (Duration, u64),
) -> Result<(), ServerError> {
    let sql = "
insert into notifications (question, target, due)
select q.number, $1, to_timestamp(q.created / 1000.0) + make_interval(secs => $2)
from questions q join machines m on m.id = q.machine
where q.state = 'pending' and q.touched > now() - make_interval(secs => $3) and q.expires > $6
  and (($4::text is null and $5::text is null) or $4 = any(q.asked) or (q.asked = '{}' and m.labels->>'team' = $5))
  and not exists (select from questions e where e.binding = q.binding and e.shown = q.shown and e.state = 'pending' and e.number < q.number)
on conflict (question, target) do nothing";
    let (after, within, now) = (route.after.as_secs_f64(), within.as_secs_f64(), big(now));
    let values: [crate::database::Parameter<'_>; 6] = [
        (&route.name, Type::TEXT),
        (&after, Type::FLOAT8),
        (&within, Type::FLOAT8),
        (&route.group, Type::TEXT),
        (&route.team, Type::TEXT),
        (&now, Type::INT8),
    ];
    database.query(sql, &values).await.map(drop)
}

/// Claims what is due for these receivers. It is due again later, unless it is noted that it was sent.
pub(crate) async fn claim(
    database: &Database,
    targets: &[String],
) -> Result<Vec<ClaimedNotification>, ServerError> {
    let sql = "
with due as (
  select n.id from notifications n join questions q on q.number = n.question
  where n.sent is null and n.due <= now() and n.target = any($1) and q.state = 'pending'
  order by n.due limit $2 for update of n skip locked)
update notifications n set attempts = n.attempts + 1, due = now() + make_interval(secs => least(600, 2 ^ least(n.attempts, 10) + 10))
from due where n.id = due.id returning n.id, n.target, n.question";
    let rows =
        database.query(sql, &[(&targets, Type::TEXT_ARRAY), (&MAX_CLAIMED, Type::INT8)]).await?;
    let claimed = |it: &tokio_postgres::Row| ClaimedNotification {
        id: back(it.get(0)),
        target: it.get(1),
        question: back(it.get(2)),
    };
    Ok(rows.iter().map(claimed).collect())
}

/// Notes what came of an attempt.
pub(crate) async fn note(
    database: &Database,
    id: u64,
    outcome: Result<(), String>,
) -> Result<(), ServerError> {
    let error = outcome.err().map(|it| super::machines::text(&it));
    let sql = "update notifications set error = $2, sent = case when $2::text is null then now() end where id = $1";
    database.query(sql, &[(&big(id), Type::INT8), (&error, Type::TEXT)]).await.map(drop)
}

/// Receivers that something that waits could not be sent to several times, and why.
pub(crate) async fn failed(database: &Database) -> Result<Vec<(String, u64, String)>, ServerError> {
    let sql = "
select n.target, max(n.attempts)::bigint, max(n.error) from notifications n join questions q on q.number = n.question
where n.sent is null and n.error is not null and n.attempts > 1 and q.state = 'pending' group by n.target limit 20";
    let rows = database.query(sql, &[]).await?;
    Ok(rows.iter().map(|it| (it.get(0), back(it.get(1)), it.get(2))).collect())
}
