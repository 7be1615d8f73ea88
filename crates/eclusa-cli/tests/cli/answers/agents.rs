//! Questions in somebody else's program: a form of an MCP client, Claude Code's two ways to ask, an editor.

use serde_json::{Value, json};

use super::{
    at_once,
    somebody::{Said, Somebody, Wanted},
};
use crate::{
    acp::Editor,
    ahead::Agent,
    hook::{before, decision, event, rewritten, shell},
    mcp::client::{Client, text},
    world::{Ran, World},
};

/// The version that was seen to ask so.
const CLAUDE: &str = "2.1.325";

/// Answers the forms of a request until it is answered; `None` once the server is gone.
pub(super) fn forms(client: &mut Client, who: &Somebody<'_>, id: u64) -> Option<Value> {
    let is_answer = |it: &Value| it["id"] == id && it.get("method").is_none();
    loop {
        let heard = client.heard("a form or the answer", |it| {
            is_answer(it) || it["method"] == "elicitation/create"
        });
        if is_answer(&heard) {
            return Some(heard);
        }
        let answer = match who.is_asked("in a form", &heard["params"]["message"].to_string()) {
            Said::Yes => "yes",
            Said::No => "no",
            // It is not among the answers that are offered.
            Said::Edit(_) => "edit",
            Said::KillAsker => {
                client.child.kill().unwrap();
                client.child.wait().unwrap();
                return None;
            }
        };
        let content = json!({"answer": answer, "reason": ""});
        client.reply(&heard, json!({"action": "accept", "content": content}));
    }
}

fn asks() -> Value {
    json!({"elicitation": {}})
}

pub(super) fn form(who: &Somebody<'_>, wanted: &Wanted) -> String {
    let mut client = Client::legacy(who.world, "2025-11-25", asks());
    let id = client.request("tools/call", tools_call(wanted));
    forms(&mut client, who, id).map_or_else(|| "nothing".to_owned(), |it| result(&it))
}

pub(super) fn tools_call(wanted: &Wanted) -> Value {
    let (name, arguments) = wanted.call();
    json!({"name": name, "arguments": arguments})
}

/// What a model reads of a result.
pub(super) fn result(answer: &Value) -> String {
    let result = &answer["result"];
    let code = result["_meta"]["eclusa/code"].as_str().unwrap_or_default();
    format!("{code} | {} {}", text(result), answer["error"]["message"].as_str().unwrap_or_default())
}

/// Claude Code asks before it runs a tool of its own, and then runs it itself.
pub(super) fn prompt_tool(who: &Somebody<'_>, wanted: &Wanted) -> String {
    let mut client = Client::legacy(who.world, "2025-11-25", asks());
    let id = client.request("tools/call", approve(who.world, wanted));
    let Some(answer) = forms(&mut client, who, id) else { return "nothing".to_owned() };
    runs_itself(who.world, wanted, &answer)
}

pub(super) fn approve(world: &World, wanted: &Wanted) -> Value {
    let (tool, input) = wanted.own_call(world);
    let asked = json!({"tool_name": tool, "input": input, "tool_use_id": "toolu_1"});
    json!({"name": "approve", "arguments": asked})
}

/// What Claude Code does with the answer.
pub(super) fn runs_itself(world: &World, wanted: &Wanted, answer: &Value) -> String {
    let said: Value = serde_json::from_str(text(&answer["result"])).unwrap_or_default();
    if said["behavior"] != "allow" {
        return format!("deny | {}", said["message"].as_str().unwrap_or_default());
    }
    let input = &said["updatedInput"];
    assert_eq!(*input, wanted.own_call(world).1, "word for word");
    match wanted {
        Wanted::Write(path, text) => {
            world.write(&format!("workspace/{path}"), text);
            "written".to_owned()
        }
        Wanted::Bash(command) => {
            // Its shell has a `curl` of its own where one was made: nothing depends on a network.
            let own = world.path("bin");
            ran(&shell(world, &format!("PATH={own:?}:$PATH\n{command}")))
        }
    }
}

/// What the model of an agent reads of a command.
fn ran(ran: &Ran) -> String {
    format!("exit {} | {} | {}", ran.code, ran.out.trim(), ran.err.trim())
}

/// Claude Code's own prompt, with what our hook has it show.
pub(super) fn agent_prompt(who: &Somebody<'_>, wanted: &Wanted) -> String {
    agent_prompt_runs(who, wanted, 1)
}

/// The same where what it has run instead is run so many times at the same moment.
pub(super) fn agent_prompt_runs(who: &Somebody<'_>, wanted: &Wanted, count: usize) -> String {
    let world = who.world;
    let agent = Agent::of_version(world, CLAUDE);
    let (tool, input) = wanted.own_call(world);
    let mut call = before(world, tool, input.clone());
    call["permission_mode"] = "default".into();
    // Where the prompt has no room, or a rule needs somebody else, the hook waits in the queue.
    let answer = who.answers_the_queue(|| agent.asks(world, &call));
    let (verdict, why) = decision(&answer);
    let runs = |line: &str| {
        who.answers_the_queue(|| at_once::together(count, || ran(&shell(world, line))))
    };
    match (verdict.as_str(), wanted) {
        ("ask", _) => {}
        ("allow", Wanted::Bash(_)) => return runs(&rewritten(&answer)),
        ("allow", Wanted::Write(..)) => return writes(world, &agent, wanted, input),
        _ => return format!("{verdict} | {why}"),
    }
    match who.is_asked("in its prompt", &why) {
        Said::Yes => {}
        Said::No => {
            // The turn ends; whatever comes next, the ticket is good for nothing.
            let mut next = before(world, "Bash", json!({"command": "ls"}));
            next["permission_mode"] = "default".into();
            agent.asks(world, &next);
            return "the user said no".to_owned();
        }
        Said::Edit(command) => {
            // Nobody can edit there. A model that writes its own words around the line is denied.
            let line = format!("{}; {command}", rewritten(&answer));
            let changed = before(world, "Bash", json!({"command": line}));
            let (verdict, why) = decision(&agent.asks(world, &changed));
            who.is_told(&format!("{verdict} {why}"));
        }
        Said::KillAsker => {
            drop(agent);
            return "nothing".to_owned();
        }
    }
    match wanted {
        Wanted::Write(..) => writes(world, &agent, wanted, input),
        Wanted::Bash(_) => runs(&rewritten(&answer)),
    }
}

/// Claude Code writes a file by itself, and says so.
fn writes(world: &World, agent: &Agent, wanted: &Wanted, input: Value) -> String {
    let Wanted::Write(path, text) = wanted else { panic!("it is a command: {wanted:?}") };
    world.write(&format!("workspace/{path}"), text);
    let mut after = event(world, "PostToolUse", "Write", input);
    after["tool_response"] = json!({"type": "create"});
    agent.asks(world, &after);
    "written".to_owned()
}

/// An editor between its person and an agent.
pub(super) fn editor(who: &Somebody<'_>, wanted: &Wanted) -> String {
    editor_runs(who, wanted, 1)
}

/// The same where the command that the editor is to run is run so many times at the same moment.
pub(super) fn editor_runs(who: &Somebody<'_>, wanted: &Wanted, count: usize) -> String {
    let world = who.world;
    let mut editor = Editor::try_open(world).unwrap();
    editor_asks(&mut editor, world, wanted);
    editor_goes_on(&mut editor, who, wanted, count)
}

fn editor_asks(editor: &mut Editor, world: &World, wanted: &Wanted) {
    match wanted {
        Wanted::Write(path, text) => {
            let path = world.path("workspace").join(path);
            let params = json!({"path": path, "content": text});
            editor.agent_asks("fs/write_text_file", params);
        }
        Wanted::Bash(command) => {
            let params = json!({"command": "bash", "args": ["-c", command]});
            editor.agent_asks("terminal/create", params);
        }
    }
}

/// Plays the editor until the agent has its answer.
fn editor_goes_on(
    editor: &mut Editor,
    who: &Somebody<'_>,
    wanted: &Wanted,
    count: usize,
) -> String {
    let world = who.world;
    let mut ticket = None;
    loop {
        let told = editor.next();
        let result = match told["method"].as_str() {
            Some("_answer") => {
                let params = &told["params"];
                let error = params["error"]["message"].as_str();
                return match (error, ticket) {
                    (Some(error), _) => format!("error | {error}"),
                    (None, Some(ran)) => ran,
                    (None, None) => "written".to_owned(),
                };
            }
            Some("session/request_permission") => {
                let option = match who.is_asked("in the editor", &told.to_string()) {
                    Said::Yes => "eclusa-allow",
                    Said::No => "eclusa-reject",
                    // An answer that was not offered is none.
                    Said::Edit(_) => "eclusa-edit",
                    Said::KillAsker => return "nothing".to_owned(),
                };
                json!({"outcome": {"outcome": "selected", "optionId": option}})
            }
            Some("fs/write_text_file") => {
                let (Wanted::Write(path, _), Some(text)) =
                    (wanted, told["params"]["content"].as_str())
                else {
                    panic!("nobody wanted to write: {told}")
                };
                world.write(&format!("workspace/{path}"), text);
                Value::Null
            }
            Some("terminal/create") => {
                let args: Vec<String> =
                    serde_json::from_value(told["params"]["args"].clone()).unwrap();
                let args: Vec<&str> = args.iter().map(String::as_str).collect();
                let run = || ran(&world.eclusa(&args));
                ticket = Some(who.answers_the_queue(|| at_once::together(count, run)));
                json!({"terminalId": "x"})
            }
            _ => panic!("the editor does not know it: {told}"),
        };
        editor.send(&json!({"id": told["id"], "result": result}));
    }
}
