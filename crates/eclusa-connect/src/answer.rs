//! Answers in the language of each agent. Whatever is no verdict is a denial.

use serde_json::{Map, Value, json};

use crate::{Agent, HookEvent, HookEventKind, agents::claude_code::reshaped};

/// What becomes of a call that an agent is about to make.
#[derive(Debug, Clone, PartialEq)]
pub enum HookVerdict {
    /// It may run as it is.
    Allow {
        /// What the model is told besides.
        context: Option<String>,
    },
    /// It does not run; the model is told why.
    Deny(String),
    /// The agent asks its person. Only where [`HookEvent::can_ask`] says that it does.
    Ask(String),
    /// It runs with this input instead.
    Rewrite {
        /// All of the input.
        input: Value,
        /// What the model is told besides.
        context: Option<String>,
        /// Why the agent asks its person first, if it shall.
        ask: Option<String>,
    },
}

/// What is said of a call that has run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResultNote {
    /// What the model sees instead of the output.
    pub replacement: Option<String>,
    /// What the model is told besides.
    pub context: Option<String>,
}

/// What a hook prints, and how it ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookOutput {
    /// For the agent.
    pub stdout: String,
    /// For people, and for agents that read nothing else.
    pub stderr: String,
    /// The exit code.
    pub code: u8,
}

impl HookOutput {
    fn json(value: &Value) -> HookOutput {
        HookOutput { stdout: format!("{value}\n"), ..HookOutput::default() }
    }

    fn nothing() -> HookOutput {
        HookOutput::default()
    }
}

impl HookEvent {
    /// The verdict, for the agent.
    pub fn answer(&self, verdict: &HookVerdict) -> HookOutput {
        self.agent.verdict(&self.name, verdict, &self.input)
    }

    /// What is said of a call that has run.
    pub fn answer_result(&self, note: &ResultNote) -> HookOutput {
        match self.agent {
            Agent::ClaudeCode => {
                let output = note.replacement.as_deref();
                let output = output.map(|it| reshaped(self.response.as_ref(), it));
                let fields = [("updatedToolOutput", output), context(note.context.as_ref())];
                specific(&self.name, fields)
            }
            Agent::Codex => match (&note.replacement, &note.context) {
                (Some(text), _) => HookOutput::json(&json!({"decision": "block", "reason": text})),
                (None, it) => specific(&self.name, [context(it.as_ref())]),
            },
            Agent::Gemini => match (&note.replacement, &note.context) {
                (Some(text), _) => HookOutput::json(&json!({"decision": "deny", "reason": text})),
                (None, it) => specific(&self.name, [context(it.as_ref())]),
            },
            Agent::Opencode => match (&note.replacement, &note.context) {
                (Some(text), _) => HookOutput::json(&json!({"output": text})),
                (None, Some(text)) => HookOutput::json(&json!({"context": text})),
                (None, None) => HookOutput::nothing(),
            },
            // They take nothing back after the fact; what a person should know goes to stderr.
            Agent::Cursor | Agent::Copilot | Agent::Windsurf | Agent::VsCode | Agent::Zed => {
                let text = note.replacement.iter().chain(&note.context);
                let stderr = text.map(|it| format!("eclusa: {it}\n")).collect();
                HookOutput { stderr, ..HookOutput::default() }
            }
        }
    }

    /// Something went wrong: the call is denied, or its output hidden where that can be done.
    pub fn failure(&self, why: &str) -> HookOutput {
        match self.kind {
            HookEventKind::After => {
                let note = ResultNote {
                    replacement: Some(format!("output withheld: {why}")),
                    context: None,
                };
                let output = self.answer_result(&note);
                HookOutput { stderr: format!("eclusa: {why}\n"), ..output }
            }
            HookEventKind::SessionStart | HookEventKind::SessionEnd | HookEventKind::Other => {
                HookOutput { stderr: format!("eclusa: {why}\n"), code: 2, ..HookOutput::default() }
            }
            HookEventKind::Before | HookEventKind::Settings => self.agent.failure(&self.name, why),
        }
    }
}

impl Agent {
    /// A denial for an event that may not even have been read: JSON, stderr and exit code all say
    /// no, so that whichever of them the agent looks at does.
    pub fn failure(self, event: &str, why: &str) -> HookOutput {
        let why = if why.trim().is_empty() { "the hook failed" } else { why };
        let deny = HookVerdict::Deny(format!("eclusa: {why}"));
        let output = self.verdict(event, &deny, &Value::Null);
        HookOutput { stderr: format!("eclusa: {why}\n"), code: 2, ..output }
    }

    /// The name of the event that stops calls, for an answer to something unreadable.
    pub const fn before(self) -> &'static str {
        match self {
            Agent::ClaudeCode | Agent::Codex => "PreToolUse",
            Agent::Gemini => "BeforeTool",
            Agent::Opencode => "before",
            Agent::Cursor | Agent::Copilot => "preToolUse",
            Agent::Windsurf | Agent::VsCode | Agent::Zed => "pre_run_command",
        }
    }

    fn verdict(self, event: &str, verdict: &HookVerdict, old: &Value) -> HookOutput {
        match self {
            Agent::ClaudeCode => claude_code(event, verdict),
            Agent::Codex => codex(event, verdict),
            Agent::Gemini => gemini(verdict),
            Agent::Opencode => opencode(verdict),
            Agent::Cursor => cursor(verdict),
            Agent::Copilot => copilot(verdict, old),
            Agent::Windsurf | Agent::VsCode | Agent::Zed => windsurf(verdict),
        }
    }
}

/// A reason that is never empty: an empty one lets the call run in Codex.
fn reason(why: &str) -> String {
    if why.trim().is_empty() { "denied".to_owned() } else { why.to_owned() }
}

fn context(text: Option<&String>) -> (&'static str, Option<Value>) {
    ("additionalContext", text.cloned().map(Value::from))
}

/// `{"hookSpecificOutput": {…}}` with the fields that there are; nothing where there are none.
fn specific<const N: usize>(event: &str, fields: [(&str, Option<Value>); N]) -> HookOutput {
    let mut all = Map::new();
    for (name, value) in fields {
        if let Some(value) = value {
            all.insert(name.to_owned(), value);
        }
    }
    if all.is_empty() {
        return HookOutput::nothing();
    }
    all.insert("hookEventName".to_owned(), event.into());
    HookOutput::json(&json!({"hookSpecificOutput": all}))
}

fn decided(
    event: &str,
    decision: &str,
    why: Option<&str>,
    rest: [(&str, Option<Value>); 2],
) -> HookOutput {
    let [first, second] = rest;
    let why = ("permissionDecisionReason", why.map(|it| reason(it).into()));
    specific(event, [("permissionDecision", Some(decision.into())), why, first, second])
}

fn claude_code(event: &str, verdict: &HookVerdict) -> HookOutput {
    let none = ("updatedInput", None);
    match verdict {
        HookVerdict::Allow { context: it } => {
            decided(event, "allow", Some("eclusa allows it"), [none, context(it.as_ref())])
        }
        HookVerdict::Deny(why) => decided(event, "deny", Some(why), [none, context(None)]),
        HookVerdict::Ask(why) => decided(event, "ask", Some(why), [none, context(None)]),
        HookVerdict::Rewrite { input, context: it, ask } => {
            let input = ("updatedInput", Some(input.clone()));
            let (decision, why) = match ask {
                Some(why) => ("ask", why.as_str()),
                None => ("allow", "it runs in eclusa's sandbox"),
            };
            decided(event, decision, Some(why), [input, context(it.as_ref())])
        }
    }
}

/// Codex knows a denial and a rewritten input; whatever else is said, it runs the call. So a
/// question is a denial here.
fn codex(event: &str, verdict: &HookVerdict) -> HookOutput {
    let none = ("updatedInput", None);
    match verdict {
        HookVerdict::Allow { context: None } => HookOutput::nothing(),
        HookVerdict::Allow { context: it } => specific(event, [context(it.as_ref())]),
        HookVerdict::Deny(why) | HookVerdict::Ask(why) => {
            decided(event, "deny", Some(why), [none, context(None)])
        }
        HookVerdict::Rewrite { ask: Some(why), .. } => {
            decided(event, "deny", Some(why), [none, context(None)])
        }
        HookVerdict::Rewrite { input, context: it, ask: None } => {
            let input = ("updatedInput", Some(input.clone()));
            decided(event, "allow", None, [input, context(it.as_ref())])
        }
    }
}

/// A question hangs where nobody looks, so it is a denial.
fn gemini(verdict: &HookVerdict) -> HookOutput {
    let deny = |why: &str| HookOutput::json(&json!({"decision": "deny", "reason": reason(why)}));
    match verdict {
        HookVerdict::Allow { .. } => HookOutput::nothing(),
        HookVerdict::Deny(why) | HookVerdict::Ask(why) => deny(why),
        HookVerdict::Rewrite { ask: Some(why), .. } => deny(why),
        HookVerdict::Rewrite { input, ask: None, .. } => {
            let specific = json!({"hookEventName": "BeforeTool", "tool_input": input});
            HookOutput::json(&json!({"decision": "allow", "hookSpecificOutput": specific}))
        }
    }
}

/// The words of our own plugin.
fn opencode(verdict: &HookVerdict) -> HookOutput {
    HookOutput::json(&match verdict {
        HookVerdict::Allow { .. } => json!({"decision": "allow"}),
        HookVerdict::Deny(why) | HookVerdict::Ask(why) => {
            json!({"decision": "deny", "reason": reason(why)})
        }
        HookVerdict::Rewrite { ask: Some(why), .. } => {
            json!({"decision": "deny", "reason": reason(why)})
        }
        HookVerdict::Rewrite { input, ask: None, .. } => {
            json!({"decision": "allow", "args": input})
        }
    })
}

fn cursor(verdict: &HookVerdict) -> HookOutput {
    let say = |permission: &str, why: &str| {
        let why = reason(why);
        json!({"permission": permission, "user_message": why, "agent_message": why})
    };
    HookOutput::json(&match verdict {
        HookVerdict::Allow { .. } => json!({"permission": "allow"}),
        HookVerdict::Deny(why) => say("deny", why),
        HookVerdict::Ask(why) => say("ask", why),
        // Whether it takes another command is untried.
        HookVerdict::Rewrite { .. } => say("deny", "the command cannot be put into the sandbox"),
    })
}

fn copilot(verdict: &HookVerdict, old: &Value) -> HookOutput {
    let deny =
        |why: &str| json!({"permissionDecision": "deny", "permissionDecisionReason": reason(why)});
    HookOutput::json(&match verdict {
        HookVerdict::Allow { .. } => return HookOutput::nothing(),
        HookVerdict::Deny(why) | HookVerdict::Ask(why) => deny(why),
        HookVerdict::Rewrite { ask: Some(why), .. } => deny(why),
        HookVerdict::Rewrite { input, .. } => {
            let mut args = old.clone();
            if let (Some(args), Some(input)) = (args.as_object_mut(), input.as_object()) {
                args.extend(input.clone());
            }
            json!({"permissionDecision": "allow", "modifiedArgs": args})
        }
    })
}

/// Exit code 2 stops the call, and stderr says why.
fn windsurf(verdict: &HookVerdict) -> HookOutput {
    let stop = |why: &str| HookOutput {
        stderr: format!("eclusa: {}\n", reason(why)),
        code: 2,
        ..HookOutput::default()
    };
    match verdict {
        HookVerdict::Allow { .. } => HookOutput::nothing(),
        HookVerdict::Deny(why) | HookVerdict::Ask(why) => stop(why),
        HookVerdict::Rewrite { .. } => stop("the command cannot be put into the sandbox"),
    }
}
