//! `eclusa log stats`: counts, times and what is asked most, for people and programs.

use std::collections::BTreeMap;

use eclusa::audit::{
    Log,
    stats::{LogStats, percentile},
};
use serde_json::{Value, json};

use crate::{
    commands::call_record::short,
    failure::Failure,
    log_call,
    screen::{Screen, Style, layout, sanitize},
    since::Since,
};

/// How wide the longest bar is.
const BAR: usize = 30;

/// How many lines a list has at most.
const MAX_LINES: usize = 12;

pub(super) fn run(
    log: &dyn Log,
    since: Option<Since>,
    json: bool,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let stats = StatsView::new(LogStats::count(&log_call::since(log, since)?));
    if json { Ok(screen.json(&stats.as_json())?) } else { stats.print(screen) }
}

/// The page that was a file.
pub(super) fn no_page() -> Failure {
    Failure::usage(
        "`--html` was removed: `eclusa approvals serve` shows these numbers and their course on the \
         page `Metrics`",
    )
}

/// What is told of a log.
struct StatsView {
    all: LogStats,
    /// What people were asked about: tool and subject, in a line each.
    questions: BTreeMap<String, usize>,
}

impl StatsView {
    fn new(all: LogStats) -> StatsView {
        let mut questions = BTreeMap::new();
        for ((tool, subject), count) in &all.questions {
            let line = format!("{tool} {}", short(subject));
            *questions.entry(line.trim_end().to_owned()).or_default() += count;
        }
        StatsView { all, questions }
    }

    fn print(&self, screen: &mut Screen) -> Result<(), Failure> {
        let LogStats { calls, asked, destructive, .. } = self.all;
        let text =
            format!("{calls} calls, {asked} asked about, {destructive} of destructive tools ran");
        screen.styled(Style::Strong, &text)?;
        let lists = [
            ("tools", &self.all.tools),
            ("outcomes", &self.all.outcomes),
            ("asked most", &self.questions),
        ];
        for (title, counts) in lists.into_iter().filter(|(_, counts)| !counts.is_empty()) {
            screen.line("")?;
            screen.styled(Style::Strong, title)?;
            screen.table(&bars(counts))?;
        }
        if !self.all.times.is_empty() {
            screen.line("")?;
            let headings = ["time in ms", "median", "95 %", "longest"];
            let cell = |(at, text): (usize, String)| match at {
                0 => text,
                _ => screen.number_cell(&text),
            };
            let row = |texts: [String; 4]| texts.into_iter().enumerate().map(cell).collect();
            let mut rows: Vec<Vec<String>> = vec![row(headings.map(str::to_owned))];
            for (tool, times) in &self.all.times {
                let [median, most, all] = [50, 95, 100].map(|it| at(times, it).to_string());
                rows.push(row([format!("  {}", sanitize(tool)), median, most, all]));
            }
            screen.headed_table(&rows)?;
        }
        Ok(())
    }

    fn as_json(&self) -> Value {
        let times: BTreeMap<&str, Value> = self
            .all
            .times
            .iter()
            .map(|(tool, all)| {
                let at = |it| at(all, it);
                (tool.as_str(), json!({"median": at(50), "p95": at(95), "max": at(100)}))
            })
            .collect();
        json!({
            "calls": self.all.calls,
            "asked": self.all.asked,
            "destructive": self.all.destructive,
            "tools": self.all.tools,
            "outcomes": self.all.outcomes,
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

/// The value below which so many percent of these sorted values are; zero where there are none.
fn at(sorted: &[u64], percent: usize) -> u64 {
    percentile(sorted, percent).unwrap_or_default()
}
