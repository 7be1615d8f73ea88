//! Where agents keep their servers.

use std::{
    io,
    path::{Path, PathBuf},
};

use eclusa_connect::{AgentSpec, commands::agents::server_files, servers_in};
use serde_json::Value;

use crate::{context::AppContext, failure::Failure};

/// A file with servers in it.
pub(super) struct ServerFile {
    pub(super) file: PathBuf,
    /// It was named, and must be there.
    named: bool,
    /// The workspace, for files that know several.
    workspace: Option<PathBuf>,
}

impl ServerFile {
    /// A file that the person named.
    pub(super) fn from_argument(file: &Path) -> ServerFile {
        ServerFile { file: file.to_owned(), named: true, workspace: None }
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
        servers_in(value, self.workspace.as_deref().and_then(Path::to_str))
    }
}

/// Where this agent, or any, may keep its servers.
pub(super) fn known(agent: Option<&AgentSpec>, ctx: &AppContext) -> Vec<ServerFile> {
    let root = &ctx.paths.workspace;
    let source = |file| ServerFile { file, named: false, workspace: Some(root.clone()) };
    server_files(agent, root).into_iter().map(source).collect()
}
