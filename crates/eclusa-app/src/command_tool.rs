//! Tools that are programs, declared in configuration: arguments in as JSON, output back.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use eclusa::{Facts, Hash, HumanDuration, Job, Output, Scene, Tool, ToolError, Touch};
use eclusa_config::CommandTool as Settings;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::spawn::{Finished, Program, Streams};

/// Beyond its time a program has a moment to end, and what it has written is read.
const MARGIN: Duration = Duration::from_secs(5);

/// A tool that is a program.
pub struct CommandTool {
    settings: Settings,
    workspace: PathBuf,
    revision: String,
}

impl CommandTool {
    /// The tool that these settings describe.
    pub fn new(settings: Settings, workspace: PathBuf) -> CommandTool {
        // Another program under the same name is another tool: a yes to the old one is void.
        let what = json!([settings.command, settings.env]);
        let revision = Hash::sha256(what.to_string().as_bytes()).to_string();
        CommandTool { settings, workspace, revision }
    }

    async fn start(&self, job: &Job) -> Result<Output, ToolError> {
        let program = Program {
            command: self.settings.argv(job.args()).map_err(ToolError::new)?,
            directory: self.workspace.clone(),
            env: self.settings.env.clone(),
            set: vec![("ECLUSA_CALL".to_owned(), job.id().into())],
        };
        let input = format!("{}\n", job.args()).into_bytes();
        let (time, limit) = self.time_left(job);
        match program.run_for(time, input, Streams::Together).await {
            Ok(ended) if ended.late => Err(self.too_late(ended, limit)),
            Ok(ended) => output(ended),
            Err(err) => Err(ToolError::new(err.to_string())),
        }
    }

    /// How long the program may run, and how long people believe it may: it is ended before the gate
    /// gives it up, so that its output is kept.
    fn time_left(&self, job: &Job) -> (Duration, Duration) {
        let left = job.deadline().saturating_duration_since(Instant::now());
        let limit = self.settings.time.unwrap_or(left).min(left);
        (limit.min(left.saturating_sub(MARGIN.min(left / 10))), limit)
    }

    fn too_late(&self, ended: Finished, limit: Duration) -> ToolError {
        let message = format!(
            "the program timed out after {} and was ended with everything it started; the output so \
             far is kept; do less at once, or have a person raise `timeout` of `[tools.{}]`",
            HumanDuration::rounded(limit),
            self.settings.name
        );
        let data = json!({"exit_code": null, "timed_out": true});
        ToolError { message, output: ended.out, data: Some(data) }
    }
}

/// The exit code is always reported, and the output is kept whatever it is.
fn output(ended: Finished) -> Result<Output, ToolError> {
    let data = Some(match ended.signal {
        None => json!({"exit_code": ended.code}),
        Some(signal) => json!({"exit_code": null, "signal": signal}),
    });
    match ended.code {
        Some(0) => Ok(Output { data, ..Output::text(ended.out) }),
        _ => Err(ToolError {
            message: format!("the program ended with {}", ended.how()),
            output: ended.out,
            data,
        }),
    }
}

impl Tool for CommandTool {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn description(&self, _: &Scene) -> String {
        self.settings.description.clone()
    }

    fn input_schema(&self) -> Value {
        self.settings.schema.clone()
    }

    fn facts(&self) -> Facts {
        self.settings.facts.clone()
    }

    fn revision(&self) -> &str {
        &self.revision
    }

    fn touches(&self, args: &Value) -> Vec<Touch> {
        self.settings.touches(args)
    }

    fn time(&self, _: &Value) -> Option<Duration> {
        self.settings.time.map(|it| it.saturating_add(MARGIN))
    }

    fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(self.start(job))
    }
}
