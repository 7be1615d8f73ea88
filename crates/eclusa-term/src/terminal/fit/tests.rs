//! Tests of fit.

use super::*;

fn question(files: usize, each: usize) -> Vec<ShownLine> {
    let line = |role, text: String| (role, Style::Plain, text);
    let mut all = vec![line(Role::Tool, "tool: bash".to_owned())];
    for file in 0..files {
        all.push(line(Role::Change, format!("   │ made {file}.txt, mode 0644, +{each} -0")));
        all.extend((0..each).map(|it| line(Role::Change, format!("   │ + line {it}"))));
    }
    all.push(line(Role::Rule, "  ask │ no rule allows it".to_owned()));
    all
}

#[test]
fn what_fits_is_shown_whole() {
    for rows in [None, Some(40)] {
        let (shown, left_out) = fit(question(2, 3), rows);
        assert_eq!((shown.len(), left_out), (10, 0));
    }
}

#[test]
fn one_file_is_cut_and_several_are_summed_up() {
    let (shown, left_out) = fit(question(1, 100), Some(24));
    assert!(shown.len() < 24 && left_out > 80, "{left_out}");
    assert!(shown.iter().any(|it| it.2.contains("more lines of changes (`d` shows all)")));
    assert!(shown.last().unwrap().2.contains("no rule allows it"));
    let (shown, left_out) = fit(question(3, 100), Some(24));
    let heads: Vec<_> = shown.iter().filter(|it| it.2.contains("made")).collect();
    assert_eq!((heads.len(), left_out), (3, 300));
    let (shown, left_out) = fit(question(3_000, 4), Some(24));
    assert!(shown.len() < 24 && left_out > 14_000, "{} {left_out}", shown.len());
}

#[test]
fn what_will_run_is_never_left_out() {
    let long = |it| (Role::Argument, Style::Plain, format!("  command │ line {it}"));
    let (shown, left_out) = fit((0..200).map(long).collect(), Some(24));
    assert_eq!((shown.len(), left_out), (200, 0));
}
