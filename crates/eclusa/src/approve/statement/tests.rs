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
    assert!(once.is_in(&text, 0));
    assert!(Statement { questions: &[8], ..once.clone() }.is_in(&text, 0));
    assert!(once.is_in(&text, 9) && !once.is_in(&text, 10), "too old");
    for other in [
        Statement { questions: &[9], ..once.clone() },
        Statement { queue: "r", ..once.clone() },
        Statement { binding: "c", ..once.clone() },
        Statement { person: "bo", ..once.clone() },
        said(&Answer::Session),
    ] {
        assert!(!other.is_in(&text, 0), "{other:?}");
    }
    for bad in ["", "eclusa answer v1", "eclusa answer v2\n{}", &text.replace("v1", "v2")] {
        assert!(!once.is_in(bad, 0), "{bad}");
    }
    assert!(!once.is_in(&format!("{text} "), 0));
}

#[test]
fn one_statement_answers_identical_questions_of_several_queues() {
    let said = Statement {
        queue: "q",
        questions: &[7],
        binding: "b",
        answer: &Answer::Once,
        person: "ann",
        expires: 9,
    };
    let named = [("q".to_owned(), 7), ("r".to_owned(), 8)];
    let text = said.text_of_several(&named);
    assert!(text.starts_with("eclusa answer v2\n"), "{text}");
    let other = Statement { queue: "r", questions: &[8], ..said.clone() };
    assert!(said.is_in(&text, 9) && other.is_in(&text, 9) && !said.is_in(&text, 10));
    for other in [
        Statement { queue: "r", ..said.clone() },
        Statement { questions: &[8], ..said.clone() },
        Statement { binding: "c", ..said.clone() },
        Statement { person: "bo", ..said.clone() },
    ] {
        assert!(!other.is_in(&text, 0), "{other:?}");
    }
    assert!(!said.is_in(&text.replace("v2", "v1"), 0));
    let many: Vec<(String, u64)> = (0..201).map(|it| ("q".to_owned(), it)).collect();
    assert!(!said.is_in(&said.text_of_several(&many), 0), "more than anybody has looked at");
}
