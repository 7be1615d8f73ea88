//! What hooks keep between the event before a call and the one after it: another process gets it.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::PathBuf,
};

use eclusa::Hash;
use eclusa_agents::HookEvent;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::pre_images::PreImages;
use crate::{paths::Paths, tickets::remove};

/// The file that says that a session is closed.
const CLOSED: &str = "closed";

/// A call that was allowed, and has not come back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OpenCall {
    /// Its number in the log, where it has one already.
    pub(super) number: Option<u64>,
    /// The tool, as the agent names it.
    pub(super) tool: String,
    /// Digest of the input that was allowed.
    pub(super) input: String,
    /// True when it runs in our sandbox, which keeps a record of its own.
    pub(super) ticket: bool,
}

/// The open calls of a session, one file each.
#[derive(Debug, Clone)]
pub(super) struct OpenCalls {
    directory: PathBuf,
    /// What the call of the event is filed under.
    key: String,
}

impl OpenCalls {
    /// The place of this event's call. Agents that give calls no id have their calls told apart
    /// by tool alone: they run them one after the other.
    pub(super) fn new(paths: &Paths, event: &HookEvent) -> OpenCalls {
        let session = format!("{}\0{}", event.agent.name(), event.session);
        let session = Hash::sha256(session.as_bytes()).to_string();
        let call = event.call.as_ref().unwrap_or(&event.tool);
        let key = Hash::sha256(call.as_bytes()).to_string();
        OpenCalls { directory: paths.agents().join("sessions").join(session), key }
    }

    /// Keeps a call that was allowed.
    pub(super) fn keep(&self, call: &OpenCall) -> io::Result<()> {
        let text = serde_json::to_vec(call).map_err(io::Error::other)?;
        self.write(&self.key, &text)
    }

    /// The call of this event, which is closed with it.
    pub(super) fn take(&self) -> Option<OpenCall> {
        let file = self.directory.join(&self.key);
        let call = serde_json::from_slice(&fs::read(&file).ok()?).ok()?;
        remove(&file).ok()?;
        Some(call)
    }

    /// Every call of the session that never came back; the session is forgotten.
    pub(super) fn take_all(&self) -> Vec<OpenCall> {
        let mut all = Vec::new();
        for entry in fs::read_dir(&self.directory).into_iter().flatten().flatten() {
            let call = fs::read(entry.path()).ok();
            if let Some(call) = call.and_then(|it| serde_json::from_slice::<OpenCall>(&it).ok()) {
                all.push(call);
            }
            // What cannot be removed is overwritten by the next session of this name.
            let _ = remove(&entry.path());
        }
        all
    }

    /// What was there before the edits of this event's call; nothing for a call without edits.
    pub(super) fn pre_images(&self) -> Vec<PreImages> {
        let text = fs::read(self.directory.join(self.pre_images_name())).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    pub(super) fn keep_pre_images(&self, all: &[PreImages]) -> io::Result<()> {
        let text = serde_json::to_vec(all).map_err(io::Error::other)?;
        self.write(&self.pre_images_name(), &text)
    }

    /// Those of a call that never came back must not be taken for those of the next.
    pub(super) fn forget_pre_images(&self) {
        // Where there is no such file there is nothing to forget.
        let _ = remove(&self.directory.join(self.pre_images_name()));
    }

    fn pre_images_name(&self) -> String {
        format!("{}.before", self.key)
    }

    /// What brought text from outside into the session.
    pub(super) fn taint(&self) -> Option<String> {
        fs::read_to_string(self.directory.join("taint")).ok()
    }

    pub(super) fn set_taint(&self, how: &str) -> io::Result<()> {
        match self.directory.join("taint").exists() {
            true => Ok(()),
            false => self.write("taint", how.as_bytes()),
        }
    }

    /// Closes the session: no call of it is allowed any more.
    pub(super) fn close(&self) -> io::Result<()> {
        self.write(CLOSED, b"")
    }

    pub(super) fn is_closed(&self) -> bool {
        // What cannot be looked at may be there.
        self.directory.join(CLOSED).try_exists().unwrap_or(true)
    }

    fn write(&self, name: &str, text: &[u8]) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
        let mut options = fs::OpenOptions::new();
        let options = options.write(true).create(true).truncate(true).mode(0o600);
        options.open(self.directory.join(name))?.write_all(text)
    }
}

/// A digest of a call's input.
pub(super) fn digest(input: &Value) -> String {
    Hash::sha256(input.to_string().as_bytes()).to_string()
}
