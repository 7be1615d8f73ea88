//! An editor and an agent that speak the Agent Client Protocol, with `eclusa acp` between them.

use serde_json::{Value, json};

use super::{
    acts::{Act, Seen},
    hooked,
};
use crate::{acp::Editor, world::World};

pub(crate) fn acp(world: &World, acts: &[Act]) -> Vec<Seen> {
    let mut editor = match Editor::try_open(world) {
        Ok(editor) => editor,
        Err(why) => return vec![Seen::refused(&why)],
    };
    acts.iter().map(|act| one(world, &mut editor, act)).collect()
}

/// Has the agent want it, plays the editor where it is asked to, and tells what the agent got.
fn one(world: &World, editor: &mut Editor, act: &Act) -> Seen {
    let path = |name: &str| json!(world.path("workspace").join(name));
    match act {
        Act::Read(name) => editor.agent_asks("fs/read_text_file", json!({"path": path(name)})),
        Act::Write(name, text) => {
            let params = json!({"path": path(name), "content": text});
            editor.agent_asks("fs/write_text_file", params);
        }
        Act::Bash(command) => {
            let words: Vec<&str> = command.split(' ').collect();
            let params = json!({"command": words.first(), "args": words.get(1..)});
            editor.agent_asks("terminal/create", params);
        }
        Act::Fetch(url) => editor.permission(json!({"toolCallId": "t", "title": "fetch",
            "kind": "fetch", "rawInput": {"url": url}})),
        Act::Own => panic!("it has no tool of ours"),
    }
    let mut ticket = None;
    loop {
        let told = editor.next();
        let result = match told["method"].as_str() {
            Some("_answer") => return ticket.unwrap_or_else(|| answered(&told["params"])),
            Some("session/request_permission") => {
                let outcome = json!({"outcome": {"outcome": "cancelled"}});
                editor.send(&json!({"id": told["id"], "result": outcome}));
                let refused = editor.answer();
                return Seen::Asked(refused.to_string());
            }
            Some("fs/read_text_file") => match act {
                Act::Read(name) => json!({"content": world.read(&format!("workspace/{name}"))}),
                _ => panic!("nobody wanted to read: {told}"),
            },
            Some("fs/write_text_file") => {
                let (Act::Write(name, _), Some(text)) = (act, told["params"]["content"].as_str())
                else {
                    panic!("nobody wanted to write: {told}")
                };
                world.write(&format!("workspace/{name}"), text);
                Value::Null
            }
            Some("terminal/create") => {
                let args: Vec<String> =
                    serde_json::from_value(told["params"]["args"].clone()).unwrap();
                let args: Vec<&str> = args.iter().map(String::as_str).collect();
                ticket = Some(hooked::ran(&world.eclusa(&args)));
                json!({"terminalId": "x"})
            }
            _ => panic!("the editor does not know it: {told}"),
        };
        editor.send(&json!({"id": told["id"], "result": result}));
    }
}

fn answered(answer: &Value) -> Seen {
    if let Some(why) = answer["error"]["message"].as_str() {
        return Seen::refused(why);
    }
    match answer["result"]["outcome"]["optionId"].as_str() {
        None | Some("go") => {
            let text = answer["result"]["content"].as_str().unwrap_or_default();
            Seen::Done(text.to_owned())
        }
        // What stops it here does not say why.
        Some(_) => Seen::Denied(answer.to_string()),
    }
}
