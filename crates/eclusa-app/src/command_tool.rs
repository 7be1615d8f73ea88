//! Tools that are programs, declared in configuration: arguments in as JSON, output back. They run in the
//! sandbox as commands do, unless their entry says otherwise.

use std::{
    env,
    path::PathBuf,
    time::{Duration, Instant},
};

use eclusa::{Facts, Hash, HumanDuration, Job, Output, Scene, Tool, ToolError, Touch, Undo};
use eclusa_config::CommandTool as Settings;
use eclusa_tools::{ProgramRun, Sandboxes, Writes, run_program};
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::spawn::{Finished, Program, Streams};

/// Beyond its time a program has a moment to end, and what it has written is read.
const MARGIN: Duration = Duration::from_secs(5);

/// A tool that is a program.
pub struct CommandTool {
    settings: Settings,
    sandboxes: Sandboxes,
    workspace: PathBuf,
    revision: String,
}

impl CommandTool {
    /// The tool that these settings describe.
    pub fn new(settings: Settings, sandboxes: Sandboxes) -> CommandTool {
        // Another program under the same name is another tool, and so is one that is held
        // otherwise: a yes to the old one is void.
        let what = json!([settings.command, settings.env, settings.sandbox]);
        let revision = Hash::sha256(what.to_string().as_bytes()).to_string();
        let workspace = sandboxes.settings().root.clone();
        CommandTool { settings, sandboxes, workspace, revision }
    }

    async fn start(&self, job: &Job) -> Result<Output, ToolError> {
        let output = match self.settings.sandbox {
            true => self.start_in_sandbox(job).await?,
            false => self.start_outside(job).await?,
        };
        let undo = match job.number() {
            Some(number) if !self.settings.undo.is_empty() && output.error.is_none() => {
                Some(Undo {
                    description: format!(
                        "undo call {number}: `{}` runs",
                        self.settings.undo.join(" ")
                    ),
                    data: json!({"call": number}),
                })
            }
            _ => output.undo,
        };
        Ok(Output { undo, ..output })
    }

    async fn start_in_sandbox(&self, job: &Job) -> Result<Output, ToolError> {
        let settings = &self.settings;
        let held = settings.held(job.args());
        let passed = settings.env.iter().filter_map(|it| Some((it.into(), env::var_os(it)?)));
        let mut variables: Vec<_> = passed.collect();
        variables.push(("ECLUSA_CALL".into(), job.id().into()));
        let run = ProgramRun {
            tool: settings.name.clone(),
            command: settings.argv(job.args()).map_err(ToolError::new)?,
            input: format!("{}\n", job.args()).into_bytes(),
            env: variables,
            reads: held.reads,
            writes: held.writes,
            hosts: held.hosts,
            own: settings.fixed_words().map(str::to_owned).collect(),
            time: settings.time,
        };
        run_program(&self.sandboxes, run, job).await
    }

    /// Runs it on the machine itself, as its entry says.
    async fn start_outside(&self, job: &Job) -> Result<Output, ToolError> {
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
        let mut touches = self.settings.touches(args);
        let writes = match self.settings.held(args).writes {
            Some(named) if named.is_empty() => Writes::Refused,
            Some(_) | None => Writes::Staged,
        };
        // A sandbox that lacks something may not be what the rules count on.
        if self.settings.sandbox && !self.sandboxes.is_held(writes) {
            touches.push(self.sandboxes.unheld());
        }
        touches
    }

    fn time(&self, _: &Value) -> Option<Duration> {
        self.settings.time.map(|it| it.saturating_add(MARGIN))
    }

    fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(self.start(job))
    }
}
