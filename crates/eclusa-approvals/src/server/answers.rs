//! What a page may do: pair its browser, answer, take a yes back, undo. All but the pairing is
//! signed by the key of the browser, over exactly what it does.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use eclusa::{
    Answer as Said,
    approve::{
        GivenAnswer, Proof, Questions, QueueError, SignedAnswer, SignerDirectory as _, Statement,
        Vote, end_statement, revoke_statement,
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

use super::{Answer, PageServer, Session, content, text};
use crate::{
    people::{KeyKind, PeopleError, PersonKey},
    proof::{undo_statement, verify},
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
    /// The paths whose changes alone are applied.
    #[serde(default)]
    only: Option<Vec<PathBuf>>,
    expires: u64,
    /// The passkey that signed it; without one, the key of the browser did.
    #[serde(default)]
    passkey: Option<String>,
    signature: String,
}

/// What ends a session.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EndRequest {
    workspace: String,
    conversation: String,
    expires: u64,
    signature: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Taken {
    pub(super) workspace: String,
    /// The question whose yes is taken back, the call that is undone, or the job that is ended.
    #[serde(alias = "question", alias = "call", alias = "job")]
    pub(super) number: u64,
    expires: u64,
    signature: String,
}

impl PageServer {
    /// Exchanges a link for a cookie, and registers the key of the browser.
    pub(super) async fn pair(&self, request: Request<Incoming>) -> Answer {
        let pairing: Pairing = match self.json(request).await {
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
        let redeemed = match self.sessions.redeem(&pairing.code, Instant::now()) {
            Some(person) => Ok(Some(person)),
            None => self.people.redeem_link(&pairing.code, now()),
        };
        let person = match redeemed {
            Ok(Some(person)) => person,
            // Who has the right link is never kept out by the guesses of others.
            Ok(None) if !self.failures.take("pair", Instant::now()) => {
                return text(StatusCode::TOO_MANY_REQUESTS, "too many attempts; wait a minute");
            }
            Ok(None) => {
                let why = "this link was used or is too old; `eclusa people pair` prints a new one";
                return text(StatusCode::FORBIDDEN, why);
            }
            Err(err) => return text(StatusCode::INTERNAL_SERVER_ERROR, &err.to_string()),
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
        let given: GivenByPage = match self.json(request).await {
            Ok(given) => given,
            Err(refusal) => return refusal,
        };
        let Some(questions) = self.workspaces.questions(&given.workspace) else {
            return text(StatusCode::NOT_FOUND, "there is no such workspace");
        };
        let answer = match (given.answer.as_str(), given.edit, given.only) {
            ("once", None, None) => Said::Once,
            ("session", None, None) => Said::Session,
            ("edits", None, None) => Said::Edits,
            ("review", None, None) => Said::Review,
            ("always", None, None) => Said::Always,
            ("edit", Some(args), None) => Said::Edit(args),
            ("only", None, Some(paths)) => Said::Only(paths),
            ("instead", None, None) if !given.reason.trim().is_empty() => {
                Said::Instead(given.reason)
            }
            ("no", None, None) => Said::No(given.reason),
            ("abort", None, None) => Said::Abort,
            _ => return text(StatusCode::BAD_REQUEST, "this is not an answer"),
        };
        if let Err(refusal) = offered(&*questions, &given.questions, &answer).await {
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
        let (passkey, text_signed) = (given.passkey.as_deref(), statement.text());
        let signed =
            self.signed_by(session, passkey, &text_signed, &given.signature, given.expires);
        let signed = match signed {
            Ok(signed) => signed,
            Err(refusal) => return refusal,
        };
        let person = session.person.as_str();
        let why_not = self.why_not(&*questions, &given.questions, &answer, person, signed.proof);
        match why_not.await {
            Ok(None) => {}
            Ok(Some(why)) => return text(StatusCode::FORBIDDEN, &why),
            Err(err) => return failed(&err),
        }
        let (ids, yes) = (given.questions.clone(), answer.is_yes());
        let answered = questions.answer(GivenAnswer {
            questions: given.questions,
            answer,
            by: session.person.clone(),
            binding: Some(given.binding),
            signed: Some(signed),
        });
        match answered.await {
            Ok(()) => done(self.after_answer(&given.workspace, &*questions, &ids, yes).await),
            Err(err) => failed(&err),
        }
    }

    /// Why the yes of this person does not count, if it does not: the rules may want others.
    pub(super) async fn why_not(
        &self,
        questions: &dyn Questions,
        ids: &[u64],
        answer: &Said,
        person: &str,
        proof: Proof,
    ) -> Result<Option<String>, QueueError> {
        if !answer.is_yes() {
            return Ok(None);
        }
        let groups = self.people.groups(person);
        for &id in ids {
            let queued = questions.get(id).await?;
            let waited = Duration::from_millis(now().saturating_sub(queued.created));
            let vote = Vote { person: person.to_owned(), groups: groups.clone(), proof, waited };
            if let Some(why) = queued.question.refusal(&vote) {
                return Ok(Some(why));
            }
        }
        Ok(None)
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
    pub(super) async fn taken(
        &self,
        request: Request<Incoming>,
        session: &Session,
        statement: fn(&str, u64, &str, u64) -> String,
    ) -> Result<(Taken, Arc<dyn Questions>), Answer> {
        let taken: Taken = self.json(request).await?;
        let Some(questions) = self.workspaces.questions(&taken.workspace) else {
            return Err(text(StatusCode::NOT_FOUND, "there is no such workspace"));
        };
        let queue = questions.queue().await.unwrap_or_default();
        let statement = statement(&queue, taken.number, &session.person, taken.expires);
        self.signed_by(session, None, &statement, &taken.signature, taken.expires)?;
        Ok((taken, questions))
    }

    /// Ends a session: what it waits for is refused, and no yes of it is left.
    pub(super) async fn end(&self, request: Request<Incoming>, session: &Session) -> Answer {
        let ended: EndRequest = match self.json(request).await {
            Ok(ended) => ended,
            Err(refusal) => return refusal,
        };
        let Some(questions) = self.workspaces.questions(&ended.workspace) else {
            return text(StatusCode::NOT_FOUND, "there is no such workspace");
        };
        let queue = questions.queue().await.unwrap_or_default();
        let person = session.person.as_str();
        let statement = end_statement(&queue, &ended.conversation, person, ended.expires);
        let signed = self.signed_by(session, None, &statement, &ended.signature, ended.expires);
        if let Err(refusal) = signed {
            return refusal;
        }
        match questions.end_session(&ended.conversation, person).await {
            Ok(count) => done(json!({"ended": count})),
            Err(err) => failed(&err),
        }
    }

    /// The signature, where the browser of this session or a passkey of its person has signed this
    /// and its time is not over.
    #[expect(clippy::result_large_err, reason = "the error is the answer that is sent")]
    pub(super) fn signed_by(
        &self,
        session: &Session,
        passkey: Option<&str>,
        statement: &str,
        signature: &str,
        expires: u64,
    ) -> Result<SignedAnswer, Answer> {
        let now = now();
        if expires <= now || expires > now.saturating_add(MAX_AHEAD) {
            let why = "the answer is too old, or the clock of the browser is wrong";
            return Err(text(StatusCode::FORBIDDEN, why));
        }
        let broken = |err: PeopleError| text(StatusCode::INTERNAL_SERVER_ERROR, &err.to_string());
        let key = match passkey {
            Some(credential) => {
                let own = self.people.passkeys(&session.person).map_err(broken)?;
                own.into_iter().find(|it| it.credential.as_deref() == Some(credential))
            }
            None => {
                let key = self.people.key(&session.key).map_err(broken)?;
                key.filter(|(person, _)| *person == session.person).map(|it| it.1)
            }
        };
        let verified = key.filter(|it| verify(it, statement, signature).is_ok());
        let Some(key) = verified else {
            return Err(match self.failures.take(&session.person, Instant::now()) {
                true => text(
                    StatusCode::FORBIDDEN,
                    "the signature is not that of this browser's key or of a passkey of yours; \
                     open a new link",
                ),
                false => {
                    text(StatusCode::TOO_MANY_REQUESTS, "too many bad signatures; wait a minute")
                }
            });
        };
        let (statement, signature) = (statement.to_owned(), signature.to_owned());
        Ok(SignedAnswer { proof: key.kind.proof(), key: key.id, statement, signature })
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
            Said::Edits => offers.edits,
            Said::Review => offers.review,
            Said::Always => offers.always,
            Said::Edit(_) => offers.edit && ids.len() == 1,
            Said::Instead(_) => offers.instead && ids.len() == 1,
            Said::Once | Said::No(_) | Said::Abort => true,
            Said::Only(paths) => {
                let choices = queued.question.preview().map(|it| &it.choices[..]);
                let known =
                    |path: &PathBuf| choices.is_some_and(|it| it.iter().any(|it| it.0 == *path));
                !paths.is_empty() && ids.len() == 1 && paths.iter().all(known)
            }
        };
        if !offered {
            return Err(text(StatusCode::CONFLICT, "this answer is not offered for that question"));
        }
    }
    Ok(())
}

pub(super) fn failed(err: &QueueError) -> Answer {
    text(status(err), &err.to_string())
}

/// The status that says what an error means.
pub(super) fn status(err: &QueueError) -> StatusCode {
    match err {
        QueueError::Unknown(_) => StatusCode::NOT_FOUND,
        QueueError::Nameless => StatusCode::BAD_REQUEST,
        QueueError::Store(_) => StatusCode::SERVICE_UNAVAILABLE,
        QueueError::Expired(_)
        | QueueError::Decided { .. }
        | QueueError::WrongState { .. }
        | QueueError::Swapped(_)
        | QueueError::Full(_) => StatusCode::CONFLICT,
    }
}

pub(super) fn done(value: Value) -> Answer {
    content(StatusCode::OK, "application/json", value.to_string().into())
}

pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
