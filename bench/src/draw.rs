//! A report as a drawing: a bar for each time, on a scale of powers of ten, with its baseline.

use crate::{compare::shown, measure::Figure, report::Report};

const ROW: f64 = 18.0;
const LEFT: f64 = 420.0;
const BAR: f64 = 400.0;
const WIDTH: f64 = LEFT + BAR + 120.0;
const TOP: f64 = 64.0;
/// The scale begins at 100 ns and ends at 10 s.
const FIRST: f64 = 100.0;
const DECADES: f64 = 8.0;

/// The drawing, as SVG: of every time, or of those alone that have a goal.
pub(crate) fn draw(report: &Report, goals: bool) -> String {
    let wanted = |it: &&Figure| it.unit == "ns" && (!goals || it.name.contains("(goal"));
    let times: Vec<&Figure> = report.figures.iter().filter(wanted).collect();
    let mut rows = String::new();
    let (mut at, mut section) = (TOP, "");
    for figure in times {
        if figure.section != section {
            section = &figure.section;
            at += ROW * 0.6;
            rows += &text(8.0, at + 13.0, "b", section);
            at += ROW;
        }
        rows += &text(20.0, at + 13.0, "", &figure.name);
        let length = place(figure.value);
        rows += &format!(
            "<rect x=\"{LEFT}\" y=\"{:.1}\" width=\"{length:.1}\" height=\"10\"/>\n",
            at + 4.0
        );
        if let Some(baseline) = figure.baseline {
            let x = LEFT + place(baseline);
            rows += &format!(
                "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>\n",
                at + 1.0,
                at + 17.0
            );
        }
        rows += &text(LEFT + BAR + 8.0, at + 13.0, "", &shown(figure));
        at += ROW;
    }
    let mut scale = String::new();
    for decade in 0..=DECADES as u32 {
        let x = LEFT + BAR * f64::from(decade) / DECADES;
        let value = FIRST * 10f64.powi(decade as i32);
        let label = match value {
            value if value < 1e3 => format!("{value:.0} ns"),
            value if value < 1e6 => format!("{:.0} µs", value / 1e3),
            value if value < 1e9 => format!("{:.0} ms", value / 1e6),
            value => format!("{:.0} s", value / 1e9),
        };
        scale += &text(x - 14.0, TOP - 6.0, "s", &label);
    }
    let height = at + ROW;
    let Report { commit, profile, machine, load, .. } = report;
    let title = format!("{commit} · {profile} · {machine} · load at the start {load}");
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <style>rect{{fill:#2f6f9f}}line{{stroke:#c0392b;stroke-width:2}}.b{{font-weight:bold}}.s{{font-size:10px;fill:#666}}</style>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" style=\"fill:#fff\"/>\n{}{}{scale}{rows}</svg>\n",
        text(8.0, 20.0, "b", "What it costs (each mark: the baseline of the same run)"),
        text(8.0, 38.0, "s", &title),
    )
}

/// How far along the scale a time lies.
fn place(nanos: f64) -> f64 {
    (BAR * (nanos / FIRST).log10() / DECADES).clamp(1.0, BAR)
}

fn text(x: f64, y: f64, class: &str, text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\">{text}</text>\n")
}
