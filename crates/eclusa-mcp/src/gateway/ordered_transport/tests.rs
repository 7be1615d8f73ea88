//! Tests of ordered transport.

use tokio::io::AsyncWriteExt as _;

use super::*;
use crate::gateway::pipe_transport::{LastError, PipeTransport};

#[tokio::test]
async fn a_flood_of_questions_is_not_kept_and_no_number_is_given_twice() {
    let (ours, mut theirs) = tokio::io::duplex(1 << 20);
    let (read, write) = tokio::io::split(ours);
    let wire = PipeTransport::new(read, write, LastError::default());
    let mut heard = OrderedTransport::new(wire, Weak::new());
    let ask = |id: usize| format!("{{\"jsonrpc\": \"2.0\", \"id\": {id}, \"method\": \"ping\"}}\n");
    for id in [0, 0, 1, 1].into_iter().chain(2..200) {
        theirs.write_all(ask(id).as_bytes()).await.unwrap();
    }
    let changed = "{\"jsonrpc\": \"2.0\", \"method\": \"notifications/tools/list_changed\"}\n";
    theirs.write_all(changed.as_bytes()).await.unwrap();
    let mut asked = Vec::new();
    while let Some(JsonRpcMessage::Request(it)) = heard.receive().await {
        asked.push(it.id);
    }
    let first: Vec<RequestId> = (0..64).map(RequestId::Number).collect();
    assert_eq!(asked, first);
    // Whoever was answered, or took a question back, has room for another.
    let no = ErrorData::internal_error("no", None);
    heard.send(JsonRpcMessage::error(no, Some(RequestId::Number(7)))).await.unwrap();
    let cancelled = "{\"jsonrpc\": \"2.0\", \"method\": \"notifications/cancelled\", \
                      \"params\": {\"requestId\": 8}}\n";
    for line in [ask(300), ask(301), cancelled.to_owned(), ask(302)] {
        theirs.write_all(line.as_bytes()).await.unwrap();
    }
    for wanted in [Some(300), None, Some(302)] {
        let id = match heard.receive().await {
            Some(JsonRpcMessage::Request(it)) => Some(it.id),
            _ => None,
        };
        assert_eq!(id, wanted.map(RequestId::Number));
    }
}

#[tokio::test]
async fn an_answer_that_comes_after_the_greeting_is_not_taken_for_another() {
    let (ours, mut theirs) = tokio::io::duplex(1 << 16);
    let (read, write) = tokio::io::split(ours);
    let wire = PipeTransport::new(read, write, LastError::default());
    let mut heard = OrderedTransport::new(wire, Weak::new());
    for (id, method, params) in [
        (
            1,
            "server/discover",
            serde_json::json!({"_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            }}),
        ),
        (
            2,
            "initialize",
            serde_json::json!({
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "x", "version": "1"},
            }),
        ),
    ] {
        let line =
            serde_json::json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        heard.send(serde_json::from_value(line).unwrap()).await.unwrap();
    }
    for id in [1, 2] {
        let error = serde_json::json!({"code": -32601, "message": "there is no such method"});
        let line = serde_json::json!({"jsonrpc": "2.0", "id": id, "error": error});
        theirs.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }
    let Some(JsonRpcMessage::Error(it)) = heard.receive().await else { panic!("no answer") };
    assert_eq!(it.id, Some(RequestId::Number(2)));
}

#[test]
fn a_question_for_an_address_is_read_without_a_number() {
    let go = serde_json::json!({"mode": "url", "message": "m", "url": "https://a.example/"});
    let asks = serde_json::json!({"go": {"method": "elicitation/create", "params": go}});
    let said = serde_json::json!({"resultType": "input_required", "inputRequests": asks});
    let line = serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": said});
    let message: RxJsonRpcMessage<RoleClient> = serde_json::from_value(line).unwrap();
    let JsonRpcMessage::Response(it) = repaired(message) else { panic!("no answer") };
    assert!(matches!(it.result, ServerResult::InputRequiredResult(_)), "{:?}", it.result);
}
