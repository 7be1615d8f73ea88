//! Questions to the person in front of the editor.

use std::{
    collections::HashMap,
    io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use eclusa::{
    Answer, Approver, NotAsked, Question,
    approve::{Line, Role, render},
    one_line,
};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::{LineWriter, line};
use crate::commands::tickets::random_name;
use crate::{acp_answer, acp_question};

tokio::task_local! {
    /// The call that the current task judges.
    pub(super) static JUDGED_CALL: JudgedCall;
}

/// A call on its way through the gate.
#[derive(Clone)]
pub(super) struct JudgedCall {
    /// The session in the editor.
    pub(super) session: String,
    /// The agent's id for it.
    pub(super) id: String,
}

/// The editor: what it is asked by us, and what waits for its answer.
pub(super) struct EditorLink {
    to_editor: LineWriter,
    /// What the ids of our requests begin with. An agent that could guess it could have an answer to
    /// a request of its own be taken for one to ours.
    prefix: String,
    asked: AtomicU64,
    waiting: Mutex<PendingAnswers>,
}

/// Requests of ours that are not answered yet, by id.
type PendingAnswers = HashMap<String, oneshot::Sender<Value>>;

impl EditorLink {
    pub(super) fn new(to_editor: LineWriter) -> io::Result<EditorLink> {
        let prefix = format!("eclusa-{}-", random_name()?);
        Ok(EditorLink { to_editor, prefix, asked: AtomicU64::new(0), waiting: Mutex::default() })
    }

    pub(super) fn send(&self, line: &[u8]) {
        self.to_editor.send(line);
    }

    /// Makes a request of ours, and waits for its answer: the whole message.
    pub(super) async fn request(&self, method: &str, params: Value) -> Option<Value> {
        let id = format!("{}{}", self.prefix, self.asked.fetch_add(1, Ordering::Relaxed));
        let (send, receive) = oneshot::channel();
        self.waiting().insert(id.clone(), send);
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(&line(&message));
        let answer = receive.await.ok();
        self.waiting().remove(&id);
        answer
    }

    /// Takes an answer, if it is one to a request of ours.
    pub(super) fn answered(&self, message: &[u8]) -> bool {
        // Most answers are for the agent, and need not be read.
        if !message.windows(self.prefix.len()).any(|it| it == self.prefix.as_bytes()) {
            return false;
        }
        let Ok(message) = serde_json::from_slice::<Value>(message) else { return false };
        let Some(id) = message.get("id").and_then(Value::as_str) else { return false };
        if !id.starts_with(&self.prefix) {
            return false;
        }
        let waits = self.waiting().remove(id);
        if let Some(waits) = waits {
            // An error means that nobody waits any more: the call was given up.
            let _ = waits.send(message);
        }
        true
    }

    /// The editor is gone: nobody answers what it was asked.
    pub(super) fn close(&self) {
        self.waiting().clear();
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, PendingAnswers> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks the person in front of the editor.
pub(super) struct EditorApprover(pub(super) Arc<EditorLink>);

impl Approver for EditorApprover {
    fn name(&self) -> &str {
        "editor"
    }

    fn takes_several(&self) -> bool {
        true
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        Box::pin(async move {
            let call = JUDGED_CALL.try_with(Clone::clone);
            let call = call.map_err(|_| {
                NotAsked::Unavailable("the call came from no agent of an editor".to_owned())
            })?;
            let text = format!("eclusa asks:\n\n{}", fenced(&question_text(question)));
            let params = acp_question(
                &call.session,
                &call.id,
                &title(question),
                &text,
                question.offers_edits(),
            );
            let answer = self.0.request("session/request_permission", params).await;
            let answer =
                answer.ok_or_else(|| NotAsked::Unavailable("the editor is gone".to_owned()))?;
            match answer.get("result") {
                Some(result) => {
                    let said = acp_answer(result, question.offers_edits());
                    Ok(said.unwrap_or_else(|| Answer::No("denied in the editor".to_owned())))
                }
                None => Err(NotAsked::Failed("the editor could not ask".to_owned())),
            }
        })
    }
}

/// The longest subject in a title, in characters: the whole of it is in the text.
const MAX_SUBJECT: usize = 120;

/// The question in one line: the tool, and what it is about as code, so that nothing in it is markup.
fn title(question: &Question) -> String {
    let args = question.shown_args.as_ref().unwrap_or(&question.args);
    let tool = one_line(&question.tool);
    let subject = ["command", "path", "url"].iter().find_map(|it| args.get(it)?.as_str());
    let Some(subject) = subject else { return tool };
    let words: Vec<String> = one_line(subject).split_whitespace().map(str::to_owned).collect();
    let mut shown = words.join(" ");
    if let Some((end, _)) = shown.char_indices().nth(MAX_SUBJECT) {
        shown.truncate(end);
        shown.push('…');
    }
    let ticks = fence(&shown, 1);
    format!("{tool}: {ticks} {shown} {ticks}")
}

/// What every other way of asking shows, without the keys that answer there: nothing hidden.
fn question_text(question: &Question) -> String {
    let lines = render(question).lines;
    let answers = |it: &Line| it.role == Role::Answer || it.to_string() == "answers:";
    let lines: Vec<String> =
        lines.iter().filter(|it| !answers(it)).map(ToString::to_string).collect();
    lines.join("\n")
}

/// A text as a block of code that nothing in it can end.
fn fenced(text: &str) -> String {
    let ticks = fence(text, 3);
    format!("{ticks}text\n{text}\n{ticks}")
}

/// More backticks than stand together anywhere in a text, and so many at least.
fn fence(text: &str, least: usize) -> String {
    let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or_default();
    "`".repeat(least.max(longest + 1))
}

#[cfg(test)]
mod tests;
