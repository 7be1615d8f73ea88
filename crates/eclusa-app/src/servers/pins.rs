//! What servers said about their tools, a file for each.

use std::{collections::BTreeMap, fs, io, path::PathBuf};

use eclusa::settings::ServerSettings;
use eclusa_mcp::{PinStore, PinnedDefinitions};

use super::state_key::key;
use crate::{context::AppContext, remember::replace};

/// A directory with a file for each server.
pub struct PinFiles {
    directory: PathBuf,
    /// What each server is kept under, by its name.
    keys: BTreeMap<String, String>,
}

impl PinFiles {
    /// What these servers said.
    pub fn new<'a>(
        ctx: &AppContext,
        servers: impl IntoIterator<Item = &'a ServerSettings>,
    ) -> PinFiles {
        let keys = servers.into_iter().map(|it| (it.name.clone(), key(it))).collect();
        PinFiles { directory: ctx.paths.pins(), keys }
    }

    fn file(&self, server: &str) -> PathBuf {
        let key = self.keys.get(server).map_or(server, String::as_str);
        self.directory.join(format!("{key}.json"))
    }

    /// Forgets what a server said. It is fine if there is nothing to forget.
    pub fn forget(&self, server: &str) -> io::Result<()> {
        #[expect(clippy::disallowed_methods, reason = "a file of ours, in no workspace")]
        match fs::remove_file(self.file(server)) {
            Err(err) if err.kind() != io::ErrorKind::NotFound => Err(err),
            _ => Ok(()),
        }
    }
}

impl PinStore for PinFiles {
    fn pinned(&self, server: &str) -> io::Result<PinnedDefinitions> {
        match fs::read(self.file(server)) {
            Ok(text) => serde_json::from_slice(&text).map_err(io::Error::other),
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(PinnedDefinitions::new()),
            Err(err) => Err(err),
        }
    }

    fn pin(&self, server: &str, pinned: &PinnedDefinitions) -> io::Result<()> {
        let text = serde_json::to_string_pretty(pinned)?;
        replace(&self.file(server), &text)
    }
}
