//! Whether the server that an agent calls `eclusa` is this program. Its calls pass the gate there and
//! are let through here, so a repository must not give our name to a server of its own.

use std::{env, io::ErrorKind, path::Path};

use serde_json::{Map, Value, json};
use toml_edit::{DocumentMut, Item};

use crate::commands::read_text::read_text;
use crate::{AGENTS, EntryFile, mapped::SERVER, server_lists};

/// Where agents read servers from in a repository.
fn files() -> impl Iterator<Item = &'static str> {
    AGENTS.iter().flat_map(|it| it.servers.files).filter_map(|it| match it {
        EntryFile::Project(name) => Some(*name),
        EntryFile::Home(_) | EntryFile::Settings(..) | EntryFile::Machine(_) => None,
    })
}

/// Why the server `eclusa` is not taken for this program, if it is not.
pub(super) fn doubt(workspace: &Path) -> Option<String> {
    files().find_map(|file| {
        let text = match read_text(&workspace.join(file)) {
            Ok(text) => text,
            Err(err) if matches!(err.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return None;
            }
            Err(err) => return Some(format!("`{file}` cannot be read ({err}): {AMEND}")),
        };
        match settings(file, &text) {
            Some(settings) if server_lists().iter().all(|list| is_ours(settings.get(list))) => None,
            Some(_) => {
                Some(format!("`{file}` gives the name `eclusa` to another server: {RENAME}"))
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
        let Some(server) = document.get(list).and_then(|it| it.get(SERVER)) else { continue };
        let fields = server.as_table_like()?.iter();
        let entry: Map<_, _> = fields.map(|(name, it)| (name.to_owned(), value(it))).collect();
        settings.insert(list.to_owned(), json!({ SERVER: entry }));
    }
    Some(settings.into())
}

/// True when a list of servers has none of our name, or one that is written as `install` writes it.
fn is_ours(list: Option<&Value>) -> bool {
    let Some(entry) = list.and_then(|it| it.get(SERVER)) else { return true };
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
    plain && (*program == "eclusa" || here.is_some_and(|it| it == Path::new(program)))
}

#[cfg(test)]
mod tests;
