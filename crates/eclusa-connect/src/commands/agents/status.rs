//! `eclusa status`: what is held in each agent, by what, and what is still open. Nothing is called proven that
//! was not tried here, with this program of the agent and these settings.

use std::path::PathBuf;

use serde_json::json;

use super::{
    InstallScope, find_agent, pause,
    prove::{self, TrialProof},
    redirected::redirected,
    settings_files::{SettingsFile, files, place},
    watch,
};
use crate::commands::{
    failure::{Exit, Failure},
    fleet,
    global::Global,
    paths::Paths,
    read_text::read_text,
    screen::{Screen, sanitize},
};
use crate::{AGENTS, AgentSpec, EntryState, ListedServer, ServerPosition, SettingsEntry};

/// How strongly an agent is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum HookLevel {
    None,
    /// It tells of its calls afterwards.
    Watched,
    /// It asks before its calls; its person can switch that off.
    Hooked,
    /// Only an administrator can switch it off.
    Managed,
}

impl HookLevel {
    fn name(self) -> &'static str {
        match self {
            HookLevel::None => "none",
            HookLevel::Watched => "watched",
            HookLevel::Hooked => "hooked",
            HookLevel::Managed => "managed",
        }
    }
}

/// What is known of an agent.
struct AgentStatus {
    agent: &'static AgentSpec,
    level: HookLevel,
    /// The files whose hooks hold it.
    by: Vec<PathBuf>,
    /// Whether our tools are connected.
    server: bool,
    /// Its other servers.
    others: Vec<ListedServer>,
    /// What is wrong with its settings.
    problems: Vec<String>,
    /// Whether it has settings here at all.
    seen: bool,
    /// What was tried here, and is as it was then.
    proof: Option<TrialProof>,
    /// Why a trial has proven nothing, or why it would have to.
    unproven: Option<String>,
    /// Its hooks are there, and it runs none of them: its person has not trusted them yet.
    untrusted: bool,
    /// Its person wants it watched only.
    watched: Option<String>,
}

/// What is said of hooks that are not trusted.
const UNTRUSTED: &str = "its hooks are not trusted yet, so none runs";

pub(super) async fn run(
    global: &Global,
    agent: Option<&str>,
    prove: bool,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let agents = match agent {
        Some(agent) => vec![find_agent(agent)?],
        None => AGENTS.to_vec(),
    };
    let mut all = agents.into_iter().map(|it| look(global, it)).collect::<Result<Vec<_>, _>>()?;
    for status in all.iter_mut().filter(|it| prove && (agent.is_some() || it.holds())) {
        if status.untrusted || status.level == HookLevel::Watched {
            continue;
        }
        match prove::prove(global, status.agent).await {
            Ok(proof) => status.proof = Some(proof),
            Err(it) => {
                (status.proof, status.unproven) = (None, Some(it.why));
                // What was seen counts for more than what stands in the settings.
                if it.ran {
                    status.level = HookLevel::None;
                }
            }
        }
    }
    for status in all.iter_mut().filter(|it| it.holds() && it.proof.is_none()) {
        status.hold_against_version().await;
    }
    match global.json {
        true => screen.json(&json!(all.iter().map(AgentStatus::json).collect::<Vec<_>>()))?,
        false => {
            for status in all.iter().filter(|it| agent.is_some() || it.seen) {
                status.print(screen)?;
            }
            if agent.is_none() && !all.iter().any(|it| it.seen) {
                screen.line("no agent is connected; `eclusa install AGENT` connects one")?;
            }
            let here = |it: Paths| [fleet::lines(&it), pause::lines(&it)].concat();
            for line in Paths::find(global).map(here).unwrap_or_default() {
                screen.line(&sanitize(&line))?;
            }
        }
    }
    let asked = |it: &&AgentStatus| agent.is_some() || it.seen;
    let held = all
        .iter()
        .filter(asked)
        .all(|it| it.holds() && it.problems.is_empty() && (!prove || it.proof.is_some()));
    Ok(if held { Exit::Done } else { Exit::Failed })
}

/// True when the settings as they are now have the agent ask before its calls.
pub(super) fn holds(global: &Global, agent: &'static AgentSpec) -> Result<bool, Failure> {
    Ok(look(global, agent)?.holds())
}

fn look(global: &Global, agent: &'static AgentSpec) -> Result<AgentStatus, Failure> {
    let mut status = AgentStatus {
        agent,
        level: HookLevel::None,
        by: Vec::new(),
        server: false,
        others: Vec::new(),
        problems: Vec::new(),
        seen: false,
        proof: prove::current_proof(global, agent),
        unproven: None,
        untrusted: false,
        watched: watch::line(global, agent),
    };
    for scope in InstallScope::ALL {
        let files = match files(global, agent, scope) {
            Ok(files) => files,
            Err(failure) if failure.exit == Exit::Failed => {
                status.problems.push(failure.message().to_owned());
                status.seen = true;
                continue;
            }
            // Outside a project there are no files of one.
            Err(_) if scope == InstallScope::Project => continue,
            Err(failure) => return Err(failure),
        };
        let (mut gates, mut told) = (Vec::new(), false);
        for file in &files {
            // A file that cannot be read is a problem that is told below.
            status.others.extend(file.other_servers(file.text()).unwrap_or_default());
            for entry in &file.entries {
                let state = status.state_of(file, entry);
                status.server |= entry.is_server() && state == Some(EntryState::Present);
                status.seen |= state.is_some_and(|it| it != EntryState::Absent)
                    && (entry.is_gate || entry.is_server());
                if entry.is_gate {
                    gates.push((file, state));
                } else {
                    told |= entry.is_hook() && state == Some(EntryState::Present);
                }
            }
        }
        let present = |it: &&(&SettingsFile, _)| it.1 == Some(EntryState::Present);
        let held = gates.iter().filter(present).count();
        let unread = |it: &SettingsFile| {
            let why = it.unread(it.text())?;
            Some(format!("`{}`: {why}", it.path.display()))
        };
        let lost = files.iter().filter(|it| !it.text().is_empty()).find_map(unread);
        if let Some(lost) = lost.filter(|_| held > 0 || told) {
            status.problems.push(lost);
            continue;
        }
        if held == 0 {
            if told {
                status.level = status.level.max(HookLevel::Watched);
            }
            continue;
        }
        if held < gates.len() {
            status.problems.push(format!("some hooks are missing ({})", scope.name()));
            continue;
        }
        let level =
            if scope == InstallScope::Managed { HookLevel::Managed } else { HookLevel::Hooked };
        let mut off = switched_off(global, agent, level == HookLevel::Managed);
        // What switches a person's hooks off switches off those of the file that it stands in.
        off.extend(files.iter().filter(|_| level == HookLevel::Managed).filter_map(|it| {
            let what = (agent.switches.switched_off_by)(it.text(), false)?;
            let path = it.path.display();
            Some(format!("`{path}` switches its hooks off (`{what}`): nothing is enforced"))
        }));
        if !off.is_empty() {
            status.problems.extend(off);
            continue;
        }
        if level < HookLevel::Managed && gates.iter().any(|(file, _)| !trusts(global, agent, file))
        {
            status.untrusted = true;
            status.unproven = Some(UNTRUSTED.to_owned());
            continue;
        }
        status.level = status.level.max(level);
        status.by.extend(gates.iter().map(|(file, _)| file.path.clone()));
        status.by.dedup();
    }
    let here = std::env::current_dir().unwrap_or_default();
    if watch::is_watched(global, agent, &here) {
        status.level = status.level.min(HookLevel::Watched);
    }
    Ok(status)
}

/// Whether the agent runs the hooks of this file, as far as its person has to say so.
fn trusts(global: &Global, agent: &AgentSpec, file: &SettingsFile) -> bool {
    let Some(trust) = &agent.trust else { return true };
    let Ok(Some(path)) = place(global, InstallScope::User, trust.file) else { return false };
    read_text(&path).is_ok_and(|text| (trust.is_trusted)(&text, &file.path))
}

/// What switches hooks off that are installed.
fn switched_off(global: &Global, agent: &AgentSpec, managed: bool) -> Vec<String> {
    let mut all = Vec::new();
    for file in agent.switches.files {
        for scope in [InstallScope::User, InstallScope::Project] {
            let Ok(Some(path)) = place(global, scope, *file) else { continue };
            let Ok(text) = read_text(&path) else { continue };
            if let Some(what) = (agent.switches.switched_off_by)(&text, managed) {
                let path = path.display();
                all.push(format!(
                    "`{path}` switches its hooks off (`{what}`): nothing is enforced"
                ));
            }
        }
    }
    if let Ok(paths) = Paths::find(global) {
        all.extend(
            redirected(agent, &paths.workspace).map(|it| format!("{it}: nothing is enforced")),
        );
    }
    all
}

impl AgentStatus {
    /// True when its calls are stopped where rules say so.
    fn holds(&self) -> bool {
        self.level >= HookLevel::Hooked
    }

    /// Says no more of a version than was seen: of a line that nobody ever tried nothing is known.
    async fn hold_against_version(&mut self) {
        let Some(version) = prove::untried_version(self.agent).await else { return };
        let name = self.agent.name;
        self.level = HookLevel::None;
        self.unproven.get_or_insert_with(|| {
            format!("{version} is a version that was never tried; `eclusa status {name} --prove` tries it")
        });
    }

    fn state_of(&mut self, file: &SettingsFile, entry: &SettingsEntry) -> Option<EntryState> {
        let path = file.path.display();
        match entry.state(file.text()) {
            Ok(EntryState::Different) if entry.is_gate => {
                let name = self.agent.name;
                let text = format!(
                    "`{path}` has a hook of another eclusa; `eclusa install {name}` renews it"
                );
                if !self.problems.contains(&text) {
                    self.problems.push(text);
                }
                Some(EntryState::Different)
            }
            Ok(state) => Some(state),
            Err(err) => {
                let text = format!("`{path}`: {err}");
                if !self.problems.contains(&text) {
                    self.problems.push(text);
                }
                None
            }
        }
    }

    fn to_confirm(&self) -> Option<&'static str> {
        // Trust that can be looked up is asked for where it is missing alone.
        let due = self.untrusted || self.holds() && self.agent.trust.is_none();
        self.agent.to_confirm(self.level == HookLevel::Managed).filter(|_| due)
    }

    fn open(&self) -> Vec<&'static str> {
        let printed = "this version does not let Eclusa redact the output of its own tools";
        let unredacted = self.proof.as_ref().is_some_and(|it| !it.redacts).then_some(printed);
        let mut open = match self.level {
            HookLevel::None | HookLevel::Watched if self.agent.has_hooks() => {
                vec!["its own tools run without eclusa"]
            }
            level => self.agent.still_open(level == HookLevel::Managed),
        };
        open.extend(unredacted);
        open
    }

    /// The names of other servers behind the gate, or in front of it.
    fn servers(&self, behind: bool) -> Vec<&str> {
        let all = self.others.iter();
        let all = all.filter(|it| (it.position == ServerPosition::Behind) == behind);
        all.map(|it| it.name.as_str()).collect()
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "agent": self.agent.name,
            "level": self.level.name(),
            "by": self.by,
            "server": self.server,
            "servers_behind": self.servers(true),
            "servers_in_front": self.servers(false),
            "tried": self.agent.is_tried(),
            "proven": self.proof.is_some() && self.holds(),
            "proven_with": self.proof.as_ref().map(|it| &it.version),
            "redacts": self.proof.as_ref().map(|it| it.redacts),
            "not_proven": self.unproven,
            "to_confirm": self.to_confirm(),
            "open": self.open(),
            "problems": self.problems,
            "questions": self.agent.questions(),
            "watched": self.watched,
        })
    }

    fn print(&self, screen: &mut Screen) -> Result<(), Failure> {
        let proof = match (&self.proof, &self.unproven) {
            (_, Some(why)) => format!("  (not proven: {why})"),
            _ if !self.holds() => String::new(),
            (Some(proof), None) => format!("  (proven here with {})", proof.version),
            (None, None) => "  (not proven here)".to_owned(),
        };
        let (name, level) = (self.agent.name, self.level.name());
        screen.line(&sanitize(&format!("{name:<12} {level}{proof}")))?;
        let mut by = self.by.iter().map(|it| sanitize(&format!("  by {}", it.display())));
        by.try_for_each(|it| screen.line(&it))?;
        if let Some(watched) = &self.watched {
            screen.line(&sanitize(&format!("  watched: {watched}")))?;
        }
        let not = if self.server { "" } else { "not " };
        screen.line(&format!("  eclusa's tools: {not}connected"))?;
        for (behind, place) in [(true, "behind the gate"), (false, "not behind the gate")] {
            let names = self.servers(behind).join(", ");
            if !names.is_empty() {
                screen.line(&sanitize(&format!("  servers {place}: {names}")))?;
            }
        }
        for server in &self.others {
            let ServerPosition::Left(why) = server.position else { continue };
            screen.line(&sanitize(&format!("    {}: {why}", server.name)))?;
        }
        let problems = self.problems.iter().map(|it| format!("  problem: {it}"));
        let confirm = self.to_confirm().into_iter().map(|it| format!("  you still need to: {it}"));
        let open = self.open().into_iter().map(|it| format!("  not covered: {it}"));
        let asks = self.agent.questions().map(|it| format!("  questions: {it}")).into_iter();
        for line in problems.chain(asks.filter(|_| self.holds())).chain(confirm).chain(open) {
            screen.line(&sanitize(&line))?;
        }
        Ok(())
    }
}
