//! How long a rule holds, what it is an exception to, and what it asks of effects.

use std::{path::PathBuf, time::Duration};

use eclusa::{
    Decision, Rule,
    approve::{Escalation, Proof, Requirement},
    policy::{Amount, EffectConditions, Validity},
};
use eclusa_text::calendar::Date;
use toml::value::{Datetime, Offset};

use crate::{
    error::Problem,
    schema::{self, Results},
    source::LayerReader,
    spanned::Spanned,
    tighten::granted,
    units,
};

/// The rule within its bounds, or what is wrong with them.
pub(super) fn bounded(
    source: &mut LayerReader<'_>,
    written: &Spanned<schema::Rule>,
    rule: Rule,
) -> Option<Rule> {
    let it = &written.it;
    let until = match &it.until {
        Some(until) => Some(source.keep(&until.span, moment(&until.it))?),
        None => None,
    };
    let workspace = match &it.workspace {
        Some(at) if !at.it.starts_with('/') => {
            let text = format!("`{}` must be the whole path of a workspace", at.it);
            source.wrong(Problem::new(&at.span, text));
            return None;
        }
        at => at.as_ref().map(|it| PathBuf::from(&it.it)),
    };
    let times = it.times.as_ref().map(|it| it.it);
    let per = match &it.per {
        Some(per) => Some(units::positive_time(source, per)?),
        None => None,
    };
    let term = Validity { until, times, per, session: it.conversation.clone(), workspace };
    let span = it.times.as_ref().map(|it| &it.span);
    let span = span.or(it.per.as_ref().map(|it| &it.span)).unwrap_or(&written.span);
    let rule = source.keep(span, rule.bounded(term))?;
    match &it.tainted {
        Some(said) if said.it && rule.decision() == Decision::Allow => Some(rule.tainted()),
        Some(said) if said.it => {
            let text = "only a rule that allows can hold although there is text from outside";
            source.wrong(Problem::new(&said.span, text));
            None
        }
        Some(_) | None => Some(rule),
    }
}

/// The rule with who must answer, where it says so.
pub(super) fn requiring(
    source: &mut LayerReader<'_>,
    written: &Spanned<schema::Rule>,
    rule: Rule,
) -> Option<Rule> {
    let it = &written.it;
    let said = it.of.is_some() || it.need.is_some() || it.with.is_some();
    if !said && it.separate.is_none() && it.within.is_none() && it.then.is_empty() {
        return Some(rule);
    }
    let within = match &it.within {
        Some(within) => Some(source.keep(&within.span, units::time(&within.it))?),
        None => None,
    };
    let need = match &it.need {
        Some(need) if need.it == 0 => {
            source.wrong(Problem::new(&need.span, "somebody must approve; write 1 or more"));
            return None;
        }
        need => need.as_ref().map_or(1, |it| usize::try_from(it.it).unwrap_or(usize::MAX)),
    };
    let then = escalations(source, it, within)?;
    let requirement = Requirement {
        of: it.of.as_ref().map(|it| it.it.as_slice().to_vec()).unwrap_or_default(),
        need,
        with: it.with.as_ref().map_or(Proof::Word, |it| it.it.0),
        separate: it.separate.as_ref().map_or(need > 1, |it| it.it),
        within,
        then,
    };
    source.keep(&written.span, rule.requires(requirement))
}

/// Who else may answer after a while, or what is wrong with it.
fn escalations(
    source: &mut LayerReader<'_>,
    it: &schema::Rule,
    within: Option<Duration>,
) -> Option<Vec<Escalation>> {
    let mut steps = Vec::new();
    for written in &it.then {
        let step = &written.it;
        let after = units::positive_time(source, &step.after)?;
        let of = step.of.as_slice().to_vec();
        let late = within.is_some_and(|it| it <= after);
        let wrong = match (it.of.is_none(), of.is_empty(), late) {
            (false, false, false) => {
                steps.push(Escalation { after, of });
                continue;
            }
            (true, _, _) => "everybody may answer already; say who may first: `of`",
            (_, true, _) => "`of` names nobody",
            (_, _, true) => {
                "the question has expired by then: `after` must be shorter than `within`"
            }
        };
        source.wrong(Problem::new(&written.span, wrong));
        return None;
    }
    Some(steps)
}

/// What a rule is an exception to: rules of the same file, or of one below, which a person must
/// have vouched for.
pub(super) fn excepting(
    source: &mut LayerReader<'_>,
    written: &schema::Rule,
    rule: Rule,
    below: &[Rule],
    own: &[Spanned<schema::Rule>],
) -> Option<Rule> {
    let Some(ids) = &written.except else { return Some(rule) };
    for id in ids.it.as_slice() {
        let here = own.iter().find(|it| it.it.id.as_ref().is_some_and(|it| it.it == *id));
        let there = below.iter().find(|it| it.name() == Some(id));
        match (here, there) {
            (Some(_), _) => {}
            (None, Some(_)) if granted(source, &ids.span, "exceptions to other files") => {}
            // The rule holds, and makes no exception.
            (None, Some(_)) => return Some(rule),
            // What is wrong with that rule is told already.
            (None, None) if source.left_out(id) => return None,
            (None, None) => {
                let known = below.iter().filter_map(|it| it.name());
                let text = format!("no rule of this file or below is called `{id}`");
                source.wrong(Problem::new(&ids.span, text).nearest(id, known));
                return None;
            }
        }
    }
    Some(rule.except(ids.it.as_slice().iter().cloned()))
}

/// What a rule asks of effects.
pub(super) fn effects(written: &Results, decision: Decision) -> Result<EffectConditions, String> {
    if decision == Decision::Stage {
        return Err("a rule over effects cannot stage; use allow, ask or deny".into());
    }
    let count = |it: &Option<String>| it.as_deref().map(|it| amount(it, number)).transpose();
    let mut tests = EffectConditions::default();
    tests.deleted = count(&written.deleted)?;
    tests.files = count(&written.files)?;
    tests.lines = count(&written.lines)?;
    tests.bytes = written.bytes.as_deref().map(|it| amount(it, bytes)).transpose()?;
    tests.network = written.network;
    if let Some(globs) = &written.outside {
        tests = tests.outside(globs.as_slice(), decision)?;
    }
    if let Some(globs) = &written.only {
        tests = tests.only(globs.as_slice(), decision)?;
    }
    match tests.is_empty() {
        true => Err("an empty table says nothing; use deleted, files, lines, bytes, outside, only or network".into()),
        false => Ok(tests),
    }
}

/// `> 5` or `<= 5`.
fn amount(text: &str, read: impl Fn(&str) -> Result<u64, String>) -> Result<Amount, String> {
    let text = text.trim();
    if let Some(most) = text.strip_prefix("<=") {
        Ok(Amount::UpTo(read(most.trim())?))
    } else if let Some(least) = text.strip_prefix('>').filter(|it| !it.starts_with('=')) {
        Ok(Amount::Above(read(least.trim())?))
    } else {
        Err(format!("`{text}` compares nothing; write `> 5` or `<= 5`"))
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a whole number"))
}

fn bytes(text: &str) -> Result<u64, String> {
    text.parse().or_else(|_| units::size(text).map(|it| it as u64))
}

/// A time as milliseconds since 1970; a date is the beginning of the day in UTC.
fn moment(text: &str) -> Result<u64, String> {
    let wrong =
        || format!("`{text}` is not a time; write it like `2026-12-01T18:00:00Z`, or a date alone");
    let read: Datetime = text.parse().map_err(|_| wrong())?;
    let date = read.date.ok_or_else(wrong)?;
    let date = Date { year: date.year.into(), month: date.month, day: date.day };
    let days = date.days().ok_or_else(wrong)?;
    let seconds = match (read.time, read.offset) {
        (None, _) => 0,
        (Some(_), None) => {
            return Err(format!(
                "`{text}` does not say where it is that time; end it with `Z` or `+02:00`"
            ));
        }
        (Some(time), Some(offset)) => {
            let minutes = match offset {
                Offset::Z => 0,
                Offset::Custom { minutes } => i64::from(minutes),
            };
            let of_day = i64::from(time.hour) * 3600 + i64::from(time.minute) * 60;
            of_day + i64::from(time.second.unwrap_or_default()) - minutes * 60
        }
    };
    let seconds = days * 86_400 + seconds;
    u64::try_from(seconds).map(|it| it * 1000).map_err(|_| wrong())
}

#[cfg(test)]
mod tests;
