//! Which calls of a command wait for a supervisor.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use libc::c_long;

use super::places::Places;
use crate::arch;
use crate::capabilities::{HostCapabilities, Namespaces};
use crate::filter;
use crate::notify::{OwnTmp, SIGNALS, SOCKETS, path_calls};
use crate::plan::{Hold, Plan};

/// Which calls wait for a supervisor. With namespaces renames, for help: those that cannot be helped fail
/// as the overlay lets them fail, and harm nothing. Without them what Landlock does not hold.
pub(super) fn held(plan: &Plan, capabilities: &HostCapabilities, own_tmp: bool) -> Vec<c_long> {
    if !capabilities.seccomp || !capabilities.notify {
        return Vec::new();
    }
    if capabilities.namespaces != Namespaces::None {
        let renames = plan.hold == Hold::Renames && !plan.stage.is_empty();
        return if renames { arch::NAMINGS.to_vec() } else { Vec::new() };
    }
    let mut held = Vec::new();
    if capabilities.landlock < 6 {
        held.extend(SIGNALS);
    }
    if own_tmp {
        held.extend(path_calls());
    }
    if own_tmp || writes(plan) {
        held.extend(filter::metadata_calls());
    }
    if writes(plan) {
        held.extend(SOCKETS);
    }
    held
}

/// What stands in the place of `/tmp` where there are no mounts, for a command whose words name it. Others are
/// not slowed by it: every call with a path would wait for a supervisor.
pub(super) fn own_tmp(
    plan: &Plan,
    capabilities: &HostCapabilities,
    places: &Places,
) -> Option<OwnTmp> {
    let names_it = |word: &OsString| word.as_bytes().windows(4).any(|it| it == b"/tmp");
    let answered = capabilities.seccomp && capabilities.notify;
    let is_led = answered && capabilities.namespaces == Namespaces::None;
    let tmp = places.tmp.as_deref().filter(|_| is_led && plan.argv.iter().any(names_it))?;
    let program = plan.argv.first().map(PathBuf::from);
    Some(OwnTmp::new(tmp, places.shown_in_tmp().cloned().chain(program)))
}

/// Whether a command may write more than temporary files.
pub(super) fn writes(plan: &Plan) -> bool {
    !plan.write.is_empty() || !plan.stage.is_empty()
}
