//! Two reports side by side: what became quicker, and what slower.

use std::time::Duration;

use crate::{
    measure::{Figure, in_words},
    report::Report,
};

/// Less than this is taken for chance.
const SAME: f64 = 0.05;

/// The comparison, as text.
pub(crate) fn compare(old: &Report, new: &Report) -> String {
    let mut text = format!("{:<58} {:>12} {:>12} {:>8}\n", "", old.commit, new.commit, "new/old");
    if old.machine != new.machine || old.profile != new.profile {
        text += "these were not measured alike: compare what stands beside a baseline\n";
        text +=
            &format!("  {}, {}\n  {}, {}\n", old.machine, old.profile, new.machine, new.profile);
    }
    let mut section = "";
    for figure in &new.figures {
        let same = |it: &&Figure| it.section == figure.section && it.name == figure.name;
        let Some(before) = old.figures.iter().find(same) else { continue };
        if figure.section != section {
            section = &figure.section;
            text += &format!("{section}\n");
        }
        let ratio = figure.value / before.value;
        let relative = figure.baseline.zip(before.baseline);
        let relative = relative.map(|(new, old)| ratio / (new / old));
        text += &format!(
            "  {:<56} {:>12} {:>12} {ratio:>7.2}x{}\n",
            figure.name,
            shown(before),
            shown(figure),
            said(figure, relative.unwrap_or(ratio)),
        );
    }
    text
}

/// What a ratio means; where there are baselines, it is the ratio of what stands beside them.
fn said(figure: &Figure, ratio: f64) -> String {
    let more_is_better = figure.unit.ends_with("/s");
    let cost = if more_is_better { 1.0 / ratio } else { ratio };
    let word = match cost {
        cost if cost > 1.0 + SAME => "worse",
        cost if cost < 1.0 - SAME => "better",
        _ => "same",
    };
    match figure.baseline {
        Some(_) => format!("  {word} ({ratio:.2}x beside the baseline)"),
        None => format!("  {word}"),
    }
}

/// A number with its unit.
pub(crate) fn shown(figure: &Figure) -> String {
    match figure.unit.as_str() {
        "ns" => in_words(Duration::from_nanos(figure.value as u64)),
        unit if figure.value >= 1000.0 => format!("{:.0} {unit}", figure.value),
        unit => format!("{:.2} {unit}", figure.value),
    }
}
