//! Seals: heads of chains that moved become leaves of one log, and its root is signed.

use eclusa::Hash;
use eclusa_fleet::{
    SigningKey,
    seal::{Frontier, HeadLeaf, Seal, TreeHash},
};
use tokio_postgres::{Row, types::Type};

use super::chains::hash;
use crate::{
    Database, ServerError,
    database::{Parameter, within},
};

/// Seals what moved since the last seal, if the last one is older than this and nobody else is at it: all in one
/// transaction. Says the size of the log where there is a new seal.
pub(crate) async fn seal(
    database: &Database,
    fleet: &str,
    key: &SigningKey,
    seconds: f64,
) -> Result<Option<u64>, ServerError> {
    let mut lent = database.lend().await?;
    let mut client = lent.client()?;
    let sealed = within(async {
        let tx = client.transaction().await?;
        let turn = "select 1 from turns where name = 'seal' and at < now() - make_interval(secs => $1) \
                    for update skip locked";
        if tx.query_typed(turn, &[(&seconds, Type::FLOAT8)]).await?.is_empty() {
            return Ok(None);
        }
        let last = "select size, frontier from seals order by size desc limit 1";
        let last = tx.query_typed(last, &[]).await?;
        let mut frontier = match last.first() {
            None => Frontier::default(),
            Some(row) => {
                let size = u64::try_from(row.get::<_, i64>(0)).unwrap_or_default();
                Frontier::from_bytes(size, row.get(1)).ok_or_else(|| {
                    ServerError::Schema("the log of seals is damaged; start a new one".to_owned())
                })?
            }
        };
        let moved = "select id, machine, store, seq, hash from chains where seq > sealed order by id";
        let moved = tx.query_typed(moved, &[]).await?;
        let acts = "
select 0, 0, 'server', seq, hash from (select seq, hash from acts order by seq desc limit 1) a
where seq > coalesce((select seq from leaves where chain = 0 order by n desc limit 1), 0)";
        let acts = tx.query_typed(acts, &[]).await?;
        let moved: Vec<&Row> = acts.iter().chain(&moved).collect();
        let (mut places, mut chains, mut seqs, mut hashes) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for row in &moved {
            let leaf = leaf(row.get(1), row.get(2), row.get(3), row.get(4))?;
            places.push(i64::try_from(frontier.size()).unwrap_or(i64::MAX));
            chains.push(row.get::<_, i32>(0));
            seqs.push(row.get::<_, i64>(3));
            hashes.push(row.get::<_, &[u8]>(4));
            frontier.push(leaf.tree_hash());
        }
        if !moved.is_empty() {
            let add = "
with given as (select * from unnest($1::bigint[], $2::int[], $3::bigint[], $4::bytea[]) as g(n, chain, seq, hash)),
added as (insert into leaves (n, chain, seq, hash) select n, chain, seq, hash from given returning 1)
update chains c set sealed = g.seq from given g where c.id = g.chain";
            let values: [Parameter<'_>; 4] = [
                (&places, Type::INT8_ARRAY),
                (&chains, Type::INT4_ARRAY),
                (&seqs, Type::INT8_ARRAY),
                (&hashes, Type::BYTEA_ARRAY),
            ];
            tx.execute_typed(add, &values).await?;
            let seal = Seal { fleet: fleet.to_owned(), size: frontier.size(), root: frontier.root() };
            let size = i64::try_from(seal.size).unwrap_or(i64::MAX);
            let (note, edge) = (seal.sign(key), frontier.to_bytes());
            let keep = "insert into seals (size, note, frontier) values ($1, $2, $3)";
            let values: [Parameter<'_>; 3] =
                [(&size, Type::INT8), (&note, Type::TEXT), (&edge, Type::BYTEA)];
            tx.execute_typed(keep, &values).await?;
        }
        tx.execute_typed("update turns set at = now() where name = 'seal'", &[]).await?;
        tx.commit().await?;
        Ok((!moved.is_empty()).then_some(frontier.size()))
    })
    .await?;
    lent.give_back(client);
    Ok(sealed)
}

/// A leaf as it lies in the database.
fn leaf(machine: i32, store: &str, seq: i64, bytes: &[u8]) -> Result<HeadLeaf, ServerError> {
    let damaged = || ServerError::Schema("a head in the database is damaged".to_owned());
    let hash: Hash = hash(bytes).ok_or_else(damaged)?;
    Ok(HeadLeaf {
        hash: hash.to_string(),
        machine: u32::try_from(machine).map_err(|_| damaged())?,
        seq: u64::try_from(seq).map_err(|_| damaged())?,
        store: store.to_owned(),
    })
}

/// Leaves from one on up to another, as hashes in the tree.
pub(crate) async fn range(
    database: &Database,
    from: u64,
    to: u64,
) -> Result<Vec<TreeHash>, ServerError> {
    let big = |it: u64| i64::try_from(it).unwrap_or(i64::MAX);
    let sql = "
select coalesce(c.machine, 0), coalesce(c.store, 'server'), l.seq, l.hash from leaves l left join chains c on c.id = l.chain
where l.n >= $1 and l.n < $2 order by l.n";
    let rows = database.query(sql, &[(&big(from), Type::INT8), (&big(to), Type::INT8)]).await?;
    rows.iter()
        .map(|it| Ok(leaf(it.get(0), it.get(1), it.get(2), it.get(3))?.tree_hash()))
        .collect()
}

/// The newest seal: its size and note.
pub(crate) async fn newest(database: &Database) -> Result<Option<(u64, String)>, ServerError> {
    let sql = "select size, note from seals order by size desc limit 1";
    let rows = database.query(sql, &[]).await?;
    let read =
        |it: &tokio_postgres::Row| Some((u64::try_from(it.get::<_, i64>(0)).ok()?, it.get(1)));
    Ok(rows.first().and_then(read))
}
