//! The kind of every change, from its path, what git knew of it, and the command that made it.

use std::path::{Component, Path};

use super::{
    EffectKind, Effects, GitFile, Rules, Tracked, Way, deletes, excused::is_excused, is_clean,
    makes_executable,
};
use crate::{Change, Changes, Decision, Node, policy::Script};

/// Programs that put programs of installed packages where they belong.
const INSTALLERS: [&str; 17] = [
    "npm",
    "npx",
    "pnpm",
    "yarn",
    "bun",
    "deno",
    "pip",
    "pip3",
    "uv",
    "poetry",
    "pdm",
    "pipenv",
    "virtualenv",
    "bundle",
    "composer",
    "cargo",
    "go",
];

/// Directories whose programs are run by name, wherever git ignores them.
const PROGRAM_DIRECTORIES: [&str; 4] = [".bin", "bin", "Scripts", "sbin"];

/// Directories that programs trust, wherever git ignores them: what can be run in there is
/// somebody's to look at.
const TRUSTED: [&str; 9] = [
    ".github",
    ".gitea",
    ".forgejo",
    ".gitlab",
    ".config",
    ".husky",
    ".direnv",
    ".vscode",
    ".devcontainer",
];

/// The changes of a call and the kind of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectKinds(pub(super) Vec<EffectKind>);

impl EffectKinds {
    /// The same kind for so many changes.
    pub(crate) fn all(kind: EffectKind, count: usize) -> EffectKinds {
        EffectKinds(vec![kind; count])
    }

    /// The kinds, in the order of the changes.
    pub fn iter(&self) -> impl Iterator<Item = EffectKind> {
        self.0.iter().copied()
    }

    /// How many changes there are of each kind, by the word for it.
    pub fn counts(&self) -> std::collections::BTreeMap<&'static str, usize> {
        let mut counts = std::collections::BTreeMap::new();
        self.iter().for_each(|it| *counts.entry(it.as_str()).or_default() += 1);
        counts
    }
}

impl Rules {
    /// The kind of every change.
    pub fn effect_kinds(&self, effects: &Effects<'_>) -> EffectKinds {
        self.kinds(effects, &effects.author.scripts())
    }

    pub(super) fn kinds(&self, effects: &Effects<'_>, scripts: &[Script]) -> EffectKinds {
        let changes = effects.changes;
        let left = changes.left();
        let installs = scripts.iter().any(|it| it.runs_any(&INSTALLERS) || it.installs_python());
        let protecting = self.protecting(effects);
        let packs = changes.iter().any(|it| it.before.is_none() && is_pack(&it.path));
        let kind = |(number, change): (usize, &Change)| {
            let facts = effects.facts.path(number);
            let excused = is_excused(effects, scripts, number, change);
            let protects = |it: &&crate::Rule| {
                it.protects(&change.path, facts) && !(excused && it.is_about_persistence())
            };
            if !is_clean(&change.path) || self.way_out(change) == Some(Way::Out) {
                EffectKind::Outside
            } else if protecting.iter().any(protects) {
                EffectKind::Protected
            } else if effects.facts.settings.contains_key(&number) {
                EffectKind::Git(GitFile::Settings)
            } else if let Some(rest) = git_path(&change.path) {
                EffectKind::Git(git_kind(&rest, change, packs, effects))
            } else if facts.ephemeral.is_some() && (installs || !is_program(changes, change)) {
                EffectKind::Ephemeral
            } else if deletes(changes, &left, change) {
                let directory = matches!(change.before, Some(Node::Directory { .. }));
                let saved = directory || facts.tracked == Tracked::Clean || facts.own;
                EffectKind::Delete { saved }
            } else {
                EffectKind::Edit
            }
        };
        EffectKinds(changes.iter().enumerate().map(kind).collect())
    }

    /// The rules that protect paths from this call.
    fn protecting<'a>(&'a self, effects: &Effects<'a>) -> Vec<&'a crate::Rule> {
        let subject = self.effect_subject(effects, effects.author.touches, &[]);
        let protects = |rule: &&crate::Rule| {
            rule.decision() >= Decision::Ask
                && rule.is_about_paths()
                && rule.may_write()
                && rule.paths().is_some()
                && rule.effect_conditions().is_none()
                && !rule.is_about_commands()
                && !rule.is_named_only()
                && rule.concerns(&subject)
        };
        self.rules.iter().filter(protects).collect()
    }
}

/// True for what can be run by its name later: a file that becomes executable, or a link, in a
/// directory for programs or in one that programs trust.
pub(super) fn is_program(changes: &Changes, change: &Change) -> bool {
    let named = |names: &[&str], it: Component<'_>| {
        names.iter().any(|name| it.as_os_str().eq_ignore_ascii_case(name))
    };
    let above = change.path.parent().unwrap_or(Path::new(""));
    let parent = above.components().next_back();
    let packages =
        above.components().any(|it| named(&["node_modules", ".venv", "venv", "vendor"], it));
    let in_programs = packages && parent.is_some_and(|it| named(&PROGRAM_DIRECTORIES, it));
    let trusted = above.components().any(|it| named(&TRUSTED, it));
    let executable = match &change.after {
        Some(Node::File(file)) => {
            makes_executable(changes, change) || file.mode & super::EXECUTE != 0
        }
        Some(Node::Link { .. }) => true,
        Some(Node::Directory { .. }) | None => false,
    };
    executable && (in_programs || trusted)
}

/// What follows on `.git` in a path.
fn git_path(path: &Path) -> Option<String> {
    let mut parts = path.components();
    parts.by_ref().find(|it| it.as_os_str().eq_ignore_ascii_case(".git"))?;
    Some(parts.as_path().to_string_lossy().into_owned())
}

fn is_pack(path: &Path) -> bool {
    path.parent().is_some_and(|it| it.ends_with(".git/objects/pack"))
}

/// What one of git's files is for, and whose it is.
fn git_kind(rest: &str, change: &Change, packs: bool, effects: &Effects<'_>) -> GitFile {
    let own = effects.facts.own.as_deref().filter(|it| !it.is_empty());
    // Other repositories in the workspace have no part of their own elsewhere.
    let own = own.filter(|_| change.path.starts_with(".git"));
    let beneath = |it: &str| Some(rest.strip_prefix(it)?.strip_prefix('/')?.to_owned());
    if let Some(rest) = own.and_then(beneath) {
        return match rest.as_str() {
            "gitdir" | "commondir" => GitFile::Foreign,
            rest => git_file(rest, change, packs),
        };
    }
    if let Some((name, inner)) = rest.strip_prefix("worktrees/").and_then(|it| it.split_once('/')) {
        let up = inner.split('/').count();
        let tree = change.path.ancestors().nth(up).and_then(|it| effects.changes.get(it));
        let is_new = tree.is_some_and(|it| it.before.is_none());
        let stands = ["HEAD", "index", "gitdir", "commondir"].contains(&inner);
        let altered = stands && change.before.is_some() && change.after.is_some();
        let inside =
            change.path.starts_with(".git") && effects.facts.trees.iter().any(|it| it == name);
        if inside && !is_new && !["gitdir", "commondir", "config.worktree"].contains(&inner) {
            return git_file(inner, change, packs);
        }
        return match !is_new && !name.is_empty() && (own.is_some() || altered) {
            true => GitFile::Foreign,
            false => git_file(rest, change, packs),
        };
    }
    let kind = git_file(rest, change, packs);
    let shared = |it: &str| {
        (it.starts_with("logs/") && it != "logs/HEAD")
            || ["logs", "rr-cache", "info", "gc.log", "gc.pid"].contains(&it)
            || it.starts_with("rr-cache/")
            || it.starts_with("info/")
    };
    let main = matches!(kind, GitFile::Index | GitFile::Sequence)
        || (kind == GitFile::Note && !shared(rest))
        || ["HEAD", "index"].contains(&rest);
    if own.is_some() && main { GitFile::Foreign } else { kind }
}

/// What one of git's files is for. `packs`: a new pack is among the changes, so that what it holds
/// may go elsewhere.
fn git_file(rest: &str, change: &Change, packs: bool) -> GitFile {
    let directory = [&change.before, &change.after].into_iter().flatten();
    let directory = directory.into_iter().all(|it| matches!(it, Node::Directory { .. }));
    let gone = change.after.is_none() && !directory;
    // Programs and links have no business among them.
    let plain = match &change.after {
        Some(Node::File(file)) => file.mode & super::EXECUTE == 0,
        Some(Node::Link { .. }) => false,
        Some(Node::Directory { .. }) | None => true,
    };
    let (first, inner) = rest.split_once('/').unwrap_or((rest, ""));
    match first {
        _ if !plain => GitFile::Other,
        "" => GitFile::Other,
        "index" if inner.is_empty() && !gone => GitFile::Index,
        "objects" if !inner.starts_with("info/alt") && inner != "info/http-alternates" => {
            if !gone || packs { GitFile::Object } else { GitFile::Other }
        }
        "refs" | "packed-refs" => GitFile::Ref,
        "logs" => GitFile::Note,
        "HEAD" if !gone => GitFile::Note,
        "ORIG_HEAD" | "FETCH_HEAD" | "MERGE_HEAD" | "MERGE_MSG" | "MERGE_MODE" | "MERGE_RR"
        | "AUTO_MERGE" | "SQUASH_MSG" | "COMMIT_EDITMSG" | "TAG_EDITMSG" | "CHERRY_PICK_HEAD"
        | "REVERT_HEAD" | "REBASE_HEAD" | "rr-cache" | "gc.log" | "gc.pid" => GitFile::Note,
        "info" if inner.is_empty() || inner == "refs" => GitFile::Note,
        _ if first.starts_with("BISECT_") && first != "BISECT_RUN" => GitFile::Note,
        "rebase-merge" | "rebase-apply" | "sequencer" => GitFile::Sequence,
        "worktrees" if !inner.ends_with("/config.worktree") => GitFile::Worktree,
        _ => GitFile::Other,
    }
}
