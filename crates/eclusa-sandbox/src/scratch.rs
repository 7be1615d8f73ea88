//! A scratch layer over a directory, for this whole process and everything that it starts: what they write
//! there goes to the layer, and the directory itself is out of their reach.

#![expect(unsafe_code, reason = "namespaces are entered by the process itself")]

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::mount::MountPropagationFlags;
use rustix::thread::UnshareFlags;

use crate::child::{map_user, mounts, overlay::lay};
use crate::child_spec::{IdMaps, Overlay, c_path};
use crate::step::{SandboxError, trying};

/// Lays a layer over a directory, for this process and those that it starts from now on. Both directories
/// of the layer are empty and on one filesystem. Call it before there are threads. The descriptor is of
/// the directory itself, which no name leads to any more.
pub fn enter_scratch(root: &Path, upper: &Path, work: &Path) -> Result<OwnedFd, SandboxError> {
    let real = |path: &Path| {
        let real = path.canonicalize().map_err(trying("find the directories of a layer"))?;
        c_path(&real)
    };
    let overlay =
        Overlay { lower: real(root)?, covers: Vec::new(), upper: real(upper)?, work: real(work)? };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let below = rustix::fs::open(overlay.lower.as_c_str(), flags, Mode::empty());
    let below = below.map_err(trying("open the workspace"))?;
    let here = rustix::process::getcwd(Vec::new()).map_err(trying("find the working directory"))?;
    let (maps, is_root) = (IdMaps::of_caller(), rustix::process::geteuid().is_root());
    let spaces = match is_root {
        true => UnshareFlags::NEWNS,
        false => UnshareFlags::NEWNS | UnshareFlags::NEWUSER,
    };
    // SAFETY: descriptors and memory stay shared; only mounts, and who the caller is there, become its own.
    let unshared = unsafe { rustix::thread::unshare_unsafe(spaces) };
    unshared.map_err(trying("make a namespace for the scratch layer"))?;
    if !is_root {
        let mapped = map_user(&maps).map_err(|it| std::io::Error::from(it.errno));
        mapped.map_err(trying("keep who the caller is"))?;
    }
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    rustix::mount::mount_change(c"/", private).map_err(trying("keep mounts to itself"))?;
    let laid = lay(&overlay).map_err(trying("lay the scratch layer"))?;
    // The other descriptor is of a mount that is not in this namespace.
    let place = rustix::fs::open(overlay.lower.as_c_str(), flags, Mode::empty());
    let place = place.map_err(trying("open the workspace"))?;
    mounts::attach_at(&laid, &place).map_err(trying("cover the workspace"))?;
    // The directory that it stood in may be covered by now.
    rustix::process::chdir(here.as_c_str()).map_err(trying("go back to the working directory"))?;
    Ok(below)
}
