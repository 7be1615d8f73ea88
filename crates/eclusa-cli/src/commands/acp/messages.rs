//! Messages on their way between editor and agent: which pass as they are, which are judged first,
//! and which are changed.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use eclusa_agents::{MappedCall, acp_call, acp_permission_answer, acp_wrap_servers};
use serde_json::{Value, json};
use tokio_util::task::TaskTracker;

use super::{
    LAST_WORDS, Outgoing,
    editor::{EditorLink, JUDGED_CALL, JudgedCall},
    line,
    session::{AcpSession, Judgement},
};
use crate::{
    args::{AcpArgs, Global},
    screen::note,
};

/// What an error of ours is called.
const REFUSED: i64 = -32000;

/// A message, as it came and as it reads.
pub(super) struct Message {
    line: Vec<u8>,
    value: Value,
}

impl Message {
    pub(super) fn new(line: Vec<u8>) -> Message {
        let value = serde_json::from_slice(&line).unwrap_or(Value::Null);
        Message { line, value }
    }

    fn method(&self) -> &str {
        self.value.get("method").and_then(Value::as_str).unwrap_or_default()
    }

    fn params(&self) -> &Value {
        self.value.get("params").unwrap_or(&Value::Null)
    }

    fn id(&self) -> Option<&Value> {
        self.value.get("id").filter(|it| !it.is_null())
    }
}

/// What is known of a connection.
#[derive(Default)]
struct Known {
    /// Requests for new sessions that are not answered yet, by id: where each will be.
    opening: BTreeMap<String, PathBuf>,
    /// Sessions, by the agent's id.
    sessions: BTreeMap<String, Arc<AcpSession>>,
    /// Calls that were judged, by session and the agent's id.
    judged: BTreeSet<(String, String)>,
    /// The agent's name and version, as it says them.
    agent: Option<String>,
}

/// What stands between editor and agent.
pub(super) struct Proxy {
    global: Global,
    args: AcpArgs,
    editor: Arc<EditorLink>,
    to_agent: Outgoing,
    known: Mutex<Known>,
    tasks: TaskTracker,
}

impl Proxy {
    pub(super) fn new(
        global: Global,
        args: AcpArgs,
        editor: Arc<EditorLink>,
        to_agent: Outgoing,
    ) -> Proxy {
        let (known, tasks) = (Mutex::default(), TaskTracker::new());
        Proxy { global, args, editor, to_agent, known, tasks }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell_agent(&self, line: Vec<u8>) {
        // An error means that the agent is gone, which ends everything.
        let _ = self.to_agent.send(line);
    }

    /// A message of the editor.
    pub(super) fn on_editor_message(&self, mut message: Message) {
        match message.method() {
            "" if self.editor.answered(&message.value) => return,
            "session/new" | "session/load" | "session/resume" => {
                let directory = message.params().get("cwd").and_then(Value::as_str);
                let directory = PathBuf::from(directory.unwrap_or("."));
                match message.params().get("sessionId").and_then(Value::as_str) {
                    Some(session) => self.open(session, directory),
                    None => {
                        let id = message.id().map(Value::to_string).unwrap_or_default();
                        self.known().opening.insert(id, directory);
                    }
                }
                if !self.args.plain_servers
                    && let Ok(program) = std::env::current_exe()
                    && let Some(params) = message.value.get_mut("params")
                {
                    for name in acp_wrap_servers(params, &program.to_string_lossy()) {
                        note(&format!("the server `{name}` is not behind the gate"));
                    }
                    message.line = line(&message.value);
                }
            }
            _ => {}
        }
        self.tell_agent(message.line);
    }

    /// A message of the agent.
    pub(super) fn on_agent_message(self: Arc<Proxy>, message: Message) {
        let (method, params) = (message.method(), message.params());
        if message.value.is_array() {
            // Several at once: the protocol has no such messages, and nobody would judge them.
            return note("the agent sent several messages in one, which were not passed on");
        }
        if method.is_empty() {
            self.note_answer(&message);
        } else if let Some(call) = acp_call(method, params) {
            let proxy = self.clone();
            match message.id().cloned() {
                Some(id) => {
                    drop(self.tasks.spawn(async move { proxy.judge(id, call, message).await }));
                }
                None => note("the agent sent a request without an id, which was not passed on"),
            }
            return;
        } else if method == "session/update" {
            self.note_update(params);
        }
        self.editor.send(message.line);
    }

    /// Learns from answers of the agent: its name, and the ids of sessions.
    fn note_answer(&self, message: &Message) {
        let Some(result) = message.value.get("result") else { return };
        if let Some(info) = result.get("agentInfo") {
            let text = |name: &str| info.get(name).and_then(Value::as_str).unwrap_or_default();
            let name = format!("{} {}", text("name"), text("version"));
            self.known().agent = Some(name.trim().to_owned());
        }
        let id = message.id().map(Value::to_string).unwrap_or_default();
        let opened = self.known().opening.remove(&id);
        let session = result.get("sessionId").and_then(Value::as_str);
        if let (Some(directory), Some(session)) = (opened, session) {
            self.open(session, directory);
        }
    }

    /// Opens a session. One that cannot be opened is not known, and everything in it is refused.
    fn open(&self, session: &str, directory: PathBuf) {
        let agent = self.known().agent.clone();
        match AcpSession::open(&self.global, &directory, session, agent, self.editor.clone()) {
            Ok(opened) => drop(self.known().sessions.insert(session.to_owned(), Arc::new(opened))),
            Err(why) => note(&format!("the session in `{}`: {why}", directory.display())),
        }
    }

    /// A call that is over: its edits can be undone, and one that nobody asked about is on record.
    fn note_update(self: &Arc<Proxy>, params: &Value) {
        let update = params.get("update").unwrap_or(&Value::Null);
        let word = |it: &Value, name: &str| {
            it.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let over = ["completed", "failed"].contains(&word(update, "status").as_str());
        if !word(update, "sessionUpdate").starts_with("tool_call") || !over {
            return;
        }
        let (session, call) = (word(params, "sessionId"), word(update, "toolCallId"));
        let (known, judged) = {
            let mut known = self.known();
            let judged = known.judged.remove(&(session.clone(), call.clone()));
            (known.sessions.get(&session).cloned(), judged)
        };
        let Some(known) = known else { return };
        let (title, failed) = (word(update, "title"), word(update, "status") == "failed");
        self.tasks.spawn(async move { known.ended(&call, &title, failed, judged).await });
    }

    /// Judges a request of the agent, and passes it on or answers it.
    async fn judge(&self, id: Value, call: MappedCall, message: Message) {
        let (method, params) = (message.method().to_owned(), message.params().clone());
        let text = |it: Option<&Value>| it.and_then(Value::as_str).unwrap_or_default().to_owned();
        let session = text(params.get("sessionId"));
        let asked = params.get("toolCall").and_then(|it| it.get("toolCallId"));
        let number = match asked {
            Some(it) => text(Some(it)),
            None => id.to_string(),
        };
        let known = self.known().sessions.get(&session).cloned();
        let judgement = match known {
            Some(known) => {
                let judged = JudgedCall {
                    session: session.clone(),
                    id: number.clone(),
                    approved: Arc::default(),
                };
                JUDGED_CALL.scope(judged, known.judge(&method, call, &number)).await
            }
            None => Judgement::Denied("eclusa does not know this session".to_owned()),
        };
        let permission = method == "session/request_permission";
        if permission {
            self.known().judged.insert((session.clone(), number.clone()));
            let allowed = !matches!(judgement, Judgement::Denied(_));
            let answer = acp_permission_answer(&params, allowed);
            self.tell_agent(line(&json!({"jsonrpc": "2.0", "id": id, "result": answer})));
            return;
        }
        match judgement {
            Judgement::Denied(why) => {
                let error = json!({"code": REFUSED, "message": format!("eclusa: {why}")});
                self.tell_agent(line(&json!({"jsonrpc": "2.0", "id": id, "error": error})));
            }
            Judgement::Allowed if method != "fs/write_text_file" => {
                self.editor.send(line(&message.value));
            }
            Judgement::Allowed => {
                // The editor writes; what it has written is then ours to undo.
                let answer = self.editor.request(&method, params).await;
                if let Some(known) = self.known().sessions.get(&session).cloned() {
                    let _ = known.adopt(&number).map_err(|why| note(&why));
                }
                let gone = json!({"error": {"code": REFUSED, "message": "the editor is gone"}});
                let mut answer = answer.unwrap_or(gone);
                if let Some(fields) = answer.as_object_mut() {
                    fields.insert("id".to_owned(), id);
                    fields.insert("jsonrpc".to_owned(), "2.0".into());
                }
                self.tell_agent(line(&answer));
            }
            Judgement::Rewritten(params) => {
                let mut value = message.value;
                if let Some(fields) = value.as_object_mut() {
                    fields.insert("params".to_owned(), params);
                }
                self.editor.send(line(&value));
            }
        }
    }

    /// Waits for what is on record only in a moment.
    pub(super) async fn close(&self) {
        self.tasks.close();
        // Questions that nobody will answer any more are given up.
        let _ = tokio::time::timeout(LAST_WORDS, self.tasks.wait()).await;
    }
}
