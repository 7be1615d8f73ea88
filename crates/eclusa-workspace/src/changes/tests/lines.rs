//! Which lines differ.

use proptest::{collection::vec, prelude::*};

use super::trees::texts;
use crate::changes::lines::*;

/// Makes the new text of the old one and the hunks, believing nothing but them.
fn patched(old: &str, new: &str, compared: &Compared) -> String {
    let lines: Vec<&str> = old.split_inclusive('\n').collect();
    let (mut made, mut at) = (String::new(), 0);
    for hunk in &compared.hunks {
        made.push_str(&lines[at..hunk.old.0].concat());
        at = hunk.old.0;
        assert_eq!(made.split_inclusive('\n').count(), hunk.new.0);
        hunk.each(old, new, |sign, line| {
            if sign != Sign::Added {
                assert_eq!(lines[at], line);
                at += 1;
            }
            if sign != Sign::Removed {
                made.push_str(line);
            }
            true
        });
        assert_eq!(at, hunk.old.0 + hunk.old.1);
    }
    made + &lines[at..].concat()
}

/// The length of the longest common subsequence, the slow way.
fn common(a: &[&str], b: &[&str]) -> usize {
    let mut row = vec![0; b.len() + 1];
    for x in a {
        let mut diagonal = 0;
        for (at, y) in b.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if x == y { diagonal + 1 } else { above.max(row[at]) };
            diagonal = above;
        }
    }
    row[b.len()]
}

fn holds(old: &str, new: &str) -> Compared {
    let compared = compare(old, new);
    assert_eq!(patched(old, new, &compared), new);
    let lines = |text: &str| text.split_inclusive('\n').count() as u64;
    assert_eq!(lines(old) + compared.added, lines(new) + compared.removed);
    compared
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_lines_that_differ_are_the_fewest(old in texts(), new in texts()) {
        let compared = holds(&old, &new);
        let (a, b): (Vec<&str>, Vec<&str>) =
            (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
        prop_assert_eq!(compared.removed as usize, a.len() - common(&a, &b));
        prop_assert_eq!(compared.hunks.is_empty(), old == new);
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn long_texts_with_a_few_edits(
        length in 1usize..20_000, edits in vec((any::<prop::sample::Index>(), 0u8..3), 0..6),
    ) {
        let old: Vec<String> = (0..length).map(|it| format!("line {it}\n")).collect();
        let mut new = old.clone();
        for (at, what) in &edits {
            let at = at.index(new.len() + 1);
            match what {
                0 => new.insert(at, "new\n".to_owned()),
                1 => drop(new.drain(at..(at + 1).min(new.len()))),
                _ => new.splice(at..(at + 1).min(new.len()), ["other\n".to_owned()]).for_each(drop),
            }
        }
        let compared = holds(&old.concat(), &new.concat());
        prop_assert!(compared.added <= edits.len() as u64);
        prop_assert!(compared.removed <= edits.len() as u64);
    }
}

/// However long and different the texts are, the answer comes, and is right.
#[test]
fn texts_that_have_little_in_common() {
    let text = |count: usize, step: usize| -> String {
        (0..count).map(|it| format!("{}\n", it * step % 1009)).collect()
    };
    let coarse = holds(&text(40_000, 7), &text(40_000, 11));
    assert!(coarse.added <= 40_000);
    holds(&text(300_000, 1), &text(300_000, 2));
    holds(&"x\n".repeat(50_000), &"x\ny\n".repeat(30_000));
    holds(&"\n".repeat(1_000_000), "");
    let line = "x".repeat(5_000_000);
    holds(&line, &format!("{line}y"));
}
