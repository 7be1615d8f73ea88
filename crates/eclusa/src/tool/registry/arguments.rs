//! The arguments of one tool: its schema compiled once, defaults, and what is not for the model.

use std::sync::OnceLock;

use jsonschema::{
    Draft, PatternOptions, Validator,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::{Map, Value, json};

use super::{ExtraArgs, plain_schema::certainly_fits, search};
use crate::json::{self, kind};

/// What is known of the arguments of one tool.
pub(crate) struct Arguments {
    shown: Value,
    schema: Value,
    /// What the schema demands, or why that cannot be told: then no arguments are right.
    validator: OnceLock<Result<Validator, String>>,
    defaults: Defaults,
    hidden: Vec<String>,
    extra: ExtraArgs,
    known: Vec<String>,
    /// Other names of arguments, and which is meant.
    aliases: Vec<(String, String)>,
    /// Optional arguments that cannot be null: a null for them says that they are not given.
    absent: Vec<String>,
}

/// How many violations one message lists.
const MAX_VIOLATIONS: usize = 20;

/// Patterns of foreign schemas are compiled by a linear engine, up to this size.
const PATTERN_BYTES: usize = 1 << 20;

impl Arguments {
    pub(crate) fn new(
        schema: Value,
        extra: ExtraArgs,
        hidden: &[String],
        aliases: &[(String, String)],
    ) -> Result<Arguments, String> {
        let arguments = Arguments::lazy(schema, extra, hidden, aliases)?;
        let validator = compiled(&arguments.schema, Draft::Draft202012)?;
        Ok(Arguments { validator: OnceLock::from(Ok(validator)), ..arguments })
    }

    /// The same, compiled when the first arguments come.
    pub(super) fn lazy(
        schema: Value,
        extra: ExtraArgs,
        hidden: &[String],
        aliases: &[(String, String)],
    ) -> Result<Arguments, String> {
        let schema = closed(schema, extra)?;
        let properties = schema.get("properties").and_then(Value::as_object);
        let known: Vec<String> =
            properties.map(|it| it.keys().cloned().collect()).unwrap_or_default();
        let aliases =
            aliases.iter().filter(|(alias, name)| known.contains(name) && !known.contains(alias));
        let aliases = aliases.cloned().collect();
        let absent = absent(&schema);
        Ok(Arguments {
            defaults: Defaults::from_schema(&schema, &schema, 0),
            shown: without(&schema, hidden),
            validator: OnceLock::new(),
            schema,
            hidden: hidden.to_vec(),
            extra,
            known,
            aliases,
            absent,
        })
    }

    /// Arguments of a tool whose schema cannot be used: none are right.
    pub(super) fn unusable(problem: String) -> Arguments {
        Arguments {
            shown: json!({"type": "object"}),
            schema: Value::Null,
            validator: OnceLock::from(Err(problem)),
            defaults: Defaults::default(),
            hidden: Vec::new(),
            extra: ExtraArgs::Refuse,
            known: Vec::new(),
            aliases: Vec::new(),
            absent: Vec::new(),
        }
    }

    pub(crate) fn declared(&self) -> &Value {
        &self.shown
    }

    /// The arguments in the form that is validated, or `None` when they are in it already:
    /// parsed if they came as text, an object if they were absent, each under its own name, defaults
    /// filled in, no null for what is simply not given, nothing hidden set by a model.
    pub(crate) fn normalised(
        &self,
        args: &Value,
        from_model: bool,
    ) -> Result<Option<Value>, String> {
        let mut new = match args {
            Value::Object(_) => None,
            Value::Null => Some(json!({})),
            Value::String(text) if text.trim().is_empty() => Some(json!({})),
            Value::String(text) => Some(json::read(text).map_err(|fault| {
                let place = json::TextPosition::of_byte(text, fault.at);
                format!("the arguments came as text, and at {place} it is not JSON: {}", fault.what)
            })?),
            _ => None,
        };
        let Some(fields) = new.as_ref().unwrap_or(args).as_object() else {
            let it = kind(new.as_ref().unwrap_or(args));
            return Err(format!("the arguments must be an object of named values, not {it}"));
        };
        let renamed = self.renamed(fields).map(Value::Object);
        new = renamed.or(new);
        let Some(fields) = new.as_ref().unwrap_or(args).as_object() else { return Ok(new) };
        let strips = |(name, value): (&String, &Value)| {
            from_model && self.hidden.contains(name)
                || self.extra == ExtraArgs::Strip && !self.known.contains(name)
                || value.is_null() && self.absent.contains(name)
        };
        if fields.iter().any(strips) {
            let mut kept = fields.clone();
            kept.retain(|name, value| !strips((name, value)));
            new = Some(Value::Object(kept));
        }
        if self.defaults.missing_in(new.as_ref().unwrap_or(args)) {
            let value = new.get_or_insert_with(|| args.clone());
            self.defaults.fill(value);
        }
        Ok(new)
    }

    /// The arguments under their own names, if another name was used for one that is not given.
    fn renamed(&self, fields: &Map<String, Value>) -> Option<Map<String, Value>> {
        let used =
            |it: &&(String, String)| fields.contains_key(&it.0) && !fields.contains_key(&it.1);
        let mut renamed: Option<Map<String, Value>> = None;
        for (alias, name) in self.aliases.iter().filter(used) {
            let fields = renamed.get_or_insert_with(|| fields.clone());
            if !fields.contains_key(name)
                && let Some(value) = fields.remove(alias)
            {
                fields.insert(name.clone(), value);
            }
        }
        renamed
    }

    /// The name of an argument that looks like this one, if there is one that a caller may use.
    fn nearest(&self, name: &str) -> Option<String> {
        let offered = self.known.iter().filter(|it| !self.hidden.contains(it));
        search::nearest(name, offered.map(String::as_str)).into_iter().next()
    }

    /// Everything that is wrong with the arguments, or nothing.
    pub(crate) fn check(&self, args: &Value) -> Result<(), String> {
        if certainly_fits(&self.schema, args) {
            return Ok(());
        }
        // Of the two drafts this one is read several times faster.
        let validator = self.validator.get_or_init(|| compiled(&self.schema, Draft::Draft7));
        let validator = match validator {
            Ok(validator) => validator,
            Err(problem) => {
                return Err(format!("the schema of the tool cannot be used: {problem}"));
            }
        };
        if validator.is_valid(args) {
            return Ok(());
        }
        let mut said: Vec<String> = Vec::new();
        let mut more = 0usize;
        for error in validator.iter_errors(args) {
            let sentence = violation(&error, |it| self.nearest(it));
            match said.len() {
                MAX_VIOLATIONS.. => more += 1,
                _ if said.contains(&sentence) => {}
                _ => said.push(sentence),
            }
        }
        if more > 0 {
            said.push(format!("and {more} more"));
        }
        Err(said.join("; "))
    }
}

/// What a schema demands, by the rules of a draft.
pub(super) fn compiled(schema: &Value, draft: Draft) -> Result<Validator, String> {
    let options = jsonschema::options().with_draft(draft);
    // From 2019 on formats only describe.
    let options = match draft {
        Draft::Draft7 => options.should_validate_formats(false),
        _ => options,
    };
    options
        .with_pattern_options(PatternOptions::regex().size_limit(PATTERN_BYTES))
        .build(schema)
        .map_err(|err| err.to_string())
}

/// The optional arguments whose type is said, and is not null. Models fill in every argument that
/// they see, and write null where they mean nothing (S4.50).
fn absent(schema: &Value) -> Vec<String> {
    let required: Vec<&str> = match schema.get("required").and_then(Value::as_array) {
        Some(names) => names.iter().filter_map(Value::as_str).collect(),
        None => Vec::new(),
    };
    let no_null = |schema: &Value| match schema.get("type") {
        Some(Value::String(only)) => only != "null",
        Some(Value::Array(types)) => types.iter().all(|it| it != "null"),
        _ => false,
    };
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties
        .filter(|(name, it)| !required.contains(&name.as_str()) && no_null(it))
        .map(|(name, _)| name.clone())
        .collect()
}

/// One violation, in words that a model can act on: where, and what was expected there. `nearest`
/// finds the argument that a name was meant for.
fn violation(
    error: &jsonschema::ValidationError<'_>,
    nearest: impl Fn(&str) -> Option<String>,
) -> String {
    let path = error.instance_path().as_str();
    let at = if path.is_empty() { "the arguments".to_owned() } else { format!("`{path}`") };
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            format!("{at} must have `{name}`")
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let named = unexpected.iter().map(|it| match nearest(it).filter(|_| path.is_empty()) {
                Some(near) => format!("`{it}` (did you mean `{near}`?)"),
                None => format!("`{it}`"),
            });
            format!("{at} must not have {}", named.collect::<Vec<String>>().join(", "))
        }
        ValidationErrorKind::FalseSchema => {
            format!("{at} must not have anything that the schema does not name")
        }
        ValidationErrorKind::Type { kind: types } => {
            format!("{at}: {} (it is {})", expected(types), kind(error.instance()))
        }
        _ => format!("{at}: {error}"),
    }
}

/// `expected type "string"`: the value is not repeated.
fn expected(types: &TypeKind) -> String {
    match types {
        TypeKind::Single(only) => format!("expected type \"{only}\""),
        TypeKind::Multiple(all) => {
            let all: Vec<String> = all.iter().map(|it| format!("\"{it}\"")).collect();
            format!("expected types {}", all.join(", "))
        }
    }
}

/// The schema with `additionalProperties: false` where it says nothing about other arguments.
pub(super) fn closed(mut schema: Value, extra: ExtraArgs) -> Result<Value, String> {
    let Some(root) = schema.as_object_mut() else {
        return Err("it must be a JSON object".to_owned());
    };
    if root.get("type").is_some_and(|it| it != "object") {
        return Err("its root must have `type: object`, because arguments have names".to_owned());
    }
    root.entry("type").or_insert_with(|| json!("object"));
    const OPEN: [&str; 9] = [
        "additionalProperties",
        "unevaluatedProperties",
        "patternProperties",
        "propertyNames",
        "allOf",
        "anyOf",
        "oneOf",
        "$ref",
        "if",
    ];
    if extra == ExtraArgs::Refuse && !OPEN.iter().any(|it| root.contains_key(*it)) {
        root.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    Ok(schema)
}

/// The schema without the arguments that are not for the model.
fn without(schema: &Value, hidden: &[String]) -> Value {
    let mut shown = schema.clone();
    if let Some(properties) = shown.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| !hidden.contains(name));
    }
    if let Some(required) = shown.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|it| !it.as_str().is_some_and(|it| hidden.iter().any(|h| h == it)));
    }
    shown
}

/// The defaults of a schema, by property.
#[derive(Default)]
struct Defaults(Vec<(String, Option<Value>, Defaults)>);

/// How deep defaults are looked for; also ends schemas that refer to themselves.
const MAX_DEFAULT_DEPTH: usize = 8;

impl Defaults {
    fn from_schema(schema: &Value, root: &Value, depth: usize) -> Defaults {
        let schema = match schema.get("$ref").and_then(Value::as_str) {
            Some(reference) => reference
                .strip_prefix('#')
                .and_then(|pointer| root.pointer(pointer))
                .unwrap_or(schema),
            None => schema,
        };
        let empty = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let listed = schema.get("required").and_then(Value::as_array);
        let required = |name: &str| listed.is_some_and(|it| it.iter().any(|it| it == name));
        let found = properties.iter().filter_map(|(name, property)| {
            let inner = match depth {
                MAX_DEFAULT_DEPTH.. => Defaults::default(),
                _ => Defaults::from_schema(property, root, depth + 1),
            };
            // That nothing is the default says only that the argument need not be given.
            let default =
                property.get("default").filter(|it| !it.is_null() || required(name)).cloned();
            (default.is_some() || !inner.0.is_empty()).then(|| (name.clone(), default, inner))
        });
        Defaults(found.collect())
    }

    /// True when filling would change the value. A null where there is a default counts as
    /// absent, unless the default is null.
    fn missing_in(&self, value: &Value) -> bool {
        let Some(fields) = value.as_object() else { return false };
        self.0.iter().any(|(name, default, inner)| match (fields.get(name), default) {
            (None, Some(_)) => true,
            (Some(Value::Null), Some(default)) => !default.is_null(),
            (Some(value), _) => inner.missing_in(value),
            (None, None) => false,
        })
    }

    fn fill(&self, value: &mut Value) {
        let Some(fields) = value.as_object_mut() else { return };
        for (name, default, inner) in &self.0 {
            match (fields.get_mut(name), default) {
                (None | Some(Value::Null), Some(default)) => {
                    fields.insert(name.clone(), default.clone());
                }
                (Some(value), _) => inner.fill(value),
                (None, None) => {}
            }
        }
    }
}
