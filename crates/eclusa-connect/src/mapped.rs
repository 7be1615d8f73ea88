//! An agent's call, in the words of our own tools.

use eclusa_tools::{search::start_of, web::Address};
use serde_json::{Value, json};

use crate::fields::Fields;

/// What a call of an agent is here.
#[derive(Debug, Clone, PartialEq)]
pub enum MappedCall {
    /// Calls of our own tools that do the same; each of them must be allowed.
    Eclusa(Vec<EclusaCall>),
    /// A tool of a server that the agent has connected by itself.
    Server {
        /// The server.
        server: String,
        /// Its tool.
        tool: String,
        /// The arguments.
        args: Value,
    },
    /// Something inside the agent, which reaches nothing by itself.
    Internal(InternalTool),
    /// A tool that is called like one of our own server, which passes the gate there.
    OwnServer {
        /// The tool, by its name there.
        tool: String,
    },
    /// Nobody knows it here, so that a person is asked.
    Unknown {
        /// The tool, by its name there.
        tool: String,
        /// The arguments.
        args: Value,
    },
    /// A field has another type than its manual says: denied.
    Malformed(String),
}

impl MappedCall {
    /// The text of a call that is one shell command.
    pub(crate) fn shell_command(&self) -> Option<&str> {
        match self {
            MappedCall::Eclusa(calls) => match calls.as_slice() {
                [EclusaCall { tool: "bash", args }] => args.get("command").and_then(Value::as_str),
                _ => None,
            },
            _ => None,
        }
    }
}

/// A call of one of our tools.
#[derive(Debug, Clone, PartialEq)]
pub struct EclusaCall {
    /// The tool.
    pub tool: &'static str,
    /// Its arguments.
    pub args: Value,
}

/// What an agent does inside itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InternalTool {
    /// Lists, plans and questions to its person.
    Bookkeeping,
    /// Starts or steers an agent whose calls come to the hook like its own.
    Subagent,
    /// Has something done later, or moves the session elsewhere.
    Scheduled,
}

impl InternalTool {
    /// The name that rules know it by.
    pub const fn name(self) -> &'static str {
        match self {
            InternalTool::Bookkeeping => "agent_notes",
            InternalTool::Subagent => "agent_task",
            InternalTool::Scheduled => "agent_later",
        }
    }
}

/// What mapping a call gives, before errors are told.
pub(crate) type Mapping = Result<MappedCall, String>;

/// The name under which our server is connected.
pub(crate) const SERVER: &str = "eclusa";

/// A call of one of our tools.
pub(crate) fn call(tool: &'static str, args: Value) -> MappedCall {
    MappedCall::Eclusa(vec![EclusaCall { tool, args }])
}

/// A tool of somebody's server, or of our own.
pub(crate) fn server_call(server: &str, tool: &str, args: Value) -> MappedCall {
    match server == SERVER {
        true => MappedCall::OwnServer { tool: tool.to_owned() },
        false => MappedCall::Server { server: server.to_owned(), tool: tool.to_owned(), args },
    }
}

/// `mcp__SERVER__TOOL`, as Claude Code and Codex name tools of servers.
pub(crate) fn double_underscored(name: &str, args: &Value) -> Option<MappedCall> {
    let (server, tool) = name.strip_prefix("mcp__")?.split_once("__")?;
    Some(server_call(server, tool, args.clone()))
}

/// A file that is written whole.
pub(crate) fn write(path: &str, content: &str) -> MappedCall {
    call("write", json!({"path": path, "content": content}))
}

/// A text in a file that is replaced by another. An empty old text makes the file.
pub(crate) fn edit(path: &str, old: &str, new: &str, all: bool) -> MappedCall {
    call("edit", edit_args(path, old, new, all))
}

fn edit_args(path: &str, old: &str, new: &str, all: bool) -> Value {
    let mut args = json!({"path": path, "old_string": old, "new_string": new});
    if let (true, Some(fields)) = (all, args.as_object_mut()) {
        fields.insert("replace_all".to_owned(), true.into());
    }
    args
}

/// Several edits of one file, in order. `names`: old text, new text, all of them.
pub(crate) fn edits(path: &str, list: &[Value], names: [&str; 3]) -> Mapping {
    let mut all = Vec::new();
    for it in list {
        let it = Fields::new(it, "an edit")?;
        let [old, new, every] = names;
        let mut edit = json!({"old_string": it.text(old)?, "new_string": it.text(new)?});
        if let (true, Some(fields)) = (it.flag(every)?, edit.as_object_mut()) {
            fields.insert("replace_all".to_owned(), true.into());
        }
        all.push(edit);
    }
    match all.is_empty() {
        true => Err("`edits` is empty".to_owned()),
        false => Ok(call("multi_edit", json!({"path": path, "edits": all}))),
    }
}

/// The fields in which agents say which files a search looks into.
const FILTERS: [&str; 3] = ["glob", "include", "include_pattern"];

/// A search in a directory. Where it looks is a path, which a pattern of names may say as well.
pub(crate) fn search(tool: &'static str, input: Fields<'_>, places: &[&str]) -> Mapping {
    let mut args = json!({});
    let path = places.iter().map(|it| input.maybe_text(it)).collect::<Result<Vec<_>, _>>()?;
    let mut path = path.into_iter().flatten().next().map(str::to_owned);
    if let Some(fields) = args.as_object_mut() {
        if tool != "list" {
            fields.insert("pattern".to_owned(), input.text("pattern")?.into());
        }
        if tool == "glob" {
            path = beneath(path.as_deref(), input.text("pattern")?)?;
        }
        if let (true, Some(filter)) = (tool == "grep", filter(input)?) {
            fields.insert("glob".to_owned(), filter.into());
        }
        if let Some(path) = path {
            fields.insert("path".to_owned(), path.into());
        }
    }
    Ok(call(tool, args))
}

/// Which files a search looks into, as far as it says so in one way.
fn filter(input: Fields<'_>) -> Result<Option<String>, String> {
    let said = FILTERS.iter().map(|it| input.maybe_text(it)).collect::<Result<Vec<_>, _>>()?;
    let mut said = said.into_iter().flatten();
    // Of two ways nobody knows which one counts.
    Ok(said.next().map(str::to_owned).filter(|_| said.next().is_none()))
}

/// Where names are looked for that fit a pattern.
pub(crate) fn beneath(path: Option<&str>, pattern: &str) -> Result<Option<String>, String> {
    let start = start_of(pattern)
        .ok_or_else(|| format!("it is not clear where the pattern `{pattern}` leads"))?;
    Ok(match (path, start.as_str()) {
        (path, ".") => path.map(str::to_owned),
        (Some(path), start) if !start.starts_with('/') => Some(format!("{path}/{start}")),
        _ => Some(start),
    })
}

/// A patch in the first of these fields that is there.
pub(crate) fn patch(input: Fields<'_>, names: &[&str]) -> Mapping {
    Ok(call("apply_patch", json!({"patch": input.any_text(names)?})))
}

/// An address that is fetched. One that is read in several ways is an error: the agent may read it otherwise.
pub(crate) fn fetch(url: &str) -> Mapping {
    Address::parse(url).map_err(|err| err.to_string())?;
    Ok(call("web_fetch", json!({"url": url})))
}

/// A file that is read.
pub(crate) fn read(path: &str) -> MappedCall {
    call("read", json!({"path": path}))
}
