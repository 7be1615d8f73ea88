//! `time`: what time it is.

use std::time::{SystemTime, UNIX_EPOCH};

use eclusa::{Facts, Job, Output, PermissionClass, Scene, ToolError, Touch, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::timestamp::Timestamp;

/// Tells the time.
pub(super) struct Time;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Nothing {}

impl TypedTool for Time {
    type Args = Nothing;
    const NAME: &'static str = "time";

    fn description(&self, _: &Scene) -> String {
        "Tells the time in UTC.".to_owned()
    }

    fn facts(&self) -> Facts {
        Facts {
            concurrent: true,
            read_only: true,
            class: Some(PermissionClass::ReadOnly),
            search_hint: "clock date now today utc".to_owned(),
            audit_operation: "read".to_owned(),
            ..Facts::default()
        }
    }

    fn touches(&self, _: &Nothing) -> Vec<Touch> {
        Vec::new()
    }

    async fn run(&self, _: Nothing, _: &Job) -> Result<Output, ToolError> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let text = Timestamp(millis).to_string();
        Ok(Output { data: Some(json!({"unix_ms": millis})), ..Output::text(text) })
    }
}
