//! Tests of page.

use super::*;

#[test]
fn nothing_that_a_call_says_is_markup() {
    let mut stats = Stats { calls: 1, ..Stats::default() };
    stats.tools.insert("<script>alert(\"x\")</script>".to_owned(), 1);
    let page = render(&stats);
    assert!(page.contains("&lt;script&gt;") && !page.contains("<script"), "{page}");
}
