//! What hooks keep between the event before a call and the one after it: another process gets it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use eclusa::{Durability, Hash, workspace::private_file};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::pre_images::PreImages;
use crate::HookEvent;
use crate::commands::{paths::Paths, tickets::remove};

/// The file that says that a session is closed.
const CLOSED: &str = "closed";
/// The file in which an older program kept what brought text from outside into a session.
const TAINT: &str = "taint";

/// How the files of questions begin.
const PROMPT: &str = "prompt-";

/// A call that was allowed, and has not come back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AllowedCall {
    /// Its number in the log, where it has one already.
    pub(super) number: Option<u64>,
    /// The tool, as the agent names it.
    pub(super) tool: String,
    /// Digest of the input that was allowed.
    pub(super) input: String,
    /// True when it runs in our sandbox, which keeps a record of its own.
    pub(super) ticket: bool,
}

/// A question that the agent asks its person about a command that has run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OpenPrompt {
    /// The ticket that a yes runs.
    pub(super) ticket: String,
    /// The call that ran.
    pub(super) call: u64,
    /// What the second hook asks, where that asks.
    pub(super) text: String,
    /// What its call has in common with those that a no to it would end as well.
    #[serde(default)]
    pub(super) asked_with: Option<String>,
    /// When the hook gave the agent the question, in milliseconds since 1970.
    #[serde(default)]
    pub(super) kept_at: u64,
}

impl OpenPrompt {
    /// Whether it may still be answered with yes when this event comes: what would come of a no has not come yet, or the
    /// event was sent before there was a question.
    pub(super) fn stands_beside(&self, event: &HookEvent) -> bool {
        let same = self.asked_with.is_some() && self.asked_with == event.asked_with;
        same || event.sent_at.is_some_and(|it| it < self.kept_at)
    }
}

/// The open calls of a session, one file each.
#[derive(Debug, Clone)]
pub(super) struct AllowedCalls {
    directory: PathBuf,
    /// What the call of the event is filed under.
    key: CallKey,
    /// Digest of the event's input.
    input: String,
    /// How the files of the questions begin that whoever makes the call asks.
    prompts: String,
}

/// How one call of a session is told from the others.
#[derive(Debug, Clone)]
enum CallKey {
    /// The agent gives it an id.
    Id(String),
    /// It does not: by tool and input, because calls may run beside each other.
    Tool(String),
}

impl CallKey {
    /// The file of a call that was allowed with this input.
    fn file(&self, input: &str) -> String {
        match self {
            CallKey::Id(id) => id.clone(),
            CallKey::Tool(tool) => format!("{tool}-{input}"),
        }
    }
}

impl AllowedCalls {
    /// The place of this event's call.
    pub(super) fn new(paths: &Paths, event: &HookEvent) -> AllowedCalls {
        let hash = |text: &str| Hash::sha256(text.as_bytes()).to_string();
        let session = hash(&format!("{}\0{}", event.agent.name, event.session));
        let key = match &event.call {
            Some(id) => CallKey::Id(hash(id)),
            None => CallKey::Tool(hash(&event.tool)),
        };
        let directory = paths.agents().join("sessions").join(session);
        let prompts = format!("{PROMPT}{}", hash(event.subagent.as_deref().unwrap_or_default()));
        AllowedCalls { directory, key, input: digest(&event.input), prompts }
    }

    /// Keeps a question that the agent asks now, or when those before it are answered.
    pub(super) fn keep_prompt(&self, prompt: &OpenPrompt) -> io::Result<()> {
        let text = serde_json::to_vec(prompt).map_err(io::Error::other)?;
        self.write(&self.prompt_name(prompt), &text)
    }

    /// The questions of which nobody knows yet what became of them.
    pub(super) fn prompts(&self) -> Vec<OpenPrompt> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let ours = entries.filter(|it| {
            it.file_name().to_str().is_some_and(|name| {
                name.starts_with(&self.prompts) && !private_file::is_part(Path::new(name))
            })
        });
        ours.filter_map(|it| serde_json::from_slice(&fs::read(it.path()).ok()?).ok()).collect()
    }

    /// One of them is over.
    pub(super) fn take_prompt(&self, prompt: &OpenPrompt) {
        // What cannot be removed names a ticket that is gone.
        let _ = remove(&self.directory.join(self.prompt_name(prompt)));
    }

    fn prompt_name(&self, prompt: &OpenPrompt) -> String {
        format!("{}-{}", self.prompts, prompt.ticket)
    }

    /// Keeps a call that was allowed.
    pub(super) fn keep(&self, call: &AllowedCall) -> io::Result<()> {
        let text = serde_json::to_vec(call).map_err(io::Error::other)?;
        let (came, runs) = (self.key.file(&self.input), self.key.file(&call.input));
        if came != runs {
            // One that came with this input and never came back must not be taken for it.
            let _ = remove(&self.directory.join(came));
        }
        self.write(&runs, &text)
    }

    /// True when a call of this tool was allowed with exactly this event's input.
    pub(super) fn is_allowed(&self, tool: &str) -> bool {
        let text = fs::read(self.directory.join(self.key.file(&self.input))).ok();
        let call = text.and_then(|it| serde_json::from_slice::<AllowedCall>(&it).ok());
        call.is_some_and(|it| it.tool == tool && it.input == self.input)
    }

    /// The call of this event, which is closed with it. Where the agent gives calls no id and none
    /// was allowed with this input, it is another of the same tool: whoever changed the input is
    /// found out.
    pub(super) fn take(&self) -> Option<AllowedCall> {
        let exact = self.take_file(&self.directory.join(self.key.file(&self.input)));
        let CallKey::Tool(tool) = &self.key else { return exact };
        exact.or_else(|| {
            let mut entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
            entries.find_map(|it| {
                let ours = it.file_name().to_str().is_some_and(|name| name.starts_with(tool));
                ours.then(|| self.take_file(&it.path())).flatten()
            })
        })
    }

    fn take_file(&self, file: &Path) -> Option<AllowedCall> {
        let call = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
        remove(file).ok()?;
        Some(call)
    }

    /// Every call of the session that never came back. What else is known of the session stays: it
    /// may be taken up again.
    pub(super) fn take_all(&self) -> Vec<AllowedCall> {
        let mut all = Vec::new();
        for entry in fs::read_dir(&self.directory).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name == CLOSED || name == TAINT || private_file::is_part(Path::new(&name)) {
                continue;
            }
            let call = fs::read(entry.path()).ok();
            if let Some(call) = call.and_then(|it| serde_json::from_slice::<AllowedCall>(&it).ok())
            {
                all.push(call);
            }
            // What cannot be removed is overwritten by the next call of this name.
            let _ = remove(&entry.path());
        }
        all
    }

    /// What was there before the edits of this event's call; nothing for a call without edits. The
    /// error says why nobody can tell: that there is nothing to undo is another matter.
    pub(super) fn pre_images(&self) -> io::Result<Vec<PreImages>> {
        let text = match fs::read(self.directory.join(self.pre_images_name())) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            text => text?,
        };
        serde_json::from_slice(&text).map_err(io::Error::other)
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
        format!("{}.before", self.key.file(&self.input))
    }

    /// What brought text from outside into the session, as an older program kept it: it may have run
    /// before this one, in the same session.
    pub(super) fn old_taint(&self) -> Option<String> {
        match fs::read_to_string(self.directory.join(TAINT)) {
            Ok(how) => Some(how),
            Err(err) if err.kind() == io::ErrorKind::NotFound => None,
            // What cannot be read may say that something did.
            Err(_) => Some("came in before, in a way that cannot be read any more".to_owned()),
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
        private_file::make_directory(&self.directory)?;
        private_file::write(&self.directory.join(name), text, Durability::Crash)
    }
}

/// A digest of a call's input.
pub(super) fn digest(input: &Value) -> String {
    Hash::sha256(input.to_string().as_bytes()).to_string()
}
