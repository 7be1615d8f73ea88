//! Answers in the language of each agent. Whatever is no verdict is a denial.

use serde_json::{Map, Value, json};

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
    /// The agent asks its person. Only where `HookEvent::can_ask` says that it does.
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
    /// True when nothing of the result may be seen: pictures go with the text.
    pub withheld: bool,
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
    pub(crate) fn json(value: &Value) -> HookOutput {
        HookOutput { stdout: format!("{value}\n"), ..HookOutput::default() }
    }

    pub(crate) fn nothing() -> HookOutput {
        HookOutput::default()
    }
}

/// A reason that is never empty: an empty one lets the call run in Codex.
pub(crate) fn reason(why: &str) -> String {
    if why.trim().is_empty() { "denied".to_owned() } else { why.to_owned() }
}

pub(crate) fn context(text: Option<&String>) -> (&'static str, Option<Value>) {
    ("additionalContext", text.cloned().map(Value::from))
}

/// `{"hookSpecificOutput": {…}}` with the fields that there are; nothing where there are none.
pub(crate) fn specific<const N: usize>(
    event: &str,
    fields: [(&str, Option<Value>); N],
) -> HookOutput {
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

pub(crate) fn decided(
    event: &str,
    decision: &str,
    why: Option<&str>,
    rest: [(&str, Option<Value>); 2],
) -> HookOutput {
    let [first, second] = rest;
    let why = ("permissionDecisionReason", why.map(|it| reason(it).into()));
    specific(event, [("permissionDecision", Some(decision.into())), why, first, second])
}

/// Exit code 2 stops the call, and stderr says why.
pub(crate) fn by_exit_code(_: &str, verdict: &HookVerdict, _: &Value) -> HookOutput {
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

/// For an agent that takes nothing back after the fact: what a person should know goes to stderr.
pub(crate) fn to_stderr(note: &ResultNote) -> HookOutput {
    let text = note.replacement.iter().chain(&note.context);
    let stderr = text.map(|it| format!("eclusa: {it}\n")).collect();
    HookOutput { stderr, ..HookOutput::default() }
}
