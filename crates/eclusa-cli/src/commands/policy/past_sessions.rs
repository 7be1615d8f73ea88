//! `eclusa policy replay --from AGENT`: what the rules make of calls that another agent made before anything was
//! installed, as its own files of past sessions have them. Nothing is run, asked or recorded.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use eclusa::{Decision, Gate, ToolCall, audit::calls::subject};
use eclusa_connect::{AgentSpec, InternalTool, MappedCall, PastCall};
use serde_json::{Value, json};

use crate::{
    context::AppContext,
    failure::{Exit, Failure},
    global::Global,
    read_text::read_text_of,
    screen::{Screen, Style, sanitize},
    since::Since,
};

/// Files of sessions are not read further than this.
const MAX_FILE: u64 = 256 << 20;

/// No more files than this are looked at, the newest first.
const MAX_FILES: usize = 5_000;

/// How deep below its directory an agent keeps sessions.
const MAX_DEPTH: usize = 6;

/// How many calls are shown of what would be asked or denied.
const SHOWN: usize = 10;

/// A call that would not just run.
struct StoppedCall {
    decision: Decision,
    tool: String,
    about: String,
    why: String,
}

/// What came of all calls.
#[derive(Default)]
struct PastVerdicts {
    sessions: usize,
    counts: BTreeMap<Decision, usize>,
    stopped: Vec<StoppedCall>,
    /// Not judged, by why.
    left: BTreeMap<&'static str, usize>,
}

pub(super) fn run(
    global: &Global,
    agent: &AgentSpec,
    since: Option<Since>,
    gate: impl Fn(&AppContext) -> Result<Gate, Failure>,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let place = agent.past_sessions(|it| std::env::var_os(it)).ok_or_else(|| {
        Failure::usage(format!("the sessions of {agent} are not read"))
            .hint("use --from claude-code or --from codex")
    })?;
    let files = files(&place, earliest(since)?);
    if files.is_empty() {
        let text = format!("there is no session of {agent} in `{}`", place.display());
        return Err(Failure::failed(text).hint("name a longer time with --since"));
    }
    let mut told = PastVerdicts::default();
    let mut gates: BTreeMap<String, Option<Gate>> = BTreeMap::new();
    for file in &files {
        let Ok(text) = read_text_of(file, MAX_FILE) else {
            *told.left.entry("files that cannot be read").or_default() += 1;
            continue;
        };
        let calls = agent.past_calls(&text);
        told.sessions += usize::from(!calls.is_empty());
        for call in calls {
            let gate = gates.entry(call.directory.clone()).or_insert_with(|| {
                let workspace = Some(PathBuf::from(&call.directory)).filter(|it| it.is_dir())?;
                let there = Global { workspace: Some(workspace), ..global.clone() };
                gate(&AppContext::open(&there).ok()?).ok()
            });
            match gate {
                Some(gate) => told.judge(gate, &call),
                None => {
                    *told
                        .left
                        .entry("calls of directories without rules to judge by")
                        .or_default() += 1
                }
            }
        }
    }
    match global.json {
        true => told.as_json(agent, screen)?,
        false => told.print(agent, screen)?,
    }
    Ok(Exit::Done)
}

/// The moment before which no file is looked at.
fn earliest(since: Option<Since>) -> Result<SystemTime, Failure> {
    let now = SystemTime::now();
    match since {
        None => Ok(SystemTime::UNIX_EPOCH),
        Some(Since::Ago(ago)) => Ok(now.checked_sub(ago).unwrap_or(SystemTime::UNIX_EPOCH)),
        Some(Since::Time(at)) => Ok(SystemTime::UNIX_EPOCH + Duration::from_millis(at.0)),
        Some(Since::Call(_)) => Err(Failure::usage("another agent's calls have no number here")
            .hint("write `--since 30d` or a date")),
    }
}

/// Its files of sessions that were written since, the newest first.
fn files(place: &Path, earliest: SystemTime) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![(place.to_owned(), 0)];
    while let Some((directory, depth)) = open.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let (path, kind) = (entry.path(), entry.file_type());
            match kind {
                Ok(kind) if kind.is_dir() && depth < MAX_DEPTH => open.push((path, depth + 1)),
                Ok(kind) if kind.is_file() && path.extension().is_some_and(|it| it == "jsonl") => {
                    let written = entry.metadata().and_then(|it| it.modified());
                    found.extend(written.ok().filter(|it| *it >= earliest).map(|it| (it, path)));
                }
                _ => {}
            }
        }
    }
    found.sort_by(|one, other| other.cmp(one));
    found.into_iter().take(MAX_FILES).map(|it| it.1).collect()
}

impl PastVerdicts {
    fn judge(&mut self, gate: &Gate, call: &PastCall) {
        let (decision, why) = match &call.mapped {
            MappedCall::Eclusa(calls) => {
                let each = calls.iter().map(|it| checked(gate, it.tool, &it.args));
                each.max_by_key(|it| it.0).unwrap_or((Decision::Allow, String::new()))
            }
            MappedCall::Server { .. } | MappedCall::OwnServer { .. } => {
                *self.left.entry("calls of servers").or_default() += 1;
                return;
            }
            MappedCall::Internal(InternalTool::Scheduled) => {
                (Decision::Ask, "it is done later".to_owned())
            }
            MappedCall::Internal(_) => (Decision::Allow, String::new()),
            MappedCall::Unknown { .. } => (Decision::Ask, "this tool is not known here".to_owned()),
            MappedCall::Malformed(why) => (Decision::Deny, why.clone()),
        };
        *self.counts.entry(decision).or_default() += 1;
        if decision >= Decision::Ask {
            let (tool, about) = (call.tool.clone(), about(&call.mapped));
            self.stopped.push(StoppedCall { decision, tool, about, why });
        }
    }

    fn print(&self, agent: &AgentSpec, screen: &mut Screen) -> Result<(), Failure> {
        let count = |it: Decision| self.counts.get(&it).copied().unwrap_or_default();
        let all: usize = self.counts.values().sum();
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        screen.line(&format!(
            "{all} call{} of {agent} in {} session{}: {} would have run, {} in the sandbox with their changes shown, {} would \
             have asked, {} would have been denied",
            plural(all),
            self.sessions,
            plural(self.sessions),
            count(Decision::Allow),
            count(Decision::Stage),
            count(Decision::Ask),
            count(Decision::Deny),
        ))?;
        for (decision, style) in [(Decision::Deny, Style::Bad), (Decision::Ask, Style::Warn)] {
            let stopped: Vec<&StoppedCall> =
                self.stopped.iter().filter(|it| it.decision == decision).collect();
            for call in stopped.iter().take(SHOWN) {
                let head =
                    screen.paint.text(style, &format!("{:5}", decision.as_str())).into_owned();
                let StoppedCall { tool, about, why, .. } = call;
                screen.line(&format!("{head}  {}", sanitize(&format!("{tool} {about}"))))?;
                screen.hanging("       ", &sanitize(why))?;
            }
            if stopped.len() > SHOWN {
                screen.line(&format!("       and {} more", stopped.len() - SHOWN))?;
            }
        }
        for (why, count) in &self.left {
            screen.styled(Style::Faint, &format!("{count} not judged: {why}"))?;
        }
        Ok(())
    }

    fn as_json(&self, agent: &AgentSpec, screen: &mut Screen) -> Result<(), Failure> {
        for StoppedCall { decision, tool, about, why } in &self.stopped {
            let decision = decision.as_str();
            screen
                .json(&json!({"decision": decision, "tool": tool, "about": about, "why": why}))?;
        }
        let counts: BTreeMap<&str, usize> =
            self.counts.iter().map(|(it, count)| (it.as_str(), *count)).collect();
        Ok(screen.json(&json!({
            "agent": agent.name, "sessions": self.sessions, "calls": counts, "not_judged": self.left,
        }))?)
    }
}

/// What the rules say of a call, and the reason that decided.
fn checked(gate: &Gate, tool: &str, args: &Value) -> (Decision, String) {
    match gate.check(ToolCall::new("past", tool, args.clone())) {
        Ok((_, verdict)) => {
            let decided = verdict.because.iter().find(|it| it.decision == verdict.decision);
            (verdict.decision, decided.map(ToString::to_string).unwrap_or_default())
        }
        Err(stop) => (Decision::Deny, stop.message().into_owned()),
    }
}

fn about(mapped: &MappedCall) -> String {
    let text = match mapped {
        MappedCall::Eclusa(calls) => calls.first().map(|it| subject(&it.args)).unwrap_or_default(),
        MappedCall::Server { args, .. } | MappedCall::Unknown { args, .. } => subject(args),
        MappedCall::Internal(_) | MappedCall::OwnServer { .. } | MappedCall::Malformed(_) => {
            String::new()
        }
    };
    crate::commands::call_record::short(&text)
}
