//! What the strict server says, as the events of each wire.

use std::collections::HashSet;

use serde_json::{Value, json};

/// The events of one message on the wire of this path.
pub(crate) fn events(
    path: &str,
    place: usize,
    text: &str,
    calls: &[(&str, &str, &str)],
    signed: &mut HashSet<String>,
) -> Vec<Value> {
    let args = |text: &str| json!({"text": text});
    let halves = text.split_at(text.len() / 2);
    match path {
        "/v1/messages" => {
            let thought =
                json!({"type": "thinking", "thinking": "hm", "signature": format!("sig-{place}")});
            signed.insert(thought.to_string());
            let mut events = vec![
                json!({"type": "message_start", "message": {"usage": {"input_tokens": 10, "output_tokens": 1}}}),
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}}),
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": format!("sig-{place}")}}),
                json!({"type": "content_block_stop", "index": 0}),
                json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}),
                json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": halves.0}}),
                json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": halves.1}}),
                json!({"type": "content_block_stop", "index": 1}),
            ];
            for (n, (id, tool, text)) in (2..).zip(calls) {
                events.push(json!({"type": "content_block_start", "index": n, "content_block": {"type": "tool_use", "id": id, "name": tool, "input": {}}}));
                for piece in pieces(text) {
                    events.push(json!({"type": "content_block_delta", "index": n, "delta": {"type": "input_json_delta", "partial_json": piece}}));
                }
                events.push(json!({"type": "content_block_stop", "index": n}));
            }
            let why = if calls.is_empty() { "end_turn" } else { "tool_use" };
            events.push(json!({"type": "message_delta", "delta": {"stop_reason": why}, "usage": {"output_tokens": 5}}));
            events.push(json!({"type": "message_stop"}));
            events
        }
        "/v1/responses" => {
            let mut output = vec![
                json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}),
            ];
            output.extend(calls.iter().map(|(id, tool, text)| {
                json!({"type": "function_call", "call_id": id, "name": tool, "arguments": args(text).to_string()})
            }));
            let mut events = vec![
                json!({"type": "response.output_text.delta", "output_index": 0, "delta": halves.0}),
                json!({"type": "response.output_text.delta", "output_index": 0, "delta": halves.1}),
            ];
            for (n, item) in output.iter().enumerate() {
                if let Some((id, tool, text)) = n.checked_sub(1).map(|it| calls[it]) {
                    let item = json!({"type": "function_call", "call_id": id, "name": tool, "arguments": ""});
                    events.push(json!({"type": "response.output_item.added", "output_index": n, "item": item}));
                    events.extend(pieces(text).map(|piece| json!({"type": "response.function_call_arguments.delta", "output_index": n, "delta": piece})));
                }
                events.push(
                    json!({"type": "response.output_item.done", "output_index": n, "item": item}),
                );
            }
            events.push(json!({"type": "response.completed", "response": {"output": output, "usage": {"input_tokens": 10, "output_tokens": 5}}}));
            events
        }
        "/v1/chat/completions" => {
            let chunk = |delta: Value, why: Option<&str>| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": why}]});
            let mut events = vec![
                chunk(json!({"content": halves.0}), None),
                chunk(json!({"content": halves.1}), None),
            ];
            for (n, (id, tool, text)) in calls.iter().enumerate() {
                let [start, end] = pieces(text);
                events.push(chunk(json!({"tool_calls": [{"index": n, "id": id, "type": "function", "function": {"name": tool, "arguments": start}}]}), None));
                events.push(chunk(
                    json!({"tool_calls": [{"index": n, "function": {"arguments": end}}]}),
                    None,
                ));
            }
            events
                .push(chunk(json!({}), Some(if calls.is_empty() { "stop" } else { "tool_calls" })));
            events.push(
                json!({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}}),
            );
            events
        }
        _ => {
            let chunk = |parts: Value| json!({"candidates": [{"content": {"parts": parts}}]});
            let mut events = vec![chunk(json!([{"text": text}]))];
            events.extend(calls.iter().map(|(_, tool, text)| {
                chunk(json!([{"functionCall": {"name": tool, "args": args(text)}, "thoughtSignature": "s"}]))
            }));
            events.push(json!({"candidates": [{"content": {"parts": []}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5}}));
            events
        }
    }
}

/// The arguments of a call, in two pieces.
fn pieces(text: &str) -> [String; 2] {
    let whole = json!({"text": text}).to_string();
    let (start, end) = whole.split_at(whole.len() - 2 - text.len().div_ceil(2));
    [start.to_owned(), end.to_owned()]
}
