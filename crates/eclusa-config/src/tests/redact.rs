//! Kinds of secrets from the configuration.

use std::io;

use crate::{RedactRule, RedactSettings};

fn settings(regex: &str) -> RedactSettings {
    let rule = RedactRule {
        name: "badge".to_owned(),
        regex: regex.to_owned(),
        keywords: vec!["badge".to_owned()],
        origin: "mine.toml:3".to_owned(),
    };
    RedactSettings { on: true, rules: vec![rule], files: Vec::new() }
}

fn none(_: &str) -> io::Result<String> {
    Err(io::ErrorKind::NotFound.into())
}

#[test]
fn rules_from_the_configuration_are_added_to_the_shipped_ones() {
    let redactor = settings("badge-[0-9]+").redactor(none).unwrap();
    assert_eq!(redactor.text("my badge-42").0, "my [redacted:badge]");
    assert!(redactor.rules().len() > 10);
}

#[test]
fn a_rule_that_is_broken_is_an_error_with_its_place() {
    let err = settings("badge-[").redactor(none).unwrap_err();
    assert!(err.to_string().starts_with("mine.toml:3: "), "{err}");
}

#[test]
fn files_are_read_in_both_forms_and_one_that_is_missing_is_an_error() {
    let files = vec!["more.toml".to_owned()];
    let settings = RedactSettings { on: true, rules: Vec::new(), files };
    let err = settings.redactor(none).unwrap_err().to_string();
    assert!(err.starts_with("the secrets in `more.toml` cannot be used: "), "{err}");
    for key in ["rule", "rules"] {
        let text = format!(
            "[[{key}]]\nid = 'badge'\ndescription = 'x'\nregex = 'badge-[0-9]+'\n\
             keywords = ['badge']\n"
        );
        let redactor = settings.redactor(|_| Ok(text.clone())).unwrap();
        assert_eq!(redactor.text("my badge-42").0, "my [redacted:badge]", "{key}");
    }
}

#[test]
fn it_can_be_turned_off() {
    let settings = RedactSettings { on: false, ..settings("x") };
    assert_eq!(settings.redactor(none).unwrap().rules().len(), 0);
}
