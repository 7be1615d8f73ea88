//! Pictures, documents and sound in what an agent's tool gave: they reach the model byte for byte,
//! though their base64 looks like a secret, and the text beside them is redacted as ever.

use base64::{Engine as _, prelude::BASE64_STANDARD as BASE64};
use serde_json::{Value, json};

use crate::{
    hook::send,
    world::{Ran, World},
};

/// A real picture, a real document, a real sound. The base64 of each holds what looks like a key.
pub(crate) const MEDIA: [(&str, &[u8]); 3] = [
    ("picture.png", include_bytes!("../fixtures/media/picture.png")),
    ("page.pdf", include_bytes!("../fixtures/media/page.pdf")),
    ("tone.wav", include_bytes!("../fixtures/media/tone.wav")),
];
const TYPES: [&str; 3] = ["image/png", "application/pdf", "audio/wav"];
const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

pub(crate) fn put_media(world: &World) {
    for (name, bytes) in MEDIA {
        #[expect(clippy::disallowed_methods, reason = "a file of the test")]
        std::fs::write(world.path("workspace").join(name), bytes).unwrap();
    }
}

/// Every medium as base64, with its type.
fn encoded() -> impl Iterator<Item = (String, &'static str)> {
    MEDIA.iter().zip(TYPES).map(|((_, bytes), kind)| (BASE64.encode(bytes), kind))
}

/// One call of an agent before and after it ran.
fn played(world: &World, agent: &str, tool: &str, response: &Value) -> Ran {
    let input = json!({"file_path": world.path("workspace/a.txt"), "path": "a.txt"});
    let cwd = world.path("workspace");
    let (before, after) = match agent {
        "copilot" => (
            json!({"sessionId": "s", "cwd": cwd, "toolName": tool, "toolArgs": input}),
            json!({"sessionId": "s", "cwd": cwd, "toolName": tool, "toolArgs": input,
                "toolResult": response}),
        ),
        _ => {
            let names = match agent {
                "gemini" => ["BeforeTool", "AfterTool"],
                _ => ["PreToolUse", "PostToolUse"],
            };
            let event = |name: &str| {
                json!({"session_id": "s", "cwd": cwd, "hook_event_name": name,
                    "tool_name": tool, "tool_input": input, "tool_use_id": "t"})
            };
            let mut after = event(names[1]);
            after["tool_response"] = response.clone();
            (event(names[0]), after)
        }
    };
    let allowed = send(world, agent, &before);
    assert_eq!(allowed.code, 0, "{agent} {allowed:?}");
    let ran = send(world, agent, &after);
    assert_eq!(ran.code, 0, "{agent} {ran:?}");
    ran
}

#[test]
fn what_is_no_text_is_left_alone() {
    let world = World::new();
    world.write("workspace/a.txt", "one\n");
    for (data, kind) in encoded() {
        let url = format!("data:{kind};base64,{data}");
        let responses = [
            (
                "claude-code",
                "Read",
                json!({"type": "image", "file": {
                "base64": data, "type": kind, "originalSize": 241}}),
            ),
            (
                "claude-code",
                "Read",
                json!({"type": "pdf", "file": {
                "filePath": "/w/page.pdf", "base64": data, "originalSize": 352}}),
            ),
            (
                "claude-code",
                "Read",
                json!([{"type": "image", "source": {
                "type": "base64", "media_type": kind, "data": data}}]),
            ),
            (
                "claude-code",
                "Read",
                json!([{"type": "resource", "resource": {
                "uri": "file:///x", "mimeType": kind, "blob": data}}]),
            ),
            ("codex", "view_image", json!([{"type": "input_image", "image_url": url}])),
            ("codex", "view_image", json!({"image_url": url, "detail": null})),
            (
                "gemini",
                "read_file",
                json!({"llmContent": {"inlineData": {
                "data": data, "mimeType": kind}}, "returnDisplay": "Read image file: a"}),
            ),
            (
                "gemini",
                "read_file",
                json!({"llmContent": [{"inlineData": {
                "data": data, "mimeType": kind}}], "returnDisplay": ""}),
            ),
            (
                "copilot",
                "view",
                json!({"resultType": "success", "textResultForLlm": "an image",
                "binaryResultsForLlm": [{"data": data, "mimeType": kind, "type": "image"}]}),
            ),
        ];
        for (agent, tool, response) in responses {
            let ran = played(&world, agent, tool, &response);
            assert_eq!(ran.out, "", "{agent} {kind} {response}");
        }
    }
}

#[test]
fn text_beside_a_picture_is_redacted_and_the_picture_stays() {
    let world = World::new();
    world.write("workspace/a.txt", "one\n");
    for (data, kind) in encoded() {
        let picture = json!({"type": "image", "source": {
            "type": "base64", "media_type": kind, "data": data}});
        let text = |it: &str| json!({"type": "text", "text": it});
        let response = json!([text(SECRET), picture, text("end")]);
        let ran = played(&world, "claude-code", "Read", &response);
        let shown = ran.json()["hookSpecificOutput"]["updatedToolOutput"].clone();
        assert_eq!(shown[1], picture, "{shown}");
        let (all, said) = (shown.to_string(), shown[0]["text"].as_str().unwrap());
        assert!(!all.contains(SECRET) && said.contains("[redacted:"), "{all}");
        assert!(said.ends_with("end") && shown.as_array().unwrap().len() == 2, "{all}");
        // Codex and Gemini CLI take nothing but a text in the place of a result.
        for (agent, tool) in [("codex", "view_image"), ("gemini", "read_file")] {
            let ran = played(&world, agent, tool, &response);
            assert!(ran.out.contains("[redacted:") && !ran.out.contains(&data), "{ran:?}");
            assert!(ran.out.contains("was left out"), "{ran:?}");
        }
    }
}

/// What is only said to be a picture is text.
#[test]
fn a_secret_does_not_pass_as_a_picture() {
    let world = World::new();
    world.write("workspace/a.txt", "one\n");
    let token = format!("{SECRET} and more text");
    for response in [
        json!({"type": "image", "file": {"base64": token, "type": "image/png"}}),
        json!([{"type": "image", "source": {"media_type": "image/png", "data": token}}]),
        json!({"data": "AKIAQWERTYUIOPASDFGH"}),
        json!({"image_url": format!("data:text/plain,{token}")}),
    ] {
        let ran = played(&world, "claude-code", "Read", &response);
        assert!(ran.out.contains("[redacted:"), "{response} {ran:?}");
        assert!(!ran.out.contains(SECRET) && !ran.out.contains("AKIAQ"), "{ran:?}");
    }
}

/// An output that nobody could record is hidden whole, and what takes its place is no broken picture.
#[test]
fn a_picture_that_is_withheld_goes_with_its_text() {
    let world = World::new();
    world.write("config/eclusa/eclusa.toml", "mode = = 1");
    for (data, kind) in encoded() {
        let file = json!({"type": "image", "file": {"base64": data, "type": kind}});
        let blocks = json!([{"type": "image", "source": {"media_type": kind, "data": data}}]);
        for response in [file, blocks] {
            let event = json!({"session_id": "s", "cwd": world.path("workspace"),
                "hook_event_name": "PostToolUse", "tool_name": "Read", "tool_use_id": "t",
                "tool_input": {"file_path": "a.txt"}, "tool_response": response});
            let ran = send(&world, "claude-code", &event);
            assert!(ran.out.contains("output withheld") && !ran.out.contains(&data), "{ran:?}");
            assert!(!ran.out.contains("base64"), "{ran:?}");
        }
    }
}
