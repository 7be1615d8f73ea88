//! A model on loopback that says what it is told to: agents are tried with it, and nothing leaves the
//! machine.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
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
    /// The last request that brought the result of the call.
    result: Arc<Mutex<Option<String>>>,
    serving: JoinHandle<()>,
}

impl ScriptedModel {
    pub(super) async fn start(call: ScriptedCall) -> io::Result<ScriptedModel> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (call, result) = (Arc::new(call), Arc::new(Mutex::new(None)));
        let noted = result.clone();
        let serving = loopback::serve(listener, move |request| {
            let (call, noted) = (call.clone(), noted.clone());
            async move { answer(request, &call, &noted).await }
        });
        Ok(ScriptedModel { address, result, serving })
    }

    /// Its address, as agents are told it.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What an agent has sent with the result of the call in it, if it has.
    pub(super) fn result(&self) -> Option<String> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
    noted: &Mutex<Option<String>>,
) -> LoopbackResponse {
    let (head, body) = request.into_parts();
    let body = loopback::read_body(body, MAX_REQUEST).await.unwrap_or_default();
    let request = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let answer = call.answer(head.uri.path(), &request);
    if answer.brought_result {
        let text = String::from_utf8_lossy(&body).into_owned();
        *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }
    loopback::text(StatusCode::OK, answer.content_type, answer.body)
}
