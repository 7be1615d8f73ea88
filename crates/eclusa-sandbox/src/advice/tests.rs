//! What helps is named by what the kernel refused, and nothing is named that would not help.

use std::io;

use rustix::io::Errno;

use super::*;
use crate::capabilities::{Namespaces, PartRefusal};
use crate::probe::kernel_features;
use crate::step::{SandboxError, Step};

/// A machine without namespaces, Landlock and seccomp, on which these were refused.
fn machine(refused: &[(Missing, Step, Errno)]) -> HostCapabilities {
    let mut machine = kernel_features().without(Missing::Seccomp).without(Missing::Landlock);
    for (part, step, errno) in refused {
        let error = SandboxError::Step { step: *step, path: None, source: io::Error::from(*errno) };
        machine.refused(error.refusing(*part));
    }
    machine
}

#[test]
fn where_nothing_in_memory_is_executed_that_alone_is_named_and_once() {
    let machine = machine(&[
        (Missing::Namespaces, Step::Init, Errno::ACCESS),
        (Missing::Landlock, Step::StartGuardian, Errno::ACCESS),
        (Missing::Seccomp, Step::StartGuardian, Errno::ACCESS),
    ]);
    assert_eq!(machine.first_fix(), Some(IN_MEMORY));
    for part in [Missing::Staging, Missing::FreshProc, Missing::Landlock, Missing::Seccomp] {
        assert_eq!(machine.fix(part), None, "{part}");
    }
    assert!(machine.refusal(Missing::Landlock).is_some_and(|it| it.text.contains("guardian")));
}

#[test]
fn a_profile_that_refuses_namespaces_and_memory_has_both_named() {
    let machine = machine(&[
        (Missing::Namespaces, Step::Clone, Errno::ACCESS),
        (Missing::Seccomp, Step::StartGuardian, Errno::ACCESS),
    ]);
    assert!(machine.first_fix().is_some_and(|it| it.contains("--apparmor")));
    assert_eq!(machine.fix(Missing::Seccomp), Some(IN_MEMORY));
}

#[test]
fn where_the_workspace_is_the_cause_nobody_is_sent_to_move_the_state() {
    let error = SandboxError::Step {
        step: Step::Overlay,
        path: None,
        source: io::Error::from(Errno::INVAL),
    };
    let mut refusal = error.refusing(Missing::Staging);
    let machine = |refusal: &PartRefusal| {
        let mut machine = HostCapabilities { namespaces: Namespaces::User, ..kernel_features() };
        machine.refused(refusal.clone());
        machine.fix(Missing::Staging)
    };
    assert!(machine(&refusal).is_some_and(|it| it.contains("--state")));
    refusal.is_workspace = true;
    assert!(machine(&refusal).is_some_and(|it| it.starts_with("put the workspace")));
}

#[test]
fn a_refused_filter_is_told_from_a_kernel_without_filters() {
    let fix = |errno| machine(&[(Missing::Seccomp, Step::Seccomp, errno)]).fix(Missing::Seccomp);
    assert!(fix(Errno::PERM).is_some_and(|it| it.contains("profile")));
    assert!(fix(Errno::INVAL).is_some_and(|it| it.contains("CONFIG_SECCOMP_FILTER")));
}
