//! Tests of remember.

use eclusa::approve::GrantScope;

use eclusa_config::rule_text;

use super::*;

fn grant() -> Grant {
    grant_for(GrantScope::default())
}

fn grant_for(scope: GrantScope) -> Grant {
    let (tool, revision) = ("note".to_owned(), "r".to_owned());
    Grant { tool, revision, args: None, scope: Some(scope) }
}

#[test]
fn what_is_shown_is_what_is_written_and_can_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("new/eclusa.toml");
    let person = dir.path().join("mine.toml");
    let everywhere = Everywhere::default();
    let writer = RuleWriter::new(file.clone(), person.clone(), everywhere.clone());
    writer.always(&grant()).unwrap();
    assert!(!person.exists(), "always is for this workspace");
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text.trim(), rule_text(&grant()));
    let config =
        eclusa_config::Config::load(&[eclusa_config::Layer::of_person("f", text)]).unwrap();
    assert!(config.rules.iter().any(|it| it.decision() == eclusa::Decision::Allow));
    // For every workspace only where the person said so, and once.
    everywhere.insert(&grant());
    writer.always(&grant()).unwrap();
    assert_eq!(std::fs::read_to_string(&person).unwrap().trim(), rule_text(&grant()));
    writer.always(&grant()).unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap().matches("[[rules]]").count(), 2);
}

#[test]
fn a_file_that_is_not_toml_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("eclusa.toml");
    std::fs::File::create(&file).unwrap().write_all(b"not [ toml").unwrap();
    let person = dir.path().join("mine.toml");
    let writer = RuleWriter::new(file.clone(), person, Everywhere::default());
    let err = writer.always(&grant()).unwrap_err();
    assert!(err.0.contains("is not TOML"), "{err}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "not [ toml");
}
