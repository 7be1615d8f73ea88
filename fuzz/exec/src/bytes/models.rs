//! Readers of what models say: blocks in text, tool calls on every wire, whole and streamed, scripts
//! of models, and transcripts that other agents wrote.

use eclusa::{Wire, parse::fenced, settings::Thinking};
use eclusa_chat::transcript::{ImportFormat, import};
use eclusa_models::{ReplyReader, ScriptModel, WireSettings};
use serde_json::Value;

use super::{Target, lossy};

pub(super) const TARGETS: [Target; 6] = [
    Target {
        name: "blocks in text",
        read: fenced_blocks,
        seeds: &[
            "say\n```tool\n{\"tool\": \"bash\", \"args\": {\"command\": \"ls\"}}\n```\nmore",
            "```tool\n{\"tool\":\"a\"}\n```\n```json\n{}\n```",
            "````tool\n```\n````",
        ],
        corpus: "",
    },
    Target {
        name: "calls on every wire",
        read: calls,
        seeds: &[
            r#"{"choices":[{"message":{"tool_calls":[{"id":"c","function":{"name":"a","arguments":"{\"b\":1}"}}]}}]}"#,
            r#"{"output":[{"type":"function_call","call_id":"c","name":"a","arguments":"{}"}]}"#,
            r#"{"content":[{"type":"tool_use","id":"c","name":"a","input":{"b":[1,2]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a","args":{"b":1}}}]}}]}"#,
        ],
        corpus: "",
    },
    Target {
        name: "streamed replies on every wire",
        read: replies,
        seeds: &[
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":1}}}\n\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"a\",\"input\":{}}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"b\\\":1}\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":3}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\",\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"a\",\"arguments\":\"{}\"}}]}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n",
            "data: {\"type\":\"response.output_text.delta\",\"delta\":\"hi\"}\n\ndata: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"a\",\"arguments\":\"{}\"}}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n",
            "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hi\"},{\"functionCall\":{\"name\":\"a\",\"args\":{}}}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":1}}\r\n\r\n",
            "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"no\"}}\n\n",
        ],
        corpus: "",
    },
    Target {
        name: "scripts of models",
        read: |it| drop(lossy(it, |it| ScriptModel::new("m", it).map(drop))),
        seeds: &[
            "rate: 5000\n## says\nhello\n```tool\n{\"name\": \"read\"}\n```\n## expects two\n## fails 529\n## says\nx\n",
            "## system x\n## breaks\n",
        ],
        corpus: "",
    },
    Target {
        name: "transcripts of other agents",
        read: transcripts,
        seeds: &[
            "{\"type\":\"user\",\"uuid\":\"1\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n{\"type\":\"assistant\",\"uuid\":\"2\",\"parentUuid\":\"1\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Bash\",\"input\":{\"command\":\"ls\"}}]}}\n",
            "{\"timestamp\":\"2026-01-01T00:00:00Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"s\"}}\n{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call\",\"name\":\"shell\",\"arguments\":\"{}\",\"call_id\":\"c\"}}\n{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"x\"}}\n",
        ],
        corpus: "",
    },
    Target {
        name: "records of the log",
        read: |it| {
            lossy(it, |it| {
                let _ = eclusa::audit::Draft::new(it.to_owned());
                let _ = eclusa::audit::Draft::start_in(it);
            });
        },
        seeds: &[r#"{"v":1,"kind":"start","call":"c","tool":"bash","start":1}"#],
        corpus: "",
    },
];

/// However it is cut, the same calls and the same text.
fn fenced_blocks(bytes: &[u8]) {
    let size = usize::from(bytes.first().copied().unwrap_or(1)).max(1);
    let text = String::from_utf8_lossy(bytes);
    let whole = fenced::parse(&text).incoming.len();
    let mut reader = fenced::Fenced::new(fenced::Options::default());
    let incoming = |it: &fenced::Piece<'_>| matches!(it, fenced::Piece::Incoming(_));
    let mut pieces = 0;
    for chunk in bytes.chunks(size) {
        pieces += reader.push_bytes(chunk).into_iter().filter(incoming).count();
    }
    pieces += reader.finish().into_iter().filter(incoming).count();
    assert_eq!(pieces, whole, "in chunks of {size} bytes");
}

fn calls(bytes: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else { return };
    for wire in Wire::ALL {
        let _ = (wire.calls(&value), wire.streamed_calls([&value]));
    }
}

fn replies(bytes: &[u8]) {
    let size = usize::from(bytes.first().copied().unwrap_or(1)).max(1);
    for wire in Wire::ALL {
        for native in [true, false] {
            let settings = WireSettings {
                name: "m".to_owned(),
                wire,
                model: "m".to_owned(),
                url: "http://localhost/".to_owned(),
                native,
                window: 1000,
                output: 100,
                thinking: Thinking::Off,
                images: false,
                price: None,
            };
            let mut reader = ReplyReader::new(&settings);
            let read = bytes.chunks(size).try_for_each(|it| reader.push(it, &mut |_| ()));
            if read.is_ok() {
                let _ = reader.finish(&mut |_| ());
            }
        }
    }
}

fn transcripts(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<Value> =
        text.lines().map(|it| serde_json::from_str(it).unwrap_or_default()).collect();
    for format in [ImportFormat::ClaudeCode, ImportFormat::Codex] {
        let _ = import(format, &lines);
    }
}
