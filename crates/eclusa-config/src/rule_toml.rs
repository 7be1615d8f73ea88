//! A rule as it is written: made here to be shown, pasted and read again.

use serde_json::Value;

/// A rule, key by key, in the order in which people read it.
#[derive(Debug, Clone)]
pub struct RuleToml {
    decision: String,
    lines: Vec<(String, String)>,
}

impl RuleToml {
    /// A rule that decides this.
    pub fn new(decision: &str) -> RuleToml {
        let lines = vec![("decision".to_owned(), quoted(decision))];
        RuleToml { decision: decision.to_owned(), lines }
    }

    /// What it decides.
    pub fn decision(&self) -> &str {
        &self.decision
    }

    /// With a key that is a text.
    pub fn text(mut self, key: &str, text: &str) -> RuleToml {
        self.lines.push((key.to_owned(), quoted(text)));
        self
    }

    /// With a key that is a text, or several.
    pub fn list(mut self, key: &str, texts: &[String]) -> RuleToml {
        let value = match texts {
            [only] => quoted(only),
            texts => RuleToml::strings(texts),
        };
        self.lines.push((key.to_owned(), value));
        self
    }

    /// With a condition that an argument is this very value, which is neither list nor object.
    pub fn argument(mut self, name: &str, value: &Value) -> RuleToml {
        let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
        let value = match value {
            Value::String(text) => quoted(text),
            value => value.to_string(),
        };
        let key = format!("arg.{}", quoted(&pointer));
        self.lines.push((key, format!("{{ equals = {value} }}")));
        self
    }

    /// With a key that is a table of one test.
    pub fn raw(mut self, key: &str, test: &str, text: &str) -> RuleToml {
        self.lines.push((key.to_owned(), format!("{{ {test} = {} }}", quoted(text))));
        self
    }

    /// With a condition on a text that does not fit this regular expression.
    pub fn unless(mut self, key: &str, regex: &str) -> RuleToml {
        let value = format!("{{ not = {{ regex = {} }} }}", quoted(regex));
        self.lines.push((key.to_owned(), value));
        self
    }

    /// Several texts, as a list.
    pub fn strings(texts: &[String]) -> String {
        let texts: Vec<String> = texts.iter().map(|it| quoted(it)).collect();
        format!("[{}]", texts.join(", "))
    }

    /// As it stands in a file.
    pub fn toml(&self) -> String {
        let lines: Vec<String> =
            self.lines.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        format!("[[rules]]\n{}", lines.join("\n"))
    }
}

/// A text in quotes, as TOML has it.
fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}
