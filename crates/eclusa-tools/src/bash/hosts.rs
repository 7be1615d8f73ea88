//! A command that lacks what a person can give, a host or a signature: they are asked, and it runs again.

use eclusa::{Job, ToolError, one_line};
use eclusa_net::HostPattern;
use eclusa_sandbox::{How, proxy::Attempt};

use super::{
    LongOutput,
    foreground::{Watcher, run},
    signing::CommandSigning,
    time_left,
};
use crate::sandboxes::{CommandOrder, Ran, Sandboxes, WriteTracking, Writes};

/// How often a person is asked about hosts for one command.
const MAX_HOST_QUESTIONS: u32 = 3;

/// Runs a command. Where it failed for hosts that it could not reach, a person is asked about those, and it
/// runs again: what the first run changed is thrown away. So it is with what only fetches, however it
/// ended: nobody was asked about that before. The hosts that were opened so come with what it did.
///
/// So it is with commits and tags that are to be signed and have no signature, once it needs no more hosts.
pub(super) async fn run_with_hosts(
    sandboxes: &Sandboxes,
    watch: Option<Watcher>,
    mut order: CommandOrder,
    job: &Job,
    mut signer: CommandSigning<'_>,
) -> Result<(Ran, LongOutput, Vec<String>), ToolError> {
    let settings = sandboxes.settings();
    let staged =
        order.writes == Writes::Staged && sandboxes.write_tracking() != WriteTracking::Nothing;
    // A program has said which hosts it needs.
    let may_ask = (job.is_approved() || job.asks_a_person()) && order.program.is_none();
    let mut questions = if staged && may_ask { MAX_HOST_QUESTIONS } else { 0 };
    let mut opened: Vec<String> = Vec::new();
    loop {
        let long = LongOutput::new(&settings.state, settings.keep.head);
        let seen = (watch.clone(), long.clone());
        let ran = run(sandboxes.clone(), order.clone(), seen, job).await;
        let mut ran = ran.map_err(|err| ToolError::new(err.to_string()))?;
        if ran.attempts.iter().any(|it| it.outcome.is_ok()) {
            job.reached_outside();
        }
        let wanted = hosts_wanted(&ran, &opened, job.is_tried());
        if questions == 0 || wanted.is_empty() {
            if signer.wants_another_run(&ran.changes, staged && may_ask, job).await {
                order.signing = signer.place();
                order.time = time_left(order.time, job).0;
                continue;
            }
            ran.notes.extend(signer.notes(&ran.changes));
            return Ok((ran, long, opened));
        }
        let beside = beside(&order, sandboxes);
        let Some(granted) = job.ask_for_hosts(&wanted, beside.as_deref()).await else {
            ran.notes.extend(signer.notes(&ran.changes));
            return Ok((ran, long, opened));
        };
        questions -= 1;
        let granted = granted.into_names();
        let patterns = granted.iter().filter_map(|it| HostPattern::parse(it).ok());
        order.hosts.granted.extend(patterns);
        opened.extend(granted);
        order.time = time_left(order.time, job).0;
    }
}

/// Which jobs go on beside a command that is to reach a host, and share `/tmp` with it.
fn beside(order: &CommandOrder, sandboxes: &Sandboxes) -> Option<String> {
    let jobs = sandboxes.jobs_that_run(order.session.as_deref()?);
    let named: Vec<String> =
        jobs.iter().map(|(job, command)| format!("job {job} ({})", one_line(command))).collect();
    let goes_on = if named.len() == 1 { "goes on and shares" } else { "go on and share" };
    (!named.is_empty()).then(|| format!("{} {goes_on} `/tmp` with it", named.join(", ")))
}

/// The hosts that a command which failed was not let through to, and that a person could open. One
/// that was `tried` may have failed inside a pipeline that did not.
fn hosts_wanted(ran: &Ran, opened: &[String], tried: bool) -> Vec<String> {
    if ran.exit.how == How::Code(0) && !tried {
        return Vec::new();
    }
    let mut hosts: Vec<String> = ran.attempts.iter().filter_map(Attempt::grant).collect();
    hosts.retain(|it| !opened.contains(it));
    hosts.sort();
    hosts.dedup();
    hosts
}
