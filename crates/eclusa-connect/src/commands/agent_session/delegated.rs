//! Tools that another agent carries out by itself: judged here like our own, and not run here.

use std::{path::Path, sync::Arc, time::Duration};

use eclusa::{
    Decision, Facts, Files, Gate, Job, Output, PermissionClass, Reason, Registration, Scene,
    Source, Tool, ToolCall, ToolError, Touch, registry::ExtraArgs, workspace::FileError,
};
use eclusa_tools::{
    ApplyPatch, Delete, EditFile, FileToolContext, MultiEdit, Read, Write,
    search::{Glob, Grep, List, meets_hidden},
    web::{Address, WebFetch},
};
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::InternalTool;

/// One of our tools, whose work another agent does.
struct DelegatedTool {
    inner: Arc<dyn Tool>,
    work: DelegatedWork,
}

/// What is done here when the call was permitted.
enum DelegatedWork {
    /// The changes are computed, for rules to judge.
    Changes,
    /// A file or a directory is looked at: where it leads, and whether it is secret.
    Look(Files),
    /// Nothing.
    Nothing,
}

/// The word for it in records.
const OPERATION: &str = "delegate";

impl Tool for DelegatedTool {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn description(&self, scene: &Scene) -> String {
        self.inner.description(scene)
    }

    fn input_schema(&self) -> Value {
        self.inner.input_schema()
    }

    fn facts(&self) -> Facts {
        Facts { audit_operation: OPERATION.to_owned(), ..self.inner.facts() }
    }

    fn touches(&self, args: &Value) -> Vec<Touch> {
        self.inner.touches(args)
    }

    fn time(&self, args: &Value) -> Option<Duration> {
        self.inner.time(args)
    }

    fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(async move {
            match &self.work {
                DelegatedWork::Changes => self.inner.run(job).await,
                DelegatedWork::Look(files) => look(self.name(), files, job),
                DelegatedWork::Nothing => Ok(Output::default()),
            }
        })
    }
}

/// What a path leads to is what is judged. What is not there is the agent's to find out.
fn look(tool: &str, files: &Files, job: &Job) -> Result<Output, ToolError> {
    let path = job.args().get("path").and_then(Value::as_str).unwrap_or(".");
    let mut searched = None;
    let found = match files.file(path) {
        Ok(opened) => Some(opened.path),
        Err(FileError::NotAFile { .. }) => match files.directory(path) {
            Ok(directory) => {
                searched = Some(directory.path.clone());
                Some(directory.path)
            }
            Err(err) => return refused(err),
        },
        Err(err) => return refused(err),
    };
    // Names alone are shown by the others.
    if let (Some(from), "grep" | "read") = (searched, tool) {
        let filter = job.args().get("glob").and_then(Value::as_str);
        if let Some(met) = meets_hidden(files, &job.hidden().beside(files), &from, filter) {
            let met = met.display();
            return Err(ToolError::new(format!(
                "it would look into `{met}`, which is blocked: search with eclusa's own `grep`, which \
                leaves that out, or name a directory or a `glob` without it"
            )));
        }
    }
    match found.filter(|it| job.is_hidden(it)) {
        Some(hidden) => {
            let hidden = hidden.display();
            Err(ToolError::new(format!("`{path}` leads to `{hidden}`, which a rule keeps back")))
        }
        None => Ok(Output::default()),
    }
}

fn refused(err: FileError) -> Result<Output, ToolError> {
    match err {
        FileError::NotFound { .. }
        | FileError::NotAFile { .. }
        | FileError::NotADirectory { .. } => Ok(Output::default()),
        err => Err(ToolError::new(err.to_string())),
    }
}

/// One of our tools by its name.
pub(in crate::commands) fn eclusa_tool(
    tool: &str,
    files: &Files,
    max_size: u64,
) -> Option<Registration> {
    let context = || FileToolContext::new(files.clone()).max_size(max_size);
    let inner: Arc<dyn Tool> = match tool {
        "write" => Arc::new(Write::new(context())),
        "edit" => Arc::new(EditFile::new(context())),
        "multi_edit" => Arc::new(MultiEdit::new(context())),
        "apply_patch" => Arc::new(ApplyPatch::new(context())),
        "delete" => Arc::new(Delete::new(context())),
        "read" => Arc::new(Read::new(files.clone())),
        "list" => Arc::new(List::new(files.clone())),
        "glob" => Arc::new(Glob::new(files.clone())),
        "grep" => Arc::new(Grep::new(files.clone())),
        "web_fetch" => Arc::new(WebFetch::default()),
        _ => return None,
    };
    let work = match tool {
        "write" | "edit" | "multi_edit" | "apply_patch" | "delete" => DelegatedWork::Changes,
        "web_fetch" => DelegatedWork::Nothing,
        _ => DelegatedWork::Look(files.clone()),
    };
    Some(Registration::new(DelegatedTool { inner, work }).lazy())
}

/// A tool that is known by what it is like and nothing else.
struct AgentTool {
    name: String,
    facts: Facts,
    schema: Value,
    touches: fn(&Value) -> Vec<Touch>,
    text: String,
}

impl Tool for AgentTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self, _: &Scene) -> String {
        "Carried out by another agent.".to_owned()
    }

    fn input_schema(&self) -> Value {
        self.schema.clone()
    }

    fn facts(&self) -> Facts {
        self.facts.clone()
    }

    fn touches(&self, args: &Value) -> Vec<Touch> {
        (self.touches)(args)
    }

    fn directory(&self, args: &Value) -> Option<String> {
        let shell = self.facts.class == Some(PermissionClass::Shell);
        let directory = args.get("cwd").and_then(Value::as_str).filter(|_| shell)?;
        Some(directory.to_owned())
    }

    fn run<'a>(&'a self, _: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(async { Ok(Output::text(self.text.clone())) })
    }
}

fn facts(class: PermissionClass) -> Facts {
    let audit_operation = OPERATION.to_owned();
    Facts { class: Some(class), audit_operation, runs_elsewhere: true, ..Facts::default() }
}

/// `bash`. `staged`: what may run will run in our sandbox, so that its changes are judged there.
pub(in crate::commands) fn shell(staged: bool) -> Registration {
    let schema = json!({
        "type": "object",
        "properties": {
            "command": {"type": "string", "minLength": 1}, "cwd": {"type": "string"},
            "background": {"type": "boolean"},
        },
        "required": ["command"],
    });
    let touches = |args: &Value| {
        let command = args.get("command").and_then(Value::as_str).unwrap_or_default();
        vec![Touch::Run(command.to_owned())]
    };
    Registration::new(AgentTool {
        name: "bash".to_owned(),
        facts: Facts { destructive: true, stages: staged, ..facts(PermissionClass::Shell) },
        schema,
        touches,
        text: String::new(),
    })
    .lazy()
}

/// True when somebody's rule allows a command. What only the defaults allow rests on the sandbox,
/// and a command that an agent runs by itself has none.
pub(in crate::commands) fn is_allowed_by_a_rule(gate: &Gate, call: ToolCall) -> bool {
    let ruled = |it: &Reason| {
        it.decision == Decision::Allow && matches!(it.source, Source::Rule | Source::Administrator)
    };
    gate.check(call).is_ok_and(|(_, verdict)| {
        verdict.decision == Decision::Allow && verdict.because.iter().any(ruled)
    })
}

/// What an agent does inside itself.
pub(in crate::commands) fn internal_tool(tool: InternalTool) -> Registration {
    let class = match tool {
        InternalTool::Bookkeeping | InternalTool::Subagent => PermissionClass::ReadOnly,
        InternalTool::Scheduled => PermissionClass::Generic,
    };
    let facts = Facts { read_only: class == PermissionClass::ReadOnly, ..facts(class) };
    untyped_tool(tool.name().to_owned(), facts, |_| Vec::new())
}

/// A tool of a server that the agent connected by itself.
pub(in crate::commands) fn server_tool(server: &str, tool: &str) -> (String, Registration) {
    let name = format!("mcp_{}_{}", plain(server), plain(tool));
    let facts = Facts { sensitive: true, ..facts(PermissionClass::Generic) };
    (name.clone(), untyped_tool(name, facts, |_| Vec::new()).foreign(plain(server)))
}

/// A tool that nobody knows: every path, address and command in its arguments is judged, and a
/// person is asked in any case.
pub(in crate::commands) fn unknown_tool(tool: &str) -> (String, Registration) {
    let name = format!("agent.{}", plain(tool));
    let facts = Facts { sensitive: true, ..facts(PermissionClass::Generic) };
    (name.clone(), untyped_tool(name, facts, assume_everything))
}

/// What came of a call, as a record with the output in it.
pub(in crate::commands) fn result(text: String) -> Registration {
    let facts = Facts {
        read_only: true,
        audit_operation: "result".to_owned(),
        ..facts(PermissionClass::ReadOnly)
    };
    let schema = json!({"type": "object"});
    let name = "agent_result".to_owned();
    let touches = |_: &Value| Vec::new();
    let tool = AgentTool { name, facts, schema, touches, text };
    Registration::new(tool).extra(ExtraArgs::Keep).lazy()
}

fn untyped_tool(name: String, facts: Facts, touches: fn(&Value) -> Vec<Touch>) -> Registration {
    let schema = json!({"type": "object"});
    let tool = AgentTool { name, facts, schema, touches, text: String::new() };
    Registration::new(tool).extra(ExtraArgs::Keep).lazy()
}

/// Everything that arguments of an unknown tool may mean.
fn assume_everything(args: &Value) -> Vec<Touch> {
    let mut touches = vec![Touch::Unknown];
    collect(args, "", &mut touches);
    touches
}

fn collect(value: &Value, key: &str, touches: &mut Vec<Touch>) {
    const MAX_TOUCHES: usize = 64;
    if touches.len() >= MAX_TOUCHES {
        return;
    }
    match value {
        Value::String(text) => {
            let key = key.to_ascii_lowercase();
            if let Ok(address) = Address::parse(text) {
                touches.push(Touch::Fetch(address.authority()));
            } else if key.contains("command") || key == "cmd" || key == "script" {
                touches.push(Touch::Run(text.clone()));
            } else if key.contains("path") || key.contains("file") || Path::new(text).is_absolute()
            {
                touches.push(Touch::Write(text.clone()));
            }
        }
        Value::Array(items) => items.iter().for_each(|it| collect(it, key, touches)),
        Value::Object(fields) => fields.iter().for_each(|(key, it)| collect(it, key, touches)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A name that a tool can have.
fn plain(name: &str) -> String {
    const MAX_NAME: usize = 48;
    let plain =
        |it: char| if it.is_ascii_alphanumeric() || it == '-' || it == '_' { it } else { '_' };
    let name: String = name.chars().map(plain).take(MAX_NAME).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}
