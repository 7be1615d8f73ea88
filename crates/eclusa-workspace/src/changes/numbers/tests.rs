//! Lines are counted on both sides, from where each hunk says that it begins.

use super::LineNumbers;

#[test]
fn both_sides_are_counted_from_where_a_hunk_begins() {
    let lines = [
        "altered a.rs, +1 -1",
        "@@ -9,3 +9,3 @@",
        "  fn a() {",
        "- let x = 1;",
        "+ let x = 2;",
        "@@ -98 +98,2 @@",
        "  }",
        "+ // @@ -1 +1 @@",
        "made b, +1 -0",
    ];
    let numbers = LineNumbers::of(&lines);
    let digits = LineNumbers::digits(&numbers);
    assert_eq!(digits, 2);
    let gutters: Vec<String> = numbers.iter().map(|it| it.gutter(digits)).collect();
    assert_eq!(
        gutters,
        ["     ", "     ", " 9  9", "10   ", "   10", "     ", "98 98", "   99", "     "]
    );
    let hunks: Vec<bool> = numbers.iter().map(|it| it.begins_hunk).collect();
    assert_eq!(hunks.iter().filter(|it| **it).count(), 2);
    assert!(hunks[1] && hunks[5]);
}
