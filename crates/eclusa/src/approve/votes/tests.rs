//! Which texts are statements of which answers.

use super::*;

#[test]
fn a_statement_is_for_one_queue_binding_answer_and_person() {
    let said = |answer: &'static Answer| Statement {
        queue: "q",
        questions: &[7],
        binding: "b",
        answer,
        person: "ann",
        expires: 0,
    };
    let once = said(&Answer::Once);
    let text = Statement { questions: &[7, 8], expires: 9, ..once.clone() }.text();
    assert!(is_statement_of(&text, &once, 0));
    assert!(is_statement_of(&text, &Statement { questions: &[8], ..once.clone() }, 0));
    assert!(is_statement_of(&text, &once, 9) && !is_statement_of(&text, &once, 10), "too old");
    for other in [
        Statement { questions: &[9], ..once.clone() },
        Statement { queue: "r", ..once.clone() },
        Statement { binding: "c", ..once.clone() },
        Statement { person: "bo", ..once.clone() },
        said(&Answer::Session),
    ] {
        assert!(!is_statement_of(&text, &other, 0), "{other:?}");
    }
    for bad in ["", "eclusa answer v1", "eclusa answer v2\n{}", &text.replace("v1", "v2")] {
        assert!(!is_statement_of(bad, &once, 0), "{bad}");
    }
    assert!(!is_statement_of(&format!("{text} "), &once, 0));
}
