//! The person's turn while a call runs: may it reach the hosts that it tried?

use crate::{
    Answer, Decision, Question, Reason, Run, Source, Stop, Validated, Verdict,
    gate::{
        Setup,
        ask::{AskOutcome, ask_approvers, emit_approval_event},
        question::question_with,
    },
    policy::plainly,
};

/// Asks whether a call may run again with these hosts open. A yes is for this call and these hosts;
/// whatever is not a person's yes is a no.
pub(crate) async fn ask_about_hosts(
    setup: &Setup,
    run: &Run,
    call: &Validated,
    hosts: &[String],
) -> Result<bool, Stop> {
    // Whoever does not wait for answers has nobody to ask while the call runs.
    if run.park {
        return Ok(false);
    }
    let question = question(setup, run, call, hosts);
    let answered = tokio::select! {
        answered = ask_approvers(setup, run, call, &question, &|| None) => answered,
        () = run.cancel.cancelled() => {
            setup.approval_queue.iter().for_each(|it| it.withdraw(&question));
            return Err(Stop::Cancelled { ran: true });
        }
    };
    let (yes, by) = match answered {
        Ok(AskOutcome::Answered(said)) => {
            let yes = matches!(said.answer, Answer::Once | Answer::Session | Answer::Always);
            (yes, said.by)
        }
        Ok(AskOutcome::NotAskedAllowed(_) | AskOutcome::Remembered(_)) | Err(_) => {
            (false, "nobody".to_owned())
        }
    };
    emit_approval_event(setup, call, yes, &by);
    Ok(yes)
}

fn question(setup: &Setup, run: &Run, call: &Validated, hosts: &[String]) -> Question {
    let named: Vec<String> = hosts.iter().map(|it| format!("`{}`", plainly(it))).collect();
    let text = format!(
        "it tried to reach {}; a yes runs it again with exactly that open",
        named.join(", ")
    );
    let (decision, source) = (Decision::Ask, Source::Floor);
    let verdict = Verdict::from_reasons(vec![Reason {
        decision,
        source,
        origin: "network".into(),
        text: text.into(),
    }]);
    let binding = format!("{} {}", call.binding(), hosts.join(" "));
    Question { binding, ..question_with(setup, run, call, verdict, None) }
}
