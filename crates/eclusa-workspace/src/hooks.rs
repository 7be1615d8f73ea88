//! Which hooks of git a call has changed: these are not run in a sandbox until a person has changed them.
//!
//! The state notes each before it is changed (`hooks.json`), with the content that it gets. A hook with any other
//! content is somebody else's.

use std::path::{Component, Path, PathBuf};

use eclusa_git::{read_plain_config, read_small};
use serde::{Deserialize, Serialize};

use crate::{
    Changes, ContentDigest, Durability, Node, Workspace, commit::IoFailure, places::Places,
    private_file,
};

/// The largest hook that is compared, and how many are noted.
const MAX_HOOK: u64 = 1 << 20;
const MAX_NOTED: usize = 500;

/// Directories in which hooks lie that a project shares.
const SHARED: [&str; 3] = [".husky", ".githooks", ".lefthook"];

/// A hook that a call has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedHook {
    /// Where it is, as changes name it.
    pub path: PathBuf,
    /// The call.
    pub call: u64,
    content: [u8; 32],
}

impl ChangedHook {
    /// What git calls it.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// Whether a path is one of the hooks that git runs by itself, wherever they usually are.
#[must_use]
pub fn is_git_hook(path: &Path) -> bool {
    // Git runs nothing of this name.
    if path.extension().is_some_and(|it| it == "sample") {
        return false;
    }
    let names: Vec<&str> = path.components().filter_map(named).collect();
    let git = names.iter().position(|it| it.eq_ignore_ascii_case(".git"));
    let own = git.is_some_and(|at| {
        let inside = names.get(at + 1..).unwrap_or_default();
        inside.len() > 1 && inside.iter().rev().skip(1).any(|it| it.eq_ignore_ascii_case("hooks"))
    });
    own || names.iter().any(|it| SHARED.iter().any(|shared| it.eq_ignore_ascii_case(shared)))
}

fn named(part: Component<'_>) -> Option<&str> {
    part.as_os_str().to_str()
}

/// The directory of hooks that the configuration of the repository names, from the workspace.
fn configured(places: &Places) -> Option<PathBuf> {
    let config = read_small(&places.at(Path::new(".git/config")), MAX_HOOK)?;
    let settings = read_plain_config(&config)?;
    let (_, value) = settings
        .into_iter()
        .rfind(|(name, _)| name.section == "core" && name.key == "hookspath")?;
    let value = PathBuf::from(String::from_utf8(value).ok()?);
    match value.strip_prefix(places.root()) {
        Ok(beneath) => Some(beneath.to_owned()),
        Err(_) => value.is_relative().then_some(value),
    }
}

impl Workspace {
    /// Notes the hooks that these changes of a call make or alter.
    pub(crate) fn note_hooks(&self, call: u64, changes: &Changes) -> Result<(), IoFailure> {
        let places = self.places();
        let configured = configured(&places);
        let is_hook = |path: &Path| {
            is_git_hook(path) || configured.as_ref().is_some_and(|it| path.starts_with(it))
        };
        let changed = changes.iter().filter(|it| is_hook(&it.path)).filter_map(|it| {
            let content = it.after.as_ref().and_then(Node::file)?.digest.0;
            Some(ChangedHook { path: it.path.clone(), call, content })
        });
        let changed: Vec<ChangedHook> = changed.collect();
        if changed.is_empty() {
            return Ok(());
        }
        let mut noted = self.noted_hooks();
        noted.retain(|old| {
            !changed.iter().any(|new| new.path == old.path && new.content == old.content)
        });
        noted.extend(changed);
        let noted = noted.split_off(noted.len().saturating_sub(MAX_NOTED));
        let file = self.state().join("hooks.json");
        let text =
            serde_json::to_vec(&noted).map_err(|err| IoFailure::at("note", &file)(err.into()))?;
        private_file::write(&file, text, Durability::Crash).map_err(IoFailure::at("write", &file))
    }

    /// The hooks that are as a call has made them, in the order of the calls.
    pub fn changed_hooks(&self) -> Vec<ChangedHook> {
        let noted = self.noted_hooks();
        let places = if noted.is_empty() { return noted } else { self.places() };
        let stands = |it: &ChangedHook| {
            let now = read_small(&places.at(&it.path), MAX_HOOK);
            now.is_some_and(|now| ContentDigest::of(&now).0 == it.content)
        };
        noted.into_iter().filter(stands).collect()
    }

    fn noted_hooks(&self) -> Vec<ChangedHook> {
        let text = std::fs::read(self.state().join("hooks.json")).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }
}
