//! Second gate: reviewers read the call, and may change or stop it. The only file that makes a
//! [`Reviewed`]. (They read the output too, in `release.rs`.)

use std::sync::Arc;

use serde_json::Value;

use crate::{
    Decision, Reason, Review, ReviewError, Reviewer, Source, Stop, Validated,
    audit::{body::ReviewNote, trail::Trail},
    digest,
    gate::{Setup, validate},
    review::run_reviewer,
    stop::Decider,
};

/// A call that every reviewer has let through, as it stands now.
pub struct Reviewed {
    call: Validated,
}

impl Reviewed {
    /// The call.
    pub fn call(&self) -> &Validated {
        &self.call
    }

    /// The same call with other arguments: no longer reviewed.
    pub(crate) fn with_args(self, args: Value, trail: &mut Trail) -> Result<Validated, Stop> {
        validate::with_args(self.call, args, trail)
    }

    /// The call, to be run.
    pub(crate) fn into_call(self) -> Validated {
        self.call
    }
}

/// Shows the call to each reviewer in turn, the tool's own first. A change goes through
/// validation again, and the reviewers after it read what became of it.
pub(crate) async fn review(
    setup: &Setup,
    mut call: Validated,
    trail: &mut Trail,
) -> Result<Reviewed, Stop> {
    // What reviewers of other arguments wanted is not asked about these.
    trail.review_questions.clear();
    for reviewer in reviewers_for(setup, &call, |it| it.input.clone()) {
        let name = reviewer.name();
        let limit = reviewer.time().unwrap_or(setup.limits.review);
        let (said, cached) = match &setup.review_cache {
            // Boxed, so that calls that nobody reviews carry no room for it.
            Some(cache) => Box::pin(cache.input(&*reviewer, &call, limit)).await,
            None => (Box::pin(run_reviewer(limit, || reviewer.input(&call))).await, false),
        };
        let said = said.map(|said| merged(said, call.args()));
        trail.reviews.push(review_note(setup, name, "input", &said, cached, |args| {
            digest(args).to_string()
        }));
        if let Ok(Review::Ask(why)) = &said {
            let text = format!("reviewer `{name}` asks for a person: {why}");
            trail.review_questions.push(Reason {
                decision: Decision::Ask,
                source: asker(reviewer.is_administrators()),
                origin: "review".into(),
                text: text.into(),
            });
            continue;
        }
        call = match into_change(name, said)? {
            Some(args) => validate::with_args(call, args, trail).map_err(|stop| match stop {
                Stop::InvalidArgs(what) => {
                    Stop::InvalidArgs(format!("as the reviewer `{name}` changed them: {what}"))
                }
                other => other,
            })?,
            None => call,
        };
    }
    Ok(Reviewed { call })
}

/// Whose question it is that a reviewer or a reverse thinker asks: a mode may answer for a person, and
/// not for whoever runs the machine.
pub(crate) fn asker(is_administrators: bool) -> Source {
    match is_administrators {
        true => Source::Administrator,
        false => Source::Rule,
    }
}

/// A call that every reviewer let through before it ran, and that is not run again.
pub(crate) fn reviewed_before(call: Validated) -> Reviewed {
    Reviewed { call }
}

/// Everyone who reads calls of this tool: its own reviewer, then the setup's.
pub(crate) fn reviewers_for(
    setup: &Setup,
    call: &Validated,
    own: impl Fn(&crate::ReviewConfig) -> Option<Arc<dyn Reviewer>>,
) -> Vec<Arc<dyn Reviewer>> {
    let own = own(call.tool().review());
    let all = setup.reviewers.iter().filter(|it| it.reads(call.name())).cloned();
    own.into_iter().chain(all).collect()
}

/// A merge, carried out on what was read.
fn merged(said: Review<Value>, args: &Value) -> Review<Value> {
    match said {
        Review::Merge(patch) => {
            let mut args = args.clone();
            merge(&mut args, patch);
            Review::Modify(args)
        }
        said => said,
    }
}

/// JSON merge patch, RFC 7396: objects are merged, null removes, anything else replaces.
pub(crate) fn merge(target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let Some(fields) = target.as_object_mut() else { return };
    for (name, value) in patch {
        match value {
            Value::Null => {
                fields.remove(&name);
            }
            value => merge(fields.entry(name).or_insert(Value::Null), value),
        }
    }
}

/// Turns a reviewer's word into: go on (`None`), go on with this (`Some`), or stop.
pub(crate) fn into_change<T>(
    name: &str,
    said: Result<Review<T>, ReviewError>,
) -> Result<Option<T>, Stop> {
    let by = || Decider::Reviewer(name.to_owned());
    match said {
        Ok(Review::Approve | Review::Note(_)) => Ok(None),
        Ok(Review::Modify(new)) => Ok(Some(new)),
        Ok(Review::Merge(_)) => Err(Stop::denied(by(), "its merge could not be carried out")),
        Ok(Review::Ask(why)) => {
            Err(Stop::denied(by(), format!("a person should look at it first: {why}")))
        }
        Ok(Review::Deny(why)) => Err(Stop::denied(by(), why)),
        Err(ReviewError(what)) => Err(Stop::denied(by(), format!("it could not decide: {what}"))),
    }
}

/// What the record says of a reviewer's word.
pub(crate) fn review_note<T>(
    setup: &Setup,
    by: &str,
    on: &'static str,
    said: &Result<Review<T>, ReviewError>,
    cached: bool,
    digest: impl Fn(&T) -> String,
) -> ReviewNote {
    let (said, sha256, why) = match said {
        Ok(Review::Approve) => ("approve", None, None),
        Ok(Review::Note(note)) => ("approve", None, Some(note)),
        Ok(Review::Modify(new)) => ("modify", Some(digest(new)), None),
        Ok(Review::Merge(_)) => ("merge", None, None),
        Ok(Review::Ask(why)) => ("ask", None, Some(why)),
        Ok(Review::Deny(why)) => ("deny", None, Some(why)),
        Err(ReviewError(what)) => ("error", None, Some(what)),
    };
    // A reason may quote what was read.
    let why = why.map(|why| setup.redactor.text(why).0.into_owned());
    ReviewNote { by: by.to_owned(), cached, on, said, sha256, why }
}
