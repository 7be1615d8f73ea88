//! Answers from programs that share a secret with the page: `POST /hooks/answer`, signed as Standard
//! Webhooks has it. Such an answer is a word: it opens nothing that needs a key or a passkey.

use std::time::Instant;

use eclusa::{
    Answer as Said, Hash,
    approve::{GivenAnswer, Proof, QueueError},
};
use hyper::{HeaderMap, Request, StatusCode, body::Incoming};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Answer, PageServer,
    answers::{failed, now},
    content, requests, text,
};
use crate::notify::signature;

/// How far the clock of the other side may be off, in seconds.
const MAX_SKEW: u64 = 5 * 60;

/// The longest id of a message.
const MAX_ID: usize = 200;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenByHook {
    workspace: String,
    question: u64,
    binding: String,
    answer: String,
    person: String,
    #[serde(default)]
    reason: String,
}

impl PageServer {
    /// Answers one question for a program that knows the secret. The same message again gets the
    /// same answer, and changes nothing; another one under the same id is a conflict.
    pub(super) async fn hook_answer(&self, request: Request<Incoming>) -> Answer {
        let Some(secrets) = &self.hook else {
            let why = "answers from elsewhere are off: set `approvals.hook_secret`";
            return text(StatusCode::NOT_FOUND, why);
        };
        let (head, body) = request.into_parts();
        let body = match requests::body(body, self.limits.body_time).await {
            Ok(body) => body,
            Err(refusal) => return refusal,
        };
        let id = header(&head.headers, signature::ID).filter(|it| it.len() <= MAX_ID);
        let timestamp = header(&head.headers, signature::TIMESTAMP);
        let signatures = header(&head.headers, signature::SIGNATURE);
        let signed = match (id, timestamp, signatures) {
            (Some(id), Some(time), Some(given)) if secrets.verify(id, time, &body, given) => {
                Some((id, time))
            }
            _ => None,
        };
        let Some((id, timestamp)) = signed else {
            return match self.failures.take("hook", Instant::now()) {
                true => text(StatusCode::UNAUTHORIZED, "the signature is not ours"),
                false => text(StatusCode::TOO_MANY_REQUESTS, "too many bad signatures; wait"),
            };
        };
        let sent: u64 = timestamp.parse().unwrap_or_default();
        if (now() / 1_000).abs_diff(sent) > MAX_SKEW {
            return text(StatusCode::UNAUTHORIZED, "the message is too old, or a clock is wrong");
        }
        let given: GivenByHook = match serde_json::from_slice(&body) {
            Ok(given) => given,
            Err(err) => {
                return text(StatusCode::BAD_REQUEST, &format!("this cannot be read: {err}"));
            }
        };
        let Some(questions) = self.workspaces.questions(&given.workspace) else {
            return text(StatusCode::NOT_FOUND, "there is no such workspace");
        };
        let message = Hash::sha256(&body).to_string();
        match questions.answered_request(id).await {
            Ok(None) => {}
            Ok(Some((_, said))) if !is_receipt_of(&said, &message) => {
                let why = "another message with this id was answered already; give each its own id";
                return text(StatusCode::CONFLICT, why);
            }
            Ok(Some((status, said))) => {
                let status = StatusCode::from_u16(status).unwrap_or(StatusCode::CONFLICT);
                return reply(status, said);
            }
            Err(err) => return failed(&err),
        }
        let (status, said) = match self.take_hook_answer(given).await {
            Ok(said) => (StatusCode::OK, said),
            Err((status, why)) if status.is_server_error() => return text(status, &why),
            Err((status, why)) => (status, json!({"answered": false, "why": why})),
        };
        let said = with_message(said, message).to_string();
        match questions.keep_request(id, (status.as_u16(), said.clone())).await {
            Ok(()) => reply(status, said),
            Err(err) => failed(&err),
        }
    }

    /// Gives the answer, and says whether the question waits for others still, and what a yes came to.
    async fn take_hook_answer(&self, given: GivenByHook) -> Result<Value, (StatusCode, String)> {
        let answer = match given.answer.as_str() {
            "once" => Said::Once,
            "instead" if !given.reason.trim().is_empty() => Said::Instead(given.reason),
            "no" => Said::No(given.reason),
            "abort" => Said::Abort,
            _ => {
                let why = "an answer from elsewhere is once, instead (with a reason), no or abort";
                return Err((StatusCode::BAD_REQUEST, why.to_owned()));
            }
        };
        let missing = || (StatusCode::NOT_FOUND, "there is no such workspace".to_owned());
        let questions = self.workspaces.questions(&given.workspace).ok_or_else(missing)?;
        let refused = |err: QueueError| (super::answers::status(&err), err.to_string());
        let ids = [given.question];
        if let Some(why) = self
            .why_not(&*questions, &ids, &answer, &given.person, Proof::Word)
            .await
            .map_err(refused)?
        {
            return Err((StatusCode::FORBIDDEN, why));
        }
        let yes = answer.is_yes();
        let answered = questions.answer(GivenAnswer {
            questions: ids.to_vec(),
            answer,
            by: given.person,
            binding: Some(given.binding),
            signed: None,
        });
        answered.await.map_err(refused)?;
        Ok(self.after_answer(&given.workspace, &*questions, &ids, yes).await)
    }
}

/// The receipt for a message says which message it is for.
fn with_message(mut receipt: Value, message: String) -> Value {
    if let Some(fields) = receipt.as_object_mut() {
        fields.insert("sha256".to_owned(), message.into());
    }
    receipt
}

fn is_receipt_of(receipt: &str, message: &str) -> bool {
    let receipt: Value = serde_json::from_str(receipt).unwrap_or_default();
    receipt.get("sha256").and_then(Value::as_str) == Some(message)
}

/// The value of a header that is there once and is text.
fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (Some(only), None) => only.to_str().ok(),
        _ => None,
    }
}

fn reply(status: StatusCode, said: String) -> Answer {
    content(status, "application/json", said.into())
}
