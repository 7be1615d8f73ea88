//! The servers behind the gate, as this machine starts them and remembers what they said.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
};

use eclusa::{Reach, Registry, ServerSettings};
use eclusa_mcp::{Gateway, Keys, Launched, Launcher, Pinned, Pins, Process, World};
use futures::future::BoxFuture;

use crate::{
    keys::KeyFiles, place::Place, remember::replace, spawn::Program, workplace::Workplace,
};

/// Puts servers behind the gate whose tools are in this registry.
pub(crate) fn open(
    here: &Workplace,
    servers: Vec<ServerSettings>,
    registry: Arc<Registry>,
    plain: bool,
) -> Option<Arc<Gateway>> {
    if servers.is_empty() {
        return None;
    }
    let launcher = Arc::new(Programs { directory: here.place.workspace.clone() });
    let pins = Arc::new(PinFiles(here.place.pins()));
    Some(Gateway::open(servers, World { registry, launcher, keys: here.place.keys(), pins, plain }))
}

/// Starts servers as programs of this machine.
struct Programs {
    directory: PathBuf,
}

impl Launcher for Programs {
    fn launch<'a>(&'a self, server: &'a ServerSettings) -> BoxFuture<'a, io::Result<Launched>> {
        Box::pin(async move {
            let Reach::Command(command) = &server.reach else {
                return Err(io::Error::other("it is no program"));
            };
            let program = Program {
                command: command.clone(),
                directory: self.directory.clone(),
                env: server.env.clone(),
                set: Vec::new(),
            };
            let mut command = program.prepared()?;
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
            let mut child = command.kill_on_drop(true).spawn()?;
            let gone = || io::Error::other("it has no pipes");
            Ok(Launched {
                input: Box::new(child.stdin.take().ok_or_else(gone)?),
                output: Box::new(child.stdout.take().ok_or_else(gone)?),
                process: Box::new(Plain(child)),
                cell: None,
            })
        })
    }
}

struct Plain(tokio::process::Child);

impl Process for Plain {
    fn ended(&mut self) -> BoxFuture<'_, String> {
        Box::pin(async move {
            match self.0.wait().await {
                Ok(status) => format!("it ended: {status}"),
                Err(err) => format!("it cannot be watched: {err}"),
            }
        })
    }
}

/// What servers said about their tools, a file for each.
pub(crate) struct PinFiles(pub(crate) PathBuf);

impl Pins for PinFiles {
    fn pinned(&self, server: &str) -> io::Result<Pinned> {
        match fs::read(self.0.join(format!("{server}.json"))) {
            Ok(text) => serde_json::from_slice(&text).map_err(io::Error::other),
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(Pinned::new()),
            Err(err) => Err(err),
        }
    }

    fn pin(&self, server: &str, pinned: &Pinned) -> io::Result<()> {
        let text = serde_json::to_string_pretty(pinned)?;
        replace(&self.0.join(format!("{server}.json")), &text)
    }
}

impl Place {
    /// What servers at an address are shown, and where it is kept.
    pub(crate) fn keys(&self) -> Arc<dyn Keys> {
        let beside = self.config.as_deref().and_then(Path::parent).map(Path::to_owned);
        let key = beside.unwrap_or_else(|| self.pins()).join("key");
        Arc::new(KeyFiles { tokens: self.pins(), key })
    }

    /// Where it is kept what servers said about their tools: for this person, in every workspace.
    pub(crate) fn pins(&self) -> PathBuf {
        let state = self.store.parent().and_then(|it| it.parent());
        state.map(|it| it.join("servers")).unwrap_or_else(|| self.store.with_file_name("servers"))
    }
}
