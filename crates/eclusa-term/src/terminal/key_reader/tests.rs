//! How long a question stands before an answer to it counts.

use std::time::Instant;

use super::*;

/// Hole 20: nobody reads a question in less time, so what was typed by then was meant for something
/// else.
/// Shows H20.
#[test]
fn a_question_is_on_the_screen_for_300_ms_before_an_answer_counts() {
    let keys = KeyReader::new(File::open("/dev/null").unwrap().into(), Arc::default());
    let began = Instant::now();
    // What is no terminal has nothing to forget; the time counts.
    let _ = keys.settle();
    assert!(began.elapsed() >= Duration::from_millis(300));
}
