//! A task: a conversation inside a call. Its calls are recorded under the call that started it and
//! belong to the same conversation, so what came from outside into one is known in the other.

use std::{sync::Arc, time::Duration};

use eclusa::{Facts, Job, Output, PermissionClass, Registration, Scene, Tool, ToolError, Touch};
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::{
    conversation::{Conversation, ConversationSetup, UserMessage},
    events::{AgentEvent, TurnEnd, TurnReport},
    limits::TurnLimits,
    model::Model,
    persona::Persona,
    task_parent,
};

/// The name of the tool.
const NAME: &str = "task";

/// The limits of its parent's turn end a task, and whoever interrupts the turn; no clock of the gate.
const TIME: Duration = Duration::from_secs(365 * 86_400);

/// Somebody whom a model can give work to.
pub struct TaskRole {
    /// Who it is.
    pub persona: Persona,
    /// Its model; or why there is none.
    pub model: Result<Arc<dyn Model>, String>,
    /// Its system text.
    pub system: String,
}

/// The tool that gives work to somebody else.
pub struct TaskTool {
    roles: Vec<TaskRole>,
    project: Option<String>,
    scene: Scene,
    /// How deep tasks may start tasks.
    most: usize,
}

impl TaskTool {
    /// The tool, ready to be registered. `most` is how deep tasks may start tasks: 1 is not at all.
    pub fn registration(
        roles: Vec<TaskRole>,
        project: Option<String>,
        scene: Scene,
        most: usize,
    ) -> Registration {
        Registration::new(TaskTool { roles, project, scene, most }).time_cap(TIME)
    }

    /// The tools of a task: those of its persona, and more tasks only where that is allowed.
    fn tools(&self, job: &Job, persona: &Persona, depth: usize) -> Vec<String> {
        let mut tools = match &persona.tools {
            Some(tools) => tools.clone(),
            None => job.visible_tools(),
        };
        tools.retain(|it| it != NAME || depth < self.most);
        tools
    }

    async fn work(&self, job: &Job) -> Result<Output, ToolError> {
        let parent = task_parent::current().ok_or_else(|| {
            ToolError::new("a task is part of a session with a model, and there is none here")
        })?;
        if parent.depth >= self.most {
            return Err(ToolError::new("tasks start no tasks here (limits.tasks)"));
        }
        let text = |name: &str| job.args().get(name).and_then(Value::as_str).unwrap_or_default();
        let name = text("persona");
        let role = self.roles.iter().find(|it| it.persona.name == name);
        let role = role.ok_or_else(|| ToolError::new(format!("no persona is called `{name}`")))?;
        let model = role.model.clone().map_err(ToolError::new)?;
        let counted = parent.budgets.iter().any(|it| it.limits.money.is_some());
        if counted && model.profile().price.is_none() {
            return Err(ToolError::new(format!(
                "the turn has a limit of money, and the price of the model `{}` is not known",
                model.profile().name
            )));
        }
        let tools = self.tools(job, &role.persona, parent.depth + 1);
        let setup = ConversationSetup {
            gate: parent.gate.for_task(job, name, &tools, role.persona.mode),
            model,
            persona: Persona { tools: Some(tools), ..role.persona.clone() },
            store: parent.store.clone(),
            limits: TurnLimits::NONE,
            scene: self.scene.clone(),
            system: role.system.clone(),
            project: self.project.clone(),
        };
        let opened = Conversation::open_task(setup, &parent, job.id()).await;
        let (mut task, mut events) =
            opened.map_err(|err| ToolError::new(format!("the task cannot be kept: {err}")))?;
        let session = task.id().to_owned();
        let words = UserMessage::from(text("prompt"));
        let running = parent.running.clone();
        // On its own, so that it still writes down what it must when the call is taken back.
        let working = tokio::spawn(async move {
            let report = task.turn(words).await;
            let waiting = task.waiting();
            drop((task, running));
            (report, waiting)
        });
        while let Some(event) = events.recv().await {
            if matches!(event, AgentEvent::Text(_) | AgentEvent::Thought(_)) {
                continue;
            }
            // An error means that nobody watches.
            drop(parent.events.send(AgentEvent::Task {
                call: job.id().to_owned(),
                persona: name.to_owned(),
                session: session.clone(),
                event: Box::new(event),
            }));
        }
        let (report, waiting) =
            working.await.map_err(|_| ToolError::new("the task crashed; its session is kept"))?;
        if report.end == TurnEnd::Aborted {
            job.end_turn();
        }
        let data = json!({
            "session": session,
            "ended": report.end.as_str(),
            "requests": report.requests,
            "waiting": waiting.iter().map(|it| it.approval).collect::<Vec<_>>(),
        });
        let mut text = report.text.clone();
        for call in &waiting {
            text.push_str(&format!(
                "\n[its call of `{}` waits for approval {}]",
                call.tool, call.approval
            ));
        }
        match unfinished(&report) {
            None => Ok(Output { text, data: Some(data), ..Output::default() }),
            Some(why) => Err(ToolError { message: why, output: text, data: Some(data) }),
        }
    }
}

/// Why a task did not come to its end, if it did not.
fn unfinished(report: &TurnReport) -> Option<String> {
    match &report.end {
        TurnEnd::Done => None,
        TurnEnd::Failed(what) => Some(format!("the task failed: {what}")),
        TurnEnd::Limit(what) => Some(format!("the task ended at a limit: {what}")),
        other => Some(format!("the task was not finished: {}", other.as_str())),
    }
}

impl Tool for TaskTool {
    fn name(&self) -> &str {
        NAME
    }

    fn description(&self, _: &Scene) -> String {
        let mut text = "Gives a piece of work to a helper with a context of its own, and returns its last words. The helper sees nothing of this conversation: say everything that it needs. Several tasks of one message run side by side. Helpers:".to_owned();
        for role in &self.roles {
            text.push_str(&format!("\n- {}: {}", role.persona.name, role.persona.description));
        }
        text
    }

    fn input_schema(&self) -> Value {
        let names: Vec<&str> = self.roles.iter().map(|it| it.persona.name.as_str()).collect();
        json!({
            "type": "object",
            "properties": {
                "persona": {
                    "type": "string",
                    "enum": names,
                    "default": names.first(),
                    "description": "who works on it",
                },
                "prompt": {"type": "string", "minLength": 1, "description": "what to do, in full"},
            },
            "required": ["prompt"],
        })
    }

    fn facts(&self) -> Facts {
        Facts {
            concurrent: true,
            class: Some(PermissionClass::Generic),
            search_hint: "helper agent subtask delegate research in parallel".to_owned(),
            audit_operation: "delegate".to_owned(),
            only_delegates: true,
            ..Facts::default()
        }
    }

    /// By itself it touches nothing: each call of the helper is judged for what it touches.
    fn touches(&self, _: &Value) -> Vec<Touch> {
        Vec::new()
    }

    fn time(&self, _: &Value) -> Option<Duration> {
        Some(TIME)
    }

    fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(self.work(job))
    }
}
