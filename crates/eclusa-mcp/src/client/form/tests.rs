//! What a form says, and what an answer to it means.

use eclusa::{Grant, PermissionClass, Verdict, approve::Preview};

use super::*;

pub(crate) fn question() -> Question {
    Question {
        call: "1".to_owned(),
        tool: "write".to_owned(),
        server: None,
        class: PermissionClass::File,
        args: json!({"path": "a.txt"}),
        shown_args: None,
        touches: Vec::new(),
        verdict: Verdict::from_reasons(Vec::new()),
        reason: None,
        destructive: false,
        reverse_thinking: None,
        about: eclusa::approve::QuestionAbout::Running,
        binding: "binding".to_owned(),
        grant: None::<Grant>,
        can_always: false,
        task: None,
        principal: "tester".to_owned(),
        session: "mcp".to_owned(),
        time: std::time::Duration::from_secs(60),
        keep: eclusa::approve::KEEP,
        pending: None,
    }
}

#[test]
fn a_person_reads_the_renderers_lines_with_the_words_of_the_form() {
    let question = question();
    let form = Form::new(&question);
    let rendered = render(&question).to_string();
    let before_answers = rendered.split("answers:").next().unwrap();
    assert!(form.message.starts_with(before_answers), "{}", form.message);
    assert!(form.message.contains("\n  yes      yes, this once"), "{}", form.message);
    assert!(form.message.contains("\n  stop     no, and end"), "{}", form.message);
    // What is not offered is not spoken of.
    assert!(!form.message.contains("not offered"), "{}", form.message);
    assert_eq!(
        form.schema()["properties"]["answer"]["enum"],
        json!(["yes", "no", "instead", "stop"])
    );
}

#[test]
fn the_diff_is_part_of_the_question() {
    let preview = Preview {
        summary: "1 file changed".to_owned(),
        diff: "+ new line".to_owned(),
        whole: true,
        choices: Vec::new(),
    };
    let form = Form::new(&Question {
        about: eclusa::approve::QuestionAbout::Changes(preview),
        ..question()
    });
    assert!(form.message.contains("│ + new line"), "{}", form.message);
    assert!(form.message.contains("apply exactly these changes"), "{}", form.message);
}

#[test]
fn only_what_was_offered_can_be_chosen() {
    let form = Form::new(&question());
    let said = |answer: &str| json!({"action": "accept", "content": {"answer": answer}});
    assert_eq!(form.read(&said("yes")), Some(FormAnswer::Given(Answer::Once)));
    assert_eq!(form.read(&said("stop")), Some(FormAnswer::Given(Answer::Abort)));
    for not_offered in ["session", "always", "edit", "y", ""] {
        assert_eq!(form.read(&said(not_offered)), None, "{not_offered}");
    }
}

/// D12: a program without a person in front of it dismisses forms by itself.
#[test]
fn what_is_dismissed_at_once_was_not_read() {
    let (decline, cancel) = (json!({"action": "decline"}), json!({"action": "cancel"}));
    let mut form = Form::new(&question());
    form.sent = Instant::now() + Duration::from_secs(60);
    assert_eq!(form.read(&decline), Some(FormAnswer::Unread));
    assert_eq!(form.read(&cancel), Some(FormAnswer::Unread));
    let reasoned = json!({"action": "decline", "content": {"reason": "no"}});
    assert_eq!(form.read(&reasoned), Some(FormAnswer::Given(Answer::No("no".to_owned()))));
    form.sent = Instant::now().checked_sub(UNREAD).unwrap();
    assert_eq!(form.read(&decline), Some(FormAnswer::Given(Answer::No(String::new()))));
    assert!(matches!(form.read(&cancel), Some(FormAnswer::Given(Answer::No(_)))));
}
