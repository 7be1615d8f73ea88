//! What a person's own git configuration says that a command may know: who they are, what their
//! short names stand for, and how they like things done. Nothing in it names a program but hooks.

use std::path::Path;

use eclusa_git::{ConfigName, read_config_list};

use super::ask;

/// Settings that are handed on, by section and key.
const HARMLESS: [(&str, &str); 33] = [
    ("user", "name"),
    ("user", "email"),
    ("author", "name"),
    ("author", "email"),
    ("committer", "name"),
    ("committer", "email"),
    ("init", "defaultbranch"),
    ("pull", "rebase"),
    ("pull", "ff"),
    ("push", "default"),
    ("push", "autosetupremote"),
    ("push", "followtags"),
    ("fetch", "prune"),
    ("merge", "conflictstyle"),
    ("merge", "ff"),
    ("rebase", "autosquash"),
    ("rebase", "autostash"),
    ("rebase", "updaterefs"),
    ("rerere", "enabled"),
    ("branch", "autosetuprebase"),
    ("branch", "sort"),
    ("tag", "sort"),
    ("diff", "algorithm"),
    ("diff", "renames"),
    ("diff", "mnemonicprefix"),
    ("log", "date"),
    ("core", "autocrlf"),
    ("core", "eol"),
    ("core", "excludesfile"),
    ("commit", "verbose"),
    ("commit", "gpgsign"),
    ("tag", "gpgsign"),
    // The person's own hooks, which run in the sandbox as a repository's do.
    ("core", "hookspath"),
];

/// A person's settings that are harmless, as git reads them where it stands in `workspace`.
/// `home` is the person's home directory. Empty where there is no git or nothing was set.
#[must_use]
pub fn personal_git_settings(home: &Path, workspace: &Path) -> Vec<(String, String)> {
    let files = [home.join(".gitconfig"), home.join(".config/git/config")];
    if !files.iter().any(|it| it.is_file()) {
        return Vec::new();
    }
    let Some(mut command) = ask::git() else { return Vec::new() };
    // Which of the person's files count can depend on where the repository is.
    command.env_remove("GIT_CONFIG_GLOBAL").env("HOME", home);
    if workspace.is_dir() {
        command.current_dir(workspace).env_remove("GIT_CEILING_DIRECTORIES");
    }
    command.args(["config", "--global", "--includes", "--list", "-z"]);
    let output = ask::output(command).unwrap_or_default();
    let kept =
        read_config_list(&output).into_iter().filter(|(name, value)| is_harmless(name, value));
    kept.filter_map(|(name, value)| {
        Some((name.to_os_string().into_string().ok()?, String::from_utf8(value).ok()?))
    })
    .collect()
}

fn is_harmless(name: &ConfigName, value: &[u8]) -> bool {
    if name.section == "alias" {
        let first = value.iter().find(|it| !it.is_ascii_whitespace());
        return first.is_some_and(|it| *it != b'!');
    }
    name.subsection.is_none()
        && HARMLESS.contains(&(name.section.as_str(), name.key.as_str()))
        && value.len() < 4096
}
