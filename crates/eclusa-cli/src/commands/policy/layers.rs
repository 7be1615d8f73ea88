//! The rules of all layers as their authors wrote them, with the place of each.

use eclusa_config::Config;
use toml_edit::{Item, Table, Value};

/// One rule, as written.
pub(super) struct SourceRule {
    /// `file:line`.
    pub(super) origin: String,
    shipped: bool,
    /// Its keys.
    pub(super) keys: Table,
}

/// Every rule of a configuration.
pub(super) fn rules(config: &Config) -> Vec<SourceRule> {
    let all = config.settings().into_iter().filter(|it| it.key == "rules");
    let read = |setting: eclusa_config::Setting| {
        let text = format!("rule = {}", setting.value);
        let document: toml_edit::DocumentMut = text.parse().ok()?;
        let keys = document.get("rule")?.as_inline_table()?.clone().into_table();
        Some(SourceRule { origin: setting.origin, shipped: setting.shipped, keys })
    };
    all.filter_map(read).collect()
}

/// Keys that are no conditions.
const SAID: [&str; 5] = ["decision", "id", "reason", "match", "not_match"];

impl SourceRule {
    /// What it decides.
    pub(super) fn decision(&self) -> &str {
        self.keys.get("decision").and_then(Item::as_str).unwrap_or_default()
    }

    /// Its id, if it has one.
    pub(super) fn id(&self) -> Option<String> {
        self.keys.get("id").and_then(Item::as_str).map(str::to_owned)
    }

    /// Its name, or its place.
    pub(super) fn name(&self) -> String {
        match self.keys.get("id").and_then(Item::as_str) {
            Some(id) => format!("`{id}`"),
            None => format!("the rule at {}", self.origin),
        }
    }

    /// True when it came with the program.
    pub(super) fn is_shipped(&self) -> bool {
        self.shipped
    }

    /// How many examples it has.
    pub(super) fn examples(&self) -> usize {
        let count = |key| self.keys.get(key).and_then(Item::as_array).map_or(0, |it| it.len());
        count("match") + count("not_match")
    }

    /// Its conditions, by key.
    pub(super) fn conditions(&self) -> impl Iterator<Item = (&str, &Item)> {
        self.keys.iter().filter(|(key, _)| !SAID.contains(key))
    }

    /// The texts of a condition that is one text or a list; `None`: it is not there, or is
    /// something else.
    pub(super) fn texts(&self, key: &str) -> Option<Vec<&str>> {
        texts(self.keys.get(key)?)
    }
}

/// The texts of a value that is one text or a list of them.
pub(super) fn texts(item: &Item) -> Option<Vec<&str>> {
    match item.as_value()? {
        Value::String(text) => Some(vec![text.value()]),
        Value::Array(items) => items.iter().map(Value::as_str).collect(),
        _ => None,
    }
}
