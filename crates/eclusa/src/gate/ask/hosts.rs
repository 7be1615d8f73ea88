//! The person's turn while a call runs: may it reach the hosts that it tried?

use super::{
    answerers::{AskOutcome, Inquiry},
    required::with_least_proof,
    runs,
};
use crate::{
    CallUses, Decision, Question, Reason, Run, Source, Validated, Verdict,
    approve::QuestionAbout,
    gate::{Setup, question::question_with},
    policy::{plainly, taint_question},
    tool::OpenedHosts,
};

/// Asks whether a call may run again with these hosts open. A yes is for this call and these hosts;
/// whatever is not the yes of a person who is asked now is a no. An answer to another question, such
/// as whether the call may run, does not come here: approvers are told what this one is about.
pub(in crate::gate) async fn ask_about_hosts(
    setup: &Setup,
    run: &Run,
    call: &Validated,
    hosts: &[String],
    beside: Option<&str>,
) -> Option<OpenedHosts> {
    // Whoever does not wait for answers has nobody to ask while the call runs.
    if run.park || run.ahead {
        return None;
    }
    let question = question(setup, run, call, hosts, beside);
    let (covers, keeping) = (None, None);
    let inquiry =
        Inquiry { setup, run, call, question, covers, edits: &[], keeping, running: true };
    let outcome = inquiry.answer(&mut CallUses::default()).await;
    inquiry.conclude(&outcome, runs);
    match outcome {
        Ok(AskOutcome::Answered(said)) if runs(&said.answer) => Some(OpenedHosts::new(hosts)),
        _ => None,
    }
}

fn question(
    setup: &Setup,
    run: &Run,
    call: &Validated,
    hosts: &[String],
    beside: Option<&str>,
) -> Question {
    let named: Vec<String> = hosts.iter().map(|it| format!("`{}`", plainly(it))).collect();
    let text = format!(
        "it tried to reach {}; approving runs it again with exactly that open{}",
        named.join(", "),
        beside.map(|it| format!("; {}", plainly(it))).unwrap_or_default()
    );
    let (decision, source) = (Decision::Ask, Source::Floor);
    let mut because =
        vec![Reason { decision, source, origin: "network".into(), text: text.into() }];
    let from = call.context().taint.as_ref();
    because.extend(from.map(|it| taint_question(it, "it could carry data out", Source::Floor)));
    let verdict = Verdict::from_reasons(because);
    let verdict = with_least_proof(setup, verdict);
    let binding = format!("{} hosts {}", call.binding(), hosts.join(" "));
    let about = QuestionAbout::Hosts(hosts.to_vec());
    Question { about, binding, ..question_with(setup, run, call, verdict, None) }
}
