//! Plots, drawn by the server as SVG: bars on top of each other, and lines.

use super::html::Html;

/// Values over time: a name for the legend, a class for the colour, one value for each step.
pub(super) struct Series {
    pub(super) name: &'static str,
    pub(super) class: &'static str,
    pub(super) values: Vec<f64>,
}

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 160.0;
const LEFT: f64 = 38.0;
const BOTTOM: f64 = 22.0;
const TOP: f64 = 10.0;

/// Bars on top of each other.
pub(super) fn bars(title: &str, labels: &[String], series: &[Series], html: &mut Html) {
    let sums = (0..labels.len()).map(|at| series.iter().map(|it| value(it, at)).sum::<f64>());
    let most = sums.fold(1.0, f64::max);
    begin(title, most, labels, series, html);
    let step = (WIDTH - LEFT) / labels.len().max(1) as f64;
    for at in 0..labels.len() {
        let mut base = HEIGHT - BOTTOM;
        for one in series {
            let height = value(one, at) / most * (HEIGHT - BOTTOM - TOP);
            if height <= 0.0 {
                continue;
            }
            base -= height;
            let left = LEFT + step * at as f64 + step * 0.14;
            html.raw(&format!(
                "<rect class=\"{}\" x=\"{left:.1}\" y=\"{base:.1}\" width=\"{:.1}\" height=\"{height:.1}\" rx=\"1.5\"><title>",
                one.class,
                step * 0.72,
            ));
            html.text(labels.get(at).map_or("", String::as_str));
            html.text(format!(": {} {}", value(one, at), one.name)).raw("</title></rect>");
        }
    }
    html.raw("</svg></figure>");
}

/// Lines; a step without a value (`NaN`) is a gap.
pub(super) fn lines(title: &str, labels: &[String], series: &[Series], html: &mut Html) {
    let all = series.iter().flat_map(|it| it.values.iter().copied());
    let most = all.filter(|it| it.is_finite()).fold(1.0, f64::max);
    begin(title, most, labels, series, html);
    let step = (WIDTH - LEFT) / labels.len().max(1) as f64;
    for one in series {
        let mut path = String::new();
        let mut points = String::new();
        let mut pen = 'M';
        for (at, value) in one.values.iter().enumerate() {
            if !value.is_finite() {
                pen = 'M';
                continue;
            }
            let x = LEFT + step * (at as f64 + 0.5);
            let y = HEIGHT - BOTTOM - value / most * (HEIGHT - BOTTOM - TOP);
            path.push_str(&format!("{pen}{x:.1} {y:.1} "));
            points.push_str(&format!(
                "<circle class=\"{}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>",
                one.class
            ));
            pen = 'L';
        }
        html.raw(&format!(
            "<path class=\"line {}\" d=\"{}\"/>{points}",
            one.class,
            path.trim_end()
        ));
    }
    html.raw("</svg></figure>");
}

/// The frame: title, legend, scale and labels.
fn begin(title: &str, most: f64, labels: &[String], series: &[Series], html: &mut Html) {
    html.raw("<figure class=\"plot card\"><figcaption>").element(
        "<b>",
        title,
        "</b><span class=\"legend\">",
    );
    for one in series {
        html.raw("<span class=\"").raw(one.class).raw("\">").text(one.name).raw("</span>");
    }
    html.raw("</span></figcaption>");
    html.raw(&format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\""));
    html.element(" aria-label=\"", title, "\">");
    for part in 0..=2 {
        let share = f64::from(part) / 2.0;
        let y = HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP);
        html.raw(&format!(
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"
        ));
        let scale = short(most * share);
        html.raw(&format!(
            "<text class=\"scale\" x=\"{:.1}\" y=\"{:.1}\">{scale}</text>",
            LEFT - 6.0,
            y + 3.5
        ));
    }
    let step = (WIDTH - LEFT) / labels.len().max(1) as f64;
    let every = labels.len().div_ceil(6).max(1);
    for (at, label) in labels.iter().enumerate().step_by(every) {
        let x = LEFT + step * (at as f64 + 0.5);
        html.raw(&format!("<text class=\"label\" x=\"{x:.1}\" y=\"{:.1}\">", HEIGHT - 6.0));
        html.text(label).raw("</text>");
    }
}

fn value(series: &Series, at: usize) -> f64 {
    series.values.get(at).copied().filter(|it| it.is_finite()).unwrap_or_default()
}

/// A number that fits beside a scale.
fn short(number: f64) -> String {
    match number {
        it if it >= 10_000.0 => format!("{:.0}k", it / 1_000.0),
        it if it >= 10.0 || it.fract() == 0.0 => format!("{it:.0}"),
        it => format!("{it:.1}"),
    }
}
