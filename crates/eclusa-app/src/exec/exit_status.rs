//! `bash`, and what its command left with: that is wanted even where the changes are discarded.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use eclusa::{Facts, Job, Output, Scene, ToolError, Touch, TypedTool};
use eclusa_tools::{Bash, BashArgs};
use serde_json::Value;

/// What a command left with.
#[derive(Debug, Clone, Default)]
pub(super) struct CommandStatus {
    pub(super) data: Value,
}

/// Filled in when the command has ended.
pub(super) type StatusSlot = Arc<Mutex<Option<CommandStatus>>>;

/// The tool `bash`, which tells how its command ended.
pub(super) struct BashWithStatus {
    pub(super) bash: Bash,
    pub(super) slot: StatusSlot,
}

impl TypedTool for BashWithStatus {
    type Args = BashArgs;
    const NAME: &'static str = Bash::NAME;

    fn description(&self, scene: &Scene) -> String {
        TypedTool::description(&self.bash, scene)
    }

    fn facts(&self) -> Facts {
        TypedTool::facts(&self.bash)
    }

    fn touches(&self, args: &BashArgs) -> Vec<Touch> {
        TypedTool::touches(&self.bash, args)
    }

    fn completed(&self, args: &Value, session: &str) -> Option<Value> {
        TypedTool::completed(&self.bash, args, session)
    }

    fn directory(&self, args: &Value) -> Option<String> {
        TypedTool::directory(&self.bash, args)
    }

    fn time(&self, args: &Value) -> Option<Duration> {
        TypedTool::time(&self.bash, args)
    }

    fn session_ended(&self, session: &str) {
        TypedTool::session_ended(&self.bash, session);
    }

    async fn run(&self, args: BashArgs, job: &Job) -> Result<Output, ToolError> {
        let output = TypedTool::run(&self.bash, args, job).await?;
        let data = output.data.clone().unwrap_or_default();
        let ended = CommandStatus { data };
        *self.slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(ended);
        Ok(output)
    }
}
