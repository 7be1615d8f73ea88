//! What a page may do: pair its browser, answer, take a yes back, undo. All but the pairing is
//! signed by the key of the browser, over exactly what it does.

use std::{
    sync::Arc,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use eclusa::{
    Answer as Said,
    approve::{
        GivenAnswer, Proof, QuestionState, Questions, QueueError, SignedAnswer,
        SignerDirectory as _, Statement, Vote,
    },
    one_line,
};
use hyper::{
    Request, StatusCode,
    body::Incoming,
    header::{HeaderValue, SET_COOKIE},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Answer, PageServer, Session, content, requests, text};
use crate::{
    people::{KeyKind, PersonKey},
    proof::{revoke_statement, undo_statement, verify},
};

/// The furthest that a statement may reach into the future, in milliseconds.
const MAX_AHEAD: u64 = 15 * 60 * 1_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pairing {
    code: String,
    public: String,
    label: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenByPage {
    workspace: String,
    questions: Vec<u64>,
    binding: String,
    answer: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    edit: Option<Value>,
    expires: u64,
    signature: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Taken {
    workspace: String,
    /// The question whose yes is taken back, or the call that is undone.
    number: u64,
    expires: u64,
    signature: String,
}

impl PageServer {
    /// Exchanges a link for a cookie, and registers the key of the browser.
    pub(super) async fn pair(&self, request: Request<Incoming>) -> Answer {
        if !self.failures.take("pair", Instant::now()) {
            return text(StatusCode::TOO_MANY_REQUESTS, "too many attempts; wait a minute");
        }
        let pairing: Pairing = match requests::json(request).await {
            Ok(pairing) => pairing,
            Err(refusal) => return refusal,
        };
        let label: String = one_line(&pairing.label).chars().take(80).collect();
        let key = PersonKey::new(KeyKind::Browser, pairing.public, label, now());
        if !key.is_well_formed() {
            return text(StatusCode::BAD_REQUEST, "this is not a key of a browser");
        }
        match self.people.is_removed(&key.id) {
            Err(err) => return text(StatusCode::INTERNAL_SERVER_ERROR, &err.to_string()),
            // The browser makes another key, and the link still works.
            Ok(true) => return done(json!({"paired": false})),
            Ok(false) => {}
        }
        let Some(person) = self.sessions.redeem(&pairing.code) else {
            let why = "this link was used or is too old; `eclusa approvals serve` prints a new one";
            return text(StatusCode::FORBIDDEN, why);
        };
        let paired = || -> Result<String, String> {
            let id = key.id.clone();
            self.people.add(&person, key).map_err(|err| err.to_string())?;
            self.sessions.open(&person, &id).map_err(|err| err.to_string())
        };
        match paired() {
            Err(why) => text(StatusCode::INTERNAL_SERVER_ERROR, &why),
            Ok(cookie) => {
                let mut answer = done(json!({"paired": true, "person": person}));
                if let Ok(cookie) = HeaderValue::from_str(&cookie) {
                    answer.headers_mut().insert(SET_COOKIE, cookie);
                }
                answer
            }
        }
    }

    /// Answers questions.
    pub(super) async fn give_answer(
        &self,
        request: Request<Incoming>,
        session: &Session,
    ) -> Answer {
        let given: GivenByPage = match requests::json(request).await {
            Ok(given) => given,
            Err(refusal) => return refusal,
        };
        let Some(questions) = self.workspaces.questions(&given.workspace) else {
            return text(StatusCode::NOT_FOUND, "there is no such workspace");
        };
        let answer = match (given.answer.as_str(), given.edit) {
            ("once", None) => Said::Once,
            ("session", None) => Said::Session,
            ("always", None) => Said::Always,
            ("edit", Some(args)) => Said::Edit(args),
            ("no", None) => Said::No(given.reason),
            ("abort", None) => Said::Abort,
            _ => return text(StatusCode::BAD_REQUEST, "this is not an answer"),
        };
        if let Err(refusal) = offered(&*questions, &given.questions, &answer).await {
            return refusal;
        }
        if let Err(refusal) = self.may_say(&*questions, &given.questions, &answer, session).await {
            return refusal;
        }
        let queue = match questions.queue().await {
            Ok(queue) => queue,
            Err(err) => return failed(&err),
        };
        let statement = Statement {
            queue: &queue,
            questions: &given.questions,
            binding: &given.binding,
            answer: &answer,
            person: &session.person,
            expires: given.expires,
        };
        let statement = statement.text();
        if let Some(refusal) = self.refusal(session, &statement, &given.signature, given.expires) {
            return refusal;
        }
        let signed = SignedAnswer {
            proof: Proof::Key,
            key: session.key.clone(),
            statement,
            signature: given.signature,
        };
        let first = given.questions.first().copied().unwrap_or_default();
        let answered = questions.answer(GivenAnswer {
            questions: given.questions,
            answer,
            by: session.person.clone(),
            binding: Some(given.binding),
            signed: Some(signed),
        });
        match answered.await {
            Ok(()) => {
                let now = questions.get(first).await.map(|it| it.state);
                done(json!({"answered": true, "waits": now == Ok(QuestionState::Pending)}))
            }
            Err(err) => failed(&err),
        }
    }

    /// Checks that the yes of this person counts: the rules may want others.
    async fn may_say(
        &self,
        questions: &dyn Questions,
        ids: &[u64],
        answer: &Said,
        session: &Session,
    ) -> Result<(), Answer> {
        if !answer.is_yes() {
            return Ok(());
        }
        let (person, groups) = (session.person.clone(), self.people.groups(&session.person));
        let vote = Vote { person, groups, proof: Proof::Key };
        for &id in ids {
            let queued = questions.get(id).await.map_err(|err| failed(&err))?;
            if let Some(why) = queued.question.refusal(&vote) {
                return Err(text(StatusCode::FORBIDDEN, &why));
            }
        }
        Ok(())
    }

    /// Takes a yes back.
    pub(super) async fn revoke(&self, request: Request<Incoming>, session: &Session) -> Answer {
        let (taken, questions) = match self.taken(request, session, revoke_statement).await {
            Ok(taken) => taken,
            Err(refusal) => return refusal,
        };
        match questions.revoke(taken.number, &session.person).await {
            Ok(()) => done(json!({"revoked": true})),
            Err(err) => failed(&err),
        }
    }

    /// Undoes what a call changed.
    pub(super) async fn undo(&self, request: Request<Incoming>, session: &Session) -> Answer {
        let taken = match self.taken(request, session, undo_statement).await {
            Ok((taken, _)) => taken,
            Err(refusal) => return refusal,
        };
        match self.workspaces.undo(&taken.workspace, taken.number, &session.person).await {
            Ok(said) => done(json!({"undone": said})),
            Err(why) => text(StatusCode::CONFLICT, &why),
        }
    }

    /// What is to be taken back, once the browser of this session has signed it.
    async fn taken(
        &self,
        request: Request<Incoming>,
        session: &Session,
        statement: fn(&str, u64, &str, u64) -> String,
    ) -> Result<(Taken, Arc<dyn Questions>), Answer> {
        let taken: Taken = requests::json(request).await?;
        let Some(questions) = self.workspaces.questions(&taken.workspace) else {
            return Err(text(StatusCode::NOT_FOUND, "there is no such workspace"));
        };
        let queue = questions.queue().await.unwrap_or_default();
        let statement = statement(&queue, taken.number, &session.person, taken.expires);
        match self.refusal(session, &statement, &taken.signature, taken.expires) {
            Some(refusal) => Err(refusal),
            None => Ok((taken, questions)),
        }
    }

    /// The refusal, where the browser of this session has not signed this or its time is over.
    fn refusal(
        &self,
        session: &Session,
        statement: &str,
        signature: &str,
        expires: u64,
    ) -> Option<Answer> {
        let now = now();
        if expires <= now || expires > now.saturating_add(MAX_AHEAD) {
            let why = "the answer is too old, or the clock of the browser is wrong";
            return Some(text(StatusCode::FORBIDDEN, why));
        }
        let key = match self.people.key(&session.key) {
            Ok(key) => key,
            Err(err) => return Some(text(StatusCode::INTERNAL_SERVER_ERROR, &err.to_string())),
        };
        let ours = key.filter(|(person, _)| *person == session.person);
        let verified = ours.is_some_and(|(_, key)| verify(&key, statement, signature).is_ok());
        if verified {
            return None;
        }
        let again = self.failures.take(&session.person, Instant::now());
        Some(match again {
            true => text(
                StatusCode::FORBIDDEN,
                "the signature is not that of this browser's key; open a new link",
            ),
            false => text(StatusCode::TOO_MANY_REQUESTS, "too many bad signatures; wait a minute"),
        })
    }
}

/// Checks that each question offers this answer: what a person has not seen whole, or what cannot
/// be kept, is allowed this once at most.
async fn offered(questions: &dyn Questions, ids: &[u64], answer: &Said) -> Result<(), Answer> {
    if ids.is_empty() || ids.len() > 1_000 {
        return Err(text(StatusCode::BAD_REQUEST, "no questions, or too many"));
    }
    if matches!(answer, Said::Once | Said::No(_) | Said::Abort) {
        return Ok(());
    }
    for &id in ids {
        let queued = questions.get(id).await.map_err(|err| failed(&err))?;
        let offers = crate::page::offers(&queued.question);
        let offered = match answer {
            Said::Session => offers.session,
            Said::Always => offers.always,
            Said::Edit(_) => offers.edit && ids.len() == 1,
            Said::Once | Said::No(_) | Said::Abort => true,
            Said::Only(_) => false,
        };
        if !offered {
            return Err(text(StatusCode::CONFLICT, "this answer is not offered for that question"));
        }
    }
    Ok(())
}

fn failed(err: &QueueError) -> Answer {
    let status = match err {
        QueueError::Unknown(_) => StatusCode::NOT_FOUND,
        QueueError::Nameless => StatusCode::BAD_REQUEST,
        QueueError::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
        QueueError::Expired(_)
        | QueueError::Decided { .. }
        | QueueError::WrongState { .. }
        | QueueError::Swapped(_)
        | QueueError::Full(_) => StatusCode::CONFLICT,
    };
    text(status, &err.to_string())
}

fn done(value: Value) -> Answer {
    content(StatusCode::OK, "application/json", value.to_string().into())
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
