//! The person's turn while a call runs: may what it made be signed with their key?

use super::{
    answerers::{AskOutcome, Inquiry},
    grant_for,
    required::with_least_proof,
    runs,
};
use crate::{
    Answer, CallUses, Changes, Decision, Hash, Preview, Question, Reason, Run, Source, Validated,
    Verdict,
    approve::QuestionAbout,
    gate::{Setup, question::question_with, shown_changes::preview_so_far},
    policy::plainly,
    tool::{SignatureRequest, SignatureYes},
};

/// So many are named.
const MAX_NAMED: usize = 20;

/// Asks whether what a call made may be signed, and shows what it has changed: the signature is made before anything
/// is applied. A yes is for exactly this, or for the rest of the session for this key in this repository; whatever is
/// not the yes of a person who is asked now is a no.
pub(in crate::gate) async fn ask_to_sign(
    setup: &Setup,
    run: &Run,
    call: &Validated,
    request: &SignatureRequest,
    changes: &Changes,
) -> Option<SignatureYes> {
    // Whoever does not wait for answers has nobody to ask while the call runs.
    if run.park || run.ahead {
        return None;
    }
    let made = preview_so_far(setup, run, call, changes).await?;
    let question = question(setup, run, call, request, made);
    let (covers, keeping) = (None, None);
    let inquiry =
        Inquiry { setup, run, call, question, covers, edits: &[], keeping, running: true };
    let outcome = inquiry.answer(&mut CallUses::default()).await;
    inquiry.conclude(&outcome, runs);
    match outcome {
        Ok(AskOutcome::Answered(said)) if runs(&said.answer) => {
            Some(SignatureYes::new(said.answer == Answer::Session))
        }
        _ => None,
    }
}

fn question(
    setup: &Setup,
    run: &Run,
    call: &Validated,
    request: &SignatureRequest,
    made: Preview,
) -> Question {
    // No word of theirs ends the quotes around it.
    let named = |it: &String| format!("`{}`", plainly(it).replace('`', "'"));
    let shown = request.what.iter().take(MAX_NAMED).map(named);
    let shown: Vec<String> = shown.collect();
    let more = request.what.len().saturating_sub(MAX_NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let text = format!(
        "it made {}{more} in `{}`; a yes runs it again and signs exactly that with your key `{}`",
        shown.join(", "),
        plainly(&request.repository.to_string_lossy()),
        plainly(&request.key)
    );
    let (decision, source) = (Decision::Ask, Source::Floor);
    let reason = Reason { decision, source, origin: "signature".into(), text: text.into() };
    let verdict = with_least_proof(setup, Verdict::from_reasons(vec![reason]));
    // For the session it is offered where any other answer would be.
    let grant = grant_for(setup, call, Some(&verdict));
    let what = Hash::sha256(format!("{request:?} {made:?}").as_bytes());
    let binding = format!("{} signature {what}", call.binding());
    let about = QuestionAbout::Signature(request.clone(), made);
    Question {
        about,
        binding,
        can_always: false,
        ..question_with(setup, run, call, verdict, grant)
    }
}
