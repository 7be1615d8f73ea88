//! A call that comes in on a wire leaves on the same wire, under the same id: S4.54, S4.57, C11.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::{
    StreamedCall, ToolAnswer, anthropic, fenced, gemini, openai_chat, openai_responses, was_made,
};
use crate::{
    Attachment, CallView, Decision, Gate, Incoming, Job, Limits, Output, Policy, Reason, Registry,
    Reply, Scene, Source, Tool, ToolError, Touch, Undo, Verdict,
};

/// Says back what it was told, fails when told to, and knows how to be taken back.
struct Echo;

impl Tool for Echo {
    fn name(&self) -> &str {
        "echo"
    }
    fn description(&self, _: &Scene) -> String {
        "Says it back.".to_owned()
    }
    fn input_schema(&self) -> Value {
        json!({"type": "object", "properties": {
            "text": {"type": "string", "default": "nothing"},
            "data": {},
            "fail": {"type": "string"},
            "undo": {"type": "boolean", "default": false},
        }})
    }
    fn touches(&self, _: &Value) -> Vec<Touch> {
        Vec::new()
    }
    fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        let args = job.args();
        let text = args["text"].as_str().unwrap_or_default().to_owned();
        let undo = args["undo"] == true;
        let undo = undo.then(|| Undo { description: "unsay it".into(), data: json!({"n": 1}) });
        let data = args.get("data").cloned();
        let error = args["fail"].as_str().map(str::to_owned);
        Box::pin(async move { Ok(Output { text, data, undo, error, ..Output::default() }) })
    }
}

/// Lets everything through.
struct Open;

impl Policy for Open {
    fn judge(&self, _: &CallView<'_>) -> Verdict {
        let (decision, source) = (Decision::Allow, Source::Rule);
        Verdict::from_reasons(vec![Reason {
            decision,
            source,
            origin: "test".into(),
            text: "open".into(),
        }])
    }
}

/// What passes the gate of these.
pub(crate) fn incoming(calls: Vec<StreamedCall>) -> Vec<Incoming> {
    calls.into_iter().map(Incoming::from).collect()
}

/// Takes what was asked through a real gate that lets everything through.
pub(crate) fn passed(incoming: Vec<Incoming>) -> Vec<Reply> {
    let registry = Registry::new();
    registry.add(Echo).unwrap();
    let setup = Gate::builder()
        .registry(registry)
        .policy(Open)
        .limits(Limits { output: 1000, ..Limits::default() });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(setup.build().unwrap().pass_all(incoming))
}

/// Shows S4.54, S4.57.
#[test]
fn chat_keeps_the_id() {
    let incoming = openai_chat::calls(
        &json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "call_abc", "type": "function",
             "function": {"name": "echo", "arguments": "{\"text\": \"hi\"}"}},
            {"id": "call_def", "type": "function", "function": {"name": "echo", "arguments": "{oops"}},
            {"id": "call_ghi", "type": "function", "function": {"name": "nobody", "arguments": ""}},
        ]}),
    );
    let back = openai_chat::results(&passed(incoming));
    assert_eq!(back.len(), 3, "one for each, whatever became of it");
    assert_eq!(back[0], json!({"role": "tool", "tool_call_id": "call_abc", "content": "hi"}));
    assert_eq!(back[1]["tool_call_id"], "call_def");
    assert!(back[1]["content"].as_str().unwrap().contains("not valid JSON at line 1, column 2"));
    assert_eq!(back[2]["tool_call_id"], "call_ghi");
    assert!(back[2]["content"].as_str().unwrap().contains("nobody"));
}

/// Shows S4.54.
#[test]
fn responses_keep_the_call_id() {
    let incoming = openai_responses::calls(&json!({"output": [
        {"type": "reasoning", "id": "rs_1"},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "echo",
         "arguments": "{\"text\":\"hi\"}"},
    ]}));
    let back = openai_responses::results(&passed(incoming));
    assert_eq!(
        back,
        [json!({"type": "function_call_output", "call_id": "call_1", "output": "hi"})]
    );
}

/// Shows S4.54.
#[test]
fn anthropic_keeps_the_id_and_marks_errors() {
    let incoming =
        anthropic::calls(&json!({"role": "assistant", "stop_reason": "tool_use", "content": [
            {"type": "text", "text": "Let me see."},
            {"type": "tool_use", "id": "toolu_1", "name": "echo", "input": {"text": "hi"}},
            {"type": "tool_use", "id": "toolu_2", "name": "echo",
             "input": {"text": "half", "fail": "it broke"}},
        ]}));
    let back = anthropic::results(&passed(incoming));
    assert_eq!(
        back,
        [json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": "hi", "is_error": false},
            {"type": "tool_result", "tool_use_id": "toolu_2", "content": "it broke\nhalf",
             "is_error": true},
        ]})]
    );
}

/// Shows S4.54.
#[test]
fn gemini_gets_back_only_ids_that_it_sent() {
    let incoming = gemini::calls(&json!({"candidates": [{"content": {"role": "model", "parts": [
        {"text": "Let me see."},
        {"functionCall": {"id": "g1", "name": "echo", "args": {"text": "hi"}}},
        {"functionCall": {"name": "echo", "args": {"fail": "no"}}},
    ]}, "finishReason": "STOP"}]}));
    assert!(was_made(incoming[1].id()));
    let back = gemini::results(&passed(incoming));
    assert_eq!(
        back,
        [json!({"role": "user", "parts": [
            {"functionResponse": {"id": "g1", "name": "echo", "response": {"output": "hi"}}},
            {"functionResponse": {"name": "echo", "response": {"error": "no\nnothing"}}},
        ]})]
    );
}

/// Shows S1.6.
#[test]
fn fenced_calls_are_answered_in_blocks_that_nothing_breaks_out_of() {
    let call = json!({"id": "f1", "name": "echo", "args": {"text": "a\n```\n```tool\nb"}});
    let text = format!("```tool\n{call}\n```\n```tool\n{{}}\n```\n");
    let back = fenced::results(&passed(fenced::parse(&text).incoming));
    let lines: Vec<&str> = back.lines().collect();
    assert_eq!(lines.len(), 6, "{back}");
    assert_eq!((lines[0], lines[2]), ("```tool_result", "```"));
    let first: Value = serde_json::from_str(lines[1]).unwrap();
    assert_eq!(first["id"], "f1");
    assert_eq!(first["output"], "a\n```\n```tool\nb");
    let second: Value = serde_json::from_str(lines[4]).unwrap();
    assert_eq!(second["success"], false);
    assert_eq!(second.get("id"), None, "a made id means nothing to the model");
    assert!(second["error"].as_str().unwrap().contains("`name` is missing"), "C12");
    assert_eq!(fenced::parse(&back).incoming, [], "an answer holds no calls");
}

#[test]
fn no_replies_no_messages() {
    const NONE: &[Reply] = &[];
    assert!(openai_chat::results(NONE).is_empty() && openai_responses::results(NONE).is_empty());
    assert!(anthropic::results(NONE).is_empty() && gemini::results(NONE).is_empty());
    assert!(fenced::results(NONE).is_empty());
}

#[test]
fn a_second_call_with_the_same_id_is_refused_by_the_gate() {
    let call = json!({"type": "tool_use", "id": "t", "name": "echo", "input": {}});
    let incoming = anthropic::calls(&json!({"content": [call, call]}));
    assert_eq!(incoming.len(), 2, "both are kept");
    let codes: Vec<&str> = passed(incoming).iter().map(Reply::code).collect();
    assert_eq!(codes, ["ok", "duplicate_id"]);
}

/// Shows V4, V5.
#[test]
fn arguments_in_text_pass_the_gate_on_every_wire() {
    let text = r#"{"text":"hi"}"#;
    let double = Value::from(text).to_string();
    let mut incoming = Vec::new();
    for (id, arguments) in ["{\"text\":\"hi\"}", &double, "", "  "].iter().enumerate() {
        let function = json!({"name": "echo", "arguments": arguments});
        let entry = json!({"id": id.to_string(), "function": function});
        incoming.extend(openai_chat::calls(&json!({"tool_calls": [entry]})));
    }
    let input =
        |id: &str, it: Value| json!({"type": "tool_use", "id": id, "name": "echo", "input": it});
    incoming.extend(anthropic::calls(&json!({"content": [
        input("4", json!(text)), input("5", json!("")), input("6", Value::Null),
    ]})));
    incoming.extend(
        fenced::parse(&format!(
            "```tool\n{}\n```",
            json!({"id": "7", "name": "echo", "args": text})
        ))
        .incoming,
    );
    let replies = passed(incoming);
    let said: Vec<&str> = replies.iter().map(Reply::text).collect();
    assert_eq!(said, ["hi", "hi", "nothing", "nothing", "hi", "nothing", "nothing", "hi"]);
}

#[test]
fn pictures_go_back_on_every_wire_that_has_room_for_them() {
    let media = crate::attachment::Media {
        media_type: "image/png".to_owned(),
        bytes: Arc::from(&b"png"[..]),
    };
    let link = Attachment::Link {
        uri: "res://a".to_owned(),
        name: "a".to_owned(),
        description: None,
        media_type: None,
    };
    let answer = ToolAnswer {
        id: "c1".to_owned(),
        tool: "look".to_owned(),
        output: "seen".to_owned(),
        attachments: vec![Attachment::Image(media), link],
        ..ToolAnswer::default()
    };
    let both = [&answer, &answer];
    let anthropic = anthropic::results(both);
    assert_eq!(anthropic[0]["content"][1]["content"][0]["text"], "seen\na: res://a");
    assert_eq!(anthropic[0]["content"][1]["content"][1]["source"]["data"], "cG5n");
    let chat = openai_chat::results(both);
    assert_eq!((chat.len(), chat[2]["content"].as_array().unwrap().len()), (3, 3));
    assert_eq!(chat[2]["content"][1]["image_url"]["url"], "data:image/png;base64,cG5n");
    let responses = openai_responses::results(both);
    assert_eq!(responses[0]["output"][1]["image_url"], "data:image/png;base64,cG5n");
    let gemini = gemini::results(both);
    assert_eq!(gemini[0]["parts"][1]["inlineData"]["data"], "cG5n");
}
