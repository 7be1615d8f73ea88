//! Tests of the messages of a call: rmcp is the judge of what they mean.

use proptest::{collection::vec, prelude::*};
use rmcp::model::ConstString as _;
use serde_json::{Map, json};

use super::*;

/// What a client's message means, `_meta` included, by whichever way it was read.
fn meaning(read: serde_json::Result<RxJsonRpcMessage<RoleServer>>) -> Option<(Value, String)> {
    let message = read.ok()?;
    let told = match &message {
        JsonRpcMessage::Request(it) => match &it.request {
            ClientRequest::CallToolRequest(it) => {
                format!("{:?} {:?}", it.params, it.extensions.get::<RequestMetaObject>())
            }
            other => format!("{other:?}"),
        },
        other => format!("{other:?}"),
    };
    Some((serde_json::to_value(&message).unwrap(), told))
}

fn both_ways(text: &str) {
    let (ours, rmcp) = (from_client(text.as_bytes()), serde_json::from_slice(text.as_bytes()));
    assert_eq!(meaning(ours), meaning(rmcp), "{text}");
    let (ours, rmcp) = (from_server(text.as_bytes()), serde_json::from_slice(text.as_bytes()));
    let told = |read: serde_json::Result<RxJsonRpcMessage<RoleClient>>| {
        read.ok().map(|it| format!("{it:?}"))
    };
    assert_eq!(told(ours), told(rmcp), "{text}");
}

#[test]
fn usual_messages_take_the_short_way() {
    let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read",
        "arguments":{"path":"a"},"_meta":{"progressToken":3}}}"#;
    assert!(usual::<UsualCall>(call.as_bytes()).is_some());
    let answer = r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"hi"}],
        "isError":false,"resultType":"complete","_meta":{"a":1}}}"#;
    assert!(usual::<UsualAnswer>(answer.as_bytes()).and_then(UsualAnswer::into_message).is_some());
    both_ways(call);
    both_ways(answer);
}

#[test]
fn both_ways_mean_the_same() {
    let call = |params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#)
    };
    let answer = |result: &str| format!(r#"{{"jsonrpc":"2.0","id":"a","result":{result}}}"#);
    for text in [
        call(r#"["read",{"path":"a"},null]"#),
        call(r#"{"name":"read","name":"write"}"#),
        call(r#"{"name":"read","arguments":[1]}"#),
        call(r#"{"name":"read","arguments":null,"_meta":null}"#),
        call(r#"{"name":"read","arguments":{"a":1,"a":2,"n":1e400}}"#),
        call(r#"{"name":"read","arguments":{"n":18446744073709551616,"f":-0.0}}"#),
        call(r#"{"name":"read","task":{},"requestState":"x"}"#),
        call(r#"{"name":"\ud800"}"#),
        r#"["2.0",1,"tools/call",{"name":"read"}]"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1.0,"method":"tools/call","params":{"name":"read"}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"read"}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}x"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"},"result":1}"#
            .to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping","params":{"name":"a"}}"#
            .to_owned(),
        answer(r#"{"content":[]}"#),
        answer(r#"{"content":null,"isError":true}"#),
        answer(r#"{"content":[],"structuredContent":null}"#),
        answer(r#"{"content":[],"action":"accept"}"#),
        answer(r#"{"content":[],"resultType":"input_required"}"#),
        answer(r#"{"content":[],"resultType":"task","taskId":"1","status":"working"}"#),
        answer(r#"{"content":[],"messages":[]}"#),
        answer(r#"{"content":[{"type":"text","text":"x","annotations":{"priority":0.1}}]}"#),
        answer(r#"{"content":[{"type":"nothing"}]}"#),
        answer(&format!(
            r#"{{"content":[],"resultType":"complete","_meta":{{"{SUBSCRIPTION}":1}}}}"#
        )),
        answer(r#"["complete",[]]"#),
    ] {
        both_ways(&text);
    }
}

#[test]
fn what_is_sent_is_what_rmcp_would_send() {
    let mut params = CallToolRequestParams::new("read");
    params.arguments = json!({"path": "a"}).as_object().cloned();
    let mut call = CallToolRequest::new(params);
    let same = |call: &CallToolRequest| {
        let request = ClientRequest::CallToolRequest(call.clone());
        let message = JsonRpcMessage::request(request, RequestId::Number(1));
        let sent: Value = serde_json::from_slice(&to_server(&message).unwrap()).unwrap();
        assert_eq!(sent, serde_json::to_value(&message).unwrap());
    };
    same(&call);
    let meta = |key: &str| Map::from_iter([(key.to_owned(), json!({"a": [1]}))]);
    call.extensions.insert(RequestMetaObject::from(meta("a")));
    same(&call);
    call.params.request_state = Some("again".to_owned());
    same(&call);
    call.params.meta = Some(RequestMetaObject::from(meta("b")));
    same(&call);
}

/// Some JSON, with names that mean something here among its names.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop_oneof!["2.0", "text", "complete", "accept", "[a-z/]{0,8}", "\\PC{0,8}"]
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((name(), inner), 0..6).prop_map(|it| Value::Object(it.into_iter().collect())),
        ]
    })
}

fn name() -> impl Strategy<Value = String> {
    let known = [
        "name",
        "arguments",
        "_meta",
        "content",
        "structuredContent",
        "isError",
        "resultType",
        "type",
        "text",
        "action",
        "messages",
        "requestState",
        "progressToken",
        SUBSCRIPTION,
    ];
    prop_oneof![4 => proptest::sample::select(known.to_vec()).prop_map(str::to_owned), 1 => "[a-z]{1,4}"]
}

/// An object of the usual form, with some of its values replaced, left out or added.
fn varied(usual: Value) -> impl Strategy<Value = Value> {
    let usual = usual.as_object().cloned().unwrap();
    let names: Vec<String> = usual.keys().cloned().collect();
    let change = prop_oneof![Just(None), json_value().prop_map(Some),];
    let name = prop_oneof![3 => proptest::sample::select(names), 1 => name()];
    vec((name, change), 0..3).prop_map(move |changes| {
        let mut object = usual.clone();
        for (name, value) in changes {
            match value {
                Some(value) => drop(object.insert(name, value)),
                None => drop(object.remove(&name)),
            }
        }
        Value::Object(object)
    })
}

proptest! {
    #[test]
    fn every_call_means_what_rmcp_takes_it_for(
        params in varied(json!({"name": "read", "arguments": {"path": "a"}, "_meta": {"a": 1}})),
        outer in varied(json!({"jsonrpc": "2.0", "id": 1, "method": CallToolRequestMethod::VALUE})),
        keeps in any::<bool>(),
    ) {
        let mut message = outer;
        if keeps || message.get("params").is_none() {
            message["params"] = params;
        }
        both_ways(&message.to_string());
    }

    #[test]
    fn every_answer_means_what_rmcp_takes_it_for(
        result in varied(json!({"content": [{"type": "text", "text": "a"}], "isError": false})),
        outer in varied(json!({"jsonrpc": "2.0", "id": "a"})),
    ) {
        let mut message = outer;
        message["result"] = result;
        both_ways(&message.to_string());
    }
}
