//! Everything beneath a directory, as it is now: for tools that delete or move all of it.

use std::path::{Path, PathBuf};

use eclusa::{Node, ToolError};

use crate::file_tools::{FileToolContext, asked, display_path, refused};

/// One call deletes or moves so many things at the most, and so many bytes: all of them are read
/// once, because a change says what was there.
const ENTRIES: usize = 10_000;
const BYTES: u64 = 8 << 30;

/// A thing and everything in it, what holds others before what it holds. Links are not followed.
pub(crate) fn tree(
    context: &FileToolContext,
    top: &Path,
    node: Node,
) -> Result<Vec<(PathBuf, Node)>, ToolError> {
    let mut size = 0;
    let mut all = Vec::new();
    let mut waiting = vec![(top.to_owned(), node)];
    while let Some((path, node)) = waiting.pop() {
        if matches!(node, Node::Directory { .. }) {
            let mut listing = context.files.directory(asked(&path)).map_err(refused)?;
            let reached = listing.path.clone();
            if reached != path {
                return Err(changing(top));
            }
            for entry in &mut listing {
                let path = path.join(entry.map_err(refused)?.name);
                if all.len() + waiting.len() >= ENTRIES {
                    let top = display_path(top);
                    return Err(ToolError::new(format!(
                        "`{top}` holds more than {ENTRIES} things, too many for one call; name its \
                        directories one by one"
                    )));
                }
                let found = context.files.entry(asked(&path), 0).map_err(refused)?;
                let node = found.node.filter(|_| found.path == path);
                let node = node.ok_or_else(|| changing(top))?;
                size += node.file().map_or(0, |it| it.size);
                if size > BYTES {
                    let top = display_path(top);
                    return Err(ToolError::new(format!(
                        "`{top}` holds more than {BYTES} bytes, too many for one call; name its directories one by one"
                    )));
                }
                waiting.push((path, node));
            }
            if listing.blocked() > 0 {
                let (top, path, count) =
                    (display_path(top), display_path(&path), listing.blocked());
                return Err(ToolError::new(format!(
                    "`{top}` cannot be taken as a whole: `{path}` holds {count} blocked files, \
                     which may hold secrets and are left where they are"
                )));
            }
        }
        all.push((path, node));
    }
    Ok(all)
}

fn changing(top: &Path) -> ToolError {
    let top = display_path(top);
    ToolError::new(format!("`{top}` changes while it is looked at; try again"))
}
