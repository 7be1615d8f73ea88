//! Outputs that were too long for a model, and what calls changed, as resources.

use std::ops::Range;

use eclusa::{Bounds, Diff, GateSetup};
use rmcp::{
    ErrorData,
    model::{ReadResourceResult, ResourceContents, ResourceTemplate},
};

use crate::uris::{CHANGES, OUTPUTS};

/// The most that one reading gives, in bytes.
const MAX_READ_BYTES: usize = 1 << 20;

/// What can be read.
pub(crate) fn templates() -> [ResourceTemplate; 2] {
    let changes = ResourceTemplate::new(format!("{CHANGES}{{call}}"), "changes")
        .with_title("What a call changed")
        .with_description("The changes that a call made to the workspace, as a unified diff")
        .with_mime_type("text/x-diff");
    let output = ResourceTemplate::new(format!("{OUTPUTS}{{reference}}"), "output")
        .with_title("A long output")
        .with_description(
            "An output that was cut, whole. A part of it with ?range=A..B, in bytes; one reading \
             gives a mebibyte at most",
        )
        .with_mime_type("text/plain");
    [changes, output]
}

/// Reads one.
pub(crate) async fn read(setup: &GateSetup, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let unknown =
        |why: &str| ErrorData::resource_not_found(format!("`{uri}` cannot be read: {why}"), None);
    if let Some(call) = uri.strip_prefix(CHANGES) {
        let diff = changes(setup, call).await.map_err(|why| unknown(&why))?;
        return Ok(ReadResourceResult::new(vec![
            ResourceContents::text(diff, uri).with_mime_type("text/x-diff"),
        ]));
    }
    let rest = uri.strip_prefix(OUTPUTS);
    let rest = rest.ok_or_else(|| unknown("it is not a resource of this server"))?;
    let (reference, range) = rest.split_once('?').unwrap_or((rest, ""));
    let range = bytes(range).ok_or_else(|| unknown("a range is written ?range=A..B"))?;
    let spool = setup.spool.as_ref().ok_or_else(|| unknown("nothing is kept here"))?;
    let text = spool.read(reference, range).await.map_err(|why| unknown(&why))?;
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri)]))
}

/// What a call changed, as a diff without secrets.
async fn changes(setup: &GateSetup, call: &str) -> Result<String, String> {
    let call = call.parse().map_err(|_| "a call is named by its number".to_owned())?;
    let workspace = setup.workspace.clone().ok_or("nothing is changed here")?;
    let read = tokio::task::spawn_blocking(move || {
        let changes = workspace.changes(call).map_err(|err| err.to_string())?;
        Ok(Diff::of(&changes, &workspace, Bounds::default()).unified().to_string())
    });
    let diff = read.await.map_err(|_| "reading it crashed".to_owned()).flatten()?;
    Ok(setup.redactor.text(&diff).0.into_owned())
}

fn bytes(query: &str) -> Option<Range<usize>> {
    if query.is_empty() {
        return Some(0..MAX_READ_BYTES);
    }
    let (from, to) = query.strip_prefix("range=")?.split_once("..")?;
    let from = if from.is_empty() { 0 } else { from.parse().ok()? };
    let to = if to.is_empty() { usize::MAX } else { to.parse().ok()? };
    Some(from..to.min(from.saturating_add(MAX_READ_BYTES)))
}
