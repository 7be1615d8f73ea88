//! What a person sees when they are asked.

use std::time::Duration;

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Rendered, render};
use crate::{
    Advice, Decision, Grant, Hash, PermissionClass, Question, Reason, ReverseThinkingReport,
    Source, Touch, Verdict,
};

mod corpus;

/// A question about a call, as the gate would put it.
fn question(tool: &str, args: Value) -> Question {
    Question {
        call: "c1".to_owned(),
        tool: tool.to_owned(),
        server: None,
        class: PermissionClass::Generic,
        args,
        shown_args: None,
        touches: Vec::new(),
        verdict: Verdict::from_reasons(vec![Reason {
            decision: Decision::Ask,
            source: Source::Rule,
            origin: "eclusa.toml:7".into(),
            text: "tools of other servers are asked about".into(),
        }]),
        reason: None,
        destructive: false,
        reverse_thinking: None,
        about: crate::approve::QuestionAbout::Running,
        binding: String::new(),
        grant: Some(Grant {
            tool: tool.to_owned(),
            revision: "r1".to_owned(),
            args: None,
            scope: Some(crate::approve::GrantScope::default()),
        }),
        can_always: true,
        task: None,
        principal: "me".to_owned(),
        session: "talk".to_owned(),
        time: Duration::from_secs(60),
        keep: crate::approve::KEEP,
        pending: None,
    }
}

fn shell(command: &str) -> Question {
    let grant = Grant {
        tool: "bash".to_owned(),
        revision: "r1".to_owned(),
        args: Some(Hash::sha256(command.as_bytes())),
        scope: None,
    };
    Question {
        class: PermissionClass::Shell,
        touches: vec![Touch::Run(command.to_owned())],
        grant: Some(grant),
        can_always: false,
        task: None,
        ..question("bash", json!({ "command": command }))
    }
}

#[test]
fn what_is_encoded_is_shown_decoded_and_hosts_in_their_ascii_form() {
    let asked = shell("echo cm0gLXJmIH4K | base64 -d | sh; curl https://me@bücher.example:8/x");
    let shown = render(&asked).to_string();
    assert!(shown.contains("cm0gLXJmIH4K ⟨says⟩ rm -rf ~⏎"), "{shown}");
    assert!(shown.contains("⟨is⟩ xn--bcher-kva.example"), "{shown}");
    let shown = render(&shell("echo 726d202d7266 | xxd -r -p | sh")).to_string();
    assert!(shown.contains("726d202d7266 ⟨says⟩ rm -rf"), "{shown}");
    // Everyday words are not taken for more than they are.
    let shown = render(&shell("base64 --decode picture.b64 > picture.png")).to_string();
    assert!(!shown.contains("⟨says⟩"), "{shown}");
    for (host, ascii) in [
        ("münchen.example", "xn--mnchen-3ya.example"),
        ("例え。テスト", "xn--r8jz45g.xn--zckzah"),
        ("аррӏе.com", "xn--80ak6aa92e.com"),
        ("☃.net", "xn--n3h.net"),
    ] {
        assert_eq!(super::international::to_ascii(host).as_deref(), Some(ascii), "{host}");
    }
    assert_eq!(super::international::to_ascii("example.org"), None);
}

#[test]
fn secrets_are_masked_and_what_a_shell_acts_on_never_is() {
    let redactor = crate::Redactor::default();
    let masked = |command: &str| {
        let args = json!({ "command": command });
        let shown_args = match redactor.masked_words(&args) {
            std::borrow::Cow::Owned(masked) => Some(masked),
            std::borrow::Cow::Borrowed(_) => None,
        };
        render(&Question { shown_args, ..shell(command) }).to_string()
    };
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let shown = masked(&format!("curl -H 'Authorization: token {token}' https://x.example"));
    assert!(!shown.contains(&token) && shown.contains("[redacted:"), "{shown}");
    assert!(shown.contains("curl -H 'Authorization: "), "{shown}");
    let sly = r#"PASSWORD="$(rm${IFS}-rf${IFS}~)x9" make"#;
    assert!(masked(sly).contains(sly), "{}", masked(sly));
}

#[test]
fn a_shell_call_with_the_models_reason_below_the_facts() {
    let asked = Question {
        reason: Some("just listing files\n\nanswers:\n  y  already approved".to_owned()),
        destructive: true,
        ..shell("rm -rf build\u{1b}[2K\u{1b}[1G\nls -la")
    };
    assert_snapshot!(render(&asked), @r#"
    tool: bash
    class: shell
    warning: this cannot be undone
    arguments:
      command │ rm -rf build\u{1B}[2K\u{1B}[1G⏎
              │ ls -la
    would:
      run │ ⟨exactly the argument command⟩
    asked because:
      ask │ tools of other servers are asked about (eclusa.toml:7)
    the reason given (not checked):
       │ just listing files⏎
       │ ⏎
       │ answers:⏎
       │   y  already approved
    answers:
      y  yes, this once, with exactly these arguments
      s  yes, and for the rest of this session: `bash` with exactly these arguments
      e  edit the arguments; the edited call is checked and judged again
      n  no; you can say why
      i  no, answer in place of the tool: your words become its result
      q  no, and end the whole turn
    "#);
}

#[test]
fn a_call_of_another_server_with_arguments_of_every_kind() {
    let asked = Question {
        server: Some("files".to_owned()),
        class: PermissionClass::File,
        touches: vec![Touch::Write("/etc/hosts".to_owned()), Touch::Unknown],
        ..question(
            "mcp__files__write",
            json!({
                "path": "invoice\u{202e}txt.sh",
                "tool": "read_file",
                "mode": 493,
                "mode2": "493",
                "options": { "z": [1, "x\ny\u{1b}"], "a": null },
                "": "",
                "class │ read-only": "x",
            }),
        )
    };
    assert_snapshot!(render(&asked), @r#"
    tool: mcp__files__write from server files
    class: file
    arguments:
      ""                         │ ⟨empty⟩
      "class \u{2502} read-only" │ x
      mode (json)                │ 493
      mode2                      │ 493
      options (json)             │ {"a":null,"z":[1,"x⏎
                                 │ y\u{1B}"]}
      path                       │ invoice\u{202E}txt.sh
      tool                       │ read_file
    would:
      write │ /etc/hosts
      touch │ ⟨it does not say what⟩
    asked because:
      ask │ tools of other servers are asked about (eclusa.toml:7)
    answers:
      y  yes, this once, with exactly these arguments
      s  yes, and for the rest of this session: every call of `mcp__files__write`
      a  yes, and always from now on: every call of `mcp__files__write`
      e  edit the arguments; the edited call is checked and judged again
      n  no; you can say why
      i  no, answer in place of the tool: your words become its result
      q  no, and end the whole turn
    "#);
}

#[test]
fn the_other_side_is_shown_when_somebody_argued_it() {
    let asked = Question {
        reverse_thinking: Some(ReverseThinkingReport {
            hidden_assumptions: vec!["the table is not in use".to_owned()],
            failure_scenarios: vec!["orders are lost".to_owned()],
            verdict: Advice::Ask,
            verdict_reason: "there is no backup".to_owned(),
        }),
        grant: None,
        ..question("drop_table", json!({ "table": "orders" }))
    };
    assert_snapshot!(render(&asked), @r#"
    tool: drop_table
    class: generic
    arguments:
      table │ orders
    asked because:
      ask │ tools of other servers are asked about (eclusa.toml:7)
    the other side:
      assumes    │ the table is not in use
      could fail │ orders are lost
      ask        │ there is no backup
    answers:
      y  yes, this once, with exactly these arguments
      e  edit the arguments; the edited call is checked and judged again
      n  no; you can say why
      i  no, answer in place of the tool: your words become its result
      q  no, and end the whole turn
    "#);
}

#[test]
fn a_narrow_surface_keeps_the_bar_on_every_line() {
    let asked = shell("echo one two three four five six seven; rm -rf build");
    assert_snapshot!(render(&asked).wrapped(40), @r#"
    tool: bash
    class: shell
    arguments:
      command │ echo one two three four five
              ┊  six seven; rm -rf build
    would:
      run │ ⟨exactly the argument command⟩
    asked because:
      ask │ tools of other servers are 
          ┊ asked about (eclusa.toml:7)
    answers:
      y  yes, this once, with exactly these arguments
      s  yes, and for the rest of this session: `bash` with exactly these arguments
      e  edit the arguments; the edited call is checked and judged again
      n  no; you can say why
      i  no, answer in place of the tool: your words become its result
      q  no, and end the whole turn
    "#);
}

/// Lines that belong to arguments stand behind the bar, and every other line is one of ours.
fn check_frame(rendered: &Rendered) -> Result<(), TestCaseError> {
    for line in &rendered.lines {
        let shown = line.to_string();
        prop_assert!(!shown.chars().any(char::is_control), "{shown:?}");
        match &line.text {
            Some(_) => prop_assert!(shown.starts_with("  ") && shown.contains(" │"), "{shown:?}"),
            None => prop_assert!(!shown.contains('│'), "{shown:?}"),
        }
    }
    Ok(())
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any_string().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any_string(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn any_string() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c]{0,2}", "[a \\n│⟨\"0-9{}:()json]{0,8}", any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn whatever_is_asked_the_frame_holds(
        tool in any_string(),
        args in prop::collection::btree_map(any_string(), any_json(), 0..4),
        touch in any_string(),
        reason in any_string(),
    ) {
        let args = Value::Object(args.into_iter().collect());
        let asked = Question {
            touches: vec![Touch::Run(touch)],
            reason: Some(reason),
            ..question(&tool, args)
        };
        check_frame(&render(&asked))?;
    }

    /// Two different arguments never look the same, on no surface.
    #[test]
    fn different_arguments_look_different(a in any_json(), b in any_json()) {
        let [one, other] = [&a, &b].map(|args| render(&question("x", args.clone())));
        prop_assert_eq!(a == b, one.to_string() == other.to_string());
        prop_assert_eq!(a == b, one.wrapped(30) == other.wrapped(30));
        let [one, other] = [&a, &b].map(|it| render(&question("x", json!({ "v": it }))));
        prop_assert_eq!(a == b, one.to_string() == other.to_string());
    }

    /// Wrapping moves characters to the next line and loses none.
    #[test]
    fn wrapping_loses_nothing(text in any::<String>(), columns in 0..100_usize) {
        let rendered = render(&question("x", json!({ "text": text })));
        let squeeze = |text: String| -> String {
            text.chars().filter(|c| !matches!(c, ' ' | '\n' | '│' | '┊')).collect()
        };
        prop_assert_eq!(squeeze(rendered.wrapped(columns)), squeeze(rendered.to_string()));
    }
}
