//! Outputs that were too long for a model, and what calls changed, as resources.

use std::{collections::HashSet, ops::Range, path::Path};

use eclusa::{
    Change, Gate, Node, Reply, one_line,
    workspace::{Bounds, Diff},
};
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
pub(crate) async fn read(gate: &Gate, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let unknown =
        |why: &str| ErrorData::resource_not_found(format!("`{uri}` cannot be read: {why}"), None);
    if let Some(call) = uri.strip_prefix(CHANGES) {
        let diff = changes(gate, call).await.map_err(|why| unknown(&why))?;
        return Ok(ReadResourceResult::new(vec![
            ResourceContents::text(diff, uri).with_mime_type("text/x-diff"),
        ]));
    }
    let rest = uri.strip_prefix(OUTPUTS);
    let rest = rest.ok_or_else(|| unknown("it is not a resource of this server"))?;
    let (reference, range) = rest.split_once('?').unwrap_or((rest, ""));
    let range = bytes(range).ok_or_else(|| unknown("a range is written ?range=A..B"))?;
    let spool = gate.spool().ok_or_else(|| unknown("nothing is kept here"))?;
    let text = spool.read(reference, range).await.map_err(|err| unknown(&err.to_string()))?;
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri)]))
}

/// How many changed paths a result names.
const MAX_NAMED: usize = 10;

/// What to say where a call had nothing to say: what it changed.
pub(crate) async fn silent(gate: &Gate, reply: &Reply) -> String {
    let named = match (reply.undo(), reply.number(), gate.workspace().cloned()) {
        (Some(_), Some(number), Some(workspace)) => {
            let read = tokio::task::spawn_blocking(move || {
                let changes = workspace.changes(number).ok()?;
                Some(list_paths(changes.iter())).filter(|it| !it.is_empty())
            });
            read.await.ok().flatten()
        }
        _ => None,
    };
    match named {
        Some(named) => format!("(no output) {}", gate.redactor().text(&named).0),
        None => "(no output)".to_owned(),
    }
}

/// Names what changed, as far as there is room. What came or went with its directory is counted.
fn list_paths<'a>(changes: impl Iterator<Item = &'a Change> + Clone) -> String {
    let moved: HashSet<&Path> = changes.clone().filter_map(|it| it.from.as_deref()).collect();
    let left = |it: &Change| it.after.is_none() && moved.contains(it.path.as_path());
    let mut tops: Vec<(&Change, usize)> = Vec::new();
    let mut more = 0;
    for change in changes.filter(|it| !left(it)) {
        let room = tops.len() < MAX_NAMED;
        match tops.iter_mut().rev().find(|(top, _)| came_with(change, top)) {
            Some((_, within)) => *within += 1,
            None if room => tops.push((change, 0)),
            None => more += 1,
        }
    }
    let mut all: Vec<String> = tops.into_iter().map(|(it, within)| describe(it, within)).collect();
    if more > 0 {
        all.push(format!("{more} more"));
    }
    all.join(", ")
}

/// True when a path was made or deleted with a directory above it.
fn came_with(change: &Change, top: &Change) -> bool {
    let directory = |it: &Option<Node>| matches!(it, Some(Node::Directory { .. }));
    let made = |it: &Change| it.from.is_none() && it.before.is_none();
    let both = made(change) && made(top) && directory(&top.after)
        || change.after.is_none() && top.after.is_none() && directory(&top.before);
    both && change.path.starts_with(&top.path)
}

fn describe(change: &Change, within: usize) -> String {
    let name = |path: &Path| one_line(&path.to_string_lossy());
    let path = match within {
        0 => name(&change.path),
        1 => format!("{} with 1 path in it", name(&change.path)),
        _ => format!("{} with {within} paths in it", name(&change.path)),
    };
    match (&change.from, &change.before, &change.after) {
        (Some(from), ..) => format!("moved {} -> {path}", name(from)),
        (None, None, _) => format!("made {path}"),
        (None, _, None) => format!("deleted {path}"),
        _ => format!("changed {path}"),
    }
}

/// What a call changed, as a diff without secrets.
async fn changes(gate: &Gate, call: &str) -> Result<String, String> {
    let call = call.parse().map_err(|_| "a call is named by its number".to_owned())?;
    let workspace = gate.workspace().cloned().ok_or("nothing is changed here")?;
    let read = tokio::task::spawn_blocking(move || {
        let changes = workspace.changes(call).map_err(|err| err.to_string())?;
        Ok(Diff::of(&changes, &workspace, Bounds::default()).unified().to_string())
    });
    let diff = read.await.map_err(|_| "reading it crashed".to_owned()).flatten()?;
    Ok(gate.redactor().text(&diff).0.into_owned())
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
