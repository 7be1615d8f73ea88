//! Questions of machines, as their machines say them: looked at here, decided there.

use std::collections::BTreeMap;

use eclusa_fleet::{
    inbox::InboxRow,
    mirror::{MAX_PENDING, MirrorRequest, MirroredText},
};
use serde::de::DeserializeOwned;
use tokio_postgres::{Row, types::Type};

use crate::{Database, ServerError};

/// One statement: what is new is kept while there is room, what is known is replaced unless it is newer, and how far the
/// queue was looked at moves with them.
const MIRROR: &str = "
with given as materialized (
  select q.*, array(
    select distinct name from jsonb_array_elements(q.requirements) r,
      jsonb_array_elements_text(coalesce(r->'of', '[]') || jsonb_path_query_array(r, '$.then[*][1][*]')) name) as asked,
    coalesce((select encode(sha256(convert_to(string_agg(line::text, ' ' order by place), 'utf8')), 'hex')
      from jsonb_array_elements(q.text->'lines') with ordinality l(line, place)
      where line->>'role' in ('tool', 'class', 'warning', 'argument', 'touch', 'change')), '') as shown
  from jsonb_to_recordset($3::text::jsonb) as q(
    id bigint, binding text, tool text, principal text, conversation text, state text, asker_away boolean,
    created bigint, expires bigint, requirements jsonb, said jsonb, text jsonb)),
own as materialized (
  select id, machine from chains where id = $1 and machine = $2 and stopped is null for no key update),
fresh as (
  select g.*, row_number() over (order by g.id) as place from given g
  where g.state = 'pending' and not exists (select from questions q where q.chain = $1 and q.id = g.id)),
room as (
  select greatest(0, least($5 - count(*), $6)) as free from questions where machine = $2 and state in ('pending', 'sent')),
added as (
  insert into questions (chain, id, machine, binding, tool, principal, conversation, text, requirements, said, state,
                         asker_away, changed, created, expires, headline, asked, shown)
  select own.id, f.id, own.machine, f.binding, f.tool, f.principal, f.conversation, f.text, f.requirements, f.said,
         f.state, f.asker_away, $4, f.created, f.expires, coalesce(f.text->>'headline', ''), f.asked, f.shown
  from fresh f, room, own where f.place <= room.free
  on conflict do nothing),
kept as (
  update questions q set text = g.text, requirements = g.requirements, said = g.said, state = g.state,
    headline = coalesce(g.text->>'headline', ''), asked = g.asked, shown = g.shown, asker_away = g.asker_away, changed = $4, expires = g.expires, touched = now()
  from given g, own where q.chain = own.id and q.id = g.id and q.binding = g.binding and q.changed <= $4),
moved as (
  update chains c set mirrored = greatest(c.mirrored, $4) from own where c.id = own.id)
select (select count(*) from own), f.id from (select 1) one
left join (select f.id from fresh f, room where f.place > room.free) f on true";

/// Keeps what a machine says of its questions, of all machines no more than `room` new ones. Says which ones there was no
/// room for; `None`: it has no such chain.
pub(crate) async fn mirror(
    database: &Database,
    machine: u32,
    asked: &MirrorRequest,
    room: u64,
) -> Result<Option<Vec<u64>>, ServerError> {
    let (chain, machine) = (int(asked.chain), int(machine));
    let questions = serde_json::to_string(&asked.questions).unwrap_or_default();
    let (at, own) = (big(asked.at), i64::try_from(MAX_PENDING).unwrap_or(0));
    let values: [crate::database::Parameter<'_>; 6] = [
        (&chain, Type::INT4),
        (&machine, Type::INT4),
        (&questions, Type::TEXT),
        (&at, Type::INT8),
        (&own, Type::INT8),
        (&big(room), Type::INT8),
    ];
    let rows = database.query(MIRROR, &values).await?;
    let own = rows.first().is_some_and(|it| it.get::<_, i64>(0) == 1);
    let left_out = rows.iter().filter_map(|it| it.get::<_, Option<i64>>(1)).map(back);
    Ok(own.then(|| left_out.collect()))
}

/// Up to which change of its queue the questions of each chain of a machine are here.
pub(crate) async fn mirrored(
    database: &Database,
    machine: u32,
) -> Result<BTreeMap<u32, u64>, ServerError> {
    let sql = "select id, mirrored from chains where machine = $1";
    let rows = database.query(sql, &[(&int(machine), Type::INT4)]).await?;
    Ok(rows
        .iter()
        .filter_map(|it| Some((u32::try_from(it.get::<_, i32>(0)).ok()?, back(it.get(1)))))
        .collect())
}

/// Forgets the texts of questions whose time is over, where their machines do not say so themselves.
pub(crate) async fn expire(database: &Database, now: u64) -> Result<(), ServerError> {
    let sql = "
update questions set state = 'expired', text = null, headline = '', touched = now()
where state in ('pending', 'sent') and expires <= $1";
    database.query(sql, &[(&big(now), Type::INT8)]).await.map(drop)
}

/// A question, and what is shown of it.
pub(crate) struct FoundQuestion {
    pub(crate) row: InboxRow,
    pub(crate) chain: u32,
    pub(crate) text: Option<MirroredText>,
}

const FOUND: &str = "
select q.number, q.machine, m.name, coalesce(m.labels->>'team', ''), c.workspace, c.store, q.id, q.binding, q.tool,
  q.headline, q.principal, q.conversation, q.state, q.asker_away, q.created, q.expires,
  q.requirements::text, q.said::text, q.refused, q.chain,
  (select count(*) from (select from questions s where s.binding = q.binding and s.shown = q.shown and s.state = 'pending' limit 201) s)";

/// Which questions are looked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct QuestionFilter {
    pub(crate) after: u64,
    pub(crate) limit: u32,
    pub(crate) team: Option<String>,
    pub(crate) tool: Option<String>,
    /// Only those that are identical to this one: they have its binding and show the same.
    pub(crate) like: Option<u64>,
    /// Only those that hold this in what the list shows.
    pub(crate) search: Option<String>,
    /// Only those that one of these names may answer, as far as a name says it.
    pub(crate) names: Option<Vec<String>>,
    /// Only those that nobody has answered, and of identical ones the first.
    pub(crate) distinct: bool,
}

/// Questions that wait, oldest first.
pub(crate) async fn waiting(
    database: &Database,
    filter: &QuestionFilter,
    now: u64,
) -> Result<Vec<InboxRow>, ServerError> {
    // Which of identical ones is first is said by the same filter.
    let fits = |it: &str, machine: &str| {
        format!(
            "{it}.expires > $2 and ($3::text is null or {machine}.labels->>'team' = $3) \
             and ($8::text[] is null or {it}.asked = '{{}}' or {it}.asked && $8)"
        )
    };
    let only = match filter.distinct {
        false => "q.state in ('pending', 'sent')".to_owned(),
        true => format!(
            "q.state = 'pending' and not exists (select from questions e join machines n on n.id = e.machine \
             where e.binding = q.binding and e.shown = q.shown and e.state = 'pending' and e.number < q.number and {})",
            fits("e", "n")
        ),
    };
    let sql = format!(
        "{FOUND} from questions q join machines m on m.id = q.machine join chains c on c.id = q.chain
where {only} and q.number > $1 and {} and ($4::text is null or q.tool = $4) and ($6::bigint is null or (q.binding, q.shown) = (select l.binding, l.shown from questions l where l.number = $6))
  and ($7::text is null or strpos(lower(q.tool || ' ' || q.headline || ' ' || m.name || ' ' || c.workspace), lower($7)) > 0)
order by q.number limit $5",
        fits("q", "m")
    );
    let (after, now, limit) = (big(filter.after), big(now), i64::from(filter.limit));
    let values: [crate::database::Parameter<'_>; 8] = [
        (&after, Type::INT8),
        (&now, Type::INT8),
        (&filter.team, Type::TEXT),
        (&filter.tool, Type::TEXT),
        (&limit, Type::INT8),
        (&filter.like.map(big), Type::INT8),
        (&filter.search, Type::TEXT),
        (&filter.names, Type::TEXT_ARRAY),
    ];
    let rows = database.query(&sql, &values).await?;
    Ok(rows.iter().map(|it| read(it).0).collect())
}

/// How many wait, counted up to this many.
pub(crate) async fn pending(database: &Database, most: u32) -> Result<u64, ServerError> {
    let sql = "select count(*) from (select from questions where state = 'pending' limit $1) q";
    let rows = database.query(sql, &[(&i64::from(most), Type::INT8)]).await?;
    Ok(rows.first().map_or(0, |it| back(it.get(0))))
}

/// One question, however it stands.
pub(crate) async fn find(
    database: &Database,
    number: u64,
) -> Result<Option<FoundQuestion>, ServerError> {
    let sql = format!(
        "{FOUND}, q.text::text from questions q join machines m on m.id = q.machine join chains c on c.id = q.chain
where q.number = $1"
    );
    let rows = database.query(&sql, &[(&big(number), Type::INT8)]).await?;
    Ok(rows.first().map(|it| {
        let (row, chain) = read(it);
        let text = it.get::<_, Option<&str>>(21).and_then(|it| serde_json::from_str(it).ok());
        FoundQuestion { row, chain, text }
    }))
}

fn read(row: &Row) -> (InboxRow, u32) {
    fn parsed<T: DeserializeOwned + Default>(text: &str) -> T {
        serde_json::from_str(text).unwrap_or_default()
    }
    let number = |at: usize| back(row.get(at));
    let small = |at: usize| u32::try_from(row.get::<_, i32>(at)).unwrap_or(0);
    let found = InboxRow {
        number: number(0),
        machine: small(1),
        name: row.get(2),
        team: row.get(3),
        workspace: row.get(4),
        store: row.get(5),
        id: number(6),
        binding: row.get(7),
        tool: row.get(8),
        headline: row.get(9),
        principal: row.get(10),
        conversation: row.get(11),
        state: row.get(12),
        asker_away: row.get(13),
        created: number(14),
        expires: number(15),
        requirements: parsed(row.get(16)),
        said: parsed(row.get(17)),
        refused: row.get(18),
        not_for_you: None,
        identical: number(20),
    };
    (found, small(19))
}

pub(crate) fn int(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(0)
}

pub(crate) fn big(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn back(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
