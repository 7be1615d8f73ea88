//! Whether the server that an agent calls `eclusa` is this program. Its calls pass the gate there and
//! are let through here, so a repository must not give our name to a server of its own.

use std::{
    env,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use eclusa::{one_line, settings::ServerSettings};
use eclusa_config::Config;
use eclusa_mcp::SERVER_TOOLS;
use eclusa_tools::BUILT_IN_NAMES;
use serde_json::{Map, Value, json};
use toml_edit::{DocumentMut, Item};

use crate::commands::{
    agent_session::AgentSession,
    agents::server_files,
    read_text::{read_text, read_text_of},
};
use crate::{
    AGENTS, AgentSpec, EntryFile, InstallFacts, entries::hook_mark, mapped::SERVER, server_lists,
};

/// An agent keeps more than servers in such a file.
const MAX_BYTES: u64 = 16 << 20;

/// Where agents read servers from in a repository.
fn files() -> impl Iterator<Item = &'static str> {
    AGENTS.iter().flat_map(|it| it.servers.files).filter_map(|it| match it {
        EntryFile::Project(name) => Some(*name),
        EntryFile::Home(_) | EntryFile::Settings(..) | EntryFile::Machine(_) => None,
    })
}

/// Why a call of the server `eclusa` is not taken for one of this program, if it is not: our server
/// has no such tool, or a file where the session was started or above gives our name, or one that
/// begins like it, to another server. Where the agent's hooks are an administrator's, its person's own
/// files count too.
pub(super) fn doubt(session: &AgentSession, agent: &AgentSpec, tool: &str) -> Option<String> {
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
    places.into_iter().find_map(misleads).or_else(|| match is_managed(agent) {
        true => server_files(Some(agent), workspace).iter().find_map(|it| {
            let shown = one_line(&it.display().to_string());
            misleads_by(it, &shown)
        }),
        false => None,
    })
}

/// True when the hooks of an agent are an administrator's. In doubt they are.
fn is_managed(agent: &AgentSpec) -> bool {
    let none = String::new;
    let facts = InstallFacts { program: none(), nonce: none(), managed: true, project: false };
    let mark = hook_mark(agent.name);
    agent.entries(&facts).iter().filter(|it| it.is_gate).any(|it| match it.file {
        EntryFile::Machine(path) => match read_text(Path::new(path)) {
            Ok(text) => text.contains(&mark),
            Err(err) => !is_absent(&err),
        },
        EntryFile::Home(_) | EntryFile::Settings(..) | EntryFile::Project(_) => false,
    })
}

fn is_absent(err: &io::Error) -> bool {
    matches!(err.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
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
    files().find_map(|it| misleads_by(&place.join(it), it))
}

/// The same of one file.
fn misleads_by(path: &Path, file: &str) -> Option<String> {
    let text = match read_text_of(path, MAX_BYTES) {
        Ok(text) => text,
        Err(err) if is_absent(&err) => return None,
        Err(err) => return Some(format!("`{file}` cannot be read ({err}): {AMEND}")),
    };
    let Some(settings) = settings(file, &text) else {
        return Some(format!("`{file}` cannot be understood: {AMEND}"));
    };
    let lists = AGENTS.iter().flat_map(|it| it.servers.lists);
    let name = lists.flat_map(|it| lists_at(&settings, it)).find_map(foreign)?;
    let name = one_line(&name);
    Some(format!("`{file}` gives the name `{name}` to another server: {RENAME}"))
}

/// The lists at a path of keys; `*` is every key.
fn lists_at<'a>(settings: &'a Value, path: &[&str]) -> Vec<&'a Value> {
    let Some((key, rest)) = path.split_first() else { return vec![settings] };
    let Some(fields) = settings.as_object() else { return Vec::new() };
    let at = fields.iter().filter(|(name, _)| *key == "*" || name == key);
    at.flat_map(|(_, it)| lists_at(it, rest)).collect()
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
fn foreign(list: &Value) -> Option<String> {
    let servers = list.as_object()?;
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
