//! The result of the self-test, kept for the next process: a self-test takes longer than most of
//! what a short command does besides.
//!
//! What was found holds for one boot of the machine, one user and one confinement of the caller, so
//! all of these stand in the file, and another one is not believed. It decides nothing by itself:
//! every sandbox takes each of its steps again and refuses where one fails, and then the file goes.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use eclusa_workspace::{Durability, private_file};

use crate::capabilities::{HostCapabilities, Namespaces};
use crate::layer_places;
use crate::probe::{kernel_features, probe_workspace};
use crate::small_text::small_text;

/// The file in the state directory.
const FILE: &str = ".capabilities";
/// What is not as usual: networks cannot be joined, sockets of the file system stay closed.
const ALONE: &str = "alone";
const CLOSED: &str = "closed";

/// The same as [`probe`](crate::probe) for the layers over a workspace, which may lie in other places where
/// `state` cannot carry them: from what an earlier process has found where nothing has changed since.
/// Only a result that lacks nothing is kept.
#[must_use]
pub fn recall_or_probe(state: &Path, workspace: &Path) -> HostCapabilities {
    let Some(circumstances) = circumstances(state, workspace) else {
        return probe_workspace(state, workspace);
    };
    if let Some(known) = recall(state, &circumstances) {
        return known;
    }
    let found = probe_workspace(state, workspace);
    if found.refusals.is_empty() && found.missing().is_empty() {
        // Whoever cannot keep it finds it again.
        let _ = keep(state, &circumstances, &found);
    }
    found
}

/// Lets the next process find out for itself.
#[expect(clippy::disallowed_methods, reason = "its own file, in the state directory")]
pub fn forget(state: &Path) {
    let _ = fs::remove_file(state.join(FILE));
}

fn recall(state: &Path, circumstances: &str) -> Option<HostCapabilities> {
    let text = small_text(&state.join(FILE))?;
    let (kept, layers) = text.rsplit_once('\n')?;
    let (kept, namespaces) = kept.rsplit_once('\n')?;
    let layers = PathBuf::from(layers);
    if layers != state && layer_places::open(&layers).is_err() {
        return None;
    }
    let mut words = namespaces.split(' ');
    let namespaces = match words.next()? {
        "user" => Namespaces::User,
        "root" => Namespaces::Root,
        _ => return None,
    };
    let (mut join, mut sockets) = (true, Ok(()));
    for word in words {
        match word {
            ALONE => join = false,
            CLOSED => sockets = Err("found by an earlier self-test".to_owned()),
            _ => return None,
        }
    }
    let layers = Some(layers);
    let all = HostCapabilities {
        namespaces,
        overlay: true,
        layers,
        join,
        proc: true,
        sockets,
        ..kernel_features()
    };
    (kept == circumstances && all.missing().is_empty()).then_some(all)
}

fn keep(state: &Path, circumstances: &str, found: &HostCapabilities) -> std::io::Result<()> {
    let namespaces = match found.namespaces {
        Namespaces::User => "user",
        Namespaces::Root => "root",
        Namespaces::None => return Ok(()),
    };
    let Some(layers) = found.layers().and_then(Path::to_str) else { return Ok(()) };
    let mut words = vec![namespaces];
    words.extend((!found.join).then_some(ALONE));
    words.extend(found.sockets.is_err().then_some(CLOSED));
    let text = format!("{circumstances}\n{}\n{layers}", words.join(" "));
    private_file::write(&state.join(FILE), text, Durability::Crash)
}

/// Everything that the result depends on, or nothing where that cannot be told.
fn circumstances(state: &Path, workspace: &Path) -> Option<String> {
    let version = env!("CARGO_PKG_VERSION");
    let boot = small_text(Path::new("/proc/sys/kernel/random/boot_id"))?;
    let device = |path: &Path| path.metadata().ok().map(|it| it.dev());
    let (device, over) = (device(state)?, device(workspace)?);
    let link = |name: &str| fs::read_link(PathBuf::from("/proc/thread-self/ns").join(name)).ok();
    let (user, mounts) = (link("user")?, link("mnt")?);
    // Which user, capabilities, filters and promises this process has been started with.
    let status = small_text(Path::new("/proc/thread-self/status"))?;
    let held = ["Uid:", "Gid:", "Groups:", "Cap", "NoNewPrivs:", "Seccomp"];
    let held = status.lines().filter(|line| held.iter().any(|name| line.starts_with(name)));
    let held: Vec<&str> = held.collect();
    let label = small_text(Path::new("/proc/thread-self/attr/current")).unwrap_or_default();
    Some(format!(
        "{version} {} {device} {over} {} {} {}\n{}",
        boot.trim(),
        user.display(),
        mounts.display(),
        label.trim_end_matches(['\0', '\n']),
        held.join("\n"),
    ))
}
