//! The tree of a seal, read in blocks, for whoever is shown a proof. Roots of whole subtrees never change, and those of
//! every eighth height are kept, so that no proof reads more than some hundred rows.

use std::{
    collections::HashMap,
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

use eclusa::Hash;
use eclusa_fleet::{
    seal::{Seal, TreeHash, joined},
    seal_proof::subtrees,
};
use futures::{FutureExt as _, future::BoxFuture};
use tokio_postgres::types::Type;

use super::{
    questions::{back, big},
    seals,
};
use crate::{Database, ServerError, database::Parameter};

/// The roots of subtrees are kept that have so many times the height of a block, which has 256 leaves.
const STEP: u32 = 8;

/// Hashes of one height that lie side by side.
type Block = Arc<Vec<TreeHash>>;

/// A seal, and what was read of its tree.
pub(crate) struct SealedTree {
    /// As it was signed.
    pub(crate) note: String,
    pub(crate) seal: Seal,
    blocks: Mutex<HashMap<(u32, u64), Block>>,
}

impl SealedTree {
    /// The tree of the newest seal.
    pub(crate) async fn newest(database: &Database) -> Result<Option<SealedTree>, ServerError> {
        let Some((_, note)) = seals::newest(database).await? else { return Ok(None) };
        let seal = Seal::read(&note)?;
        Ok(Some(SealedTree { note, seal, blocks: Mutex::default() }))
    }

    /// The roots of ranges that a proof names, in hexadecimal.
    pub(crate) async fn proof(
        &self,
        database: &Database,
        ranges: &[Range<u64>],
    ) -> Result<Vec<String>, ServerError> {
        let mut proof = Vec::new();
        for range in ranges {
            let mut roots = Vec::new();
            for it in subtrees(range) {
                roots.push(self.subtree(database, it).await?);
            }
            let root = joined(&roots).ok_or_else(damaged)?;
            proof.push(Hash::from(root).to_string());
        }
        Ok(proof)
    }

    async fn subtree(
        &self,
        database: &Database,
        (height, place): (u32, u64),
    ) -> Result<TreeHash, ServerError> {
        let below = height % STEP;
        let first = place << below;
        let block = self.block(database, height - below, first >> STEP).await?;
        let at = usize::try_from(first % (1 << STEP)).unwrap_or(usize::MAX);
        let nodes = block.get(at..).and_then(|it| it.get(..1 << below)).ok_or_else(damaged)?;
        Ok(root(nodes.to_vec()))
    }

    /// The hashes of one height in a block, as far as they are whole.
    fn block<'a>(
        &'a self,
        database: &'a Database,
        height: u32,
        block: u64,
    ) -> BoxFuture<'a, Result<Block, ServerError>> {
        async move {
            let known = || self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(found) = known().get(&(height, block)).cloned() {
                return Ok(found);
            }
            let from = block << STEP;
            let to = (from + (1 << STEP)).min(self.seal.size >> height);
            let nodes = match height {
                0 => seals::range(database, from, to).await?,
                _ => self.roots(database, height, from..to).await?,
            };
            let nodes = Arc::new(nodes);
            known().insert((height, block), nodes.clone());
            Ok(nodes)
        }
        .boxed()
    }

    /// The roots of whole subtrees of this height. Those that nobody has computed yet are, and are kept.
    async fn roots(
        &self,
        database: &Database,
        height: u32,
        places: Range<u64>,
    ) -> Result<Vec<TreeHash>, ServerError> {
        let kept = "select n, hash from subtrees where height = $1 and n >= $2 and n < $3";
        let stored = i16::try_from(height).map_err(|_| damaged())?;
        let values: [Parameter<'_>; 3] = [
            (&stored, Type::INT2),
            (&big(places.start), Type::INT8),
            (&big(places.end), Type::INT8),
        ];
        let rows = database.query(kept, &values).await?;
        let read = |it: &tokio_postgres::Row| (back(it.get(0)), it.get::<_, &[u8]>(1).to_vec());
        let kept: HashMap<u64, Vec<u8>> = rows.iter().map(read).collect();
        let mut roots = Vec::new();
        for place in places {
            if let Some(hash) = kept.get(&place) {
                roots.push(hash.as_slice().try_into().map_err(|_| damaged())?);
                continue;
            }
            let new = root(self.block(database, height - STEP, place).await?.to_vec());
            let keep =
                "insert into subtrees (height, n, hash) values ($1, $2, $3) on conflict do nothing";
            let values: [Parameter<'_>; 3] =
                [(&stored, Type::INT2), (&big(place), Type::INT8), (&new.as_slice(), Type::BYTEA)];
            database.query(keep, &values).await?;
            roots.push(new);
        }
        Ok(roots)
    }
}

/// The root over as many nodes as a power of two.
fn root(mut nodes: Vec<TreeHash>) -> TreeHash {
    while nodes.len() > 1 {
        nodes = nodes.chunks(2).filter_map(joined).collect();
    }
    nodes.first().copied().unwrap_or_default()
}

fn damaged() -> ServerError {
    ServerError::Schema("the log of seals is damaged; start a new one".to_owned())
}
