//! Whether the server that an agent calls `eclusa` is this program. Its calls pass the gate there and
//! are let through here, so a repository must not give our name to a server of its own.

use std::{
    env,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use eclusa::{one_line, settings::ServerSettings};
use eclusa_config::Config;
use eclusa_mcp::SERVER_TOOLS;
use eclusa_tools::BUILT_IN_NAMES;
use serde_json::{Map, Value, json};
use toml_edit::{DocumentMut, Item};

use crate::commands::{agent_session::AgentSession, read_text::read_text};
use crate::{AGENTS, EntryFile, mapped::SERVER, server_lists};

/// Where agents read servers from in a repository.
fn files() -> impl Iterator<Item = &'static str> {
    AGENTS.iter().flat_map(|it| it.servers.files).filter_map(|it| match it {
        EntryFile::Project(name) => Some(*name),
        EntryFile::Home(_) | EntryFile::Settings(..) | EntryFile::Machine(_) => None,
    })
}

/// Why a call of the server `eclusa` is not taken for one of this program, if it is not: our server
/// has no such tool, or a file where the session was started or above gives our name, or one that
/// begins like it, to another server.
pub(super) fn doubt(session: &AgentSession, tool: &str) -> Option<String> {
    if !has_tool(&session.ctx.config, tool) {
        let tool = one_line(tool);
        return Some(format!("eclusa's server has no tool `{tool}`, so this is another server's"));
    }
    let workspace = &session.ctx.paths.workspace;
    let home = env::var_os("HOME").map(PathBuf::from);
    let root = session.root().canonicalize().unwrap_or_else(|_| session.root().to_owned());
    let above = root.ancestors().take_while(|it| Some(*it) != home.as_deref());
    let mut places: Vec<&Path> = above.collect();
    if !places.contains(&workspace.as_path()) {
        places.push(workspace);
    }
    places.into_iter().find_map(misleads)
}

/// True when our server has a tool of this name: a built-in one, one of the configuration, or one of
/// a server behind the gate.
fn has_tool(config: &Config, tool: &str) -> bool {
    let behind = |it: &ServerSettings| {
        tool.strip_prefix("mcp_")
            .and_then(|rest| rest.strip_prefix(it.name.as_str()))
            .is_some_and(|rest| rest.starts_with('_'))
    };
    BUILT_IN_NAMES.contains(&tool)
        || SERVER_TOOLS.contains(&tool)
        || config.tools.iter().any(|it| it.name == tool)
        || config.servers.iter().any(behind)
}

/// True for the name of a server, not ours, whose tools could be taken for ours: agents join names with
/// underscores or dashes, and put one in the place of what a name cannot have.
pub(super) fn begins_like_ours(server: &str) -> bool {
    server != SERVER && server.trim_start().to_ascii_lowercase().starts_with(SERVER)
}

/// What in the settings of a directory could have another server taken for ours, if anything.
fn misleads(place: &Path) -> Option<String> {
    files().find_map(|file| {
        let text = match read_text(&place.join(file)) {
            Ok(text) => text,
            Err(err) if matches!(err.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return None;
            }
            Err(err) => return Some(format!("`{file}` cannot be read ({err}): {AMEND}")),
        };
        match settings(file, &text) {
            Some(settings) => {
                let mut lists = server_lists().into_iter();
                lists.find_map(|list| foreign(settings.get(list))).map(|name| {
                    let name = one_line(&name);
                    format!("`{file}` gives the name `{name}` to another server: {RENAME}")
                })
            }
            None => Some(format!("`{file}` cannot be understood: {AMEND}")),
        }
    })
}

const AMEND: &str =
    "a person puts it right, because it could give the name `eclusa` to another server";
const RENAME: &str = "a person renames or removes that server";

fn settings(file: &str, text: &str) -> Option<Value> {
    match file.ends_with(".toml") {
        true => toml_settings(text),
        false => eclusa_config::jsonc::read(text).ok(),
    }
}

/// What settings in TOML say of our name.
fn toml_settings(text: &str) -> Option<Value> {
    let document: DocumentMut = text.parse().ok()?;
    let value = |item: &Item| match (item.as_str(), item.as_array()) {
        (Some(text), _) => json!(text),
        (None, Some(words)) => words.iter().map(|it| it.as_str()).collect(),
        (None, None) => json!(true),
    };
    let mut settings = Map::new();
    for list in server_lists() {
        let Some(servers) = document.get(list) else { continue };
        let mut all = Map::new();
        for (server, fields) in servers.as_table_like()?.iter() {
            let fields = fields.as_table_like()?.iter();
            let entry: Map<_, _> = fields.map(|(name, it)| (name.to_owned(), value(it))).collect();
            all.insert(server.to_owned(), entry.into());
        }
        settings.insert(list.to_owned(), all.into());
    }
    Some(settings.into())
}

/// The name of a server in a list that could be taken for ours and is not.
fn foreign(list: Option<&Value>) -> Option<String> {
    let servers = list.and_then(Value::as_object)?;
    let ours = |it: &String| it == SERVER && servers.get(it).is_some_and(is_ours);
    let mut named = servers.keys().filter(|it| *it == SERVER || begins_like_ours(it));
    named.find(|it| !ours(it)).cloned()
}

/// True when an entry is written as `install` writes ours.
fn is_ours(entry: &Value) -> bool {
    let plain = ["env", "environment", "env_vars", "envFile", "url", "httpUrl", "cwd"]
        .iter()
        .all(|name| entry.get(name).is_none());
    let command = entry.get("command");
    let words: Vec<&str> = match command {
        Some(Value::String(program)) => {
            let args = entry.get("args").and_then(Value::as_array).into_iter().flatten();
            [program.as_str()].into_iter().chain(args.map(|it| it.as_str().unwrap_or(""))).collect()
        }
        Some(Value::Array(words)) => words.iter().map(|it| it.as_str().unwrap_or("")).collect(),
        _ => return false,
    };
    let [program, "mcp"] = words.as_slice() else { return false };
    let here = env::current_exe().ok();
    plain
        && (*program == "eclusa" && !is_another_found()
            || here.is_some_and(|it| it == Path::new(program)))
}

/// True when the first `eclusa` that is found by name is another program than this one: a project may
/// have put a directory of its own in front.
fn is_another_found() -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut found = env::split_paths(&path).map(|it| it.join("eclusa")).filter(|it| it.is_file());
    let whole = |it: PathBuf| it.canonicalize().ok();
    found.next().is_some_and(|it| whole(it) != env::current_exe().ok().and_then(whole))
}

#[cfg(test)]
mod tests;
