//! The person's turn while a call runs: may what it made be signed with their key?

use super::{
    answerers::{AskOutcome, Inquiry},
    grant_for,
    required::with_least_proof,
    runs,
};
use crate::{
    Answer, CallUses, Decision, Hash, Question, Reason, Run, Source, Validated, Verdict,
    approve::QuestionAbout,
    gate::{Setup, question::question_with},
    policy::plainly,
    tool::{SignatureRequest, SignatureYes},
};

/// Subjects that are shown.
const MAX_SUBJECTS: usize = 5;

/// Asks whether what a call made may be signed. A yes is for exactly this, or for the rest of the session for
/// this key in this repository; whatever is not the yes of a person who is asked now is a no.
pub(in crate::gate) async fn ask_to_sign(
    setup: &Setup,
    run: &Run,
    call: &Validated,
    request: &SignatureRequest,
) -> Option<SignatureYes> {
    // Whoever does not wait for answers has nobody to ask while the call runs.
    if run.park || run.ahead {
        return None;
    }
    let question = question(setup, run, call, request);
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

fn question(setup: &Setup, run: &Run, call: &Validated, request: &SignatureRequest) -> Question {
    let shown = request.what.iter().take(MAX_SUBJECTS).map(|it| format!("`{}`", plainly(it)));
    let shown: Vec<String> = shown.collect();
    let more = request.what.len().saturating_sub(MAX_SUBJECTS);
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
    let what = Hash::sha256(format!("{request:?}").as_bytes());
    let binding = format!("{} signature {what}", call.binding());
    let about = QuestionAbout::Signature(request.clone());
    Question {
        about,
        binding,
        can_always: false,
        ..question_with(setup, run, call, verdict, grant)
    }
}
