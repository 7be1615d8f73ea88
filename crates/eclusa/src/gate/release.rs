//! Sixth gate: may the model see this? The only file that makes a [`Released`].

use std::{borrow::Cow, io, panic::AssertUnwindSafe, time::Duration};

use futures::FutureExt;
use serde_json::Value;

use crate::{
    Hash, HashBuilder, Output, PermissionClass, Review, ReviewError, Settled, Stop, Validated,
    WholeOutput,
    audit::trail::Trail,
    gate::{
        Cut, Setup,
        review::{into_change, merge, review_note, reviewers_for},
    },
    redact::{RedactedPieces, Redactor},
    reply::ReleasedOutput,
    review::run_reviewer,
};

/// Output that every reviewer let through: redacted, and cut to size.
#[derive(Debug)]
pub struct Released {
    output: ReleasedOutput,
}

impl Released {
    /// Opens it, to be recorded and told. Visible to the crate, called by `ledger.rs` alone (tidy
    /// holds that).
    pub(crate) fn unseal_for_reply(self) -> ReleasedOutput {
        self.output
    }
}

/// Output reviewers, redaction, cut and spool, in this order.
pub(crate) async fn release(
    setup: &Setup,
    settled: Settled,
    trail: &mut Trail,
) -> Result<Released, Stop> {
    let (call, mut output, time, unapplied) = settled.unseal();
    if reviewers_for(setup, &call, |it| it.output.clone()).into_iter().next().is_some()
        && output.whole.take().is_some()
    {
        // They read the beginning and the end, and nobody else may see what they have not.
        let text = "the middle of the output was not saved: reviewers have not seen it";
        trail.warnings.push(text.to_owned());
    }
    let mut output = match (read(setup, &call, output, trail).await, &unapplied) {
        (Ok(output), None) => output,
        // A person's answer stands for all of it.
        (Ok(_), Some(stop)) if stop.is_answer() => Output::text(""),
        (Ok(output), Some(_)) => of_unapplied(&call, output),
        (Err(stop), None) => return Err(stop),
        // That nothing was applied is told in any case.
        (Err(stop), Some(_)) => withheld(&stop),
    };
    let mut redacted = redact(setup, &mut output);
    let (mut bytes, mut sha256) = (output.text.len(), Hash::sha256(output.text.as_bytes()));
    let saved = match output.whole.take() {
        Some(whole) => Some(save_whole(setup, whole).await),
        None => None,
    };
    if let Some(Ok(saved)) = &saved {
        (bytes, sha256) = (saved.bytes, saved.sha256);
        redacted = redacted.max(saved.redacted);
    }
    let saved = saved.map(|it| it.map(|it| (it.reference, it.bytes)));
    let (truncated, spool) = cut(setup, &mut output, saved, trail).await;
    let output =
        ReleasedOutput { output, time, bytes, sha256, redacted, truncated, spool, unapplied };
    Ok(Released { output })
}

/// Output of a run whose changes were discarded. Its structure says so too, for programs that
/// read nothing else. A file tool has not run anything: what it says of its changes would be
/// untrue, so only its failure is told.
fn of_unapplied(call: &Validated, mut output: Output) -> Output {
    if call.class() == PermissionClass::File {
        return Output { error: output.error, ..Output::text("") };
    }
    if let Some(Value::Object(data)) = &mut output.data {
        data.insert("applied".to_owned(), Value::Bool(false));
    }
    output
}

/// What is told instead of an output that a reviewer holds back.
fn withheld(stop: &Stop) -> Output {
    Output { error: Some(stop.message().into_owned()), ..Output::text("") }
}

/// Shows the output to each reviewer in turn. The tool has already run: a "no" here withholds
/// the output, it does not undo the deed.
async fn read(
    setup: &Setup,
    call: &Validated,
    mut output: Output,
    trail: &mut Trail,
) -> Result<Output, Stop> {
    for reviewer in reviewers_for(setup, call, |it| it.output.clone()) {
        let limit = reviewer.time().unwrap_or(setup.limits.review);
        let said = Box::pin(run_reviewer(limit, || reviewer.output(call, &output))).await;
        let said = said.and_then(|said| merged(said, &output));
        trail.reviews.push(review_note(setup, reviewer.name(), "output", &said, false, |it| {
            Hash::sha256(it.text.as_bytes()).to_string()
        }));
        match into_change(reviewer.name(), said) {
            Ok(None) => {}
            Ok(Some(new)) => output = new,
            Err(Stop::Denied { by, why }) => {
                return Err(Stop::Withheld(format!("denied by {by}: {why}")));
            }
            Err(stop) => return Err(Stop::Withheld(stop.message().into_owned())),
        }
    }
    Ok(output)
}

/// A merge, carried out on the structured result.
fn merged(said: Review<Output>, output: &Output) -> Result<Review<Output>, ReviewError> {
    let Review::Merge(patch) = said else { return Ok(said) };
    let Some(mut data) = output.data.clone() else {
        return Err(ReviewError("it merges into a structured result, and there is none".into()));
    };
    merge(&mut data, patch);
    Ok(Review::Modify(Output { text: data.to_string(), data: Some(data), ..output.clone() }))
}

/// Takes secrets out of everything that leaves, and counts them.
fn redact(setup: &Setup, output: &mut Output) -> usize {
    let mut count = 0;
    for text in std::iter::once(&mut output.text).chain(&mut output.error) {
        let (clean, found) = setup.redactor.text(text);
        count += found;
        if let Cow::Owned(clean) = clean {
            *text = clean;
        }
    }
    if let Some(data) = &mut output.data {
        let (clean, found) = setup.redactor.value(data);
        count += found;
        if let Cow::Owned(clean) = clean {
            *data = clean;
        }
    }
    count + output.attachments.iter_mut().map(|it| it.redact(&setup.redactor)).sum::<usize>()
}

/// Cuts the output to size. What is cut is kept whole in the spool; if it cannot be kept, the
/// text says so.
async fn cut(
    setup: &Setup,
    output: &mut Output,
    saved: Option<Result<(String, usize), String>>,
    trail: &mut Trail,
) -> (bool, Option<String>) {
    let limit = setup.limits.output_bytes();
    let mut truncated = false;
    if let Some(data) = &output.data
        && data.to_string().len() > limit
    {
        output.data = None;
        truncated = true;
        trail.warnings.push(format!("the structured result was left out: over {limit} bytes"));
    }
    let before = output.attachments.len();
    output.attachments.retain(|it| it.fits(limit));
    if output.attachments.len() < before {
        truncated = true;
        let gone = before - output.attachments.len();
        trail.warnings.push(format!("{gone} attachments were left out: too large"));
    }
    if output.text.len() <= limit {
        let Some(saved) = saved else { return (truncated, None) };
        // It is short because the tool kept little of it.
        output.text.push_str(&match &saved {
            Ok((reference, all)) => format!("\n[… all {all} bytes are kept as {reference} …]\n"),
            Err(why) => format!("\n[… the rest is lost: {why} …]\n"),
        });
        return (true, saved.ok().map(|it| it.0));
    }
    let whole = std::mem::take(&mut output.text);
    let (head, tail) = match setup.limits.cut {
        Cut::Head => (limit, 0),
        Cut::HeadTail => (limit - limit / 5, limit / 5),
    };
    let head_end = whole.floor_char_boundary(head);
    let tail_start = whole.ceil_char_boundary(whole.len() - tail);
    let gone = tail_start - head_end;
    let (head, rest) = whole.split_at_checked(head_end).unwrap_or_default();
    let tail = rest.get(gone..).unwrap_or_default();
    let mut text = String::with_capacity(limit + 200);
    text.push_str(head);
    let kept = match (saved, &setup.spool) {
        (Some(saved), _) => saved,
        (None, Some(spool)) => {
            let keeping = async { spool.keep(whole.clone()).await };
            let kept = Box::pin(guarded(setup.limits.audit, keeping)).await;
            kept.map(|it| (it, whole.len()))
        }
        (None, None) => Err("no spool is set up".to_owned()),
    };
    let all = kept.as_ref().map_or(whole.len(), |it| it.1);
    let gone = gone + all.saturating_sub(whole.len());
    let kept = kept.map(|it| it.0);
    text.push_str(&match &kept {
        Ok(reference) => {
            format!("\n[… {gone} bytes cut; all {all} bytes are kept as {reference} …]\n")
        }
        Err(why) => format!("\n[… {gone} bytes cut and lost: {why} …]\n"),
    });
    text.push_str(tail);
    output.text = text;
    // A tool that says whether something is missing could not know of this.
    if let Some(said) = output.data.as_mut().and_then(|it| it.get_mut("truncated")) {
        *said = true.into();
    }
    if let Err(why) = &kept {
        trail.warnings.push(format!("the whole output could not be kept: {why}"));
    }
    (true, kept.ok())
}

/// An output that was saved without being held.
struct SavedOutput {
    reference: String,
    bytes: usize,
    sha256: Hash,
    redacted: usize,
}

/// Moves all of a long output into the output store, redacted, piece by piece.
async fn save_whole(setup: &Setup, whole: WholeOutput) -> Result<SavedOutput, String> {
    let spool = setup.spool.clone().ok_or("no spool is set up")?;
    let redactor = Redactor::clone(&setup.redactor);
    let saving = move || {
        let from = whole.open().map_err(|err| format!("it cannot be read back: {err}"))?;
        let mut pieces = RedactedPieces::new(redactor, from);
        let (mut bytes, mut hash) = (0, HashBuilder::default());
        let mut seen = pieces.by_ref().inspect(|piece| {
            if let Ok(piece) = piece {
                bytes += piece.len();
                hash.add(piece.as_bytes());
            }
        });
        let reference = spool.keep_pieces(&mut seen).map_err(|err| err.to_string())?;
        let (sha256, redacted) = (hash.finish(), pieces.found());
        Ok(SavedOutput { reference, bytes, sha256, redacted })
    };
    let saving = tokio::task::spawn_blocking(saving);
    // It is as long as a disk may take for it, not for a record.
    let limit = setup.limits.audit * 10;
    match tokio::time::timeout(limit, saving).await {
        Ok(Ok(saved)) => saved,
        Ok(Err(_panic)) => Err("the spool crashed".to_owned()),
        Err(_elapsed) => Err("the spool does not answer".to_owned()),
    }
}

/// A spool that hangs or panics has not kept it, and the call goes on.
async fn guarded(
    limit: Duration,
    keeping: impl Future<Output = io::Result<String>>,
) -> Result<String, String> {
    match tokio::time::timeout(limit, AssertUnwindSafe(keeping).catch_unwind()).await {
        Ok(Ok(kept)) => kept.map_err(|err| err.to_string()),
        Ok(Err(_panic)) => Err("the spool crashed".to_owned()),
        Err(_elapsed) => Err("the spool does not answer".to_owned()),
    }
}
