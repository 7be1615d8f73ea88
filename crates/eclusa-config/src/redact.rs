//! Redaction as configured: the shipped kinds of secrets, and the person's.

use std::io;

use eclusa::{Redactor, redact::SecretRule};
use toml::{Table, Value};

/// How secrets are taken out of what leaves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RedactSettings {
    /// Whether they are.
    pub on: bool,
    /// Further kinds of secrets, beside the built-in ones.
    pub rules: Vec<RedactRule>,
    /// Files with further kinds of secrets, as they were written.
    pub files: Vec<String>,
}

/// One more kind of secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactRule {
    /// What it is called in the mark that takes the secret's place.
    pub name: String,
    /// What it looks like.
    pub regex: String,
    /// Words of which at least one stands near it; none: it is looked for everywhere.
    pub keywords: Vec<String>,
    /// Where it is written.
    pub origin: String,
}

/// A kind of secret that cannot be looked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RedactionError {
    /// One that is written in the configuration.
    #[error("{origin}: {problem}")]
    Rule {
        /// Where: `file:line`.
        origin: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Those of a file.
    #[error("the secrets in `{file}` cannot be used: {problem}")]
    File {
        /// The file, as it was written.
        file: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl RedactSettings {
    /// The redactor that these settings describe. Files are read by whoever may read them: `read`
    /// is given their names as they were written.
    pub fn redactor(
        &self,
        read: impl Fn(&str) -> io::Result<String>,
    ) -> Result<Redactor, RedactionError> {
        if !self.on {
            return Ok(Redactor::off());
        }
        let mut more = Vec::new();
        for rule in &self.rules {
            let read = SecretRule::from_toml(&as_file(rule));
            more.extend(read.map_err(|err| RedactionError::Rule {
                origin: rule.origin.clone(),
                problem: err.to_string(),
            })?);
        }
        for file in &self.files {
            let wrong = |problem| RedactionError::File { file: file.clone(), problem };
            let text = read(file).map_err(|err| wrong(err.to_string()))?;
            more.extend(rules_of(&text).map_err(wrong)?);
        }
        match more.is_empty() {
            true => Ok(Redactor::default()),
            false => Ok(Redactor::default().with_rules(more)),
        }
    }
}

/// Reads a file in our own format, where rules are `rule`, or in that of gitleaks: `rules`.
fn rules_of(text: &str) -> Result<Vec<SecretRule>, String> {
    let document: Table = text.parse().map_err(|err| format!("it is not TOML: {err}"))?;
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
    let keywords = rule.keywords.iter().cloned().map(Value::String).collect();
    let table: Table = [
        ("id", Value::String(rule.name.clone())),
        ("description", Value::String("from the configuration".to_owned())),
        ("keywords", Value::Array(keywords)),
        ("regex", Value::String(rule.regex.clone())),
    ]
    .into_iter()
    .map(|(key, value)| (key.to_owned(), value))
    .collect();
    let rules = Value::Array(vec![Value::Table(table)]);
    Table::from_iter([("rule".to_owned(), rules)]).to_string()
}
