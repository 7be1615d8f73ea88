//! Which calls of a command wait for a supervisor.

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
pub(super) fn held(
    plan: &Plan,
    capabilities: &HostCapabilities,
    own_tmp: Option<&OwnTmp>,
) -> Vec<c_long> {
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
    let names_tmp = own_tmp.is_some_and(OwnTmp::is_named);
    if names_tmp {
        held.extend(path_calls());
    }
    if names_tmp || writes(plan) {
        held.extend(filter::metadata_calls());
    }
    if has_network(plan) {
        held.extend(SOCKETS);
    }
    held
}

/// What stands in the place of `/tmp` where there are no mounts, for a command whose words name it. For others, for
/// which every call with a path would wait for a supervisor, it holds semaphores and shared memory.
pub(super) fn own_tmp(
    plan: &Plan,
    capabilities: &HostCapabilities,
    places: &Places,
) -> Option<OwnTmp> {
    let answered = capabilities.seccomp && capabilities.notify;
    let is_led = answered && capabilities.namespaces == Namespaces::None;
    let tmp = places.tmp.as_deref().filter(|_| is_led)?;
    let program = plan.argv.first().map(PathBuf::from);
    let own = OwnTmp::new(tmp, &plan.argv, places.shown_in_tmp().cloned().chain(program));
    (own.is_named() || has_network(plan)).then_some(own)
}

/// Whether a command has a network: one that only reads, and was promised no proxy, has none.
fn has_network(plan: &Plan) -> bool {
    writes(plan) || plan.proxy
}

/// Whether a command may write more than temporary files.
pub(super) fn writes(plan: &Plan) -> bool {
    !plan.write.is_empty() || !plan.stage.is_empty()
}
