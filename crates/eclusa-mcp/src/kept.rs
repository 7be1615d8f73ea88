//! Outputs that were too long for a model, as resources.

use std::ops::Range;

use eclusa::House;
use rmcp::{
    ErrorData,
    model::{ReadResourceResult, ResourceContents, ResourceTemplate},
};

use crate::answer::OUTPUTS;

/// The most that one reading gives, in bytes.
const MOST: usize = 1 << 20;

/// What can be read.
pub(crate) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{OUTPUTS}{{reference}}"), "output")
        .with_title("A long output")
        .with_description(
            "An output that was cut, whole. A part of it with ?range=A..B, in bytes; one reading \
             gives a mebibyte at most",
        )
        .with_mime_type("text/plain")
}

/// Reads one.
pub(crate) async fn read(house: &House, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let unknown =
        |why: &str| ErrorData::resource_not_found(format!("`{uri}` cannot be read: {why}"), None);
    let rest = uri.strip_prefix(OUTPUTS);
    let rest = rest.ok_or_else(|| unknown("it is not a resource of this server"))?;
    let (reference, range) = rest.split_once('?').unwrap_or((rest, ""));
    let range = bytes(range).ok_or_else(|| unknown("a range is written ?range=A..B"))?;
    let spool = house.spool.as_ref().ok_or_else(|| unknown("nothing is kept here"))?;
    let text = spool.read(reference, range).await.map_err(|why| unknown(&why))?;
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri)]))
}

fn bytes(query: &str) -> Option<Range<usize>> {
    if query.is_empty() {
        return Some(0..MOST);
    }
    let (from, to) = query.strip_prefix("range=")?.split_once("..")?;
    let from = if from.is_empty() { 0 } else { from.parse().ok()? };
    let to = if to.is_empty() { usize::MAX } else { to.parse().ok()? };
    Some(from..to.min(from.saturating_add(MOST)))
}
