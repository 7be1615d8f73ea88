//! HTTP to a server that nobody vouches for: no answer is read beyond a bound.
//!
//! rmcp's own client reads an answer in JSON to its end, however long it is. This is the same way
//! of asking with a limit to what is listened to; streams are bounded event by event.

use std::{collections::HashMap, sync::Arc};

use futures::{StreamExt as _, stream::BoxStream};
use reqwest::{
    Response, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE},
};
use rmcp::{
    ErrorData,
    model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, ServerJsonRpcMessage},
    transport::streamable_http_client::{
        AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpClient,
        StreamableHttpError, StreamableHttpPostResponse,
    },
};
use sse_stream::{Error as SseError, Sse, SseStream};

use super::pipe_transport::LastError;
use crate::call_messages;

const SESSION_HEADER: &str = "mcp-session-id";

/// The longest text of a refusal that is kept.
const MAX_REFUSAL_BYTES: usize = 64 << 10;

type HttpError = StreamableHttpError<reqwest::Error>;

/// A client that stops listening.
#[derive(Clone)]
pub(super) struct BoundedHttpClient {
    pub(super) http: reqwest::Client,
    /// What the server is called here, and what a person would have to do for it.
    pub(super) name: Arc<str>,
    pub(super) last_error: LastError,
}

impl StreamableHttpClient for BoundedHttpClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let most = crate::lines::MAX_LINE_BYTES;
        self.post_message_with_max_sse_event_size(uri, message, session, token, headers, most).await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        most: usize,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let mut request =
            self.http.post(&*uri).header(ACCEPT, "text/event-stream, application/json");
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        if let Some(session) = &session {
            request = request.header(SESSION_HEADER, &**session);
        }
        let request = request.headers(headers.into_iter().collect());
        let response = request.json(&message).send().await.map_err(HttpError::Client)?;
        refused(&response, &self.last_error, &self.name)?;
        let status = response.status();
        let text = |name: HeaderName| header_text(response.headers(), &name);
        let (kind, new) = (text(CONTENT_TYPE), text(HeaderName::from_static(SESSION_HEADER)));
        let is = |wanted: &str| kind.as_deref().is_some_and(|it| it.starts_with(wanted));
        match status {
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT => {
                return Ok(StreamableHttpPostResponse::Accepted);
            }
            StatusCode::NOT_FOUND if session.is_some() => return Err(HttpError::SessionExpired),
            _ => {}
        }
        if !status.is_success() {
            let body = read(response, MAX_REFUSAL_BYTES).await.unwrap_or_default();
            return report_status(&message, session.is_some(), status, &body);
        }
        if is("text/event-stream") {
            let events = SseStream::from_bytes_stream(bounded(response, most)).boxed();
            return Ok(StreamableHttpPostResponse::Sse(events, new));
        }
        let asks = matches!(message, JsonRpcMessage::Request(_));
        if !asks {
            // Nobody waits for what it says to this.
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if !is("application/json") {
            return Err(HttpError::UnexpectedContentType(kind));
        }
        let body = read(response, most).await?;
        let message = call_messages::from_server(&body)?;
        Ok(StreamableHttpPostResponse::Json(message, new))
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), HttpError> {
        self.http.delete_session(uri, session, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, HttpError> {
        self.http.get_stream(uri, session, last, token, headers).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        most: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, HttpError> {
        let http = &self.http;
        http.get_stream_with_max_sse_event_size(uri, session, last, token, headers, most).await
    }
}

fn header_text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name).and_then(|it| it.to_str().ok()).map(str::to_owned)
}

/// A server that wants a token, or a better one, says so in a header.
fn refused(response: &Response, last_error: &LastError, name: &str) -> Result<(), HttpError> {
    let Some(challenge) = header_text(response.headers(), &WWW_AUTHENTICATE) else { return Ok(()) };
    match response.status() {
        StatusCode::UNAUTHORIZED => {
            last_error.make(format!(
                "login required: `eclusa servers login {name}`, or name a header for it"
            ));
            Err(HttpError::AuthRequired(AuthRequiredError::new(challenge)))
        }
        StatusCode::FORBIDDEN => {
            let scope = challenge.split("scope=\"").nth(1).and_then(|it| it.split('"').next());
            let scope = scope.map(str::to_owned);
            // What is not plain has no place in a line that a person copies.
            let plain = |it: char| it.is_ascii_graphic() && !"'\\`".contains(it) || it == ' ';
            if let Some(scope) = scope.as_ref().filter(|it| it.len() < 500 && it.chars().all(plain))
            {
                last_error.make(format!(
                    "token lacks scope: `eclusa servers login {name} --scope \
                     '{scope}'` gets another"
                ));
            }
            Err(HttpError::InsufficientScope(InsufficientScopeError::new(challenge, scope)))
        }
        _ => Ok(()),
    }
}

/// What a status other than success means. A server of the older era refuses the question which era
/// it is of in many ways; whatever it says, it must be taken for the answer to that question.
fn report_status(
    message: &ClientJsonRpcMessage,
    session: bool,
    status: StatusCode,
    body: &[u8],
) -> Result<StreamableHttpPostResponse, HttpError> {
    let error = match serde_json::from_slice::<ServerJsonRpcMessage>(body) {
        Ok(JsonRpcMessage::Error(it)) => Some(it),
        _ => None,
    };
    let known = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    if let JsonRpcMessage::Request(request) = message
        && matches!(request.request, ClientRequest::DiscoverRequest(_))
        && !(session || known)
        && status.is_client_error()
    {
        let plain = || ErrorData::invalid_request(format!("HTTP {status}"), None);
        let error = error.map_or_else(plain, |it| it.error);
        let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
        return Ok(StreamableHttpPostResponse::Json(answer, None));
    }
    match error {
        Some(error) if !known => {
            Ok(StreamableHttpPostResponse::Json(JsonRpcMessage::Error(error), None))
        }
        _ => Err(HttpStatusError::new(status.as_u16(), None).into()),
    }
}

/// Reads an answer to its end, unless that is too far.
async fn read(response: Response, most: usize) -> Result<Vec<u8>, HttpError> {
    let mut body = Vec::new();
    let mut parts = response.bytes_stream();
    while let Some(part) = parts.next().await {
        let part = part.map_err(HttpError::Client)?;
        if body.len() + part.len() > most {
            let text = format!("it sent a message of over {most} bytes");
            return Err(HttpError::UnexpectedServerResponse(text.into()));
        }
        body.extend_from_slice(&part);
    }
    Ok(body)
}

/// The bytes of a stream, up to the first event that is too long.
fn bounded(
    response: Response,
    most: usize,
) -> impl futures::Stream<Item = Result<hyper::body::Bytes, std::io::Error>> + Send + 'static {
    let mut event = 0;
    let mut last = 0;
    response.bytes_stream().map(move |part| {
        let part = part.map_err(std::io::Error::other)?;
        for byte in part.iter().filter(|it| **it != b'\r') {
            // An empty line ends an event.
            event = if *byte == b'\n' && last == b'\n' { 0 } else { event + 1 };
            last = *byte;
        }
        match event > most {
            true => Err(std::io::Error::other(format!("it sent a message of over {most} bytes"))),
            false => Ok(part),
        }
    })
}
