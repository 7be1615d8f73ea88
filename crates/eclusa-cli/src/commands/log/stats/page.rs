//! The page of `eclusa log stats --html`: one file, without scripts and without anything from
//! elsewhere.

use std::{collections::BTreeMap, fmt::Write};

use super::{Stats, largest, percentile};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;\
padding:0 1rem;color:#222;background:#fff}h1,h2{font-weight:600}table{border-collapse:collapse;\
width:100%}td,th{padding:.2rem .6rem;text-align:left;white-space:nowrap}td.n{text-align:right}\
rect{fill:#2f6fab}@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}\
rect{fill:#6aa9e9}}";

/// The whole page.
pub(super) fn render(stats: &Stats) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <title>Eclusa: calls</title><style>{STYLE}</style></head><body>\n\
         <h1>{} calls, {} asked about</h1>\n",
        stats.calls, stats.asked
    );
    chart(&mut page, "Tools", &stats.tools);
    chart(&mut page, "Outcomes", &stats.outcomes);
    chart(&mut page, "Asked most", &stats.questions);
    page.push_str("<h2>Time in ms</h2>\n<table><tr><th>tool</th><th>median</th><th>95 %</th><th>longest</th></tr>\n");
    for (tool, times) in &stats.times {
        let [median, most, longest] = [50, 95, 100].map(|it| percentile(times, it));
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td class=\"n\">{median}</td><td class=\"n\">{most}</td>\
             <td class=\"n\">{longest}</td></tr>",
            escaped(tool)
        );
    }
    page.push_str("</table>\n</body></html>\n");
    page
}

fn chart(page: &mut String, title: &str, counts: &BTreeMap<String, usize>) {
    if counts.is_empty() {
        return;
    }
    let all = largest(counts);
    let most = all.first().map_or(1, |(_, count)| (*count).max(1));
    let _ = writeln!(page, "<h2>{title}</h2>\n<table>");
    for (name, count) in all {
        let length = (count * 300).div_ceil(most);
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td class=\"n\">{count}</td><td><svg width=\"300\" height=\"14\" \
             role=\"img\" aria-label=\"{count}\"><rect width=\"{length}\" height=\"14\"/></svg></td></tr>",
            escaped(name)
        );
    }
    page.push_str("</table>\n");
}

/// Somebody else's text in a page: nothing in it is markup, and nothing in it is invisible.
fn escaped(text: &str) -> String {
    let text = eclusa::one_line(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests;
