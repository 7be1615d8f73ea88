//! `eclusa log stats`: counts, times and what is asked most, for people, programs and a page.

use std::{collections::BTreeMap, path::Path};

use eclusa_store::Store;
use serde_json::{Value, json};

use super::filter::all_calls;
use crate::{
    commands::call_record::CallRecord,
    failure::Failure,
    remember::replace,
    screen::{Screen, Style, layout, sanitize},
    since::Since,
};

mod page;

/// How wide the longest bar is.
const BAR: usize = 30;

/// How many lines a list has at most.
const MAX_LINES: usize = 12;

pub(super) fn run(
    store: &Store,
    since: Option<Since>,
    html: Option<&Path>,
    json: bool,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let stats = Stats::count(&all_calls(store, since)?);
    if let Some(file) = html {
        replace(file, page::render(&stats))
            .map_err(|err| Failure::failed(format!("cannot write `{}`: {err}", file.display())))?;
        return Ok(screen.line(&format!("wrote {}", sanitize(&file.display().to_string())))?);
    }
    match json {
        true => Ok(screen.json(&stats.as_json())?),
        false => stats.print(screen),
    }
}

/// Counts of the calls of a log.
#[derive(Debug, Default)]
struct Stats {
    calls: usize,
    asked: usize,
    tools: BTreeMap<String, usize>,
    outcomes: BTreeMap<String, usize>,
    /// What people were asked about: tool and subject.
    questions: BTreeMap<String, usize>,
    /// How long calls took, by tool, in milliseconds, sorted.
    times: BTreeMap<String, Vec<u64>>,
}

impl Stats {
    fn count(calls: &[CallRecord]) -> Stats {
        let mut stats = Stats { calls: calls.len(), ..Stats::default() };
        for call in calls {
            let tool = call.text("tool").to_owned();
            *stats.tools.entry(tool.clone()).or_default() += 1;
            *stats.outcomes.entry(call.outcome().to_owned()).or_default() += 1;
            let of_changes = call.field("changes").and_then(|it| it.get("approval"));
            if call.field("approval").or(of_changes).is_some() {
                stats.asked += 1;
                let subject = format!("{tool} {}", call.about());
                *stats.questions.entry(subject.trim_end().to_owned()).or_default() += 1;
            }
            if let Some(ms) = call.field("ms").and_then(Value::as_u64) {
                stats.times.entry(tool).or_default().push(ms);
            }
        }
        stats.times.values_mut().for_each(|it| it.sort_unstable());
        stats
    }

    fn print(&self, screen: &mut Screen) -> Result<(), Failure> {
        let (calls, asked) = (self.calls, self.asked);
        screen.styled(Style::Strong, &format!("{calls} calls, {asked} asked about"))?;
        let lists =
            [("tools", &self.tools), ("outcomes", &self.outcomes), ("asked most", &self.questions)];
        for (title, counts) in lists.into_iter().filter(|(_, counts)| !counts.is_empty()) {
            screen.line("")?;
            screen.styled(Style::Strong, title)?;
            screen.table(&bars(counts))?;
        }
        if !self.times.is_empty() {
            screen.line("")?;
            let headings = ["time in ms", "median", "95 %", "longest"];
            let cell = |(at, text): (usize, String)| match at {
                0 => text,
                _ => screen.number_cell(&text),
            };
            let row = |texts: [String; 4]| texts.into_iter().enumerate().map(cell).collect();
            let mut rows: Vec<Vec<String>> = vec![row(headings.map(str::to_owned))];
            for (tool, times) in &self.times {
                let [median, most, all] = [50, 95, 100].map(|it| percentile(times, it).to_string());
                rows.push(row([format!("  {}", sanitize(tool)), median, most, all]));
            }
            screen.headed_table(&rows)?;
        }
        Ok(())
    }

    fn as_json(&self) -> Value {
        let times: BTreeMap<&str, Value> = self
            .times
            .iter()
            .map(|(tool, all)| {
                let at = |it| percentile(all, it);
                (tool.as_str(), json!({"median": at(50), "p95": at(95), "max": at(100)}))
            })
            .collect();
        json!({
            "calls": self.calls,
            "asked": self.asked,
            "tools": self.tools,
            "outcomes": self.outcomes,
            "questions": self.questions,
            "ms": times,
        })
    }
}

/// The largest counts first.
fn largest(counts: &BTreeMap<String, usize>) -> Vec<(&str, usize)> {
    let mut all: Vec<(&str, usize)> =
        counts.iter().map(|(it, count)| (it.as_str(), *count)).collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    all.truncate(MAX_LINES);
    all
}

fn bars(counts: &BTreeMap<String, usize>) -> Vec<Vec<String>> {
    let all = largest(counts);
    let most = all.first().map_or(1, |(_, count)| (*count).max(1));
    let row = |(name, count): &(&str, usize)| {
        let bar = "█".repeat((count * BAR).div_ceil(most).max(1));
        vec![format!("  {}", layout::cut(&sanitize(name), 60)), count.to_string(), bar]
    };
    all.iter().map(row).collect()
}

/// The value below which so many percent of these sorted values are.
fn percentile(sorted: &[u64], percent: usize) -> u64 {
    let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(at).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests;
