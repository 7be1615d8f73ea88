//! Metrics: how much was called, asked and refused, how long it took, what asks most, and the rule
//! that would end it.

use std::collections::BTreeMap;

use eclusa::{
    Decision,
    audit::{
        calls::{CallRecord, LoggedChanges, OutcomeKind},
        stats::{self, LogStats, percentile},
    },
    one_line,
};

use super::{
    PageView,
    calls::headline,
    html::{Html, span},
    inbox::now,
    layout,
    plots::{self, Series},
};

/// So many records of each workspace are looked at.
const LOOKED_AT: usize = 20_000;

/// So many steps has a plot.
const STEPS: usize = 24;

/// So many rows have the tables.
const ROWS: usize = 8;

pub(crate) fn metrics(view: &PageView) -> Option<String> {
    let now = now();
    let (mut calls, mut waits) = (Vec::new(), Vec::new());
    let mut suggestions = Vec::new();
    for workspace in view.workspaces.list() {
        let Some(log) = view.workspaces.log(&workspace.key) else { continue };
        let records = log.last(LOOKED_AT).unwrap_or_default();
        waits.extend(stats::waits(&records));
        calls.extend(CallRecord::gather(records));
        suggestions.extend(
            view.workspaces
                .suggestions(&workspace.key)
                .into_iter()
                .map(|it| (workspace.name.clone(), it)),
        );
    }
    suggestions.sort_by_key(|(_, it)| std::cmp::Reverse(it.saved));
    let mut body = Html::default();
    body.raw("<div class=\"wide\"><h1>Metrics</h1>");
    numbers(&calls, &waits, &mut body);
    plots(&calls, &waits, now, &mut body);
    most_asked(&calls, &mut body);
    body.raw("<section class=\"card\" tabindex=\"0\"><h2>Rules that would end most questions</h2>");
    if suggestions.is_empty() {
        body.raw(
            "<p class=\"faint\">None yet: a rule is proposed once people have approved the same \
        often enough, and only where it allows nothing else.</p>",
        );
    } else {
        for (workspace, it) in suggestions.iter().take(ROWS) {
            let questions = if it.saved == 1 { "question" } else { "questions" };
            body.element("<h3>", format!("{} {questions} fewer", it.saved), "");
            body.element(" <span class=\"faint\">in ", workspace, ", such as <code>");
            body.text(one_line(&it.example)).raw("</code></span></h3>");
            body.element("<pre dir=\"ltr\" translate=\"no\" tabindex=\"0\">", &it.rule, "</pre>");
        }
    }
    body.raw("</section></div>");
    Some(layout(view, "metrics", "Metrics", None, &body))
}

fn numbers(calls: &[CallRecord], waits: &[(u64, u64)], body: &mut Html) {
    let stats = LogStats::count(calls);
    let mut took: Vec<u64> = stats.times.into_values().flatten().collect();
    let mut waited: Vec<u64> = waits.iter().map(|it| it.1).collect();
    let time = |all: &mut Vec<u64>, part| quantile(all, part).map_or("–".to_owned(), span);
    body.raw("<dl class=\"numbers\">");
    for (label, value) in [
        ("Calls", stats.calls.to_string()),
        ("Asked", stats.asked.to_string()),
        ("Refused", stats.refused.to_string()),
        ("Took (median)", time(&mut took, 50)),
        ("Took (99 %)", time(&mut took, 99)),
        ("Time to answer (median)", time(&mut waited, 50)),
    ] {
        body.element("<div class=\"card\"><dt>", label, "</dt>").element(
            "<dd>",
            value,
            "</dd></div>",
        );
    }
    body.raw("</dl>");
}

fn plots(calls: &[CallRecord], waits: &[(u64, u64)], now: u64, body: &mut Html) {
    let first = calls.iter().map(CallRecord::at).filter(|it| *it > 0).min().unwrap_or(now);
    // The shortest step that covers everything: a minute, an hour, a day, or more.
    let length = now.saturating_sub(first).max(1);
    let step = [60_000, 600_000, 3_600_000, 21_600_000, 86_400_000, 604_800_000]
        .into_iter()
        .find(|it| it * STEPS as u64 >= length)
        .unwrap_or(30 * 86_400_000);
    let place = |at: u64| {
        let back = usize::try_from(now.saturating_sub(at) / step).unwrap_or(usize::MAX);
        (STEPS - 1).checked_sub(back)
    };
    let labels: Vec<String> = (0..STEPS)
        .map(|at| match (STEPS - 1 - at) as u64 * step {
            0 => "now".to_owned(),
            back => format!("−{}", span(back)),
        })
        .collect();
    let (mut ran, mut asked, mut denied) = (vec![0.0; STEPS], vec![0.0; STEPS], vec![0.0; STEPS]);
    let mut took: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for call in calls {
        let Some(at) = place(call.at()) else { continue };
        let refused = call.outcome_kind() == OutcomeKind::Refused;
        let kind = match (refused, call.was_asked()) {
            (true, _) => &mut denied,
            (false, true) => &mut asked,
            (false, false) => &mut ran,
        };
        kind.iter_mut().skip(at).take(1).for_each(|it| *it += 1.0);
        took.entry(at).or_default().extend(call.took());
    }
    body.raw("<div class=\"plots\">");
    let series = [
        Series { name: "unasked", class: "one", values: ran },
        Series { name: "asked", class: "two", values: asked },
        Series { name: "refused", class: "three", values: denied },
    ];
    plots::bars("Calls", &labels, &series, body);
    let line = |times: &BTreeMap<usize, Vec<u64>>, part: usize, unit: f64| -> Vec<f64> {
        let at = |step: usize| {
            let mut all = times.get(&step).cloned().unwrap_or_default();
            quantile(&mut all, part).map_or(f64::NAN, |it| it as f64 / unit)
        };
        (0..STEPS).map(at).collect()
    };
    let series = [
        Series { name: "median", class: "one", values: line(&took, 50, 1.0) },
        Series { name: "95 %", class: "two", values: line(&took, 95, 1.0) },
    ];
    plots::lines("Time of a call, in ms", &labels, &series, body);
    let mut answered: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for (at, ms) in waits {
        if let Some(step) = place(*at) {
            answered.entry(step).or_default().push(*ms);
        }
    }
    let series = [Series { name: "median", class: "two", values: line(&answered, 50, 1_000.0) }];
    plots::lines("Time to answer, in seconds", &labels, &series, body);
    body.raw("</div>");
}

/// What people are asked about most.
fn most_asked(calls: &[CallRecord], body: &mut Html) {
    let mut asked: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for call in calls.iter().filter(|it| it.was_asked()) {
        let mut reasons = call.because();
        reasons.extend(call.changes().into_iter().flat_map(LoggedChanges::because));
        let asks = reasons.iter().find(|it| it.decision() == Decision::Ask.as_str());
        let key = match asks {
            Some(reason) => format!("{}: {}", call.tool(), one_line(reason.text())),
            None => call.tool().to_owned(),
        };
        let entry = asked.entry(key).or_insert_with(|| (0, headline(call)));
        entry.0 += 1;
    }
    let mut rows: Vec<_> = asked.into_iter().collect();
    rows.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    body.raw("<section class=\"card\" tabindex=\"0\"><h2>What asks most</h2>");
    if rows.is_empty() {
        body.raw("<p class=\"faint\">Nobody was asked yet.</p></section>");
        return;
    }
    let most = rows.first().map_or(1, |it| it.1.0);
    body.raw("<table class=\"calls\"><tbody>");
    for (reason, (count, example)) in rows.iter().take(ROWS) {
        body.element("<tr><td class=\"right\"><b>", count, "</b></td><td class=\"meter\">");
        body.raw(&format!("<meter min=\"0\" max=\"{most}\" value=\"{count}\"></meter></td>"));
        body.element("<td>", reason, "</td>").element("<td class=\"what\">", example, "</td></tr>");
    }
    body.raw("</tbody></table></section>");
}

/// The value below which so many percent of all values lie.
fn quantile(all: &mut [u64], percent: usize) -> Option<u64> {
    all.sort_unstable();
    percentile(all, percent)
}
