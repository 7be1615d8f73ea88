//! What was there before an agent's edit, kept until the edit is made: then it can be undone.

use std::{io, path::PathBuf};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use eclusa::{Change, Changes, Delegate, DelegateError, FileNode, Files, Node};
use serde::{Deserialize, Serialize};

use super::{allowed_calls::AllowedCalls, session::HookSession};
use crate::commands::agent_session::{AgentSession, one_line};

/// What a call of ours is about to have changed. One call of an agent may be several of ours.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::commands) struct PreImages {
    /// The number of the call in the log.
    call: u64,
    nodes: Vec<SavedNode>,
}

/// A path before a change.
#[derive(Debug, Serialize, Deserialize)]
struct SavedNode {
    path: PathBuf,
    before: SavedContent,
}

/// What was there.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SavedContent {
    Nothing,
    File { mode: u32, base64: String },
    Directory { mode: u32 },
    Link { target: PathBuf },
    TooLarge,
}

/// Edits that the agent makes by itself, once what undoing them needs is kept.
pub(super) struct DelegatedEdits {
    calls: AllowedCalls,
    files: Files,
    max_size: u64,
}

impl DelegatedEdits {
    pub(super) fn new(session: &HookSession) -> DelegatedEdits {
        let (calls, files) = (session.calls.clone(), session.agent.files.clone());
        DelegatedEdits { calls, files, max_size: session.agent.ctx.config.max_file_size }
    }

    fn keep(&self, call: u64, changes: &Changes) -> io::Result<()> {
        let mut kept = self.calls.pre_images()?;
        let mut new = PreImages::take(&self.files, self.max_size, call, changes)?;
        // The first call that touches a path knows what was there before them all.
        new.nodes.retain(|it| !kept.iter().flat_map(|it| &it.nodes).any(|had| had.path == it.path));
        if new.nodes.is_empty() {
            return Ok(());
        }
        kept.push(new);
        self.calls.keep_pre_images(&kept)
    }
}

impl PreImages {
    /// Takes what is at the paths of these changes, before anybody makes them.
    pub(in crate::commands) fn take(
        files: &Files,
        max_size: u64,
        call: u64,
        changes: &Changes,
    ) -> io::Result<PreImages> {
        let node = |change: &Change| {
            let before = save(files, max_size, change)?;
            Ok(SavedNode { path: change.path.clone(), before })
        };
        let nodes = changes.iter().map(node).collect::<io::Result<_>>()?;
        Ok(PreImages { call, nodes })
    }
}

fn save(files: &Files, max_size: u64, change: &Change) -> io::Result<SavedContent> {
    let node = match &change.before {
        None => return Ok(SavedContent::Nothing),
        // Not held: it is read now.
        Some(Node::File(file)) if file.bytes().is_none() => {
            let found = files.entry(&change.path, max_size);
            found.map_err(|err| io::Error::other(err.to_string()))?.node
        }
        before => before.clone(),
    };
    Ok(match node {
        None => SavedContent::Nothing,
        Some(Node::Directory { mode }) => SavedContent::Directory { mode },
        Some(Node::Link { target }) => SavedContent::Link { target },
        Some(Node::File(file)) => match file.bytes() {
            Some(bytes) => {
                SavedContent::File { mode: file.mode, base64: BASE64_STANDARD.encode(bytes) }
            }
            None => SavedContent::TooLarge,
        },
    })
}

impl Delegate for DelegatedEdits {
    fn hand_over(&self, call: u64, changes: &Changes) -> Result<(), DelegateError> {
        Ok(self.keep(call, changes).map_err(|err| err.to_string())?)
    }
}

/// The same for the call of a hook's event.
pub(super) fn adopt(session: &HookSession) -> Result<Vec<u64>, String> {
    let kept = session.calls.pre_images();
    session.calls.forget_pre_images();
    let kept = kept.map_err(|err| {
        format!("the old content cannot be read, so it could not be undone: {err}")
    })?;
    adopt_all(&session.agent, kept)
}

/// Makes what somebody else has changed into changes of the calls that allowed it, which can be
/// undone. Gives the calls; an error says why something cannot be undone.
pub(in crate::commands) fn adopt_all(
    session: &AgentSession,
    kept: Vec<PreImages>,
) -> Result<Vec<u64>, String> {
    if kept.is_empty() {
        return Ok(Vec::new());
    }
    let AgentSession { ctx, store, files, .. } = session;
    let workspace = ctx.workspace_to_change(store.clone());
    let workspace = workspace.map_err(one_line)?;
    let mut adopted = Vec::new();
    for PreImages { call, nodes } in kept {
        let changes = nodes.into_iter().map(|it| change(files, it));
        let changes = Changes::of(changes.collect::<Result<Vec<_>, String>>()?);
        if !changes.is_empty() {
            let durability = ctx.config.commit_durability;
            workspace.adopt(call, &changes, durability).map_err(|err| err.to_string())?;
            adopted.push(call);
        }
    }
    Ok(adopted)
}

/// From what was there to what is there now.
fn change(files: &Files, saved: SavedNode) -> Result<Change, String> {
    let SavedNode { path, before } = saved;
    let before = match before {
        SavedContent::Nothing => None,
        SavedContent::Directory { mode } => Some(Node::Directory { mode }),
        SavedContent::Link { target } => Some(Node::Link { target }),
        SavedContent::File { mode, base64 } => {
            let bytes = BASE64_STANDARD.decode(base64).map_err(|err| err.to_string())?;
            Some(Node::File(FileNode::new(bytes, mode)))
        }
        SavedContent::TooLarge => {
            return Err(format!("`{}` was too large to keep a copy", path.display()));
        }
    };
    let now = files.entry(&path, 0).map_err(|err| err.to_string())?;
    Ok(Change { path, from: None, before, after: now.node })
}
