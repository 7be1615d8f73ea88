//! Tickets: what an agent's hook allowed, for `eclusa exec --ticket` to run once and soon.
//!
//! A ticket lies in the state directory, where no tool and no sandbox reaches. It names the text,
//! the directory and the agent; whoever shows it can have that run in the sandbox and nothing else.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use eclusa::{Durability, Mode, random, workspace::private_file};
use serde::{Deserialize, Serialize};

use crate::args::Global;

/// How long a ticket is good for.
const LIFETIME: Duration = Duration::from_secs(600);

/// Leave to run one command in the sandbox, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ExecTicket {
    /// The agent that asked, and its version where it is known.
    pub(crate) client: String,
    /// The session that the call belongs to.
    pub(crate) conversation: String,
    /// The agent's id for the call.
    pub(crate) call: String,
    /// The command, byte for byte.
    pub(crate) text: String,
    /// Where it starts, below the workspace.
    pub(crate) directory: String,
    /// The workspace.
    pub(crate) workspace: PathBuf,
    /// True when a person said yes to the command, or is asked by the agent.
    pub(crate) approved: bool,
    /// The settings that the hook was given.
    pub(crate) config: Option<PathBuf>,
    pub(crate) policies: Vec<PathBuf>,
    pub(crate) mode: Option<String>,
    /// Seconds since 1970.
    pub(crate) until: u64,
}

impl ExecTicket {
    /// A ticket that is good from now on.
    pub(crate) fn new(global: &Global, workspace: &Path) -> ExecTicket {
        ExecTicket {
            client: String::new(),
            conversation: String::new(),
            call: String::new(),
            text: String::new(),
            directory: String::new(),
            workspace: workspace.to_owned(),
            approved: false,
            config: global.config.as_deref().map(whole),
            policies: global.policy.iter().map(|it| whole(it)).collect(),
            mode: global.mode.map(|it| it.as_str().to_owned()),
            until: now() + LIFETIME.as_secs(),
        }
    }

    /// Keeps it, and gives it a name that nobody can guess.
    pub(crate) fn keep(&self, agents: &Path) -> io::Result<String> {
        let directory = directory(agents);
        private_file::make_directory(&directory)?;
        let name = random_name()?;
        let text = serde_json::to_vec(self).map_err(io::Error::other)?;
        private_file::write(&directory.join(&name), text, Durability::Crash)?;
        Ok(name)
    }

    /// Takes a ticket: whoever gets it is the only one. The error says why it is no good.
    pub(crate) fn take(agents: &Path, name: &str) -> Result<ExecTicket, String> {
        let plain = name.len() == 32 && name.bytes().all(|it| it.is_ascii_hexdigit());
        let unknown =
            || "there is no such ticket, or it was used; have the agent ask again".to_owned();
        let file = directory(agents).join(name);
        let text = match fs::read(&file) {
            Ok(text) if plain => text,
            _ => return Err(unknown()),
        };
        // Of two who have read it, one can remove it.
        remove(&file).map_err(|_| unknown())?;
        let ticket: ExecTicket =
            serde_json::from_slice(&text).map_err(|err| format!("the ticket is damaged: {err}"))?;
        if now() <= ticket.until {
            Ok(ticket)
        } else {
            Err("the ticket is older than ten minutes; have the agent ask again".to_owned())
        }
    }

    /// The settings of the hook that made it.
    pub(crate) fn global(&self, given: &Global) -> Global {
        Global {
            workspace: Some(self.workspace.clone()),
            config: self.config.clone(),
            policy: self.policies.clone(),
            mode: self.mode.as_deref().and_then(|it| it.parse::<Mode>().ok()),
            dry_run: false,
            ..given.clone()
        }
    }

    /// Removes tickets that nobody used in time.
    pub(crate) fn sweep(agents: &Path) {
        let Ok(entries) = fs::read_dir(directory(agents)) else { return };
        for entry in entries.flatten() {
            let made = entry.metadata().and_then(|it| it.modified());
            let old = made.ok().and_then(|it| it.elapsed().ok()).is_some_and(|it| it > LIFETIME);
            if old {
                // Somebody else may have removed it.
                let _ = remove(&entry.path());
            }
        }
    }
}

fn directory(agents: &Path) -> PathBuf {
    agents.join("tickets")
}

fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// 128 random bits, in hexadecimal digits.
pub(crate) fn random_name() -> io::Result<String> {
    Ok(random::random_name::<16>()?)
}

#[expect(clippy::disallowed_methods, reason = "our own state, not the workspace")]
pub(crate) fn remove(file: &Path) -> io::Result<()> {
    fs::remove_file(file)
}
