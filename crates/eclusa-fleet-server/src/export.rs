//! Writes an export: whole chains, the newest seal, and the way of each head to it.

use std::io::Write;

use eclusa_fleet::{
    export::{ExportLine, ExportedFleet, ExportedLeaf, ExportedSegment},
    seal_proof::inclusion_ranges,
};

use crate::{
    Database, ServerError, schema,
    store::{acts, documents, read, sealed_tree::SealedTree},
};

/// How many segments are read at once.
const SEGMENTS: i64 = 64;

/// Writes the chains of all machines, of one, or of a team. Says how many chains there are.
pub async fn export(
    database: &Database,
    machine: Option<u32>,
    team: Option<&str>,
    to: &mut impl Write,
) -> Result<usize, ServerError> {
    schema::check(database).await?;
    let anchor = schema::fleet(database).await?;
    let current = documents::current(database, &anchor).await?;
    let sealed = SealedTree::newest(database).await?;
    let size = sealed.as_ref().map_or(0, |it| it.seal.size);
    let note = sealed.as_ref().map(|it| it.note.clone());
    let documents = current.held.documents().clone();
    line(to, &ExportLine::Fleet(ExportedFleet { documents, seal: note }))?;
    let chains = read::chains(database, machine, team, size).await?;
    for (about, leaf) in &chains {
        line(to, &ExportLine::Chain(about.clone()))?;
        let mut behind = about.begins.seq;
        loop {
            let range = (behind, about.head.seq);
            let segments = read::segments(database, about.chain, range, SEGMENTS).await?;
            let Some((last, _)) = segments.last() else { break };
            behind = *last;
            for (_, body) in &segments {
                line(to, &ExportLine::Segment(ExportedSegment::new(body)))?;
            }
        }
        if let (Some(leaf), Some(sealed)) = (leaf, &sealed) {
            let proof = sealed.proof(database, &inclusion_ranges(leaf.index, size)).await?;
            line(to, &ExportLine::Leaf(ExportedLeaf { proof, ..leaf.clone() }))?;
        }
    }
    if machine.is_none() && team.is_none() {
        let (about, leaf, packed) = acts::exported(database, size).await?;
        line(to, &ExportLine::Chain(about))?;
        for body in &packed {
            line(to, &ExportLine::Segment(ExportedSegment::new(body)))?;
        }
        if let (Some(leaf), Some(sealed)) = (leaf, &sealed) {
            let proof = sealed.proof(database, &inclusion_ranges(leaf.index, size)).await?;
            line(to, &ExportLine::Leaf(ExportedLeaf { proof, ..leaf }))?;
        }
    }
    Ok(chains.len())
}

fn line(to: &mut impl Write, line: &ExportLine) -> Result<(), ServerError> {
    serde_json::to_writer(&mut *to, line).map_err(std::io::Error::from)?;
    Ok(to.write_all(b"\n")?)
}
