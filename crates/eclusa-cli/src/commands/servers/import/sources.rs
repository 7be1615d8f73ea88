//! Where agents keep their servers.

use std::{
    env, io,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

use super::super::args::Client;
use crate::{context::AppContext, failure::Failure};

/// A file with servers in it.
pub(super) struct ImportSource {
    pub(super) file: PathBuf,
    /// It was named, and must be there.
    named: bool,
    /// The workspace, for files that know several.
    workspace: Option<PathBuf>,
}

impl ImportSource {
    /// A file that the person named.
    pub(super) fn from_argument(file: &Path) -> ImportSource {
        ImportSource { file: file.to_owned(), named: true, workspace: None }
    }

    /// What is in it; nothing, if it need not be there and is not.
    pub(super) fn text(&self) -> Result<Option<String>, Failure> {
        match crate::read_text::read_text(&self.file) {
            Ok(text) => Ok(Some(text)),
            Err(err) if err.kind() == io::ErrorKind::NotFound && !self.named => Ok(None),
            Err(err) => {
                Err(Failure::usage(format!("`{}` cannot be read: {err}", self.file.display())))
            }
        }
    }

    pub(super) fn is_toml(&self) -> bool {
        self.file.extension().is_some_and(|it| it == "toml")
    }

    /// The servers in it, by name.
    pub(super) fn servers(&self, value: &Value) -> Vec<(String, Value)> {
        let mut all: Vec<(String, Value)> = Vec::new();
        let project = self.workspace.as_ref().and_then(|it| {
            // Claude Code keeps what it was told in one workspace in the same file.
            value.get("projects")?.get(it.to_str()?)?.get("mcpServers")
        });
        let keys = ["mcpServers", "servers", "mcp_servers", "context_servers", "mcp"];
        let lists = keys.iter().filter_map(|key| value.get(key)).chain(project);
        for (name, server) in lists.filter_map(Value::as_object).flat_map(Map::iter) {
            if !all.iter().any(|(taken, _)| taken == name) {
                all.push((name.clone(), server.clone()));
            }
        }
        all
    }
}

/// Where this agent, or any, may keep its servers.
pub(super) fn known(client: Option<Client>, ctx: &AppContext) -> Vec<ImportSource> {
    let home = env::var_os("HOME").map(PathBuf::from).filter(|it| it.is_absolute());
    let codex = env::var_os("CODEX_HOME").map(PathBuf::from);
    let codex = codex.or_else(|| home.as_ref().map(|it| it.join(".codex")));
    let root = &ctx.paths.workspace;
    let at_home = |path: &str| home.as_ref().map(|it| it.join(path));
    let directory = |name: &str| env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let claude = directory("CLAUDE_CONFIG_DIR").map(|it| it.join(".claude.json"));
    let config = directory("XDG_CONFIG_HOME").or_else(|| at_home(".config"));
    let opencode = |name: &str| config.as_ref().map(|it| it.join("opencode").join(name));
    let all = [
        (Client::Claude, claude.or_else(|| at_home(".claude.json"))),
        (Client::Claude, Some(root.join(".mcp.json"))),
        (Client::Codex, codex.map(|it| it.join("config.toml"))),
        (Client::Cursor, at_home(".cursor/mcp.json")),
        (Client::Cursor, Some(root.join(".cursor/mcp.json"))),
        (Client::Vscode, Some(root.join(".vscode/mcp.json"))),
        (Client::Vscode, at_home(".config/Code/User/mcp.json")),
        (Client::Gemini, at_home(".gemini/settings.json")),
        (Client::Gemini, Some(root.join(".gemini/settings.json"))),
        (Client::Opencode, opencode("opencode.json")),
        (Client::Opencode, opencode("opencode.jsonc")),
        (Client::Opencode, Some(root.join("opencode.json"))),
        (Client::Opencode, Some(root.join("opencode.jsonc"))),
    ];
    all.into_iter()
        .filter(|(it, _)| client.is_none_or(|wanted| wanted == *it))
        .filter_map(|(_, file)| file)
        .map(|file| ImportSource { file, named: false, workspace: Some(root.clone()) })
        .collect()
}
