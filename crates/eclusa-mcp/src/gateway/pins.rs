//! What the tools of a server said about themselves at first use. A tool that says something else
//! later is stopped until a person has seen the difference.

use std::{collections::BTreeMap, io};

use eclusa::workspace::digest;
use serde_json::Value;

/// The most tools of one server that are remembered. One that had more makes up names.
const MAX_PINNED: usize = 10_000;

/// What a server's tools said, by their own names.
pub type PinnedDefinitions = BTreeMap<String, Value>;

/// Where it is kept: for a person, not for a workspace.
pub trait PinStore: Send + Sync + 'static {
    /// What was pinned of this server; empty for one that was never used.
    fn pinned(&self, server: &str) -> io::Result<PinnedDefinitions>;

    /// Pins this instead of what was pinned.
    fn pin(&self, server: &str, pinned: &PinnedDefinitions) -> io::Result<()>;
}

/// How a definition differs from the one that was pinned.
#[derive(Debug, Clone, PartialEq)]
pub struct DefinitionChange {
    /// The tool, by its own name.
    pub tool: String,
    /// What was pinned.
    pub was: Value,
    /// What it says now.
    pub is: Value,
}

impl DefinitionChange {
    /// Whether what the tool says now has been pinned meanwhile. What cannot be read is not.
    pub(super) fn is_pinned(&self, pins: &dyn PinStore, server: &str) -> bool {
        let pinned = pins.pinned(server).unwrap_or_default();
        pinned.get(&self.tool).is_some_and(|it| digest(it) == digest(&self.is))
    }
}

/// What follows from what a server says now.
pub(super) struct Checked {
    /// The tools that say something else than they did.
    pub(super) changed: BTreeMap<String, DefinitionChange>,
}

/// Holds what a server says now against what was pinned, and pins what is new. A server whose pins
/// cannot be read or written has no tools: nobody could tell whether they are the same.
pub(super) fn check(
    pins: &dyn PinStore,
    server: &str,
    now: &PinnedDefinitions,
) -> io::Result<Checked> {
    let mut pinned = pins.pinned(server)?;
    let mut changed = BTreeMap::new();
    let mut new = false;
    for (tool, is) in now {
        match pinned.get(tool) {
            None => {
                pinned.insert(tool.clone(), is.clone());
                new = true;
            }
            Some(was) if digest(was) == digest(is) => {}
            Some(was) => {
                let (tool, was, is) = (tool.clone(), was.clone(), is.clone());
                changed.insert(tool.clone(), DefinitionChange { tool, was, is });
            }
        }
    }
    if pinned.len() > MAX_PINNED {
        let why = format!("it has had more than {MAX_PINNED} tools by different names");
        return Err(io::Error::other(why));
    }
    if new {
        pins.pin(server, &pinned)?;
    }
    Ok(Checked { changed })
}
