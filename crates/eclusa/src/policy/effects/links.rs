//! Where a link leads that a call would make.
//!
//! One that leads out of the workspace is denied: what is written through it lands outside, and
//! what is read through it comes from there. Two sorts of targets are not like that. Programs and
//! libraries of the system are the same for everybody, can be read by every command anyway and be
//! written by none, so that a link to one (`.venv/bin/python`) is a change like any other. Those
//! that a person has installed below their home directory are in the same place in a project's
//! life, but can be written by the person, who is therefore asked.

use std::path::Path;

use super::Rules;
use crate::{Change, Node, policy::PathLocation};

/// Directories of the system that hold programs and libraries, and nothing about anybody.
const SYSTEM: [&str; 7] =
    ["/usr/", "/bin/", "/sbin/", "/lib/", "/lib32/", "/lib64/", "/nix/store/"];

/// Where version managers install interpreters and compilers.
const TOOLCHAINS: [&str; 12] = [
    "/.pyenv/versions/",
    "/uv/python/",
    "/.rbenv/versions/",
    "/.nvm/versions/",
    "/.volta/tools/",
    "/.asdf/installs/",
    "/mise/installs/",
    "/.rustup/toolchains/",
    "/.sdkman/candidates/",
    "/miniconda3/",
    "/anaconda3/",
    "/miniforge3/",
];

/// How a link leaves the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// To a program that a person has installed.
    Toolchain,
    /// To anything else but the programs of the system.
    Out,
}

impl Rules {
    /// How a change leads out of the workspace, if it makes a link that does.
    pub(super) fn way_out(&self, change: &Change) -> Option<Way> {
        let Some(Node::Link { target }) = &change.after else { return None };
        let led = resolve_link(&change.path, target);
        if matches!(self.root.place(&led), PathLocation::Inside(_)) {
            return None;
        }
        // Judged by the words alone, so there may be nothing in them that leads elsewhere.
        let plain = led.starts_with('/')
            && led.split('/').skip(1).all(|part| !matches!(part, "" | "." | ".."));
        if plain && SYSTEM.iter().any(|it| led.starts_with(it)) {
            return None;
        }
        let installed = |it: &&str| led.split_once(*it).is_some_and(|it| it.1.contains("/bin/"));
        match plain && TOOLCHAINS.iter().any(installed) {
            true => Some(Way::Toolchain),
            false => Some(Way::Out),
        }
    }
}

/// Where a link leads, in words alone.
pub(super) fn resolve_link(link: &Path, target: &Path) -> String {
    let target = target.to_string_lossy();
    match (target.is_empty() || target.starts_with('/'), link.parent()) {
        (true, _) | (_, None) => target.into_owned(),
        // The dot keeps a name like `~x` from being more than a name.
        (false, Some(parent)) => format!("./{}/{target}", parent.to_string_lossy()),
    }
}
