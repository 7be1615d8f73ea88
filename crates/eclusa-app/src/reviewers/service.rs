//! A reviewer behind HTTP: the question is posted, and nothing but a clear answer is an answer.

use std::time::Duration;

use eclusa_net::http_client;
use reqwest::{
    Client,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
    redirect,
};
use serde_json::Value;

use super::answer::{self, ReviewerAnswer};

/// The longest answer that is read.
const MAX_ANSWER: usize = 1024 * 1024;

/// A service that reviews.
pub struct Service {
    client: Client,
    url: String,
}

impl Service {
    /// A service at this address. Redirects are not followed: the address is what was trusted.
    pub fn new(url: &str, headers: &[(String, String)], time: Duration) -> Result<Service, String> {
        let headers = headers.iter().map(header).collect::<Result<HeaderMap, String>>()?;
        let client = http_client()
            .redirect(redirect::Policy::none())
            .timeout(time)
            .default_headers(headers)
            .user_agent(concat!("eclusa/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|err| format!("no connection can be made: {err}"))?;
        Ok(Service { client, url: url.to_owned() })
    }

    /// Posts the question and reads the answer.
    pub(super) async fn consult(&self, about: &Value) -> Result<ReviewerAnswer, String> {
        answer::read(&self.post(about).await?)
    }

    /// Posts this text. Only whether it was taken counts; what comes back is not read.
    pub async fn deliver(&self, body: String) -> Result<(), String> {
        let sent = self.client.post(&self.url).body(body).send().await;
        let status = sent.map_err(|err| chain(&err.without_url()))?.status();
        match status.is_success() {
            true => Ok(()),
            false => Err(format!("it answered {status}")),
        }
    }

    /// Posts the question; what comes back is text.
    pub(super) async fn post(&self, about: &Value) -> Result<String, String> {
        let request = self
            .client
            .post(&self.url)
            .header(CONTENT_TYPE, "application/json")
            .body(about.to_string());
        let mut response = request.send().await.map_err(|err| chain(&err))?;
        if !response.status().is_success() {
            return Err(format!("it answered {}", response.status()));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|err| chain(&err))? {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_ANSWER {
                return Err(format!("its answer is longer than {MAX_ANSWER} bytes"));
            }
        }
        String::from_utf8(body).map_err(|_| "its answer is not text".to_owned())
    }
}

fn header((name, value): &(String, String)) -> Result<(HeaderName, HeaderValue), String> {
    let wrong = |_| format!("the header `{name}` cannot be sent");
    let mut value = HeaderValue::from_str(value).map_err(|err| wrong(err.to_string()))?;
    value.set_sensitive(true);
    let name = HeaderName::try_from(name).map_err(|err| wrong(err.to_string()))?;
    Ok((name, value))
}

/// The error with its causes: the first one alone seldom says what happened.
pub fn chain(err: &reqwest::Error) -> String {
    let causes = std::iter::successors(Some(err as &dyn std::error::Error), |it| it.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
