//! What is taken out of everything that leaves: the shipped kinds of secrets, and the person's.

use std::path::Path;

use eclusa::{Redactor, SecretRule};
use eclusa_config::{RedactRule, RedactSettings};
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, value};

use crate::failure::Failure;

/// The redactor that these settings describe. Files with relative names are looked for here.
pub(crate) fn redactor(settings: &RedactSettings, directory: &Path) -> Result<Redactor, Failure> {
    if !settings.on {
        return Ok(Redactor::off());
    }
    let mut more = Vec::new();
    for rule in &settings.rules {
        let read = SecretRule::from_toml(&as_file(rule));
        more.extend(read.map_err(|err| Failure::usage(format!("{}: {err}", rule.origin)))?);
    }
    for file in &settings.files {
        let path = directory.join(file);
        let wrong = |what: String| {
            Failure::usage(format!("the secrets in `{}` cannot be used: {what}", path.display()))
        };
        let text = crate::read_text::read_text(&path).map_err(|err| wrong(err.to_string()))?;
        more.extend(read(&text).map_err(wrong)?);
    }
    match more.is_empty() {
        true => Ok(Redactor::default()),
        false => Ok(Redactor::default().with_rules(more)),
    }
}

/// Reads a file in our own format, where rules are `rule`, or in that of gitleaks: `rules`.
fn read(text: &str) -> Result<Vec<SecretRule>, String> {
    let document: DocumentMut = text.parse().map_err(|err| format!("it is not TOML: {err}"))?;
    if document.contains_key("rules") {
        return match SecretRule::from_gitleaks(text) {
            Ok(loaded) => Ok(loaded.rules),
            Err(err) => Err(err.to_string()),
        };
    }
    SecretRule::from_toml(text).map_err(|err| err.to_string())
}

/// A rule from the configuration in the format of files with such rules, which check it.
fn as_file(rule: &RedactRule) -> String {
    let mut table = Table::new();
    table.insert("id", value(rule.name.as_str()));
    table.insert("description", value("from the configuration"));
    table.insert("keywords", value(rule.keywords.iter().collect::<Array>()));
    table.insert("regex", value(rule.regex.as_str()));
    let mut rules = ArrayOfTables::new();
    rules.push(table);
    let mut document = DocumentMut::new();
    document.insert("rule", Item::ArrayOfTables(rules));
    document.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(regex: &str) -> RedactSettings {
        let rule = RedactRule {
            name: "badge".to_owned(),
            regex: regex.to_owned(),
            keywords: vec!["badge".to_owned()],
            origin: "mine.toml:3".to_owned(),
        };
        RedactSettings { on: true, rules: vec![rule], files: Vec::new() }
    }

    #[test]
    fn rules_from_the_configuration_are_added_to_the_shipped_ones() {
        let redactor = redactor(&settings("badge-[0-9]+"), Path::new("/")).unwrap();
        assert_eq!(redactor.text("my badge-42").0, "my [redacted:badge]");
        assert!(redactor.rules().len() > 10);
    }

    #[test]
    fn a_rule_that_is_broken_is_an_error_with_its_place() {
        let err = redactor(&settings("badge-["), Path::new("/")).unwrap_err();
        assert!(err.lines().join("\n").contains("mine.toml:3"), "{err:?}");
    }

    #[test]
    fn a_file_that_is_missing_is_an_error() {
        let settings =
            RedactSettings { on: true, rules: Vec::new(), files: vec!["no-such-file".to_owned()] };
        assert!(redactor(&settings, Path::new("/")).is_err());
    }

    #[test]
    fn it_can_be_turned_off() {
        let settings = RedactSettings { on: false, ..settings("x") };
        assert_eq!(redactor(&settings, Path::new("/")).unwrap().rules().len(), 0);
    }
}
