//! What a server says about one of its tools: what of it is pinned, what a model gets to read, and
//! what a person should look at.

use std::fmt;

use eclusa::settings::ServerSettings;
use rmcp::model::{Icon, MetaObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::{
    icons,
    names::tool_name,
    sanitize::{is_hidden, sanitize, strip_hidden},
};

/// The longest description that a model reads, in bytes.
const MAX_DESCRIPTION_BYTES: usize = 2048;

/// The largest schemas that are taken, in bytes.
const MAX_SCHEMA_BYTES: usize = 64 << 10;

/// The largest definition that is taken, in bytes.
const MAX_DEFINITION_BYTES: usize = 128 << 10;

/// Phrases that tell a model what to do with something else than the tool. A person looks at them;
/// nothing is decided by them, because there are a thousand other ways to say the same.
const ORDER_PHRASES: [&str; 14] = [
    "ignore previous",
    "ignore all previous",
    "ignore the above",
    "disregard",
    "do not tell",
    "don't tell",
    "do not mention",
    "without telling",
    "before using any",
    "before calling any",
    "you must first",
    "<important>",
    "<system>",
    "system prompt",
];

/// A tool as its server defines it.
#[derive(Debug, Clone)]
pub struct ToolDefinition {
    /// What it is called here.
    pub name: String,
    /// What it is called there.
    pub original: String,
    /// What a person should look at.
    pub flags: Vec<DefinitionFlag>,
    /// What is pinned: everything that a model or a client goes by.
    pub pinned: Value,
    pub(super) title: Option<String>,
    pub(super) annotations: Option<ToolAnnotations>,
    pub(super) icons: Option<Vec<Icon>>,
    pub(super) meta: Option<MetaObject>,
    pub(super) description: String,
    pub(super) input: Value,
    pub(super) output: Option<Value>,
    pub(super) read_only: bool,
    pub(super) destructive: bool,
}

/// Something about a definition that a person should look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DefinitionFlag {
    /// It has characters in it that nobody sees. A model does not get them.
    Hidden,
    /// It tells the model what to do: the phrase.
    Orders(String),
    /// It is longer than what a model gets of it.
    Long,
    /// It names tools of another server.
    Mentions(String),
}

impl fmt::Display for DefinitionFlag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DefinitionFlag::Hidden => f.write_str("it has invisible characters in it"),
            DefinitionFlag::Orders(phrase) => {
                write!(f, "it tells the model what to do: `{phrase}`")
            }
            DefinitionFlag::Long => {
                write!(f, "its description is over {MAX_DESCRIPTION_BYTES} bytes, and was cut")
            }
            DefinitionFlag::Mentions(name) => {
                write!(f, "it speaks of `{name}`, which is another server's")
            }
        }
    }
}

impl ToolDefinition {
    /// Reads what a server says. The error says why the tool cannot be had. `others` are the names
    /// of the other servers.
    pub(super) fn read(
        server: &ServerSettings,
        tool: &Tool,
        others: &[String],
    ) -> Result<ToolDefinition, String> {
        let mut flags = Vec::new();
        let mut input = Value::Object(Map::clone(&tool.input_schema));
        let mut output = tool.output_schema.as_deref().cloned().map(Value::Object);
        let size: usize = [Some(&input), output.as_ref()]
            .into_iter()
            .flatten()
            .map(|it| it.to_string().len())
            .sum();
        if size > MAX_SCHEMA_BYTES {
            return Err(format!(
                "its schemas have {size} bytes, and {MAX_SCHEMA_BYTES} are taken at most"
            ));
        }
        let mut pinned = json!({
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": input,
            "outputSchema": output,
            "annotations": serde_json::to_value(&tool.annotations).unwrap_or_default(),
        });
        let icons = icons::icons(tool.icons.as_deref(), server);
        let meta = icons::meta(tool.meta.as_ref(), server);
        // What is rare is not there as `null` in what is kept of all others.
        for (key, told) in [
            ("icons", icons.as_ref().and_then(|it| serde_json::to_value(it).ok())),
            ("_meta", meta.as_ref().and_then(|it| serde_json::to_value(it).ok())),
        ] {
            if let (Some(told), Some(pinned)) = (told, pinned.as_object_mut()) {
                pinned.insert(key.to_owned(), told);
            }
        }
        let size = pinned.to_string().len();
        if size > MAX_DEFINITION_BYTES {
            return Err(format!(
                "its definition has {size} bytes; the limit is {MAX_DEFINITION_BYTES}"
            ));
        }
        look(&pinned, others, &mut flags);
        clean(&mut input);
        if let Some(output) = &mut output {
            clean(output);
        }
        let whole = strip_hidden(tool.description.as_deref().unwrap_or_default());
        let mut description = whole.clone();
        if description.len() > MAX_DESCRIPTION_BYTES {
            flags.push(DefinitionFlag::Long);
            description.truncate(description.floor_char_boundary(MAX_DESCRIPTION_BYTES));
            description.push_str(" […]");
        }
        let hints = tool.annotations.as_ref();
        Ok(ToolDefinition {
            name: tool_name(&server.name, &tool.name),
            original: tool.name.clone().into_owned(),
            flags,
            pinned,
            title: tool.title.as_deref().map(sanitize),
            annotations: tool.annotations.clone().map(|mut it| {
                it.title = it.title.as_deref().map(sanitize);
                it
            }),
            icons,
            meta,
            description,
            input,
            output,
            read_only: hints.and_then(|it| it.read_only_hint).unwrap_or(false),
            destructive: hints.and_then(|it| it.destructive_hint).unwrap_or(true),
        })
    }
}

/// Looks through every text of a definition.
fn look(pinned: &Value, others: &[String], flags: &mut Vec<DefinitionFlag>) {
    let mut flag = |it: DefinitionFlag| {
        if !flags.contains(&it) {
            flags.push(it);
        }
    };
    let names = |server: &str| format!("mcp_{}_", server.to_lowercase());
    let mut left = vec![pinned];
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => {
                if text.chars().any(is_hidden) {
                    flag(DefinitionFlag::Hidden);
                }
                let lower = strip_hidden(text).to_lowercase();
                for order in ORDER_PHRASES.iter().filter(|it| lower.contains(**it)) {
                    flag(DefinitionFlag::Orders((*order).to_owned()));
                }
                for other in others.iter().filter(|it| lower.contains(&names(it))) {
                    flag(DefinitionFlag::Mentions(other.clone()));
                }
            }
            Value::Array(items) => left.extend(items),
            Value::Object(fields) => left.extend(fields.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Takes what nobody sees out of the texts of a schema that are for reading. Names and constants
/// stay as they are: the server means them.
fn clean(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if name == "description" || name == "title" => {
                        *text = strip_hidden(text);
                    }
                    _ => clean(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(clean),
        _ => {}
    }
}
