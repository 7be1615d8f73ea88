//! Watching first: an agent whose calls are judged and recorded, and not held. Its person says so at their terminal,
//! and a file in their home directory keeps it. Nothing else turns it on: no variable names that place, what lies in
//! the workspace does not count, and where an administrator, a fleet or a project holds agents, they are held.

use std::{
    env, fs, io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
};

use eclusa::{Durability, workspace::private_file};
use eclusa_app::person;
use eclusa_term::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

use super::{InstallScope, pause, settings_files::files};
use crate::{
    AgentSpec, EntryState,
    commands::{
        failure::Failure,
        global::Global,
        paths::{self, Paths},
        screen::sanitize,
        terminal::Terminal,
        tickets::remove,
    },
};

/// Agents that go on by their own rules where a hook says nothing, as their manuals say and their programs do.
const GO_ON_WITHOUT_ANSWER: [&str; 3] = ["claude-code", "codex", "gemini"];

/// What is kept of it.
#[derive(Debug, Serialize, Deserialize)]
struct Watching {
    /// Who said so.
    by: String,
    /// When, in milliseconds since 1970.
    since: u64,
}

/// Where it is kept: below the home directory, whatever other variables say.
fn file(agent: &AgentSpec) -> Option<PathBuf> {
    let home = env::var_os("HOME").map(PathBuf::from).filter(|it| it.is_absolute())?;
    let directory = home.join(paths::HOME_STATE).join(paths::AGENTS).join("watched");
    Some(directory.join(format!("{}.json", agent.name)))
}

/// Whether an agent is watched and not held in the session that starts here. Whatever is unclear is a no: it is held.
pub(in crate::commands) fn is_watched(global: &Global, agent: &AgentSpec, root: &Path) -> bool {
    said(agent).is_some_and(|(file, _)| obstacle(global, agent, root, &file).is_none())
}

/// What is said of an agent that is only watched.
pub(super) fn line(global: &Global, agent: &AgentSpec) -> Option<String> {
    let (file, watching) = said(agent)?;
    let root = env::current_dir().ok()?;
    let (name, since) = (agent.name, Timestamp(watching.since));
    let by = sanitize(&watching.by);
    Some(match obstacle(global, agent, &root, &file) {
        None => format!(
            "its calls are judged and recorded, and nothing stops them (by {by}, {since}); `eclusa \
            install {name}` enforces the rules"
        ),
        Some(why) => format!("{by} wants it watched, but the rules are enforced: {why}"),
    })
}

/// What its person has said, if the file is theirs alone.
fn said(agent: &AgentSpec) -> Option<(PathBuf, Watching)> {
    let file = file(agent)?;
    let user = rustix::process::geteuid().as_raw();
    let ours = |it: &Path| {
        let found = it.symlink_metadata();
        found.is_ok_and(|it| it.uid() == user && it.mode() & 0o022 == 0 && !it.is_symlink())
    };
    let kept = ours(&file) && file.parent().is_some_and(ours);
    let text = fs::read(&file).ok().filter(|_| kept)?;
    Some((file, serde_json::from_slice(&text).ok()?))
}

/// Why an agent is held here although its person wants to watch it only.
fn obstacle(global: &Global, agent: &AgentSpec, root: &Path, file: &Path) -> Option<&'static str> {
    let Ok(paths) = Paths::find_from(&Global { anywhere: true, ..global.clone() }, root) else {
        return Some("the workspace is not found");
    };
    let place = paths::whole(file);
    if [&paths.workspace, &paths::whole(root)].iter().any(|it| place.starts_with(it)) {
        return Some("what says so lies in the workspace");
    }
    if !GO_ON_WITHOUT_ANSWER.contains(&agent.name) {
        return Some("it needs an answer to each call");
    }
    if !is_absent(Paths::administrator()) {
        return Some("this machine has rules of an administrator");
    }
    if !is_absent(&paths.fleet()) {
        return Some("this machine is in a fleet");
    }
    if pause::refusal(&paths, agent.name).is_some() {
        return Some("it is paused");
    }
    // The session may have been started elsewhere than where its hook runs.
    let there = Global { workspace: Some(paths.workspace), ..global.clone() };
    others_hold(&there, agent)
}

/// What cannot be looked at may be there.
fn is_absent(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|it| {
        matches!(it.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
    })
}

/// Whether settings that are not the person's alone hold the agent.
fn others_hold(global: &Global, agent: &AgentSpec) -> Option<&'static str> {
    for scope in [InstallScope::Managed, InstallScope::Project] {
        let files = match files(global, agent, scope) {
            Ok(files) => files,
            // Outside a project there are no files of one.
            Err(failure) if failure.exit == crate::commands::failure::Exit::Usage => continue,
            Err(_) => return Some("settings of its cannot be read"),
        };
        let holds = files.iter().any(|file| {
            let mut gates = file.entries.iter().filter(|it| it.is_gate);
            gates.any(|it| {
                it.state(file.text()).unwrap_or(EntryState::Present) != EntryState::Absent
            })
        });
        if holds {
            return Some(match scope {
                InstallScope::Managed => "settings for the whole machine enforce them",
                _ => "this project's settings enforce them",
            });
        }
    }
    None
}

/// Asks the person at their terminal, before anything is written.
pub(super) fn ask(global: &Global, agent: &AgentSpec) -> Result<(), Failure> {
    let file = file(agent).ok_or_else(|| Failure::usage("HOME is not set"))?;
    if let Some(why) = obstacle(global, agent, &env::current_dir()?, &file) {
        return Err(Failure::refused(format!("{agent} cannot be watched only: {why}")));
    }
    if global.dry_run {
        return Ok(());
    }
    let question = format!("Judge and record every call of {agent}, and stop nothing? [y/n] ");
    match Terminal::new(false, None).confirm(&question) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Failure::refused("nothing was written")),
        Err(why) => Err(Failure::refused(format!(
            "only a person at a terminal can have an agent watched: {why}"
        ))),
    }
}

/// Keeps what the person said.
pub(super) fn begin(agent: &AgentSpec, now: u64) -> Result<(), Failure> {
    let file = file(agent).ok_or_else(|| Failure::usage("HOME is not set"))?;
    if let Some(place) = file.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(place)?;
    }
    let watching = Watching { by: person::name(), since: now };
    let text = serde_json::to_vec(&watching).map_err(Failure::failed)?;
    Ok(private_file::write(&file, text, Durability::PowerLoss)?)
}

/// Holds the agent from now on.
pub(super) fn end(agent: &AgentSpec) -> Result<(), Failure> {
    match file(agent).map(|it| remove(&it)) {
        Some(Err(err)) if err.kind() != io::ErrorKind::NotFound => Err(err.into()),
        _ => Ok(()),
    }
}
