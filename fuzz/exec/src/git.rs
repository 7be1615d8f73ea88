//! Git's settings, as git itself lists them, each with a program in it, and commands that could make
//! git run it.

#![expect(
    clippy::disallowed_methods,
    reason = "the settings are git's to list, the tree is thrown away"
)]

use std::path::Path;
use std::process::Command;
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::random::Random;

/// A setting and what it is set to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Setting {
    /// As git lists it: `diff.<driver>.command`.
    pub(crate) key: String,
    pub(crate) value: String,
}

/// What settings are set to. A command line, one with git's mark for a shell, and a path.
const VALUES: [&str; 3] = ["/w/evil.sh", "!/w/evil.sh", "/w/evil.sh %s"];

/// Settings that git does not list, or lists under other names.
const FURTHER: [&str; 14] = [
    "alias.x",
    "pager.log",
    "pager.diff",
    "pager.status",
    "hook.trap.command",
    "filter.trap.process",
    "trailer.trap.cmd",
    "tar.trap.command",
    "browser.trap.cmd",
    "man.trap.cmd",
    "difftool.trap.cmd",
    "mergetool.trap.cmd",
    "guitool.trap.cmd",
    "remote.trap.vcs",
];

/// What is run with each of them: whatever reads a repository, and what changes one.
pub(crate) const TRIGGERS: [&str; 26] = [
    "git status",
    "git diff",
    "git diff --cached",
    "git log -p -3",
    "git log --show-signature -2; git verify-commit HEAD; git verify-tag v1",
    "git show HEAD --textconv --ext-diff",
    "git blame a.txt",
    "git grep alpha; git ls-files -v; git cat-file --textconv HEAD:a.txt; git cat-file --filters HEAD:a.txt",
    "git archive --format=trap HEAD; git archive HEAD --format=tgz",
    "git branch -v; git tag -l; git for-each-ref; git stash list; git stash show -p; git reflog; git describe",
    "echo x >> a.txt; git add -A",
    "git commit -am x",
    "git commit -S -m x --allow-empty",
    "git checkout -f side; git checkout -f main",
    "git stash; git stash pop",
    "git merge side -m x; git merge --abort",
    "git rebase side; git rebase --abort",
    "git rebase -i HEAD~1",
    "git cherry-pick side; git cherry-pick --abort",
    "git fetch trap; git fetch --all; git ls-remote trap; git ls-remote ssh://localhost/x; git ls-remote git://localhost/x; git ls-remote ext::/w/evil.sh",
    "printf 'protocol=https\\nhost=h\\n\\n' | git credential fill",
    "echo x | git interpret-trailers --trailer trap=1; git x; git trap",
    "git submodule update --init; git submodule status; git worktree list",
    "git gc --auto; git maintenance run --auto; git fsck; git repack -q",
    "git difftool -y; git mergetool -y; git help log; git help -w log; git web--browse x; git instaweb",
    "git format-patch -1 --stdout | git am; git am --abort; git send-email --dry-run HEAD~1; git notes add -m x; git push trap; git clone -q . /tmp/c",
];

/// Run after the others: it does not read `core.hooksPath` (git 2.47), and would run [`REFERENCE_HOOK`].
pub(crate) const BISECT: &str = "git bisect start; git bisect reset";

/// The one hook that git runs whatever it is told, for [`BISECT`] alone (docs/sandbox.md).
pub(crate) const REFERENCE_HOOK: &str = ".git/hooks/reference-transaction";

/// Every setting that this git knows.
pub(crate) fn keys() -> Result<Vec<String>, String> {
    let output = Command::new("git").args(["help", "--config"]).env("GIT_PAGER", "cat").output();
    let output = output.map_err(|err| format!("git: {err}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let keys = text.lines().map(str::trim).filter(|it| it.contains('.') && !it.contains(' '));
    let mut keys: Vec<String> = keys.map(str::to_owned).collect();
    keys.extend(FURTHER.map(str::to_owned));
    Ok(keys)
}

/// Some of them, all if there are not more; those whose names say that they are programs first.
pub(crate) fn sample(keys: &[String], count: usize, random: &mut Random) -> Vec<Setting> {
    let is_program = |key: &str| {
        let last = key.rsplit('.').next().unwrap_or_default().to_lowercase();
        let ends = [
            "cmd",
            "command",
            "program",
            "helper",
            "driver",
            "textconv",
            "editor",
            "external",
            "pager",
            "clean",
            "smudge",
            "process",
            "fsmonitor",
            "hookspath",
            "askpass",
            "uploadpack",
            "receivepack",
            "vcs",
        ];
        ends.iter().any(|it| last.ends_with(it))
    };
    let (mut first, mut rest): (Vec<String>, Vec<String>) =
        keys.iter().cloned().partition(|it| is_program(it));
    let mut chosen = Vec::new();
    for list in [&mut first, &mut rest] {
        while chosen.len() < count && !list.is_empty() {
            chosen.push(list.swap_remove(random.below(list.len())));
        }
    }
    let value = |key: &str, random: &mut Random| match key {
        "alias.x" => "!/w/evil.sh".to_owned(),
        "core.hooksPath" => "/w/.git/hooks".to_owned(),
        _ if is_program(key) => "/w/evil.sh".to_owned(),
        _ => random.word(&VALUES),
    };
    chosen.into_iter().map(|key| Setting { value: value(&key, random), key }).collect()
}

/// Puts the setting into the repository, with attributes and a remote that lead to it.
pub(crate) fn lay(root: &Path, setting: &Setting) -> io::Result<()> {
    let mut key = String::new();
    let mut open = false;
    for letter in setting.key.chars() {
        match letter {
            '<' => open = true,
            '>' => {
                open = false;
                key.push_str("trap");
            }
            '*' => key.push_str("trap"),
            _ if open => {}
            letter => key.push(letter),
        }
    }
    let (section, name) = key.rsplit_once('.').unwrap_or((&key, ""));
    let header = match section.split_once('.') {
        Some((section, sub)) => format!("[{section} \"{sub}\"]"),
        None => format!("[{section}]"),
    };
    let config = root.join(".git/config");
    let mut text = fs::read_to_string(&config)?;
    text += "[remote \"trap\"]\n\turl = /w/empty\n[trailer \"trap\"]\n\tkey = trap\n[diff]\n\ttool = trap\n[merge]\n\ttool = trap\n[user]\n\tname = n\n\temail = n@example.org\n";
    text += &format!("{header}\n\t{name} = {:?}\n", setting.value);
    fs::write(&config, text)?;
    fs::write(root.join(".git/info/attributes"), "* filter=trap diff=trap merge=trap\n")?;
    let hooked = setting.value.ends_with("hooks");
    for hook in [
        "pre-commit",
        "post-checkout",
        "post-index-change",
        "fsmonitor-watchman",
        "reference-transaction",
        "pre-push",
        "post-merge",
    ]
    .iter()
    .filter(|_| hooked)
    {
        crate::ground::file(
            &root.join(".git/hooks").join(hook),
            "#!/bin/sh\n: > /w/MARK\n",
            0o755,
        )?;
    }
    Ok(())
}
