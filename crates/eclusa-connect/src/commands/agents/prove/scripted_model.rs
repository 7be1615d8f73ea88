//! A model on loopback that says what it is told to: agents are tried with it, and nothing leaves the
//! machine.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use hyper::{Request, StatusCode, body::Incoming};
use serde_json::Value;
use tokio::{net::TcpListener, task::JoinHandle};

use super::wires::ScriptedCall;
use crate::commands::loopback::{self, LoopbackResponse};

/// The longest request that is read.
const MAX_REQUEST: usize = 32 << 20;

/// A model that listens until it is dropped.
pub(super) struct ScriptedModel {
    address: SocketAddr,
    answered: Arc<AtomicBool>,
    serving: JoinHandle<()>,
}

impl ScriptedModel {
    pub(super) async fn start(call: ScriptedCall) -> io::Result<ScriptedModel> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (call, answered) = (Arc::new(call), Arc::new(AtomicBool::new(false)));
        let noted = answered.clone();
        let serving = loopback::serve(listener, move |request| {
            let (call, noted) = (call.clone(), noted.clone());
            async move { answer(request, &call, &noted).await }
        });
        Ok(ScriptedModel { address, answered, serving })
    }

    /// Its address, as agents are told it.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// True when an agent has brought the result of the call.
    pub(super) fn has_result(&self) -> bool {
        self.answered.load(Ordering::Acquire)
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn answer(
    request: Request<Incoming>,
    call: &ScriptedCall,
    noted: &AtomicBool,
) -> LoopbackResponse {
    let (head, body) = request.into_parts();
    let body = loopback::read_body(body, MAX_REQUEST).await.unwrap_or_default();
    let request = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let answer = call.answer(head.uri.path(), &request);
    if answer.brought_result {
        noted.store(true, Ordering::Release);
    }
    loopback::text(StatusCode::OK, answer.content_type, answer.body)
}
