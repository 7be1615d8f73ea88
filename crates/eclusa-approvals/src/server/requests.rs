//! What a request says: its query, and a body of bounded size.

use std::time::Duration;

use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::{
    Request, StatusCode,
    body::{Bytes, Incoming},
};
use serde::de::DeserializeOwned;

use super::{Answer, PageServer, text};

/// The largest body, in bytes.
const MAX_BODY: usize = 256 * 1024;

/// The parameters of a query; of those that are given twice, the first.
pub(super) fn query(text: &str) -> Vec<(String, String)> {
    url::form_urlencoded::parse(text.as_bytes()).into_owned().take(32).collect()
}

/// The whole body, which comes within this time and is not too long.
pub(super) async fn body(body: Incoming, time: Duration) -> Result<Bytes, Answer> {
    let body = Limited::new(body, MAX_BODY).collect();
    match tokio::time::timeout(time, body).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(err)) if err.is::<LengthLimitError>() => {
            Err(text(StatusCode::PAYLOAD_TOO_LARGE, "this request is too large"))
        }
        Ok(Err(_)) => Err(text(StatusCode::BAD_REQUEST, "the request was not sent whole")),
        Err(_) => Err(text(StatusCode::REQUEST_TIMEOUT, "the request came too slowly")),
    }
}

impl PageServer {
    /// The body of a request, which must be this and nothing else.
    pub(super) async fn json<T: DeserializeOwned>(
        &self,
        request: Request<Incoming>,
    ) -> Result<T, Answer> {
        let body = body(request.into_body(), self.limits.body_time).await?;
        serde_json::from_slice(&body)
            .map_err(|err| text(StatusCode::BAD_REQUEST, &format!("this cannot be read: {err}")))
    }
}
