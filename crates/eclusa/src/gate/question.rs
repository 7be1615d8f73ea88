//! The question about a call: everything that a person is shown comes from here.

use std::borrow::Cow;

use crate::{
    Grant, Question, Run, Validated, Verdict,
    approve::{FILES, QuestionAbout},
    audit::trail::Trail,
    gate::{Setup, ask::required},
    policy::named_by,
};

/// Everything that a person is shown.
pub(super) fn question(
    setup: &Setup,
    run: &Run,
    call: &Validated,
    trail: &Trail,
    grant: Option<Grant>,
) -> Question {
    let verdict = trail.verdict.clone().unwrap_or_else(|| Verdict::from_reasons(Vec::new()));
    let reverse_thinking = trail.reverse_thinking.clone();
    Question { reverse_thinking, ..question_with(setup, run, call, verdict, grant) }
}

/// What an answer is bound to: tool, revision and final arguments, and what is in the files of the
/// workspace that a shell text names.
pub(super) fn binding(setup: &Setup, call: &Validated) -> String {
    match bound_files(setup, call) {
        Some(files) => format!("{}{FILES}{files}", call.binding()),
        None => call.binding().to_string(),
    }
}

/// The digest of the files that a call names, as they are now.
pub(super) fn bound_files(setup: &Setup, call: &Validated) -> Option<String> {
    let files = setup.workspace.as_ref().and_then(|it| named_by(it.root(), call.scripts()));
    files.map(|it| it.to_string())
}

/// The same for a verdict, before or beside what the call has been through.
pub(super) fn question_with(
    setup: &Setup,
    run: &Run,
    call: &Validated,
    verdict: Verdict,
    grant: Option<Grant>,
) -> Question {
    let time = required::time(setup, &verdict);
    Question {
        call: call.id().to_owned(),
        tool: call.name().to_owned(),
        server: call.server().map(str::to_owned),
        class: call.class(),
        args: call.args().clone(),
        shown_args: match setup.redactor.masked_words(call.args()) {
            Cow::Owned(masked) => Some(masked),
            Cow::Borrowed(_) => None,
        },
        touches: call.touches().to_vec(),
        verdict,
        reason: call.reason().map(str::to_owned),
        destructive: call.facts().destructive,
        reverse_thinking: None,
        about: QuestionAbout::Running,
        binding: binding(setup, call),
        can_always: setup.state.memory.can_always() && grant.as_ref().is_some_and(Grant::can_last),
        grant,
        principal: run.principal.to_string(),
        session: run.session.to_string(),
        task: run.task.as_deref().map(str::to_owned),
        time,
        keep: setup.limits.keep,
        pending: None,
    }
}
