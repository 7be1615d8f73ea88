//! Changes to what programs run by themselves that are asked about, and not denied: settings of a repository that start
//! nothing, and hooks that their own installer puts in place.

use std::path::Path;

use super::{Effects, Script, SettingKind};
use crate::{Change, Node, workspace::is_git_hook};

/// Programs that install hooks of git.
const INSTALLERS: [&str; 4] = ["pre-commit", "prek", "husky", "lefthook"];

/// Whether a script runs a program that installs hooks of git.
pub(super) fn installs_hooks(scripts: &[Script]) -> bool {
    scripts.iter().any(|it| it.runs_any(&INSTALLERS) || it.names_program(&INSTALLERS))
}

/// True for what git puts beside the hooks of a new repository, and never runs.
fn is_sample(change: &Change) -> bool {
    let named = |it: &Path, name: &str| it.file_name().is_some_and(|it| it == name);
    let above = change.path.parent().unwrap_or(Path::new(""));
    match &change.after {
        Some(Node::Directory { .. }) => named(&change.path, "hooks") && named(above, ".git"),
        Some(Node::File(_)) => {
            let sample = change.path.extension().is_some_and(|it| it == "sample");
            sample && named(above, "hooks") && above.parent().is_some_and(|it| named(it, ".git"))
        }
        Some(Node::Link { .. }) | None => false,
    }
}

/// True for a change that is asked about although programs run what it changes.
pub(super) fn is_excused(
    effects: &Effects<'_>,
    scripts: &[Script],
    number: usize,
    change: &Change,
) -> bool {
    match effects.facts.settings.get(&number) {
        Some(settings) => {
            let leads = settings.iter().any(|it| it.kind == SettingKind::Hooks);
            !leads || installs_hooks(scripts)
        }
        None if is_sample(change) => true,
        None => is_git_hook(&change.path) && installs_hooks(scripts),
    }
}
