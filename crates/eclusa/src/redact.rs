//! Taking secrets out of what leaves: outputs, records, events.
//!
//! A secret is found by its shape (a rule: keyword, then expression, then entropy) or, in JSON,
//! by the name of its field. What was found is counted and replaced by a mark that names the rule
//! (`[redacted:github-token]`), never shown. The rules that are shipped are
//! `redact/secrets.toml`; more can be added, see [`SecretRule`].

use std::{
    borrow::Cow,
    fmt,
    sync::{Arc, LazyLock},
};

use serde_json::{Map, Value};

use engine::Engine;
pub(crate) use pieces::RedactedPieces;
pub use rules::{Loaded, RuleError, SecretRule};
pub use stream::RedactedStream;

mod engine;
mod gitleaks;
mod guess;
mod keywords;
mod names;
mod pieces;
mod rules;
mod sieve;
mod stream;
mod words;

#[cfg(test)]
mod tests;

/// The mark for what was found by the name of its field.
const BY_NAME: &str = "secret-by-name";

/// The shipped rules, shared by all. A test reads them; should they ever not be readable, a text
/// with one of their keywords goes as a whole.
static SHIPPED: LazyLock<Engine> =
    LazyLock::new(|| Engine::shipped(include_str!("redact/secrets.toml")));

/// Finds secrets and puts a mark in their place.
///
/// The default knows the shipped rules and costs nothing to make.
#[derive(Clone)]
pub struct Redactor {
    rules: RuleSet,
}

/// What a redactor looks for.
#[derive(Clone)]
enum RuleSet {
    /// Nothing.
    None,
    /// The shipped rules, which are read when the first text comes.
    Shipped,
    /// Others besides.
    Own(Arc<Engine>),
}

impl Default for Redactor {
    fn default() -> Redactor {
        Redactor { rules: RuleSet::Shipped }
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").field("rules", &self.rules().len()).finish()
    }
}

impl Redactor {
    /// Redacts nothing, for programs that see to it themselves.
    pub fn off() -> Redactor {
        Redactor { rules: RuleSet::None }
    }

    fn engine(&self) -> Option<&Engine> {
        match &self.rules {
            RuleSet::None => None,
            RuleSet::Shipped => Some(&SHIPPED),
            RuleSet::Own(engine) => Some(engine),
        }
    }

    /// The same, with more rules. Those that it had come first where several find the same.
    pub fn with_rules(&self, rules: impl IntoIterator<Item = SecretRule>) -> Redactor {
        let known = self.rules().iter().cloned();
        Redactor { rules: RuleSet::Own(Arc::new(Engine::new(known.chain(rules).collect()))) }
    }

    /// The shipped rules, and those in a text in our own format ([`SecretRule::from_toml`]).
    pub fn from_toml(text: &str) -> Result<Redactor, RuleError> {
        Ok(Redactor::default().with_rules(SecretRule::from_toml(text)?))
    }

    /// The rules it knows, for people who want to read them.
    pub fn rules(&self) -> &[SecretRule] {
        self.engine().map_or(&[], |engine| engine.rules())
    }

    /// The text without its secrets, and how many there were. Borrowed when there were none.
    pub fn text<'a>(&self, text: &'a str) -> (Cow<'a, str>, usize) {
        if text.is_empty() {
            // The rules need not be read for that.
            return (Cow::Borrowed(text), 0);
        }
        match self.engine() {
            Some(engine) => engine.redact(text),
            None => (Cow::Borrowed(text), 0),
        }
    }

    /// The value without its secrets, and how many there were. Borrowed when there were none.
    ///
    /// Besides what rules find in its texts, texts in fields with a telling name (`password`,
    /// `apiKey`, `X-Auth-Token`) go (S0.25). Names of fields stay as they are, unless they
    /// contain a secret themselves.
    pub fn value<'a>(&self, value: &'a Value) -> (Cow<'a, Value>, usize) {
        let changed = self.engine().and_then(|engine| walk(engine, value, false));
        match changed {
            Some((value, count)) => (Cow::Owned(value), count),
            None => (Cow::Borrowed(value), 0),
        }
    }
}

/// What becomes of a value, and how many secrets were in it; `None` when there were none.
/// `telling` is set inside a field whose name says that it holds a secret.
fn walk(engine: &Engine, value: &Value, telling: bool) -> Option<(Value, usize)> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
        Value::String(text) if telling => {
            let hide = !text.is_empty() && !engine.is_mark(text);
            hide.then(|| (Value::String(format!("[redacted:{BY_NAME}]")), 1))
        }
        Value::String(text) => match engine.redact(text) {
            (Cow::Owned(text), count) => Some((Value::String(text), count)),
            (Cow::Borrowed(_), _) => None,
        },
        Value::Array(items) => array(engine, items, telling),
        Value::Object(fields) => object(engine, fields, telling),
    }
}

fn array(engine: &Engine, items: &[Value], telling: bool) -> Option<(Value, usize)> {
    let mut changed: Option<(Vec<Value>, usize)> = None;
    for (index, item) in items.iter().enumerate() {
        let Some((item, found)) = walk(engine, item, telling) else { continue };
        let (items, count) = changed.get_or_insert_with(|| (items.to_vec(), 0));
        *count += found;
        if let Some(place) = items.get_mut(index) {
            *place = item;
        }
    }
    changed.map(|(items, count)| (Value::Array(items), count))
}

fn object(engine: &Engine, fields: &Map<String, Value>, telling: bool) -> Option<(Value, usize)> {
    let mut changed: Vec<(&String, Option<String>, Option<Value>)> = Vec::new();
    let mut count = 0;
    for (name, value) in fields {
        let (shown, in_name) = engine.redact(name);
        let secret = names::is_telling(name) || (telling && names::is_content(name));
        let inside = walk(engine, value, secret);
        if in_name == 0 && inside.is_none() {
            continue;
        }
        count += in_name + inside.as_ref().map_or(0, |(_, found)| *found);
        let renamed = (in_name > 0).then(|| shown.into_owned());
        changed.push((name, renamed, inside.map(|(value, _)| value)));
    }
    if changed.is_empty() {
        return None;
    }
    let mut fields = fields.clone();
    for (name, renamed, value) in changed {
        let Some(old) = fields.remove(name) else { continue };
        let name = free_name(&fields, renamed.unwrap_or_else(|| name.clone()));
        fields.insert(name, value.unwrap_or(old));
    }
    Some((Value::Object(fields), count))
}

/// Two secrets as names of fields may get the same mark; neither field is lost for it.
fn free_name(fields: &Map<String, Value>, name: String) -> String {
    if !fields.contains_key(&name) {
        return name;
    }
    let numbered = (2..).map(|n: usize| format!("{name} {n}"));
    numbered.into_iter().find(|it| !fields.contains_key(it)).unwrap_or(name)
}
