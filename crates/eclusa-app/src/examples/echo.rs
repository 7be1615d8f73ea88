//! `echo`: says what it was told.

use eclusa::{Facts, Job, Output, PermissionClass, Scene, ToolError, Touch, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;

/// Says what it was told.
pub(super) struct Echo;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Words {
    /// What to say.
    text: String,
    /// How often.
    #[serde(default = "once")]
    #[schemars(range(min = 1, max = 100))]
    times: usize,
}

fn once() -> usize {
    1
}

impl TypedTool for Echo {
    type Args = Words;
    const NAME: &'static str = "echo";

    fn description(&self, _: &Scene) -> String {
        "Repeats its text. Touches nothing.".to_owned()
    }

    fn facts(&self) -> Facts {
        Facts {
            concurrent: true,
            read_only: true,
            class: Some(PermissionClass::ReadOnly),
            search_hint: "repeat say print text example".to_owned(),
            audit_operation: "read".to_owned(),
            ..Facts::default()
        }
    }

    fn touches(&self, _: &Words) -> Vec<Touch> {
        Vec::new()
    }

    async fn run(&self, words: Words, _: &Job) -> Result<Output, ToolError> {
        Ok(Output::text(vec![words.text; words.times].join("\n")))
    }
}
