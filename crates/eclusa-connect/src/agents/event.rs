//! One hook event, whoever sent it.

use std::fmt;

use serde_json::{Value, json};

use super::AgentSpec;
use crate::{
    answer::{HookOutput, HookVerdict, ResultNote, reason},
    fields::Fields,
    mapped::{self, MappedCall, server_call},
};

/// What an agent's hook says.
#[derive(Debug, Clone, PartialEq)]
pub struct HookEvent {
    /// Whose it is.
    pub agent: &'static AgentSpec,
    /// What sort of event.
    pub kind: HookEventKind,
    /// Its name there.
    pub name: String,
    /// The session, as the agent names it.
    pub session: String,
    /// The turn, where the agent names one.
    pub turn: Option<String>,
    /// What a call has in common with those that a no to it would end as well, where the agent names it: it asks about
    /// calls of one answer of the model one after the other, when their hooks have answered.
    pub asked_with: Option<String>,
    /// When the agent sent it, in milliseconds since 1970, where it says so.
    pub sent_at: Option<u64>,
    /// The agent's id for the call, where it has one.
    pub call: Option<String>,
    /// Where a command would start. It follows what the model wants: never the workspace.
    pub directory: Option<String>,
    /// The root of the session, where the event itself names it.
    pub root: Option<String>,
    /// The tool, by its name there.
    pub tool: String,
    /// Its arguments, as the model wrote them.
    pub input: Value,
    /// The server that the tool comes from and its name there, where the event says so.
    pub server: Option<(String, String)>,
    /// How the agent asks its person, in its own words.
    pub mode: Option<String>,
    /// The agent's version, where the event names it.
    pub version: Option<String>,
    /// Which agent of the session makes the call, where it is not the one that its person talks to.
    pub subagent: Option<String>,
    /// What came of the call, in an event after it.
    pub result: Option<ToolResult>,
    /// True when another agent's settings brought us this event: it may come a second time.
    pub is_foreign: bool,
    /// The same as the agent has it: what takes its place must have its shape, or tell what is missing.
    pub response: Option<Value>,
}

/// What sort of event it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookEventKind {
    /// A call is about to run: the only one that can stop it.
    Before,
    /// The agent asks its person about a call at this moment.
    Asked,
    /// A call has run, or failed.
    After,
    /// A session begins.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// The agent's settings change while it runs.
    Settings,
    /// Anything else.
    Other,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// What the model would see, as far as it is text.
    pub text: String,
    /// True when the call failed.
    pub failed: bool,
}

/// What a hook was sent, and cannot be read: a denial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableEvent(pub String);

impl fmt::Display for UnreadableEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the event cannot be read: {}", self.0)
    }
}

impl std::error::Error for UnreadableEvent {}

impl From<String> for UnreadableEvent {
    fn from(why: String) -> UnreadableEvent {
        UnreadableEvent(why)
    }
}

/// An event that brings a call and is not known: nobody could tell whether it is to be stopped.
pub(super) fn unknown_event(name: &str) -> String {
    format!("the event `{name}` is not known here")
}

/// By these an agent says that a command goes on while it does other things; Copilot CLI says
/// `"mode": "async"`.
const BACKGROUND: [&str; 2] = ["run_in_background", "is_background"];

impl HookEvent {
    /// An event that nothing is known of yet.
    pub(super) fn new(
        agent: &'static AgentSpec,
        kind: HookEventKind,
        name: &str,
        session: &str,
    ) -> HookEvent {
        HookEvent {
            agent,
            kind,
            name: name.to_owned(),
            session: session.to_owned(),
            turn: None,
            asked_with: None,
            sent_at: None,
            call: None,
            directory: None,
            root: None,
            tool: String::new(),
            input: Value::Null,
            server: None,
            mode: None,
            version: None,
            subagent: None,
            result: None,
            is_foreign: false,
            response: None,
        }
    }

    /// True when the agent shows its person a question of ours instead of running the call.
    /// `attended`: whether a person sits there, as far as the agent says.
    pub fn can_ask(&self, attended: bool) -> bool {
        self.agent.hooks.as_ref().is_some_and(|it| (it.can_ask)(self, attended))
    }

    /// What the call is in our words.
    pub fn mapped_call(&self) -> MappedCall {
        if let Some((server, tool)) = &self.server {
            return server_call(server, tool, self.input.clone());
        }
        let Some(hooks) = &self.agent.hooks else { return self.unknown() };
        let input = Fields::new(&self.input, "the input");
        input.and_then(|input| (hooks.map)(self, input)).unwrap_or_else(|why| {
            MappedCall::Malformed(format!("`{}` of {}: {why}", self.tool, self.agent))
        })
    }

    /// A tool that nobody knows.
    pub(super) fn unknown(&self) -> MappedCall {
        MappedCall::Unknown { tool: self.tool.clone(), args: self.input.clone() }
    }

    /// A shell command, where it would start.
    pub(super) fn shell(&self, command: &str, directory: Option<&str>) -> MappedCall {
        let mut args = json!({"command": command});
        let start = match (directory, &self.directory) {
            (Some(named), Some(here)) if !named.starts_with('/') => Some(format!("{here}/{named}")),
            (Some(named), _) => Some(named.to_owned()),
            (None, here) => here.clone(),
        };
        if let (Some(start), Some(fields)) = (start, args.as_object_mut()) {
            fields.insert("cwd".to_owned(), start.into());
        }
        let said = |it: &&str| self.input.get(*it).and_then(Value::as_bool) == Some(true);
        let goes_on = BACKGROUND.iter().any(said)
            || self.input.get("mode").and_then(Value::as_str) == Some("async");
        if let (true, Some(fields)) = (goes_on, args.as_object_mut()) {
            fields.insert("background".to_owned(), true.into());
        }
        mapped::call("bash", args)
    }

    /// The verdict, for the agent.
    pub fn answer(&self, verdict: &HookVerdict) -> HookOutput {
        let output = self.agent.verdict(&self.name, verdict, &self.input);
        match verdict {
            // Which of the two forms counts there is not known: the exit code does in both.
            HookVerdict::Deny(why) if self.is_foreign => {
                HookOutput { stderr: format!("{}\n", reason(why)), code: 2, ..output }
            }
            _ => output,
        }
    }

    /// What is said of a call that has run.
    pub fn answer_result(&self, note: &ResultNote) -> HookOutput {
        match &self.agent.hooks {
            Some(hooks) => (hooks.result)(self, note),
            None => HookOutput::default(),
        }
    }

    /// Something went wrong: the call is denied, or its output hidden where that can be done.
    pub fn failure(&self, why: &str) -> HookOutput {
        match self.kind {
            HookEventKind::After => {
                let note = ResultNote {
                    replacement: Some(format!("output withheld: {why}")),
                    context: None,
                    withheld: true,
                };
                let output = self.answer_result(&note);
                HookOutput { stderr: format!("eclusa: {why}\n"), ..output }
            }
            HookEventKind::SessionStart
            | HookEventKind::SessionEnd
            | HookEventKind::Asked
            | HookEventKind::Other => {
                HookOutput { stderr: format!("eclusa: {why}\n"), code: 2, ..HookOutput::default() }
            }
            HookEventKind::Before | HookEventKind::Settings => self.agent.failure(&self.name, why),
        }
    }
}
