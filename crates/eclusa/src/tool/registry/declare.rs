//! The tools as a model API wants them declared, rendered once for each registry state.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::{Value, json};

use super::{Registered, Registry, RegistryError};
use crate::{Scene, Wire};

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
pub(super) struct Cache(Mutex<HashMap<(Wire, WhichTools, Scene), Arc<Value>>>);

/// Scenes and subsets are few; past this the cache starts over.
const MAX_RENDERED: usize = 256;

impl Registry {
    /// The declarations of these tools as this wire wants them. Cheap enough for every turn: rendered once
    /// for each state of the registry.
    pub fn declare(
        &self,
        wire: Wire,
        shown: &WhichTools,
        scene: &Scene,
    ) -> Result<Arc<Value>, RegistryError> {
        let now = self.now.load();
        let key = (wire, shown.clone(), scene.clone());
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
        let offered = tools.iter().filter(|it| !self.is_hidden(it));
        let tools: Vec<Value> = offered.map(|tool| declaration(wire, tool, scene)).collect();
        let rendered = Arc::new(match wire {
            Wire::Gemini => json!([{"functionDeclarations": tools}]),
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

fn declaration(wire: Wire, tool: &Registered, scene: &Scene) -> Value {
    let (name, description, schema) = (tool.name(), tool.description(scene), tool.schema());
    match wire {
        Wire::OpenaiChat => json!({
            "type": "function",
            "function": {"name": name, "description": description, "parameters": schema},
        }),
        Wire::Openai => json!({
            "type": "function",
            "name": name,
            "description": description,
            "parameters": schema,
            "strict": false,
        }),
        Wire::Anthropic => {
            json!({"name": name, "description": description, "input_schema": schema})
        }
        Wire::Gemini => {
            json!({"name": name, "description": description, "parametersJsonSchema": schema})
        }
    }
}
