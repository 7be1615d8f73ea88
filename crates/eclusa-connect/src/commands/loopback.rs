//! HTTP/1.1 on the loopback of this machine, one request a connection.

use std::{convert::Infallible, error::Error, time::Duration};

use futures::TryStreamExt as _;
use http_body_util::{BodyExt as _, Full, Limited, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    Request, Response, StatusCode,
    body::{Bytes, Frame, Incoming},
    header::CONTENT_TYPE,
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{net::TcpListener, task::JoinHandle};

/// The longest head of a request.
const MAX_HEAD: usize = 64 << 10;
/// How long a request may take to arrive.
const REQUEST_TIME: Duration = Duration::from_secs(60);

/// What is answered.
pub(super) type LoopbackResponse = Response<UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>>;

/// Answers requests until it is aborted.
pub(super) fn serve<A, F>(listener: TcpListener, answer: A) -> JoinHandle<()>
where
    A: Fn(Request<Incoming>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = LoopbackResponse> + Send + 'static,
{
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(REQUEST_TIME);
    // Whoever has said all that it has to say still waits for the answer.
    http.max_buf_size(MAX_HEAD).keep_alive(false).half_close(true);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let answer = answer.clone();
            let answer = service_fn(move |request| {
                let answered = answer(request);
                async { Ok::<_, Infallible>(answered.await) }
            });
            let connection = http.serve_connection(TokioIo::new(stream), answer);
            // Somebody who goes away in the middle asks again, or gives up.
            tokio::spawn(async { drop(connection.await) });
        }
    })
}

/// The body of a request, read whole; the error is what to answer.
pub(super) async fn read_body(body: Incoming, max: usize) -> Result<Bytes, (StatusCode, String)> {
    let whole = tokio::time::timeout(REQUEST_TIME, Limited::new(body, max).collect()).await;
    let late = (StatusCode::REQUEST_TIMEOUT, "the request did not come in time".to_owned());
    let whole = whole.map_err(|_| late)?;
    let whole = whole.map_err(|err| (StatusCode::BAD_REQUEST, err.to_string()))?;
    Ok(whole.to_bytes())
}

/// An answer that is known whole.
pub(super) fn text(
    status: StatusCode,
    content_type: &'static str,
    text: String,
) -> LoopbackResponse {
    let body = Full::from(text).map_err(|never| match never {});
    let mut answer = Response::new(body.boxed_unsync());
    *answer.status_mut() = status;
    let content_type = hyper::header::HeaderValue::from_static(content_type);
    answer.headers_mut().insert(CONTENT_TYPE, content_type);
    answer
}

/// What somebody else answered, piece by piece: a model's answer is read while it is written.
pub(super) fn pass_on(response: reqwest::Response, left_out: &[&str]) -> LoopbackResponse {
    let (status, mut headers) = (response.status(), response.headers().clone());
    for name in left_out {
        headers.remove(*name);
    }
    let pieces = response.bytes_stream().map_ok(Frame::data).map_err(Into::into);
    let mut answer = Response::new(StreamBody::new(pieces).boxed_unsync());
    *answer.status_mut() = status;
    *answer.headers_mut() = headers;
    answer
}
