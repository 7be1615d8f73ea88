//! What is shown of a change.

use proptest::prelude::*;

use super::*;

fn around(old: &str, new: &str) -> EditSummary {
    EditSummary::new(old.as_bytes(), new.as_bytes()).unwrap()
}

#[test]
fn the_lines_around_a_change_have_their_numbers() {
    let old: String = (1..=20).map(|it| format!("line {it}\n")).collect();
    let told = around(&old, &old.replace("line 10\n", "ten\nand more\n"));
    assert_eq!(told.counts(), "+2 -1");
    let lines = "     7\tline 7\n     8\tline 8\n     9\tline 9\n    10\tten\n    11\tand more\n    12\tline 11\n    13\tline 12\n    14\tline 13\n";
    assert_eq!(told.lines, lines);
}

#[test]
fn places_far_apart_are_shown_apart() {
    let old: String = (1..=30).map(|it| format!("line {it}\n")).collect();
    let new = old.replace("line 3\n", "three\n").replace("line 28\n", "");
    let told = around(&old, &new);
    assert_eq!(told.counts(), "+1 -2");
    assert!(told.lines.starts_with("     1\tline 1\n     2\tline 2\n     3\tthree\n"), "{told:?}");
    assert!(told.lines.contains("     6\tline 6\n     …\n"), "{told:?}");
    assert!(told.lines.ends_with("    28\tline 29\n    29\tline 30\n"), "{told:?}");
}

#[test]
fn what_is_not_text_is_not_shown_and_long_texts_are_cut() {
    assert_eq!(EditSummary::new(b"a\0b", b"a"), None);
    let new = "x\n".repeat(1000);
    let told = around("", &new);
    assert_eq!((told.added, told.removed), (1000, 0));
    assert_eq!(told.lines.lines().count(), LINES + 1);
    let told = around(&new, "");
    assert_eq!((told.added, told.removed, told.lines.as_str()), (0, 1000, ""));
}

#[test]
fn a_stretch_that_is_too_long_is_counted_as_a_whole() {
    let old = "x\n".repeat(COMPARED / 4);
    let told = around(&format!("a\n{old}z\n"), &format!("a\n{}z\n", old.replace('x', "yy")));
    let lines = (COMPARED / 4) as u64;
    assert_eq!((told.added, told.removed), (lines, lines));
    assert!(told.lines.starts_with("     2\tyy\n"), "{}", told.lines);
}

proptest! {
    #[test]
    fn every_line_that_is_shown_is_the_line_of_that_number(
        old in proptest::collection::vec("[ab]{0,2}", 0..30),
        new in proptest::collection::vec("[ab]{0,2}", 0..30),
        ended: bool,
    ) {
        let end = if ended { "\n" } else { "" };
        let (old, new) = (old.join("\n"), new.join("\n") + end);
        let told = around(&old, &new);
        let lines: Vec<&str> = new.lines().collect();
        for row in told.lines.lines().filter(|it| !it.ends_with('…')) {
            let (number, line) = row.split_once('\t').unwrap();
            let number: usize = number.trim().parse().unwrap();
            prop_assert_eq!(lines.get(number - 1), Some(&line));
        }
        let before = old.lines().count() as u64;
        prop_assert_eq!(before + told.added - told.removed, lines.len() as u64);
    }
}
