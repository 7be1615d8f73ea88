//! The inbox of the fleet for a person, whose key signs every request and every answer.

use std::path::Path;

use eclusa::{
    Answer,
    approve::{Statement, end_statement, revoke_statement},
    audit::{Clock as _, SystemClock},
};
use eclusa_approvals::KeyFile;
use eclusa_fleet::{
    PersonAuthor, RequestLine,
    inbox::{AnswerRequest, Answered, Inbox, InboxRow},
    wire::RefusedRequest,
};
use reqwest::{Client, Method, Url};
use serde::de::DeserializeOwned;

use super::client::{REQUEST_TIME, plain_client, safe_address};
use crate::{
    failure::Failure, fleet_machine::machine_files, paths::Paths, reviewers::service::chain,
};

/// The longest answer of a server that is read, in bytes.
const MAX_ANSWER: usize = 16 << 20;

/// For how long an answer is signed at most, in milliseconds: until then it must have reached the machine.
const SIGNED_FOR: u64 = 3_600_000;

/// A person at the server of a fleet.
pub struct FleetPersonClient {
    http: Client,
    server: Url,
    fleet: String,
    key: KeyFile,
    id: String,
}

/// What a person says.
#[derive(Debug, Clone, PartialEq)]
pub enum PersonAnswer {
    /// To one question, or to several that are identical.
    Vote(Answer),
    /// Takes a yes back.
    Revoke,
    /// Ends the session that asks.
    End,
}

impl FleetPersonClient {
    /// With the key in this file; at the server of this machine unless another is named.
    pub fn open(
        paths: &Paths,
        key: &Path,
        (server, fleet): (Option<String>, Option<String>),
    ) -> Result<FleetPersonClient, Failure> {
        let key = KeyFile::open(key).map_err(Failure::failed)?;
        let id = key.public(String::new(), 0).id;
        let fleet = match fleet {
            Some(fleet) => fleet,
            None => {
                let none = || {
                    Failure::usage("this machine is in no fleet")
                        .hint("pass `--fleet NAME` and `--server URL`")
                };
                super::look(paths)?.ok_or_else(none)?.anchor.name
            }
        };
        let server = match server {
            Some(server) => server,
            None => {
                let state = machine_files::state(paths).map_err(Failure::failed)?;
                let none = || {
                    Failure::usage("this machine is enrolled at no server")
                        .hint("pass `--server URL`")
                };
                state.ok_or_else(none)?.server
            }
        };
        let failed = |why: String| Failure::failed(format!("cannot use `{server}`: {why}"));
        let url = safe_address(&server).map_err(failed)?;
        Ok(FleetPersonClient { http: plain_client().map_err(failed)?, server: url, fleet, key, id })
    }

    /// What waits.
    pub async fn inbox(&self, filters: &[(&str, String)]) -> Result<Inbox, Failure> {
        let mut url = self.server.join("/v1/questions").map_err(Failure::failed)?;
        url.query_pairs_mut().extend_pairs(filters);
        let path = format!("{}?{}", url.path(), url.query().unwrap_or_default());
        self.send(Method::GET, &path, Vec::new()).await
    }

    /// One question in full.
    pub async fn question(&self, number: u64) -> Result<(InboxRow, Inbox), Failure> {
        let mut inbox = self.inbox(&[("number", number.to_string())]).await?;
        let row = inbox.questions.pop();
        let row = row.filter(|it| it.number == number).ok_or_else(|| {
            Failure::failed(format!("the server has no question {number}"))
                .hint("`eclusa fleet inbox` lists them")
        })?;
        Ok((row, inbox))
    }

    /// Signs an answer to these questions, which are identical, and hands it over.
    pub async fn answer(
        &self,
        person: &str,
        questions: &[InboxRow],
        answer: &PersonAnswer,
    ) -> Result<Answered, Failure> {
        let Some(first) = questions.first() else {
            return Err(Failure::usage("no question is named"));
        };
        if questions.iter().any(|it| it.binding != first.binding) {
            return Err(Failure::failed("these questions are not identical"));
        }
        let latest = questions.iter().map(|it| it.expires).max().unwrap_or_default();
        let expires = SystemClock.unix_ms().saturating_add(SIGNED_FOR).min(latest);
        let (kind, word, reason) = match answer {
            PersonAnswer::Vote(Answer::No(why)) => ("vote", "no", why.clone()),
            PersonAnswer::Vote(it) => ("vote", it.word(), String::new()),
            PersonAnswer::Revoke => ("revoke", "", String::new()),
            PersonAnswer::End => ("end", "", String::new()),
        };
        let in_time = match answer {
            PersonAnswer::Vote(_) => expires,
            // The question may be over by now.
            PersonAnswer::Revoke | PersonAnswer::End => {
                SystemClock.unix_ms().saturating_add(SIGNED_FOR)
            }
        };
        let (queue, ids) = (first.store.as_str(), [first.id]);
        let statement = match answer {
            PersonAnswer::Revoke => revoke_statement(queue, first.id, person, in_time),
            PersonAnswer::End => end_statement(queue, &first.conversation, person, in_time),
            PersonAnswer::Vote(answer) => {
                let binding = first.binding.as_str();
                let questions_of: Vec<(String, u64)> =
                    questions.iter().map(|it| (it.store.clone(), it.id)).collect();
                let said = Statement { queue, questions: &ids, binding, answer, person, expires };
                match questions {
                    [_] => said.text(),
                    _ => said.text_of_several(&questions_of),
                }
            }
        };
        let request = AnswerRequest {
            kind: kind.to_owned(),
            numbers: questions.iter().map(|it| it.number).collect(),
            answer: word.to_owned(),
            reason,
            expires: in_time,
            signature: self.key.sign(&statement),
            statement,
            key: self.id.clone(),
        };
        let body = serde_json::to_vec(&request).unwrap_or_default();
        self.send(Method::POST, "/v1/answers", body).await
    }

    async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Vec<u8>,
    ) -> Result<T, Failure> {
        let server = &self.server;
        let failed = |why: String| Failure::failed(format!("the server at {server}: {why}"));
        let line = RequestLine { fleet: &self.fleet, method: method.as_str(), path, body: &body };
        let at = SystemClock.unix_ms();
        let signature = self.key.sign(&PersonAuthor::text(&line, &self.id, at));
        let header = PersonAuthor { key: self.id.clone(), at, signature }.header();
        let url = server.join(path).map_err(|err| failed(err.to_string()))?;
        let request = self.http.request(method, url).timeout(REQUEST_TIME).body(body);
        let sent = request.header("authorization", header).send().await;
        let mut response = sent.map_err(|err| failed(chain(&err)))?;
        let status = response.status();
        let mut answer = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|err| failed(chain(&err)))? {
            answer.extend_from_slice(&chunk);
            if answer.len() > MAX_ANSWER {
                return Err(failed("its answer is too long".to_owned()));
            }
        }
        if !status.is_success() {
            let said: RefusedRequest = serde_json::from_slice(&answer).unwrap_or_default();
            let why = match said.error.is_empty() {
                true => format!("it answered {status}"),
                false => said.error,
            };
            return Err(match status.as_u16() {
                401 | 403 => Failure::refused(why),
                _ => failed(why),
            });
        }
        serde_json::from_slice(&answer)
            .map_err(|err| failed(format!("its answer cannot be read: {err}")))
    }
}
