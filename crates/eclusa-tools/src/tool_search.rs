//! `tool_search`: finds tools by what they are good for, also those that are not shown at first.

use std::{
    fmt::{self, Write as _},
    sync::{Arc, Weak},
};

use eclusa::{
    Facts, Job, Output, PermissionClass, Registry, Scene, ToolError, Touch, TypedTool, one_line,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

#[cfg(test)]
mod tests;

/// Searches a registry, which may be the one that it is registered in.
pub struct ToolSearch {
    /// The registry holds the tool, so the tool must not hold the registry.
    registry: Weak<Registry>,
    scene: Scene,
}

/// What to look for.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SearchArgs {
    /// Words; a tool is found if every one of them is in its name, its hint or its description.
    query: String,
    /// How many tools to show at most.
    #[serde(default = "few")]
    #[schemars(range(min = 1, max = 50))]
    limit: usize,
}

fn few() -> usize {
    5
}

impl ToolSearch {
    /// Searches these tools, described as they are in this scene.
    pub fn new(registry: &Arc<Registry>, scene: Scene) -> ToolSearch {
        ToolSearch { registry: Arc::downgrade(registry), scene }
    }
}

impl fmt::Debug for ToolSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolSearch").field("scene", &self.scene).finish_non_exhaustive()
    }
}

impl TypedTool for ToolSearch {
    type Args = SearchArgs;
    const NAME: &'static str = "tool_search";

    fn description(&self, _: &Scene) -> String {
        "Finds tools by words, with their descriptions and arguments, best first.\n\
         Also finds tools that were not listed; they are from then on, and can be called like any \
         other. \
         Example: {\"query\": \"read file\"}"
            .to_owned()
    }

    fn facts(&self) -> Facts {
        Facts {
            concurrent: true,
            read_only: true,
            search_hint: "find discover more tools by purpose".to_owned(),
            class: Some(PermissionClass::ReadOnly),
            audit_operation: "read".to_owned(),
            ..Facts::default()
        }
    }

    fn touches(&self, _: &SearchArgs) -> Vec<Touch> {
        Vec::new()
    }

    async fn run(&self, args: SearchArgs, _: &Job) -> Result<Output, ToolError> {
        let Some(registry) = self.registry.upgrade() else {
            return Err(ToolError::new("these tools no longer exist; continue without them"));
        };
        let mut found = registry.search(&args.query, &self.scene);
        found.retain(|it| !registry.is_hidden(&it.tool));
        let count = found.len();
        let mut text = String::new();
        let mut tools = Vec::new();
        for tool in found.iter().take(args.limit).map(|it| &it.tool) {
            let (name, description) = (tool.name(), tool.description(&self.scene));
            let _ = write!(text, "{name}: {description}\narguments: {}\n\n", tool.schema());
            tools.push(json!({
                "name": name,
                "description": description,
                "input_schema": tool.schema(),
            }));
            registry.mark_found(tool);
        }
        text.push_str(&match (count, count.saturating_sub(tools.len())) {
            (0, _) => format!(
                "(no tool fits all of these words: `{}`; try fewer or others)\n",
                one_line(&args.query)
            ),
            (_, 0) => String::new(),
            (_, more) => format!("({more} more fit; raise `limit` or use more words)\n"),
        });
        let data = json!({"tools": Value::Array(tools), "found": count});
        Ok(Output { text, data: Some(data), ..Output::default() })
    }
}
