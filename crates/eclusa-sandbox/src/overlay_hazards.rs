//! What is known to go wrong with an overlay over a directory, found before the command runs.

use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::capabilities::{HostCapabilities, Namespaces};
use crate::plan::Staging;
use crate::step::SandboxError;

/// The number by which the kernel knows an overlay.
const OVERLAY: u64 = 0x794c_7630;

/// Something about a directory that gets in the way of staging it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OverlayHazard {
    /// The layers are on an overlay themselves, as everything is in most containers. The kernel
    /// refuses that.
    OnOverlay,
    /// The layers are on another filesystem: it works, but nothing can be committed by renaming.
    Elsewhere,
    /// Something is mounted inside. A user namespace can't look beneath it; root's overlay shows
    /// the directory beneath as it is without the mount.
    MountInside(PathBuf),
    /// The directory belongs to somebody else. A user namespace doesn't know them, and root's
    /// commands have no capability to write what isn't root's.
    OwnedByOther,
    /// The layers have been used before.
    Used,
}

impl fmt::Display for OverlayHazard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OverlayHazard::OnOverlay => f.write_str(
                "the layers are on an overlay themselves; put them on another filesystem",
            ),
            OverlayHazard::Elsewhere => {
                f.write_str("the layers are on another filesystem, so that a commit has to copy")
            }
            OverlayHazard::MountInside(path) => {
                write!(f, "`{}` is a mount inside the directory", path.display())
            }
            OverlayHazard::OwnedByOther => f.write_str(
                "the directory belongs to another user or group, and its files can't be written",
            ),
            OverlayHazard::Used => {
                f.write_str("the layers have been used before; take empty directories")
            }
        }
    }
}

impl OverlayHazard {
    /// Whether staging can't work at all, and not only less well.
    #[must_use]
    pub fn is_fatal(&self, capabilities: &HostCapabilities) -> bool {
        match self {
            OverlayHazard::MountInside(_) | OverlayHazard::OwnedByOther => {
                capabilities.namespaces == Namespaces::User
            }
            OverlayHazard::Elsewhere => false,
            OverlayHazard::OnOverlay | OverlayHazard::Used => true,
        }
    }
}

/// What gets in the way of staging a directory here. An empty list is no promise, but everything
/// that was ever met is looked for.
pub fn overlay_hazards(staging: &Staging) -> Result<Vec<OverlayHazard>, SandboxError> {
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |error: std::io::Error| SandboxError::Plan(format!("`{path}`: {error}"))
    };
    let lower = staging.lower.canonicalize().map_err(failed(&staging.lower))?;
    let at = lower.metadata().map_err(failed(&lower))?;
    let layer = staging.upper.metadata().map_err(failed(&staging.upper))?;
    let mut found = Vec::new();
    let on = rustix::fs::statfs(&staging.upper);
    let on = on.map_err(|errno| failed(&staging.upper)(errno.into()))?;
    if on.f_type as u64 == OVERLAY {
        found.push(OverlayHazard::OnOverlay);
    }
    if at.dev() != layer.dev() {
        found.push(OverlayHazard::Elsewhere);
    }
    found.extend(
        mounts().into_iter().filter(|path| inside(path, &lower)).map(OverlayHazard::MountInside),
    );
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let known = at.uid() == user.as_raw() && (at.gid() == group.as_raw() || user.is_root());
    if !known {
        found.push(OverlayHazard::OwnedByOther);
    }
    for layer in [&staging.upper, &staging.work] {
        if std::fs::read_dir(layer).map_err(failed(layer))?.next().is_some() {
            found.push(OverlayHazard::Used);
            break;
        }
    }
    Ok(found)
}

fn inside(path: &Path, root: &Path) -> bool {
    path != root && path.starts_with(root)
}

/// Where something is mounted.
fn mounts() -> Vec<PathBuf> {
    let table = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    let place = |line: &[u8]| {
        let place = line.split(|byte| *byte == b' ').nth(4)?;
        Some(PathBuf::from(std::ffi::OsStr::from_bytes(&unescaped(place))))
    };
    table.split(|byte| *byte == b'\n').filter_map(place).collect()
}

/// Blanks and backslashes are written in octal.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, behind)) = rest.split_first() {
        let octal = behind.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) if *first == b'\\' => {
                bytes.push(byte);
                rest = behind.get(3..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    bytes
}
