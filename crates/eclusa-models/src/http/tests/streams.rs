//! Streams of every wire, cut anywhere and damaged anyhow: the same reply, or a clean error.

use eclusa::{Incoming, Wire, settings::Thinking};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::reply_reader::ReplyReader;
use crate::{
    model::{Delta, ModelError, ModelReply},
    wire::{WireSettings, default_url},
};

fn settings(wire: Wire, native: bool) -> WireSettings {
    WireSettings {
        name: "m".to_owned(),
        wire,
        model: "m".to_owned(),
        url: default_url(wire).to_owned(),
        native,
        window: 100_000,
        output: 4_096,
        thinking: Thinking::Off,
        images: true,
        price: None,
    }
}

const WORDS: &str =
    "I look \u{2713}.\n```tool\n{\"name\": \"read\", \"args\": {\"path\": \"b\"}}\n```\nSo.\n";

/// A whole stream of a wire: thoughts, words with a block in them, two calls.
fn events(wire: Wire) -> Vec<Value> {
    let args = ["{\"path\":", " \"\u{e9}\"}"];
    match wire {
        Wire::Anthropic => vec![
            json!({"type": "message_start", "message": {"usage": {"input_tokens": 7, "output_tokens": 1}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "s=="}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": WORDS}}),
            json!({"type": "content_block_stop", "index": 1}),
            json!({"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "t1", "name": "read", "input": {}}}),
            json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": args[0]}}),
            json!({"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": args[1]}}),
            json!({"type": "content_block_stop", "index": 2}),
            json!({"type": "content_block_start", "index": 3, "content_block": {"type": "tool_use", "id": "t2", "name": "look", "input": {}}}),
            json!({"type": "content_block_stop", "index": 3}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}),
            json!({"type": "message_stop"}),
        ],
        Wire::Openai => {
            let words = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": WORDS}]});
            let call = json!({"type": "function_call", "id": "f", "call_id": "c1", "name": "read", "arguments": args.concat()});
            vec![
                json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "hm"}),
                json!({"type": "response.output_text.delta", "output_index": 0, "delta": WORDS}),
                json!({"type": "response.output_item.done", "output_index": 0, "item": words}),
                json!({"type": "response.output_item.added", "output_index": 1, "item": {"type": "function_call", "call_id": "c1", "name": "read", "arguments": ""}}),
                json!({"type": "response.function_call_arguments.delta", "output_index": 1, "delta": args[0]}),
                json!({"type": "response.function_call_arguments.delta", "output_index": 1, "delta": args[1]}),
                json!({"type": "response.output_item.done", "output_index": 1, "item": call}),
                json!({"type": "response.completed", "response": {"output": [words, call], "usage": {"input_tokens": 1, "output_tokens": 2}}}),
            ]
        }
        Wire::OpenaiChat => {
            let chunk = |delta: Value, why: Option<&str>| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": why}]});
            vec![
                chunk(json!({"role": "assistant", "reasoning_content": "hm"}), None),
                chunk(json!({"content": WORDS}), None),
                chunk(
                    json!({"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"name": "read", "arguments": args[0]}}]}),
                    None,
                ),
                chunk(
                    json!({"tool_calls": [{"index": 0, "function": {"arguments": args[1]}}]}),
                    None,
                ),
                chunk(
                    json!({"tool_calls": [{"index": 1, "id": "c2", "type": "function", "function": {"name": "look", "arguments": "{}"}}]}),
                    None,
                ),
                chunk(json!({}), Some("tool_calls")),
                json!({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 6}}),
            ]
        }
        Wire::Gemini => vec![
            json!({"candidates": [{"content": {"parts": [{"text": "hm", "thought": true}, {"text": WORDS}]}}]}),
            json!({"candidates": [{"content": {"parts": [{"functionCall": {"name": "read", "args": {"path": "\u{e9}"}}, "thoughtSignature": "s"}]}}]}),
            json!({"candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2}}),
        ],
    }
}

fn stream(wire: Wire) -> Vec<u8> {
    let lines = events(wire).into_iter().map(|it| format!("event: e\ndata: {it}\n\n"));
    (lines.collect::<String>() + "data: [DONE]\n\n").into_bytes()
}

/// What a reply says, without ids that were made for it and without what it cost.
fn gist(reply: &ModelReply) -> String {
    let call = |it: &Incoming| match it {
        Incoming::Call(call) => format!("{} {}", call.tool, call.args),
        Incoming::Malformed(bad) => bad.problem.clone(),
    };
    let calls: Vec<String> = reply.asked.iter().map(call).collect();
    format!("{:?} {:?} {:?} {calls:?}", reply.why, reply.text, reply.thoughts)
}

/// Reads these chunks to their end. Also gives the words that were told on the way.
fn read(settings: &WireSettings, chunks: &[&[u8]]) -> (Result<String, ModelError>, String) {
    let mut heard = String::new();
    let mut hear = |delta: Delta| match delta {
        Delta::Text(text) | Delta::Thought(text) => heard.push_str(&text),
    };
    let mut reader = ReplyReader::new(settings);
    let pushed = chunks.iter().try_for_each(|it| reader.push(it, &mut hear));
    let read = pushed.and_then(|()| reader.finish(&mut hear));
    (read.map(|it| gist(&it)), heard)
}

fn all() -> impl Iterator<Item = WireSettings> {
    let both = |wire| [true, false].map(|native| settings(wire, native));
    Wire::ALL.into_iter().flat_map(both)
}

/// A stream that ends anywhere is a whole reply or none: never half a call.
#[test]
fn a_stream_that_is_cut_anywhere_is_the_whole_reply_or_none() {
    for settings in all() {
        let stream = stream(settings.wire);
        let whole = read(&settings, &[&stream]).0.unwrap();
        assert!(whole.contains("read {"), "{:?}: {whole}", settings.wire);
        for end in (0..stream.len()).step_by(7) {
            if let Ok(reply) = read(&settings, &[&stream[..end]]).0 {
                assert_eq!(reply, whole, "{:?} cut at {end}", settings.wire);
            }
        }
    }
}

/// Bytes between these places.
fn cut<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|it| it % (bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|it| &bytes[it[0]..it[1]]).collect()
}

/// Damage: a place, how many bytes go there, and what comes instead.
fn damage() -> impl Strategy<Value = Vec<(usize, usize, Vec<u8>)>> {
    let words = prop::sample::select(vec![
        "\n\n",
        "\r",
        "data: ",
        "null",
        "[]",
        "-1",
        "1e999",
        "\"",
        "{}",
        "```tool\n",
        "\u{feff}",
        "\\ud800",
    ]);
    let instead = prop_oneof![
        words.prop_map(|it| it.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..6)
    ];
    prop::collection::vec((any::<usize>(), 0..40usize, instead), 0..6)
}

fn damaged(mut bytes: Vec<u8>, damage: &[(usize, usize, Vec<u8>)]) -> Vec<u8> {
    for (place, gone, instead) in damage {
        let start = place % (bytes.len() + 1);
        let end = (start + gone).min(bytes.len());
        bytes.splice(start..end, instead.iter().copied());
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// However it is cut into chunks and whatever is wrong with it: the same reply, or the same error.
    #[test]
    fn any_bytes_in_any_chunks_give_the_same(
        which in 0..8usize,
        damage in damage(),
        cuts in prop::collection::vec(any::<usize>(), 0..10),
    ) {
        let settings = all().nth(which).unwrap();
        let bytes = damaged(stream(settings.wire), &damage);
        prop_assert_eq!(read(&settings, &cut(&bytes, &cuts)), read(&settings, &[&bytes]));
    }

    /// Nothing at all is expected of the bytes.
    #[test]
    fn noise_is_no_reply_and_no_crash(
        which in 0..8usize,
        noise in prop::collection::vec(any::<u8>(), 0..300),
        cuts in prop::collection::vec(any::<usize>(), 0..5),
    ) {
        let settings = all().nth(which).unwrap();
        let whole = read(&settings, &[&noise]);
        prop_assert!(whole.0.is_err());
        prop_assert_eq!(read(&settings, &cut(&noise, &cuts)), whole);
    }
}
