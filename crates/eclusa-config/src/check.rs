//! Checks a file against the schema, so that every mistake is found at once, with its place.
//!
//! The schema is the published one: a key that it names is a key that is read.

use serde_json::Value;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::error::Problem;

/// Keys of the first version, and what they are called now.
const RENAMED: [(&str, &str); 1] = [("cell", "sandbox")];

/// Everything in a file that the schema does not allow.
pub(super) fn check(schema: &Value, tree: &Spanned<DeTable<'_>>) -> Vec<Problem> {
    let mut check = Check { root: schema, problems: Vec::new() };
    check.table(schema, tree.get_ref(), &(0..0), "");
    check.problems
}

struct Check<'a> {
    root: &'a Value,
    problems: Vec<Problem>,
}

type Span = std::ops::Range<usize>;

static ANYTHING: Value = Value::Bool(true);

impl<'a> Check<'a> {
    fn value(&mut self, schema: &'a Value, value: &Spanned<DeValue<'_>>, path: &str) {
        let schema = self.resolved(schema);
        let (span, value) = (value.span(), value.get_ref());
        if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
            let fitting = choices.iter().find(|it| accepts(self.resolved(it), value));
            return match fitting {
                Some(choice) => self.inner(self.resolved(choice), value, &span, path),
                None => {
                    let wanted: Vec<&str> =
                        choices.iter().filter_map(|it| wanted(self.resolved(it))).collect();
                    self.kind(schema, value, &span, path, &wanted);
                }
            };
        }
        if accepts(schema, value) {
            self.inner(schema, value, &span, path);
        } else {
            self.kind(schema, value, &span, path, &Vec::from_iter(wanted(schema)));
        }
    }

    /// What is in a value of the right kind.
    fn inner(&mut self, schema: &'a Value, value: &DeValue<'_>, span: &Span, path: &str) {
        match value {
            DeValue::Table(table) => self.table(schema, table, span, path),
            DeValue::Array(items) => {
                if let Some(schema) = schema.get("items") {
                    items.iter().for_each(|it| self.value(schema, it, path));
                }
            }
            DeValue::String(text) => {
                let words = schema.get("enum").and_then(Value::as_array);
                let words = words.map(|it| it.iter().filter_map(Value::as_str));
                if let Some(words) = words
                    && !words.clone().any(|it| it == text)
                {
                    self.problems.push(unknown_word(span, path, text, words.collect()));
                }
            }
            DeValue::Integer(number) => {
                let least = schema.get("minimum").and_then(Value::as_f64);
                let read = i64::from_str_radix(number.as_str(), number.radix());
                match (read, least) {
                    (Err(_), _) => {
                        let text = format!("`{path}` is a number too large to be meant");
                        self.problems.push(Problem::new(span, text));
                    }
                    (Ok(read), Some(least)) if (read as f64) < least => {
                        let text = format!("`{path}` cannot be {read}");
                        let help = match least > 0.0 {
                            true => format!("it is at least {least}"),
                            false => "it cannot be negative".to_owned(),
                        };
                        self.problems.push(Problem::new(span, text).help(help));
                    }
                    _ => {}
                }
            }
            DeValue::Float(number) => {
                if !number.as_str().parse().is_ok_and(f64::is_finite) {
                    let text = format!("`{path}` must be a finite number");
                    self.problems.push(Problem::new(span, text));
                }
            }
            DeValue::Datetime(_) => {
                let text = format!("`{path}` is a date, and JSON has none");
                self.problems.push(Problem::new(span, text).help("write it in quotes"));
            }
            DeValue::Boolean(_) => {}
        }
    }

    fn table(&mut self, schema: &'a Value, table: &DeTable<'_>, span: &Span, path: &str) {
        let named = schema.get("properties").and_then(Value::as_object);
        let others = schema.get("additionalProperties");
        for (key, value) in table {
            let name: &str = key.get_ref();
            let below = match path {
                "" => name.to_owned(),
                path => format!("{path}.{name}"),
            };
            let renamed = RENAMED.iter().find(|it| it.0 == name).map(|it| it.1);
            let known = named.and_then(|it| it.get(name).or_else(|| it.get(renamed?)));
            match (known, others) {
                (Some(schema), _) => self.value(schema, value, &below),
                (None, Some(Value::Bool(false))) => {
                    let names = named.into_iter().flat_map(|it| it.keys()).map(String::as_str);
                    let problem = Problem::new(&key.span(), format!("unknown key `{name}`"));
                    self.problems.push(problem.nearest(name, names));
                }
                (None, Some(schema @ Value::Object(_))) => self.value(schema, value, &below),
                (None, _) => self.value(&ANYTHING, value, &below),
            }
        }
        let required = schema.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !table.contains_key(name) {
                let text = format!("`{path}` needs `{name}`");
                self.problems.push(Problem::new(span, text));
            }
        }
    }

    fn kind(
        &mut self,
        schema: &Value,
        value: &DeValue<'_>,
        span: &Span,
        path: &str,
        wanted: &[&str],
    ) {
        let mut wanted = wanted.to_vec();
        wanted.dedup();
        let text = format!("`{path}` must be {}, not {}", wanted.join(" or "), kind(value));
        let secret = path.ends_with(".key");
        let help = match secret {
            true => Some(
                "never write the key itself here: `key = { env = \"NAME\" }` names its variable"
                    .to_owned(),
            ),
            false => how_to_write(schema, value, path),
        };
        self.problems.push(Problem { help, secret, ..Problem::new(span, text) });
    }

    fn resolved(&self, schema: &'a Value) -> &'a Value {
        let name = schema.get("$ref").and_then(Value::as_str);
        let name = name.and_then(|it| it.strip_prefix("#/$defs/"));
        name.and_then(|it| self.root.get("$defs")?.get(it)).unwrap_or(schema)
    }
}

/// How a value of the wrong kind was probably meant.
fn how_to_write(schema: &Value, value: &DeValue<'_>, path: &str) -> Option<String> {
    let wants = |name: &str| schema.get("type").is_some_and(|it| it == name);
    let about = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    match value {
        DeValue::Integer(number) if wants("string") && is_time(about) => {
            Some(format!("write `\"{}s\"`", number.as_str()))
        }
        DeValue::Table(_) if wants("array") => Some(format!("write `[[{path}]]`")),
        DeValue::String(text) if wants("integer") && text.parse::<u64>().is_ok() => {
            Some("write it without quotes".to_owned())
        }
        _ => None,
    }
}

/// Whether a description is that of a time.
fn is_time(about: &str) -> bool {
    ["Time ", "How long"].iter().any(|it| about.starts_with(it))
}

fn unknown_word(span: &Span, path: &str, text: &str, words: Vec<&str>) -> Problem {
    let problem = Problem::new(span, format!("`{path}` cannot be `{text}`"));
    match crate::error::nearest(text, words.iter().copied()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help(format!("use one of {}", words.join(", "))),
    }
}

/// Whether a value is of the kind that a schema is about.
fn accepts(schema: &Value, value: &DeValue<'_>) -> bool {
    let Some(kind) = schema.get("type").and_then(Value::as_str) else { return true };
    match value {
        DeValue::String(_) => kind == "string",
        DeValue::Integer(_) => kind == "integer" || kind == "number",
        DeValue::Float(_) => kind == "number",
        DeValue::Boolean(_) => kind == "boolean",
        DeValue::Datetime(_) => false,
        DeValue::Array(_) => kind == "array",
        DeValue::Table(_) => kind == "object",
    }
}

fn wanted(schema: &Value) -> Option<&'static str> {
    Some(match schema.get("type")?.as_str()? {
        "string" => "text",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "a table",
        _ => return None,
    })
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
