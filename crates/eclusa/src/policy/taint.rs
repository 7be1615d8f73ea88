//! Text from outside: which calls bring it into a session, and what they may not do there
//! without a question.
//!
//! A page or a server can hold instructions that nobody here wrote. While such text is in a
//! session, what could carry data out or run fetched code is asked about, even where a rule
//! allows it, unless the rule says that it has thought of this (`tainted = true`).

#[cfg(feature = "shell")]
use eclusa_shell::programs::Class;

use super::{JudgeContext, PathLocation, Policy, Root, Script};
use crate::{
    CallView, Decision, Origin, PermissionClass, Reason, ReasonId, Source, Touch, Verdict,
};

/// How a call brings text from outside into a session, if it does.
pub(super) fn taint_source(
    call: &CallView<'_>,
    scripts: &[Script],
    root: &Root,
) -> Option<&'static str> {
    if !call.is_trusted() {
        return Some("came from another server");
    }
    if call.class() == PermissionClass::Web {
        return Some("came from the web");
    }
    let mut touches = call.touches().iter();
    let outside = |path: &str| !matches!(root.place(path), PathLocation::Inside(_));
    let touched = touches.find_map(|touch| match touch {
        Touch::Fetch(_) => Some("came from the web"),
        Touch::Read(path) if outside(path) => Some("came from outside the workspace"),
        Touch::Read(_) | Touch::Write(_) | Touch::Run(_) | Touch::Unknown | Touch::Unheld(_) => {
            None
        }
    });
    // What runs in a sandbox of ours is shut off, and tells what it reached. Where this machine cannot hold it,
    // its text is all that there is.
    let held = !call.touches().iter().any(|it| matches!(it, Touch::Unheld(_) | Touch::Unknown));
    let shut = call.facts().stages && call.origin() != Origin::Hook && held;
    touched.or_else(|| scripts.iter().find_map(|it| it.brings(root, shut)))
}

/// The verdict on a call that is only asked about because of text from outside, and that is tried without a
/// network otherwise: nothing is carried out by a try, and who is asked about a host that it wants knows more.
pub(crate) fn tried_all_the_same(policy: &dyn Policy, call: &CallView<'_>) -> Option<Verdict> {
    let fetches = || call.scripts().iter().any(Script::fetches);
    call.context().taint.as_ref().filter(|_| fetches())?;
    if policy.judge(call).decision != Decision::Ask {
        return None;
    }
    let context = JudgeContext { taint: None, ..call.context().clone() };
    let verdict = policy.judge(&CallView { context: &context, ..*call });
    (verdict.decision == Decision::Stage).then_some(verdict)
}

/// What a call could do with what is in the session, if it goes beyond this machine.
pub(super) fn exfiltration_risk(call: &CallView<'_>) -> Option<&'static str> {
    let fetches = call.touches().iter().any(|it| matches!(it, Touch::Fetch(_)));
    let unknown = call.touches().iter().any(|it| matches!(it, Touch::Unknown | Touch::Unheld(_)));
    match call.class() {
        _ if call.server().is_some() => Some("it could carry data to another server"),
        PermissionClass::Web => Some("it could carry data out"),
        _ if fetches => Some("it could carry data out"),
        PermissionClass::Shell if unknown => Some("its sandbox here could let data out"),
        _ if unknown => Some("the tool does not declare what it reads or writes"),
        _ => None,
    }
}

/// What one command could do with it.
#[cfg(feature = "shell")]
pub(super) fn carried_by(class: eclusa_shell::programs::Classes) -> Option<&'static str> {
    if class.contains(Class::Network) {
        Some("could carry data out")
    } else if class.contains(Class::RunsCode) || class.contains(Class::Unknown) {
        Some("could run what was fetched")
    } else {
        None
    }
}

/// The question that follows, on behalf of a rule that allows the call or of the defaults that ask
/// about it. No earlier answer covers it.
pub(crate) fn question(from: &str, what: &str, source: Source) -> Reason {
    let text = format!("{what}, and there is text in this conversation that {from}");
    Reason { decision: Decision::Ask, source, origin: ReasonId::Taint, text: text.into() }
}
