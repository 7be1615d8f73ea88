//! What a scripted model says in the four languages that agents speak with models: one tool call,
//! and after its result a last word.

use serde_json::{Value, json};

/// The call that the model makes.
#[derive(Debug, Clone)]
pub(super) struct ScriptedCall {
    /// The tool, as the agent names it in one version or another.
    pub(super) tools: &'static [&'static str],
    pub(super) args: Value,
}

/// An answer of the model, ready to be sent.
pub(super) struct WireAnswer {
    pub(super) content_type: &'static str,
    pub(super) body: String,
    /// True when the request brought the result of a tool.
    pub(super) brought_result: bool,
}

impl ScriptedCall {
    /// The answer to a request of an agent.
    pub(super) fn answer(&self, path: &str, request: &Value) -> WireAnswer {
        if path.ends_with("count_tokens") || path.ends_with(":countTokens") {
            return plain(&json!({"input_tokens": 1, "totalTokens": 1}));
        }
        let had = brings_result(request);
        // The tool is offered, and has not been called yet.
        let offered = request.get("tools").filter(|_| !had);
        let due = self.tools.iter().find(|tool| offered.is_some_and(|it| offers(it, tool)));
        let due = due.copied();
        let answer = if path.ends_with("/messages") {
            self.messages(request, due)
        } else if path.ends_with("/responses") {
            self.responses(due)
        } else if path.ends_with("/chat/completions") {
            self.chat(due)
        } else if path.contains("enerateContent") {
            self.generate_content(due, path.contains("stream"))
        } else {
            plain(&json!({"object": "list", "data": [], "models": []}))
        };
        WireAnswer { brought_result: had, ..answer }
    }

    /// Anthropic.
    fn messages(&self, request: &Value, due: Option<&str>) -> WireAnswer {
        let usage = json!({"input_tokens": 1, "output_tokens": 1});
        let (block, delta, stop) = match due {
            Some(tool) => (
                json!({"type": "tool_use", "id": "toolu_proof", "name": tool, "input": {}}),
                json!({"type": "input_json_delta", "partial_json": self.args.to_string()}),
                "tool_use",
            ),
            None => (
                json!({"type": "text", "text": ""}),
                json!({"type": "text_delta", "text": "done"}),
                "end_turn",
            ),
        };
        let mut message = json!({
            "id": "msg_proof", "type": "message", "role": "assistant", "content": [],
            "model": request.get("model"), "stop_reason": null, "stop_sequence": null,
            "usage": usage,
        });
        if request.get("stream") != Some(&Value::Bool(true)) {
            if let Some(fields) = message.as_object_mut() {
                fields.insert("content".into(), json!([{"type": "text", "text": "done"}]));
                fields.insert("stop_reason".into(), "end_turn".into());
            }
            return plain(&message);
        }
        let ended = json!({"stop_reason": stop, "stop_sequence": null});
        let events = [
            json!({"type": "message_start", "message": message}),
            json!({"type": "content_block_start", "index": 0, "content_block": block}),
            json!({"type": "content_block_delta", "index": 0, "delta": delta}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": ended, "usage": usage}),
            json!({"type": "message_stop"}),
        ];
        stream(&events)
    }

    /// OpenAI, responses.
    fn responses(&self, due: Option<&str>) -> WireAnswer {
        let item = match due {
            Some(tool) => json!({
                "type": "function_call", "id": "fc_proof", "call_id": "call_proof",
                "name": tool, "arguments": self.args.to_string(), "status": "completed",
            }),
            None => json!({
                "type": "message", "role": "assistant", "id": "msg_proof", "status": "completed",
                "content": [{"type": "output_text", "text": "done", "annotations": []}],
            }),
        };
        let response = |status: &str, output: Value| {
            let usage = json!({"input_tokens": 1, "output_tokens": 1, "total_tokens": 2});
            json!({
                "id": "resp_proof", "object": "response", "status": status, "output": output,
                "usage": usage,
            })
        };
        let events = [
            json!({"type": "response.created", "response": response("in_progress", json!([]))}),
            json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
            json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
            json!({"type": "response.completed", "response": response("completed", json!([item]))}),
        ];
        stream(&events)
    }

    /// OpenAI, chat completions.
    fn chat(&self, due: Option<&str>) -> WireAnswer {
        let (delta, finish) = match due {
            Some(tool) => {
                let function = json!({"name": tool, "arguments": self.args.to_string()});
                let call =
                    json!({"index": 0, "id": "call_1", "type": "function", "function": function});
                (json!({"role": "assistant", "tool_calls": [call]}), "tool_calls")
            }
            None => (json!({"role": "assistant", "content": "done"}), "stop"),
        };
        let chunk = |delta: Value, finish: Option<&str>| {
            let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
            json!({
                "id": "chat-proof", "object": "chat.completion.chunk", "created": 1,
                "model": "scripted", "choices": [choice],
            })
        };
        let mut answer = stream(&[chunk(delta, None), chunk(json!({}), Some(finish))]);
        answer.body.push_str("data: [DONE]\n\n");
        answer
    }

    /// Gemini.
    fn generate_content(&self, due: Option<&str>, streamed: bool) -> WireAnswer {
        let part = match due {
            Some(tool) => json!({"functionCall": {"name": tool, "args": self.args}}),
            None => json!({"text": "done"}),
        };
        let content = json!({"role": "model", "parts": [part]});
        let answer = json!({
            "candidates": [{"content": content, "finishReason": "STOP"}],
            "usageMetadata":
                {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        });
        match streamed {
            true => stream(&[answer]),
            false => plain(&answer),
        }
    }
}

/// Whether a declaration of this tool is somewhere in the tools of a request, on whichever wire.
fn offers(tools: &Value, tool: &str) -> bool {
    match tools {
        Value::Array(all) => all.iter().any(|it| offers(it, tool)),
        Value::Object(fields) => {
            let nested = ["function", "functionDeclarations"];
            fields.get("name").and_then(Value::as_str) == Some(tool)
                || nested.iter().filter_map(|it| fields.get(*it)).any(|it| offers(it, tool))
        }
        _ => false,
    }
}

/// Whether the result of a tool is among the messages of a request, on whichever wire.
fn brings_result(message: &Value) -> bool {
    match message {
        Value::Array(all) => all.iter().any(brings_result),
        Value::Object(fields) => {
            let word = |key: &str| fields.get(key).and_then(Value::as_str);
            let nested = ["messages", "input", "contents", "content", "parts"];
            matches!(word("type"), Some("tool_result" | "function_call_output"))
                || word("role") == Some("tool")
                || fields.contains_key("functionResponse")
                || nested.iter().filter_map(|it| fields.get(*it)).any(brings_result)
        }
        _ => false,
    }
}

fn plain(value: &Value) -> WireAnswer {
    let body = value.to_string();
    WireAnswer { content_type: "application/json", body, brought_result: false }
}

/// Server-sent events; those with a `type` are named by it.
fn stream(events: &[Value]) -> WireAnswer {
    let mut body = String::new();
    for event in events {
        if let Some(name) = event.get("type").and_then(Value::as_str) {
            body.push_str(&format!("event: {name}\n"));
        }
        body.push_str(&format!("data: {event}\n\n"));
    }
    WireAnswer { content_type: "text/event-stream", body, brought_result: false }
}
