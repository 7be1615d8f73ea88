//! A session of an agent in an editor: what it asks the editor for is judged first.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use eclusa::{Changes, Delegate, DelegateError, Files};
use serde_json::{Value, json};

use super::editor::{EditorApprover, EditorLink};
use crate::commands::{
    agent_session::{AgentCall, AgentCallOutcome, AgentSession, Participants, delegated},
    global::Global,
    hook::pre_images::{self, PreImages},
    surface::Surface,
};
use crate::{EclusaCall, MappedCall};

/// What became of a request.
pub(super) enum Judgement {
    /// Not to be done, and why.
    Denied(String),
    /// May be done by whoever it is for.
    Allowed,
    /// May be done with these parameters instead.
    Rewritten(Value),
}

/// A session.
pub(super) struct AcpSession {
    agent: AgentSession,
    /// The editor's id for it.
    id: String,
    editor: Arc<EditorLink>,
    edits: Arc<OpenEdits>,
    /// The calls in the log that a call of the agent is, while it is open.
    numbers: Mutex<BTreeMap<String, Vec<u64>>>,
}

/// Edits that were allowed and are not made yet: what undoing them needs, by the number of the call.
struct OpenEdits {
    files: Files,
    max_size: u64,
    open: Mutex<BTreeMap<u64, PreImages>>,
}

impl OpenEdits {
    fn open(&self) -> MutexGuard<'_, BTreeMap<u64, PreImages>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Delegate for OpenEdits {
    fn hand_over(&self, call: u64, changes: &Changes) -> Result<(), DelegateError> {
        let kept = PreImages::take(&self.files, self.max_size, call, changes);
        self.open().insert(call, kept.map_err(|err| err.to_string())?);
        Ok(())
    }
}

/// The command of a call that names it in its title alone, as Gemini CLI does.
fn titled_command(call: &MappedCall) -> Option<&str> {
    match call {
        MappedCall::Unknown { tool, args } if tool == "execute" => {
            args.get("title").and_then(Value::as_str).filter(|it| !it.trim().is_empty())
        }
        _ => None,
    }
}

/// True when rules deny a command, or nobody can tell.
fn is_denied(call: &AgentCall<'_>, command: &str) -> bool {
    let args = json!({"command": command, "cwd": "."});
    call.is_denied("bash", &args, delegated::shell(false)).unwrap_or(true)
}

impl AcpSession {
    /// Opens a session in the directory that the editor names.
    pub(super) fn open(
        global: &Global,
        root: &Path,
        id: &str,
        client: Option<String>,
        editor: Arc<EditorLink>,
    ) -> Result<AcpSession, String> {
        let client = client.unwrap_or_else(|| "agent".to_owned());
        let agent = AgentSession::open(global, Surface::Acp, root, format!("acp:{id}"), client)?;
        let (files, max_size) = (agent.files.clone(), agent.ctx.config.max_file_size);
        let edits = Arc::new(OpenEdits { files, max_size, open: Mutex::default() });
        Ok(AcpSession { agent, id: id.to_owned(), editor, edits, numbers: Mutex::default() })
    }

    /// Judges what an agent asks for. A command in a terminal of the editor is run by our sandbox;
    /// one that the agent runs by itself rests on rules and people alone. An error while judging is
    /// a denial.
    pub(super) async fn judge(&self, method: &str, call: MappedCall, id: &str) -> Judgement {
        let participants = || self.participants();
        let agent_call = self.call(id, method, &participants);
        let call = match titled_command(&call) {
            // What a rule denies of it is denied. A title proves nothing, so that nothing of it allows.
            Some(command) if is_denied(&agent_call, command) => {
                let args = json!({"command": command});
                MappedCall::Eclusa(vec![EclusaCall { tool: "bash", args }])
            }
            _ => call,
        };
        match agent_call.judge(call).await {
            Err(why) | Ok(AgentCallOutcome::Denied(why)) => Judgement::Denied(why),
            Ok(AgentCallOutcome::Allowed(numbers)) => {
                self.note_numbers(id, numbers);
                Judgement::Allowed
            }
            Ok(AgentCallOutcome::Ticketed(command)) => {
                self.note_numbers(id, command.number);
                let (program, args) = (command.words.first(), command.words.get(1..));
                Judgement::Rewritten(json!({
                    "sessionId": self.id, "command": program, "args": args,
                    "cwd": self.agent.root(),
                }))
            }
        }
    }

    fn call<'a>(
        &'a self,
        id: &str,
        tool: &'a str,
        participants: &'a (dyn Fn() -> Participants + Sync),
    ) -> AgentCall<'a> {
        AgentCall {
            session: &self.agent,
            id: id.to_owned(),
            tool,
            directory: self.agent.root().to_str(),
            in_sandbox: tool == "terminal/create",
            ahead: None,
            participants,
        }
    }

    /// Who takes part in every call: the person in front of the editor.
    fn participants(&self) -> Participants {
        Participants {
            people: vec![Arc::new(EditorApprover(self.editor.clone()))],
            delegate: Some(self.edits.clone()),
            ..Participants::default()
        }
    }

    fn numbers(&self) -> MutexGuard<'_, BTreeMap<String, Vec<u64>>> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_numbers(&self, id: &str, numbers: impl IntoIterator<Item = u64>) {
        self.numbers().entry(id.to_owned()).or_default().extend(numbers);
    }

    /// Has the edits of a call be undoable, which are made now.
    pub(super) fn adopt(&self, id: &str) -> Result<Vec<u64>, String> {
        let numbers = self.numbers().remove(id);
        let mut open = self.edits.open();
        let made = numbers.into_iter().flatten().filter_map(|it| open.remove(&it)).collect();
        drop(open);
        pre_images::adopt_all(&self.agent, made)
    }

    /// A call of the agent that is over: its edits can be undone. One that nobody was asked about
    /// is on record as such.
    pub(super) async fn ended(&self, id: &str, title: &str, failed: bool, judged: bool) {
        let undo = self.adopt(id);
        let outcome = if judged { "ended" } else { "unasked" };
        let args = json!({
            "tool": title, "outcome": outcome, "failed": failed,
            "undo": undo.as_ref().ok().filter(|it| !it.is_empty()),
            "not_undoable": undo.as_ref().err(),
        });
        let participants = || self.participants();
        let call = self.call(id, "agent_result", &participants);
        // What cannot be recorded was told when the next call was refused.
        let _ = call.alone("agent_result".to_owned(), args, delegated::result(String::new())).await;
    }
}
