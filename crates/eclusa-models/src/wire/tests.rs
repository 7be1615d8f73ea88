//! Bodies that providers take, and streams read into the same reply however they come.

mod same_calls;

use std::sync::Arc;

use eclusa::{Incoming, Wire, parse::ToolAnswer};
use serde_json::{Value, json};

use super::{Thinking, WireCache, WireSettings, default_url, reader};
use crate::model::{
    Delta, ModelErrorKind, ModelReply, ModelRequest, StopReason, ViewCall, ViewMessage,
};

fn settings(wire: Wire) -> WireSettings {
    WireSettings {
        name: "m".to_owned(),
        wire,
        model: "model-1".to_owned(),
        url: default_url(wire).to_owned(),
        native: true,
        window: 100_000,
        output: 4_096,
        thinking: Thinking::Off,
        images: true,
        price: None,
    }
}

/// The body of a request, from a model that has not been asked before.
fn body(settings: &WireSettings, request: &ModelRequest) -> Value {
    serde_json::from_slice(&super::body(settings, request, &WireCache::default())).unwrap()
}

fn shared(messages: Vec<ViewMessage>) -> Vec<Arc<ViewMessage>> {
    messages.into_iter().map(Arc::new).collect()
}

fn user(text: &str) -> ViewMessage {
    ViewMessage::User { text: text.to_owned(), pictures: Vec::new() }
}

fn answer(id: &str) -> ToolAnswer {
    ToolAnswer {
        id: id.to_owned(),
        tool: "read".to_owned(),
        output: "two".to_owned(),
        ..ToolAnswer::default()
    }
}

fn request() -> ModelRequest {
    let call =
        ViewCall { id: "c1".to_owned(), name: "read".to_owned(), args: json!({"path": "a"}) };
    let picture = ("image/png".to_owned(), Arc::from(&b"png"[..]));
    ModelRequest {
        system: "be good".to_owned(),
        messages: shared(vec![
            user("the project says: x"),
            ViewMessage::User { text: "read a".to_owned(), pictures: vec![picture] },
            ViewMessage::Assistant { text: "I look.".to_owned(), calls: vec![call], blocks: None },
            ViewMessage::Answers(vec![answer("c1")]),
            user("and now?"),
        ]),
        tools: Some(Arc::new(json!([{"name": "read"}]))),
        conversation: "k3f9q2".to_owned(),
        replies_so_far: 1,
    }
}

/// Reads a stream of events to its end.
fn read(settings: &WireSettings, events: &[Value]) -> Result<(ModelReply, String), ModelErrorKind> {
    let mut reader = reader(settings);
    let mut heard = String::new();
    let mut hear = |delta: Delta| {
        if let Delta::Text(text) = delta {
            heard.push_str(&text);
        }
    };
    for event in events {
        reader.push(event, &mut hear).map_err(|err| err.kind)?;
    }
    reader.finish().map(|reply| (reply, heard)).map_err(|err| err.kind)
}

fn calls(reply: &ModelReply) -> Vec<(&str, &str, Value)> {
    let call = |it: &'_ Incoming| match it {
        Incoming::Call(call) => Some(call.args.clone()),
        Incoming::Malformed(_) => None,
    };
    let name = |it: &'_ Incoming| match it {
        Incoming::Call(call) => call.tool.clone(),
        Incoming::Malformed(bad) => bad.problem.clone(),
    };
    reply
        .asked
        .iter()
        .map(|it| (it.id(), &*name(it).leak(), call(it).unwrap_or_default()))
        .collect()
}

#[test]
fn anthropic_roles_take_turns_and_the_last_users_are_marked_for_the_cache() {
    let body = body(&settings(Wire::Anthropic), &request());
    let messages = body["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages.iter().map(|it| it["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    assert_eq!(messages[0]["content"].as_array().unwrap().len(), 3);
    assert_eq!(messages[0]["content"][1]["source"]["data"], "cG5n");
    assert_eq!(messages[2]["content"][0]["tool_use_id"], "c1");
    assert_eq!(messages[2]["content"][1]["cache_control"]["type"], "ephemeral");
    assert_eq!(messages[0]["content"][2]["cache_control"]["type"], "ephemeral");
    assert_eq!(body["system"][0]["cache_control"]["type"], "ephemeral");
    assert!(body.get("thinking").is_none());
    let thinks = WireSettings { thinking: Thinking::High, ..settings(Wire::Anthropic) };
    assert_eq!(self::body(&thinks, &request())["thinking"]["budget_tokens"], 2_048);
}

#[test]
fn the_other_wires_have_the_same_conversation() {
    let responses = body(&settings(Wire::Openai), &request());
    let kinds: Vec<&str> = responses["input"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["message", "message", "message", "function_call", "function_call_output", "message"]
    );
    assert_eq!(
        (&responses["store"], &responses["prompt_cache_key"]),
        (&false.into(), &"k3f9q2".into())
    );
    let chat = body(&settings(Wire::OpenaiChat), &request());
    let roles: Vec<&str> = chat["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["system", "user", "user", "assistant", "tool", "user"]);
    assert_eq!(chat["messages"][3]["tool_calls"][0]["function"]["arguments"], "{\"path\":\"a\"}");
    assert_eq!(chat["max_completion_tokens"], 4_096);
    let local = WireSettings { url: "http://127.0.0.1:1".to_owned(), ..settings(Wire::OpenaiChat) };
    let local = body(&local, &request());
    assert_eq!((&local["max_tokens"], local.get("prompt_cache_key")), (&4_096.into(), None));
    let gemini = body(&settings(Wire::Gemini), &request());
    let roles: Vec<&str> = gemini["contents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "model", "user"]);
    assert_eq!(gemini["contents"][2]["parts"][0]["functionResponse"]["id"], "c1");
}

#[test]
fn the_same_request_has_the_same_bytes_and_blocks_go_back_as_they_came() {
    for wire in Wire::ALL {
        let settings = settings(wire);
        assert_eq!(
            body(&settings, &request()).to_string(),
            body(&settings, &request()).to_string()
        );
        let sent = match wire {
            Wire::OpenaiChat => {
                json!({"role": "assistant", "content": "x", "odd": [1, {"z": 0.5}]})
            }
            _ => {
                json!([{"type": "thinking", "thinking": "t", "signature": "s==", "odd": {"b": 1, "a": null}}])
            }
        };
        let message = ViewMessage::Assistant {
            text: "x".to_owned(),
            calls: Vec::new(),
            blocks: Some(Arc::new(sent.clone())),
        };
        let messages = shared(vec![user("a"), message, user("b")]);
        let body = body(&settings, &ModelRequest { messages, ..request() });
        let part = sent.as_array().map_or(sent.to_string(), |it| it[0].to_string());
        assert!(body.to_string().contains(&part), "{wire:?}: {body}");
    }
}

/// The same bytes, whatever the model was asked before.
#[test]
fn what_was_written_before_changes_no_request() {
    for (wire, native) in Wire::ALL.iter().flat_map(|it| [(*it, true), (*it, false)]) {
        let settings = WireSettings { native, ..settings(wire) };
        let (cache, whole) = (WireCache::default(), request());
        let reasoned = json!({"role": "assistant", "content": "x", "reasoning_content": "hm"});
        let reasoned = if wire == Wire::OpenaiChat { reasoned } else { json!([reasoned]) };
        let blocks = Some(Arc::new(reasoned));
        let said = ViewMessage::Assistant { text: "x".to_owned(), calls: Vec::new(), blocks };
        let messages = [whole.messages.clone(), shared(vec![said, user("b")])].concat();
        let other = [vec![Arc::new(user("another"))], messages.clone()].concat();
        let ends = [1, 2, 3, 5, 6, 7, 4, 7].map(|end| messages[..end].to_vec());
        for messages in ends.into_iter().chain([other, messages]) {
            let tools = Some(Arc::new(json!([{"name": format!("tool {}", messages.len() / 3)}])));
            let request = ModelRequest { messages, tools, ..request() };
            let again = super::body(&settings, &request, &cache);
            assert_eq!(again, super::body(&settings, &request, &WireCache::default()));
            assert_eq!(again, super::body(&settings, &request, &cache));
        }
    }
}

#[test]
fn text_models_are_shown_blocks_and_no_tools() {
    let settings = WireSettings { native: false, ..settings(Wire::OpenaiChat) };
    let body = body(&settings, &request());
    assert!(body.get("tools").is_none());
    let text = body.to_string();
    assert!(text.contains("```tool\\n") && text.contains("```tool_result\\n"), "{text}");
    assert!(!text.contains("tool_calls"), "{text}");
}

fn anthropic_stream() -> Vec<Value> {
    vec![
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 7, "cache_read_input_tokens": 3, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "sig=="}}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}),
        // llama.cpp stops a block after the next one has started.
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "I look."}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "t1", "name": "read"}}),
        json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "{\"path\":"}}),
        json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "\"a\"}"}}),
        json!({"type": "content_block_stop", "index": 2}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ]
}

#[test]
fn anthropic_streams_are_read_whole() {
    let (reply, heard) = read(&settings(Wire::Anthropic), &anthropic_stream()).unwrap();
    assert_eq!((reply.text.as_str(), heard.as_str()), ("I look.", "I look."));
    assert_eq!(reply.thoughts.as_deref(), Some("hm"));
    assert_eq!(reply.why, StopReason::Calls);
    assert_eq!(calls(&reply), [("t1", "read", json!({"path": "a"}))]);
    assert_eq!((reply.usage.input, reply.usage.cache_read, reply.usage.output), (7, 3, 9));
    assert_eq!(
        reply.blocks.unwrap(),
        json!([
            {"type": "thinking", "thinking": "hm", "signature": "sig=="},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a"}},
        ])
    );
}

#[test]
fn a_stream_that_is_cut_or_fails_is_no_reply() {
    for wire in Wire::ALL {
        assert_eq!(
            read(&settings(wire), &[]).unwrap_err(),
            ModelErrorKind::Retry(None),
            "{wire:?}"
        );
    }
    let all = anthropic_stream();
    for cut in 0..12 {
        let cut = read(&settings(Wire::Anthropic), &all[..cut]);
        assert_eq!(cut.unwrap_err(), ModelErrorKind::Retry(None));
    }
    let busy = json!({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}});
    assert_eq!(read(&settings(Wire::Anthropic), &[busy]).unwrap_err(), ModelErrorKind::Retry(None));
    let wrong = json!({"type": "error", "error": {"type": "invalid_request_error"}});
    assert_eq!(read(&settings(Wire::Anthropic), &[wrong]).unwrap_err(), ModelErrorKind::Final);
    let failed = json!({"type": "response.failed", "response": {"error": {"code": "server_error", "message": "x"}}});
    assert_eq!(read(&settings(Wire::Openai), &[failed]).unwrap_err(), ModelErrorKind::Retry(None));
}

#[test]
fn responses_streams_are_read_with_and_without_places() {
    let item = json!({"type": "function_call", "id": "fc", "call_id": "c1", "name": "read", "arguments": "{\"path\":\"a\"}"});
    let words = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi."}]});
    let usage = json!({"input_tokens": 10, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 2, "output_tokens_details": {"reasoning_tokens": 1}});
    for place in [true, false] {
        let with = |mut event: Value, n: u64| {
            if place {
                event["output_index"] = n.into();
            }
            event
        };
        let output = if place { json!([words, item]) } else { json!([]) };
        let events = [
            with(json!({"type": "response.output_text.delta", "delta": "Hi."}), 0),
            with(json!({"type": "response.output_item.done", "item": words}), 0),
            with(
                json!({"type": "response.output_item.added", "item": {"type": "function_call", "call_id": "c1", "name": "read", "arguments": ""}}),
                1,
            ),
            with(
                json!({"type": "response.function_call_arguments.delta", "delta": "{\"path\":\"a\"}"}),
                1,
            ),
            with(json!({"type": "response.output_item.done", "item": item}), 1),
            json!({"type": "response.completed", "response": {"output": output, "usage": usage}}),
        ];
        let (reply, heard) = read(&settings(Wire::Openai), &events).unwrap();
        assert_eq!((reply.text.as_str(), heard.as_str()), ("Hi.", "Hi."));
        assert_eq!(calls(&reply), [("c1", "read", json!({"path": "a"}))], "{place}");
        assert_eq!(reply.blocks, Some(json!([words, item])));
        assert_eq!((reply.usage.input, reply.usage.cache_read, reply.usage.reasoning), (6, 4, 1));
    }
}

#[test]
fn chat_streams_go_back_under_the_ids_of_their_answers() {
    let chunk = |delta: Value, why: Option<&str>| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": why}]});
    let events = [
        chunk(json!({"role": "assistant", "reasoning_content": "hm"}), None),
        chunk(json!({"content": "I look."}), None),
        chunk(
            json!({"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"name": "read", "arguments": "{ \"path\""}}]}),
            None,
        ),
        chunk(json!({"tool_calls": [{"index": 0, "function": {"arguments": ": \"a\" }"}}]}), None),
        chunk(
            json!({"tool_calls": [{"index": 1, "type": "function", "function": {"name": "read", "arguments": "oops"}}]}),
            None,
        ),
        chunk(json!({}), Some("tool_calls")),
        json!({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 6}}),
    ];
    let (reply, _) = read(&settings(Wire::OpenaiChat), &events).unwrap();
    assert_eq!((reply.text.as_str(), reply.why), ("I look.", StopReason::Calls));
    let blocks = reply.blocks.clone().unwrap();
    assert_eq!(blocks["tool_calls"][0]["function"]["arguments"], "{ \"path\": \"a\" }");
    assert_eq!(blocks["tool_calls"][1]["id"], reply.asked[1].id());
    assert_eq!(blocks["tool_calls"][1]["function"]["arguments"], "{}");
    assert_eq!(blocks["reasoning_content"], "hm");
    // Within its turn the reasoning goes back, later it does not.
    let message = ViewMessage::Assistant {
        text: String::new(),
        calls: Vec::new(),
        blocks: Some(Arc::new(blocks)),
    };
    let chat = |messages| {
        let messages = shared(messages);
        body(&settings(Wire::OpenaiChat), &ModelRequest { messages, ..request() }).to_string()
    };
    assert!(chat(vec![user("a"), message.clone()]).contains("reasoning_content"));
    assert!(!chat(vec![user("a"), message, user("b")]).contains("reasoning_content"));
}

#[test]
fn gemini_streams_keep_their_signatures() {
    let parts = json!([{"text": "hm", "thought": true}, {"text": "Hi."}, {"functionCall": {"name": "read", "args": {"path": "a"}}, "thoughtSignature": "s"}]);
    let events = [
        json!({"candidates": [{"content": {"parts": parts}}]}),
        json!({"candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2, "thoughtsTokenCount": 1}}),
    ];
    let (reply, heard) = read(&settings(Wire::Gemini), &events).unwrap();
    assert_eq!((reply.text.as_str(), heard.as_str(), reply.why), ("Hi.", "Hi.", StopReason::Calls));
    assert_eq!((reply.blocks, reply.usage.output), (Some(parts), 3));
    let wrong = [
        json!({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "x"}]}),
    ];
    let (reply, _) = read(&settings(Wire::Gemini), &wrong).unwrap();
    assert!(matches!(&reply.asked[..], [Incoming::Malformed(_)]), "{reply:?}");
    let unsafe_ = [json!({"candidates": [{"finishReason": "SAFETY"}]})];
    assert_eq!(read(&settings(Wire::Gemini), &unsafe_).unwrap().0.why, StopReason::Refused);
}

#[test]
fn blocks_in_the_text_are_calls_for_text_models_and_prose_for_native_ones() {
    let said = "I look.\n```tool\n{\"name\": \"read\", \"args\": {}}\n```\n";
    let events: Vec<Value> = said
        .split_inclusive('o')
        .map(|it| json!({"choices": [{"index": 0, "delta": {"content": it}}]}))
        .chain([json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})])
        .collect();
    let text = WireSettings { native: false, ..settings(Wire::OpenaiChat) };
    let (reply, heard) = read(&text, &events).unwrap();
    assert_eq!(
        (reply.text.as_str(), reply.asked.len(), reply.why),
        ("I look.", 1, StopReason::Calls)
    );
    assert_eq!((heard.trim(), reply.blocks), ("I look.", None));
    let (reply, _) = read(&settings(Wire::OpenaiChat), &events).unwrap();
    assert!(reply.asked.is_empty() && reply.text.contains("```tool"), "{reply:?}");
}
