//! The settings of a repository, compared key by key: which of git's own keys a change sets, and whether each is one
//! that starts nothing and leads nowhere.

use std::{collections::BTreeMap, path::Path};

use eclusa_git::{ConfigName, read_plain_config};

use crate::{Change, Contents, Node, Side};

/// The largest file of settings that is compared.
const MAX_SETTINGS: u64 = 1 << 20;

/// One setting that changes, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingChange {
    /// What it is: `upstream of feat: origin/feat`.
    pub text: String,
    /// What sort of setting it is.
    pub kind: SettingKind,
}

/// What a setting of git does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingKind {
    /// It says how git does things, and starts nothing.
    Plain,
    /// It says where commits come from or go to.
    Address,
    /// It says where hooks are.
    Hooks,
}

/// Keys that start nothing, by section. Those of sections with names of their own (`branch.NAME.merge`) are apart.
const PLAIN: [(&str, &[&str]); 18] = [
    (
        "core",
        &[
            "autocrlf",
            "eol",
            "safecrlf",
            "ignorecase",
            "filemode",
            "symlinks",
            "precomposeunicode",
            "sparsecheckout",
            "sparsecheckoutcone",
            "longpaths",
            "quotepath",
            "abbrev",
            "logallrefupdates",
            "whitespace",
            "commentchar",
            "repositoryformatversion",
        ],
    ),
    ("extensions", &["worktreeconfig"]),
    ("index", &["sparse", "version"]),
    ("user", &["name", "email"]),
    ("author", &["name", "email"]),
    ("committer", &["name", "email"]),
    ("rerere", &["enabled", "autoupdate"]),
    ("pull", &["rebase", "ff"]),
    ("push", &["default", "autosetupremote", "followtags"]),
    ("fetch", &["prune", "prunetags"]),
    ("merge", &["conflictstyle", "ff", "renames", "renamelimit"]),
    ("rebase", &["autostash", "autosquash", "updaterefs"]),
    ("diff", &["algorithm", "renames", "renamelimit", "noprefix", "mnemonicprefix"]),
    ("log", &["date", "decorate"]),
    ("status", &["short", "branch", "showuntrackedfiles"]),
    ("commit", &["verbose", "cleanup"]),
    ("init", &["defaultbranch"]),
    ("submodule", &["recurse", "active"]),
];

/// What changes in a file of settings. `None`: something in it changes that no model may change, or nobody can say
/// what does.
pub(super) fn changed(change: &Change, contents: &dyn Contents) -> Option<Vec<SettingChange>> {
    let name = change.path.file_name()?;
    let parent = change.path.parent()?.file_name()?;
    let worktree = name == "config.worktree";
    if parent != ".git" || !(name == "config" || worktree) {
        return None;
    }
    let (before, after) =
        (read(change, Side::Before, contents)?, read(change, Side::After, contents)?);
    let mut names: Vec<&ConfigName> = before.keys().chain(after.keys()).collect();
    names.sort();
    names.dedup();
    let mut all = Vec::new();
    for name in names {
        let (old, new) = (before.get(name), after.get(name));
        if old == new {
            continue;
        }
        let kind = kind(name, new.map_or(&[], Vec::as_slice))?;
        // That of a repository that is made here leads nobody elsewhere who was not there.
        let is_new = change.before.is_none() && kind == SettingKind::Address;
        let kind = if is_new { SettingKind::Plain } else { kind };
        let sparse = name.key.starts_with("sparse");
        if worktree && !sparse {
            return None;
        }
        all.push(SettingChange { text: text(name, new), kind });
    }
    (!all.is_empty()).then_some(all)
}

type Settings = BTreeMap<ConfigName, Vec<String>>;

fn read(change: &Change, side: Side, contents: &dyn Contents) -> Option<Settings> {
    let node = match side {
        Side::Before => &change.before,
        Side::After => &change.after,
    };
    let Some(node) = node else {
        // There was none; to take it away is another matter.
        return (side == Side::Before).then(Settings::new);
    };
    let Node::File(file) = node else { return None };
    if file.size > MAX_SETTINGS || file.mode & 0o111 != 0 {
        return None;
    }
    let bytes = contents.content(change, side).ok()?;
    let mut settings = Settings::new();
    for (name, value) in read_plain_config(&bytes)? {
        settings.entry(name).or_default().push(String::from_utf8(value).ok()?);
    }
    Some(settings)
}

/// What sort of setting it is, with its new values. `None`: it stays as it is.
fn kind(name: &ConfigName, values: &[String]) -> Option<SettingKind> {
    let (section, key) = (name.section.as_str(), name.key.as_str());
    let all = |fits: fn(&str) -> bool| values.iter().all(|it| fits(it));
    let kind = match (section, &name.subsection, key) {
        ("branch", Some(_), "remote" | "pushremote") if all(is_remote_name) => SettingKind::Plain,
        ("branch", Some(_), "merge") if all(|it| it.starts_with("refs/")) => SettingKind::Plain,
        ("branch", Some(_), "rebase" | "vscode-merge-base" | "github-pr-owner-number") => {
            SettingKind::Plain
        }
        ("remote", Some(_), "url" | "pushurl") if all(is_address) => SettingKind::Address,
        ("remote", Some(_), "fetch") if all(|it| it.contains("refs/")) => SettingKind::Plain,
        ("remote", Some(_), "tagopt" | "prune" | "prunetags") => SettingKind::Plain,
        ("remote", None, "pushdefault") if all(is_remote_name) => SettingKind::Plain,
        ("submodule", Some(_), "url") if all(is_address) => SettingKind::Address,
        ("submodule", Some(_), "active") => SettingKind::Plain,
        ("core", None, "bare") if all(|it| it == "false") => SettingKind::Plain,
        ("core", None, "hookspath") if all(|it| Path::new(it).starts_with(".husky")) => {
            SettingKind::Hooks
        }
        ("color" | "advice" | "column", _, _) => SettingKind::Plain,
        (section, None, key) => {
            let known = PLAIN.iter().any(|it| it.0 == section && it.1.contains(&key));
            known.then_some(SettingKind::Plain)?
        }
        _ => return None,
    };
    Some(kind)
}

/// A name of a remote, and no address or option in its place.
fn is_remote_name(value: &str) -> bool {
    let plain = |it: char| it.is_ascii_alphanumeric() || "._-/".contains(it);
    !value.starts_with('-')
        && !value.starts_with('/')
        && !value.contains("..")
        && value.chars().all(plain)
}

/// An address that git reaches by itself: no helper, and no option in its place.
fn is_address(value: &str) -> bool {
    !value.starts_with('-') && !value.contains("::") && !value.chars().any(char::is_control)
}

/// A setting as somebody would say it.
fn text(name: &ConfigName, new: Option<&Vec<String>>) -> String {
    let value = new.map_or_else(|| "taken out".to_owned(), |it| it.join(", "));
    let sub = name.subsection.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
    match (name.section.as_str(), name.key.as_str()) {
        ("branch", "merge") => {
            format!("upstream of {sub}: {}", value.trim_start_matches("refs/heads/"))
        }
        ("branch", "remote") => format!("remote of {sub}: {value}"),
        ("remote" | "submodule", "url" | "pushurl") => {
            format!("address of {} {sub}: {value}", name.section)
        }
        _ => format!("{}: {value}", name.to_os_string().to_string_lossy()),
    }
}
