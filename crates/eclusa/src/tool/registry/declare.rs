//! The tools as a model API wants them declared, rendered once for each registry state.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::{Value, json};

use super::{Registered, Registry, RegistryError};
use crate::Scene;

/// The shape in which a model API wants tools declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// OpenAI Chat Completions: `{"type":"function","function":{…}}`.
    OpenAiChat,
    /// OpenAI Responses: `{"type":"function","name":…}`.
    OpenAiResponses,
    /// Anthropic Messages: `{"name","description","input_schema"}`.
    Anthropic,
    /// Gemini: one `{"functionDeclarations":[…]}`.
    Gemini,
    /// MCP `tools/list`: `{"name","description","inputSchema","annotations"}`.
    Mcp,
}

/// Which tools are declared.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum WhichTools {
    /// All that models see at first, and those that a search has found.
    All,
    /// Exactly these, deferred or not.
    Only(Vec<String>),
}

/// What was rendered of one snapshot. It goes with the snapshot, so it is never stale.
#[derive(Default)]
pub(super) struct Cache(Mutex<HashMap<(Shape, WhichTools, Scene), Arc<Value>>>);

/// Scenes and subsets are few; past this the cache starts over.
const MAX_RENDERED: usize = 256;

impl Registry {
    /// The declarations of these tools in this shape. Cheap enough for every turn: rendered once
    /// for each state of the registry.
    pub fn declare(
        &self,
        shape: Shape,
        shown: &WhichTools,
        scene: &Scene,
    ) -> Result<Arc<Value>, RegistryError> {
        let now = self.now.load();
        let key = (shape, shown.clone(), scene.clone());
        {
            let cache = now.rendered.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(rendered) = cache.get(&key) {
                return Ok(rendered.clone());
            }
        }
        let tools: Vec<Arc<Registered>> = match shown {
            WhichTools::All => now.visible(),
            WhichTools::Only(names) => names
                .iter()
                .map(|name| {
                    now.get(name).cloned().ok_or_else(|| RegistryError::NotFound(name.clone()))
                })
                .collect::<Result<_, _>>()?,
        };
        let tools: Vec<Value> = tools.iter().map(|tool| one(shape, tool, scene)).collect();
        let rendered = Arc::new(match shape {
            Shape::Gemini => json!([{"functionDeclarations": tools}]),
            _ => Value::Array(tools),
        });
        let mut cache = now.rendered.0.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.len() >= MAX_RENDERED {
            cache.clear();
        }
        cache.insert(key, rendered.clone());
        Ok(rendered)
    }
}

fn one(shape: Shape, tool: &Registered, scene: &Scene) -> Value {
    let (name, description, schema) = (tool.name(), tool.description(scene), tool.schema());
    match shape {
        Shape::OpenAiChat => json!({
            "type": "function",
            "function": {"name": name, "description": description, "parameters": schema},
        }),
        Shape::OpenAiResponses => json!({
            "type": "function",
            "name": name,
            "description": description,
            "parameters": schema,
            "strict": false,
        }),
        Shape::Anthropic => {
            json!({"name": name, "description": description, "input_schema": schema})
        }
        Shape::Gemini => {
            json!({"name": name, "description": description, "parametersJsonSchema": schema})
        }
        Shape::Mcp => json!({
            "name": name,
            "description": description,
            "inputSchema": schema,
            "annotations": {
                "readOnlyHint": tool.facts().read_only,
                "destructiveHint": tool.facts().destructive || !tool.facts().read_only,
            },
        }),
    }
}
