//! Messages on their way between editor and agent: which pass as they are, which are judged first,
//! and which are changed.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::{Value, json};
use tokio_util::task::TaskTracker;

use super::{
    LineWriter, SHUTDOWN_GRACE,
    editor::{EditorLink, JUDGED_CALL, JudgedCall},
    envelope::{Envelope, may_end_a_call},
    line,
    session::{AcpSession, Judgement},
};
use crate::commands::{acp::AcpArgs, global::Global, screen::note};
use crate::{
    MappedCall, acp_call, acp_is_judged, acp_loosening_mode, acp_permission_answer,
    acp_wrap_servers,
};

/// What an error of ours is called.
const REFUSED: i64 = -32000;

/// A message that is read whole.
struct Message(Value);

impl Message {
    fn read(line: &[u8]) -> Result<Message, String> {
        serde_json::from_slice(line).map(Message).map_err(|err| err.to_string())
    }

    fn params(&self) -> &Value {
        self.0.get("params").unwrap_or(&Value::Null)
    }

    /// A parameter that is a text; an empty one where it is not there.
    fn text(&self, name: &str) -> &str {
        self.params().get(name).and_then(Value::as_str).unwrap_or_default()
    }

    fn id(&self) -> Option<&Value> {
        self.0.get("id").filter(|it| !it.is_null())
    }

    /// What its answer will be known by.
    fn key(&self) -> String {
        self.id().map(Value::to_string).unwrap_or_default()
    }
}

/// A refusal of a request.
fn refusal(id: &Value, why: &str) -> Vec<u8> {
    let error = json!({"code": REFUSED, "message": format!("eclusa: {why}")});
    line(&json!({"jsonrpc": "2.0", "id": id, "error": error}))
}

/// What is known of a connection.
#[derive(Default)]
struct ConnectionState {
    /// Requests of the editor whose answers tell something, by id.
    pending: BTreeMap<String, PendingReply>,
    /// Sessions, by the agent's id.
    sessions: BTreeMap<String, Arc<AcpSession>>,
    /// Calls that were judged, by session and the agent's id.
    judged: BTreeSet<(String, String)>,
    /// The agent's name and version, as it says them.
    agent: Option<String>,
}

/// What an answer of the agent tells.
enum PendingReply {
    /// Who it is.
    Greeting,
    /// The id of a new session in this directory.
    Session(PathBuf),
}

/// What stands between editor and agent.
pub(super) struct EditorProxy {
    global: Global,
    args: AcpArgs,
    editor: Arc<EditorLink>,
    to_agent: LineWriter,
    state: Mutex<ConnectionState>,
    tasks: TaskTracker,
}

impl EditorProxy {
    pub(super) fn new(
        global: Global,
        args: AcpArgs,
        editor: Arc<EditorLink>,
        to_agent: LineWriter,
    ) -> EditorProxy {
        let (state, tasks) = (Mutex::default(), TaskTracker::new());
        EditorProxy { global, args, editor, to_agent, state, tasks }
    }

    fn state(&self) -> MutexGuard<'_, ConnectionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A message of the editor. What cannot be read is for the agent to refuse.
    pub(super) fn on_editor_message(self: &Arc<EditorProxy>, line: &[u8]) {
        let envelope = Envelope::read(line).unwrap_or_default();
        match envelope.method.as_deref() {
            None if self.editor.answered(line) => return,
            Some("initialize" | "session/new" | "session/load" | "session/resume")
            | Some("session/fork") => {
                if let Ok(message) = Message::read(line) {
                    let method = envelope.method.as_deref().unwrap_or_default();
                    return self.to_agent.send(&self.opening(method, message, line));
                }
            }
            Some("session/set_mode" | "session/set_config_option") => {
                if let Ok(message) = Message::read(line)
                    && let Some(mode) = acp_loosening_mode(message.params())
                {
                    let (proxy, line, mode) = (self.clone(), line.to_vec(), mode.to_owned());
                    drop(
                        self.tasks.spawn(async move { proxy.loosen(message, &mode, &line).await }),
                    );
                    return;
                }
            }
            _ => {}
        }
        self.to_agent.send(line);
    }

    /// A request that begins something: its answer is pending, and the servers that a session is
    /// given are put behind the gate. Gives what the agent gets.
    fn opening(&self, method: &str, mut message: Message, as_written: &[u8]) -> Vec<u8> {
        if method == "initialize" {
            self.state().pending.insert(message.key(), PendingReply::Greeting);
            return as_written.to_vec();
        }
        let directory = match message.text("cwd") {
            "" => PathBuf::from("."),
            named => PathBuf::from(named),
        };
        match message.text("sessionId") {
            // One that is forked names the one that it comes from.
            session if !session.is_empty() && method != "session/fork" => {
                self.open(session, directory);
            }
            _ => drop(self.state().pending.insert(message.key(), PendingReply::Session(directory))),
        }
        if !self.args.plain_servers
            && let Ok(program) = std::env::current_exe()
            && let Some(params) = message.0.get_mut("params")
        {
            for name in acp_wrap_servers(params, &program.to_string_lossy()) {
                note(&format!("the server `{name}` is not behind the gate"));
            }
            return line(&message.0);
        }
        as_written.to_vec()
    }

    /// A mode in which the agent asks less, or nothing: whoever chose it is told what that means.
    async fn loosen(&self, message: Message, mode: &str, as_written: &[u8]) {
        let (session, id) = (message.text("sessionId").to_owned(), message.key());
        let call = MappedCall::Unknown {
            tool: "mode".to_owned(),
            args: json!({"mode": mode, "meaning": "the agent acts without asking: eclusa judges fewer \
            calls or none, and only records the others"}),
        };
        match self.judgement(&session, &id, "session/set_mode", call).await {
            Judgement::Denied(why) => {
                let id = message.id().cloned().unwrap_or(Value::Null);
                self.editor.send(&refusal(&id, &why));
            }
            Judgement::Allowed | Judgement::Rewritten(_) => self.to_agent.send(as_written),
        }
    }

    /// A message of the agent.
    pub(super) fn on_agent_message(self: &Arc<EditorProxy>, line: &[u8]) {
        if line.trim_ascii().is_empty() {
            return;
        }
        let envelope = match Envelope::read(line) {
            Ok(envelope) => envelope,
            Err(why) => {
                return note(&format!("dropped an invalid message from the agent: {why}"));
            }
        };
        match envelope.method.as_deref() {
            None => self.note_answer(line),
            Some(method) if acp_is_judged(method) => {
                return self.on_judged_request(method, &envelope, line);
            }
            Some("session/update") if may_end_a_call(line) => self.note_update(line),
            Some(_) => {}
        }
        self.editor.send(line);
    }

    /// A request that would do something.
    fn on_judged_request(
        self: &Arc<EditorProxy>,
        method: &str,
        envelope: &Envelope<'_>,
        line: &[u8],
    ) {
        let id = envelope.id.and_then(|it| serde_json::from_str(it.get()).ok());
        let Some(id) = id.filter(|it: &Value| !it.is_null()) else {
            return note("the agent sent a request without an id, which was not passed on");
        };
        let message = match Message::read(line) {
            Ok(message) => message,
            Err(why) => {
                return self.to_agent.send(&refusal(&id, &format!("it cannot be read: {why}")));
            }
        };
        let Some(call) = acp_call(method, message.params()) else { return };
        let (proxy, method) = (self.clone(), method.to_owned());
        drop(self.tasks.spawn(async move { proxy.judge(id, &method, call, message).await }));
    }

    /// Learns from answers of the agent: its name, and the ids of sessions.
    fn note_answer(&self, line: &[u8]) {
        // Most answers tell nothing, and need not be read.
        if self.state().pending.is_empty() {
            return;
        }
        let Ok(message) = Message::read(line) else { return };
        let pending = self.state().pending.remove(&message.key());
        let (Some(pending), Some(result)) = (pending, message.0.get("result")) else { return };
        match pending {
            PendingReply::Greeting => {
                let word = |name: &str| {
                    result.get("agentInfo").and_then(|it| it.get(name)).and_then(Value::as_str)
                };
                let name = [word("name"), word("version")].map(Option::unwrap_or_default).join(" ");
                let name = name.trim();
                self.state().agent = (!name.is_empty()).then(|| name.to_owned());
            }
            PendingReply::Session(directory) => {
                if let Some(session) = result.get("sessionId").and_then(Value::as_str) {
                    self.open(session, directory);
                }
            }
        }
    }

    /// Opens a session. One that cannot be opened is not known, and everything in it is refused.
    fn open(&self, session: &str, directory: PathBuf) {
        let agent = self.state().agent.clone();
        match AcpSession::open(&self.global, &directory, session, agent, self.editor.clone()) {
            Ok(opened) => drop(self.state().sessions.insert(session.to_owned(), Arc::new(opened))),
            Err(why) => note(&format!("the session in `{}`: {why}", directory.display())),
        }
    }

    /// A call that is over: its edits can be undone, and one that nobody asked about is on record.
    fn note_update(self: &Arc<EditorProxy>, line: &[u8]) {
        let Ok(message) = Message::read(line) else { return };
        let update = message.params().get("update").unwrap_or(&Value::Null);
        let word = |name: &str| update.get(name).and_then(Value::as_str).unwrap_or_default();
        let over = ["completed", "failed"].contains(&word("status"));
        if !word("sessionUpdate").starts_with("tool_call") || !over {
            return;
        }
        let (session, call) = (message.text("sessionId").to_owned(), word("toolCallId").to_owned());
        let (known, judged) = {
            let mut known = self.state();
            let judged = known.judged.remove(&(session.clone(), call.clone()));
            (known.sessions.get(&session).cloned(), judged)
        };
        let Some(known) = known else { return };
        let (title, failed) = (word("title").to_owned(), word("status") == "failed");
        self.tasks.spawn(async move { known.ended(&call, &title, failed, judged).await });
    }

    /// What becomes of a call in a session.
    async fn judgement(
        &self,
        session: &str,
        id: &str,
        method: &str,
        call: MappedCall,
    ) -> Judgement {
        let known = self.state().sessions.get(session).cloned();
        let Some(known) = known else {
            return Judgement::Denied("eclusa does not know this session".to_owned());
        };
        let (session, id) = (session.to_owned(), id.to_owned());
        let judged = JudgedCall { session, id: id.clone() };
        JUDGED_CALL.scope(judged, known.judge(method, call, &id)).await
    }

    /// Judges a request of the agent, and passes it on or answers it.
    async fn judge(&self, id: Value, method: &str, call: MappedCall, message: Message) {
        let session = message.text("sessionId").to_owned();
        let asked = message.params().get("toolCall").and_then(|it| it.get("toolCallId"));
        let number = match asked {
            Some(it) => it.as_str().unwrap_or_default().to_owned(),
            None => id.to_string(),
        };
        let judgement = self.judgement(&session, &number, method, call).await;
        if method == "session/request_permission" {
            self.state().judged.insert((session, number));
            let allowed = !matches!(judgement, Judgement::Denied(_));
            let answer = acp_permission_answer(message.params(), allowed);
            let answer = json!({"jsonrpc": "2.0", "id": id, "result": answer});
            return self.to_agent.send(&line(&answer));
        }
        match judgement {
            Judgement::Denied(why) => self.to_agent.send(&refusal(&id, &why)),
            Judgement::Allowed if method != "fs/write_text_file" => {
                self.editor.send(&line(&message.0));
            }
            Judgement::Allowed => {
                // The editor writes; what it has written is then ours to undo.
                let answer = self.editor.request(method, message.params().clone()).await;
                if let Some(known) = self.state().sessions.get(&session).cloned() {
                    let _ = known.adopt(&number).map_err(|why| note(&why));
                }
                let Some(Value::Object(mut answer)) = answer else {
                    return self.to_agent.send(&refusal(&id, "the editor is gone"));
                };
                answer.insert("id".to_owned(), id);
                answer.insert("jsonrpc".to_owned(), "2.0".into());
                self.to_agent.send(&line(&Value::Object(answer)));
            }
            Judgement::Rewritten(params) => {
                let mut value = message.0;
                if let Some(fields) = value.as_object_mut() {
                    fields.insert("params".to_owned(), params);
                }
                self.editor.send(&line(&value));
            }
        }
    }

    /// Waits for what is on record only in a moment.
    pub(super) async fn close(&self) {
        // Questions that nobody will answer any more are given up.
        self.editor.close();
        self.tasks.close();
        let _ = tokio::time::timeout(SHUTDOWN_GRACE, self.tasks.wait()).await;
    }
}
