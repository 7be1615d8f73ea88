//! The Agent Client Protocol (version 1): what an agent asks of its editor, in the words of our own
//! tools, and what an editor is asked.

use eclusa::Answer;
use serde_json::{Value, json};

use crate::{EclusaCall, MappedCall, mapped, shell_quoted};

/// Whether a request of an agent would do something, so that it is judged. All others pass.
pub fn acp_is_judged(method: &str) -> bool {
    const JUDGED: [&str; 4] = [
        "session/request_permission",
        "fs/read_text_file",
        "fs/write_text_file",
        "terminal/create",
    ];
    JUDGED.contains(&method)
}

/// The mode that an editor chooses for a session, where the agent asks less in it, or nothing.
/// Agents name their modes as they like: these are the words of those that are known.
pub fn acp_loosening_mode(params: &Value) -> Option<&str> {
    const WORDS: [&str; 6] = ["yolo", "bypass", "full", "auto", "accept", "dontask"];
    let text = |name: &str| params.get(name).and_then(Value::as_str);
    let is_mode = |option: &str| {
        let option = option.to_ascii_lowercase();
        let about = ["mode", "approval", "permission"].iter().any(|it| option.contains(it));
        about && !option.contains("model")
    };
    let chosen = text("configId").filter(|it| is_mode(it)).and_then(|_| text("value"));
    let mode = text("modeId").or(chosen)?;
    let plain: String = mode.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    WORDS.iter().any(|it| plain.contains(it)).then_some(mode)
}

/// Whether two fields have one name for whoever reads names in any case.
fn has_twins(params: &Value) -> bool {
    let Some(fields) = params.as_object() else { return false };
    let twin = |a: &String, b: &String| a != b && a.eq_ignore_ascii_case(b);
    fields.keys().any(|a| fields.keys().any(|b| twin(a, b)))
}

/// What a request of an agent would do. `None` for a method that does nothing by itself.
pub fn acp_call(method: &str, params: &Value) -> Option<MappedCall> {
    if !acp_is_judged(method) {
        return None;
    }
    if has_twins(params) {
        return Some(MappedCall::Malformed("two fields have one name".to_owned()));
    }
    let text = |name: &str| params.get(name).and_then(Value::as_str);
    let need = |name: &str| text(name).ok_or_else(|| format!("`{name}` is missing or no text"));
    let ours =
        |tool: &'static str, args: Value| MappedCall::Eclusa(vec![EclusaCall { tool, args }]);
    let call = match method {
        "session/request_permission" => return Some(permission(params)),
        "fs/read_text_file" => need("path").map(|it| ours("read", json!({"path": it}))),
        "fs/write_text_file" => need("path")
            .and_then(|path| Ok(ours("write", json!({"path": path, "content": need("content")?})))),
        "terminal/create" => terminal(params).map(|command| {
            let mut args = json!({"command": command});
            if let (Some(cwd), Some(fields)) = (text("cwd"), args.as_object_mut()) {
                fields.insert("cwd".to_owned(), cwd.into());
            }
            ours("bash", args)
        }),
        _ => return None,
    };
    Some(call.unwrap_or_else(MappedCall::Malformed))
}

/// What a tool call is that an agent asks permission for. The agent's own words for it count for
/// nothing: only what it would do does.
fn permission(params: &Value) -> MappedCall {
    let Some(call) = params.get("toolCall").filter(|it| it.is_object()) else {
        return MappedCall::Malformed("`toolCall` is missing".to_owned());
    };
    let raw = call.get("rawInput").cloned().unwrap_or(Value::Null);
    let kind = call.get("kind").and_then(Value::as_str).unwrap_or("other");
    let title = call.get("title").and_then(Value::as_str).unwrap_or_default();
    let unknown = || {
        let tool = kind.to_owned();
        MappedCall::Unknown { tool, args: json!({"title": title, "input": raw}) }
    };
    let edits: Option<Vec<EclusaCall>> = blocks(call, "diff").map(edit).collect();
    let Some(edits) = edits else {
        return MappedCall::Malformed("a diff has no path or no new text".to_owned());
    };
    if let Some(value) = raw.get("command").filter(|it| !it.is_null()) {
        let Some(command) = command(value) else { return unknown() };
        let mut args = json!({"command": command});
        let cwd = raw.get("cwd").or_else(|| raw.get("workdir")).and_then(Value::as_str);
        if let (Some(cwd), Some(fields)) = (cwd, args.as_object_mut()) {
            fields.insert("cwd".to_owned(), cwd.into());
        }
        // Whichever of the two the agent means, both must be allowed.
        let command = EclusaCall { tool: "bash", args };
        return MappedCall::Eclusa(edits.into_iter().chain([command]).collect());
    }
    if !edits.is_empty() {
        return MappedCall::Eclusa(edits);
    }
    let at = |tool: &'static str| {
        let paths = paths(call, &raw);
        let calls = paths.iter().map(|it| EclusaCall { tool, args: json!({"path": it}) });
        if paths.is_empty() { unknown() } else { MappedCall::Eclusa(calls.collect()) }
    };
    match kind {
        "read" | "delete" if names_more(&raw, &PATHS) => unknown(),
        "read" => at("read"),
        "delete" => at("delete"),
        "fetch" => match raw.get("url").and_then(Value::as_str) {
            Some(_) if names_more(&raw, &["url"]) => unknown(),
            Some(url) => mapped::fetch(url).unwrap_or_else(MappedCall::Malformed),
            None => unknown(),
        },
        _ => unknown(),
    }
}

fn blocks<'a>(call: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    let content = call.get("content").and_then(Value::as_array).into_iter().flatten();
    content.filter(move |it| it.get("type").and_then(Value::as_str) == Some(kind))
}

fn edit(diff: &Value) -> Option<EclusaCall> {
    let text = |name: &str| diff.get(name).and_then(Value::as_str);
    let args = json!({"path": text("path")?, "content": text("newText")?});
    Some(EclusaCall { tool: "write", args })
}

/// The fields in which agents name a path.
const PATHS: [&str; 4] = ["path", "file_path", "filePath", "abs_path"];

/// Whether an input may name files or addresses in other fields than these, or in these and not as a
/// text: nobody can tell then what the call would do.
fn names_more(raw: &Value, known: &[&str]) -> bool {
    const WORDS: [&str; 10] =
        ["path", "file", "dir", "uri", "url", "include", "glob", "pattern", "command", "host"];
    fn leads(value: &Value) -> bool {
        match value {
            Value::String(text) => text.contains(['/', '\\']) || text.starts_with(['.', '~']),
            Value::Array(all) => all.iter().any(leads),
            Value::Object(fields) => fields.values().any(leads),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
    let Some(fields) = raw.as_object() else { return !raw.is_null() };
    fields.iter().any(|(name, value)| {
        let lower = name.to_ascii_lowercase();
        match known.contains(&name.as_str()) {
            true => !value.is_string() && !value.is_null(),
            false => WORDS.iter().any(|it| lower.contains(it)) || leads(value),
        }
    })
}

/// The paths that a call names, in its input or as its places.
fn paths(call: &Value, raw: &Value) -> Vec<String> {
    let named = PATHS.iter().filter_map(|it| raw.get(it));
    let places = call.get("locations").and_then(Value::as_array).into_iter().flatten();
    let places = places.filter_map(|it| it.get("path"));
    let mut all: Vec<String> =
        named.chain(places).filter_map(Value::as_str).map(str::to_owned).collect();
    all.sort();
    all.dedup();
    all
}

/// A command as one shell text: a text as it stands, a list with each word quoted.
fn command(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            words.filter(|it| !it.is_empty()).map(|it| spelt(&it))
        }
        _ => None,
    }
}

/// A terminal's command as one shell text, its variables in front. A command without arguments is
/// a shell text already.
fn terminal(params: &Value) -> Result<String, String> {
    let program = params.get("command").and_then(Value::as_str);
    let program = program.ok_or("`command` is missing or no text")?;
    let list = |name: &str| match params.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => Ok(items.clone()),
        Some(_) => Err(format!("`{name}` is no list")),
    };
    let mut text = String::new();
    for variable in list("env")? {
        let part = |name: &str| variable.get(name).and_then(Value::as_str).map(str::to_owned);
        let (Some(name), Some(value)) = (part("name"), part("value")) else {
            return Err("`env` has an entry without name and value".to_owned());
        };
        let plain = |it: char| it.is_ascii_alphanumeric() || it == '_';
        if name.is_empty() || !name.chars().all(plain) {
            return Err(format!("`{name}` is not a name for a variable"));
        }
        text.push_str(&format!("{name}={} ", shell_quoted(&value)));
    }
    let args = list("args")?;
    let args: Option<Vec<&str>> = args.iter().map(Value::as_str).collect();
    let args = args.ok_or("`args` holds something other than text")?;
    match args.is_empty() {
        true => text.push_str(program),
        false => {
            let words: Vec<&str> = std::iter::once(program).chain(args).collect();
            text.push_str(&spelt(&words));
        }
    }
    Ok(text)
}

fn spelt(words: &[&str]) -> String {
    words.iter().map(|it| shell_quoted(it)).collect::<Vec<_>>().join(" ")
}

/// The answer to a permission request: this once, or not. An agent that offers no such answer is
/// told that the request was cancelled.
pub fn acp_permission_answer(params: &Value, allowed: bool) -> Value {
    let kind = if allowed { "allow_once" } else { "reject_once" };
    let options = params.get("options").and_then(Value::as_array).into_iter().flatten();
    let mut fitting = options.filter(|it| it.get("kind").and_then(Value::as_str) == Some(kind));
    match fitting.next().and_then(|it| it.get("optionId")) {
        Some(option) => json!({"outcome": {"outcome": "selected", "optionId": option}}),
        None => json!({"outcome": {"outcome": "cancelled"}}),
    }
}

/// What an editor is asked on our behalf. Editors read both texts as Markdown.
pub fn acp_question(session: &str, call: &str, title: &str, text: &str, edits: bool) -> Value {
    let all = json!({
        "optionId": "eclusa-edits", "name": "Allow all edits of this session", "kind": "allow_always",
    });
    let block = json!({"type": "content", "content": {"type": "text", "text": text}});
    let mut options = vec![
        json!({"optionId": "eclusa-allow", "name": "Allow once", "kind": "allow_once"}),
        json!({"optionId": "eclusa-reject", "name": "Reject", "kind": "reject_once"}),
    ];
    options.extend(edits.then_some(all));
    json!({
        "sessionId": session,
        "toolCall": {"toolCallId": call, "title": title, "status": "pending", "content": [block]},
        "options": options,
    })
}

/// What an editor's answer to [`acp_question`] is. Anything that was not offered is a no.
pub fn acp_answer(result: &Value, edits: bool) -> Option<Answer> {
    let outcome = result.get("outcome");
    let word = |name: &str| outcome.and_then(|it| it.get(name)).and_then(Value::as_str);
    match word("optionId").filter(|_| word("outcome") == Some("selected"))? {
        "eclusa-allow" => Some(Answer::Once),
        "eclusa-edits" if edits => Some(Answer::Edits),
        _ => None,
    }
}

/// The servers of a new session, each program of them behind `program mcp --wrap`. Gives the names
/// of those that are left as they are.
pub fn acp_wrap_servers(params: &mut Value, program: &str) -> Vec<String> {
    let mut left = Vec::new();
    let servers = params.get_mut("mcpServers").and_then(Value::as_array_mut);
    for server in servers.into_iter().flatten() {
        let name = server.get("name").and_then(Value::as_str).unwrap_or("unnamed").to_owned();
        let command = server.get("command").and_then(Value::as_str).map(str::to_owned);
        let (Some(command), Some(fields)) = (command, server.as_object_mut()) else {
            left.push(name);
            continue;
        };
        let words = |it: Option<&Value>, key: Option<&str>| -> Vec<Value> {
            let items = it.and_then(Value::as_array).into_iter().flatten();
            items.filter_map(|it| key.map_or(Some(it), |key| it.get(key))).cloned().collect()
        };
        let mut args = vec![json!("mcp"), json!("--wrap")];
        let plain = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
        if name.chars().all(plain) {
            args.extend([json!("--name"), json!(name)]);
        }
        for variable in words(fields.get("env"), Some("name")) {
            args.extend([json!("--env"), variable]);
        }
        args.extend([json!("--"), json!(command)]);
        args.extend(words(fields.get("args"), None));
        fields.insert("command".to_owned(), json!(program));
        fields.insert("args".to_owned(), json!(args));
    }
    left
}
