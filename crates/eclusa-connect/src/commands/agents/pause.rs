//! `eclusa pause`: for a while, nothing that an agent asks its hook for runs. A person says so at their terminal, the
//! call is on record like any other, and the hooks and `status` read one file.

use std::{
    fs::{self, DirBuilder},
    io,
    io::ErrorKind::{NotADirectory, NotFound},
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use eclusa::{
    Answer, Durability, FnApprover, FnTool, Origin, Output, Registration, Registry, ToolCall,
    ToolError,
    audit::{Clock as _, SystemClock},
    workspace::private_file,
};
use eclusa_app::{context::AppContext, gates::GateParts, person};
use eclusa_term::timestamp::Timestamp;
use eclusa_tools::running_jobs;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    AgentSpec,
    commands::{
        failure::{Exit, Failure},
        global::Global,
        paths::Paths,
        screen::{Screen, sanitize},
        surface::Surface,
        terminal::Terminal,
    },
};

/// The longest pause.
const MAX_TIME: Duration = Duration::from_secs(7 * 86_400);

/// What is kept of a pause.
#[derive(Debug, Serialize, Deserialize)]
struct Pause {
    /// When it is over, in milliseconds since 1970.
    until: u64,
    /// Who said so.
    by: String,
}

/// What the call of this command says.
#[derive(Deserialize)]
struct PauseArgs {
    /// The agent.
    agent: String,
    /// When it is over, in milliseconds since 1970; 0: it is over now.
    until: u64,
}

fn file(paths: &Paths, agent: &str) -> PathBuf {
    paths.agents().join("paused").join(format!("{agent}.json"))
}

/// Why nothing of this agent runs now, if it is paused. What cannot be read counts as a pause.
pub(in crate::commands) fn refusal(paths: &Paths, agent: &str) -> Option<String> {
    let file = file(paths, agent);
    let text = match fs::read(&file) {
        Ok(text) => text,
        Err(err) if matches!(err.kind(), NotFound | NotADirectory) => return None,
        Err(err) => return Some(unreadable(&file, &err)),
    };
    match serde_json::from_slice::<Pause>(&text) {
        Ok(it) if it.until <= SystemClock.unix_ms() => None,
        Ok(it) => Some(format!(
            "{} has paused {agent} until {}; only they end that sooner, with `eclusa pause {agent} --end` at a terminal",
            sanitize(&it.by),
            Timestamp(it.until)
        )),
        Err(err) => Some(unreadable(&file, &err)),
    }
}

fn unreadable(file: &Path, why: &dyn std::fmt::Display) -> String {
    let file = file.display();
    format!("whether the agent is paused cannot be read from `{file}` ({why})")
}

/// The agents that are paused now and the jobs that run, a line for each.
pub(super) fn lines(paths: &Paths) -> Vec<String> {
    let paused = |it: &&AgentSpec| Some(format!("{}: {}", it.name, refusal(paths, it.name)?));
    crate::AGENTS.iter().filter_map(paused).chain(running_jobs(&paths.undo())).collect()
}

/// Pauses an agent, or ends its pause.
pub(super) async fn run(
    global: &Global,
    agent: &'static AgentSpec,
    time: Option<Duration>,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    if !agent.has_hooks() {
        let why = format!("{} has no hooks that could hold it", agent.name);
        return Err(Failure::failed(why).hint("`eclusa status` shows each agent"));
    }
    if time.is_some_and(|it| it.is_zero() || it > MAX_TIME) {
        return Err(Failure::usage("a pause takes 1 s to 7 days"));
    }
    let until = time.map_or(0, |time| {
        let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        SystemClock.unix_ms().saturating_add(ms)
    });
    let question = match time {
        Some(_) => {
            format!("Refuse every call of {} until {}? [y/n] ", agent.name, Timestamp(until))
        }
        None => format!("Let {} go on? [y/n] ", agent.name),
    };
    // A script, or the agent itself, has no person in front of it.
    match Terminal::new(false, None).confirm(&question) {
        Ok(true) => {}
        Ok(false) => return Err(Failure::failed("nothing was changed")),
        Err(why) => {
            let why = format!("only a person at a terminal pauses an agent: {why}");
            return Err(Failure::refused(why));
        }
    }
    let ctx = AppContext::open(global)?;
    let registry = Registry::default();
    registry.register(Registration::new(tool(&ctx.paths))).map_err(Failure::failed)?;
    let store = ctx.store()?;
    // They have just said so.
    let person = FnApprover::new("terminal", |_| Answer::Once);
    let parts = GateParts {
        registry: Some(Arc::new(registry)),
        people: vec![Arc::new(person)],
        ..GateParts::new(&store)
    };
    let gate = ctx.gate(Surface::Run, parts)?;
    let args = json!({"agent": agent.name, "until": until});
    let call = ToolCall::new(person::call_id(), "pause", args).from(Origin::Person);
    let reply = gate.pass(call).await;
    if reply.is_error() {
        return Err(Failure::failed(reply.content()));
    }
    screen.line(&sanitize(reply.text()))?;
    Ok(Exit::Done)
}

/// The tool of this command: no model is offered it.
fn tool(paths: &Paths) -> FnTool {
    let paths = paths.clone();
    let schema = json!({
        "type": "object",
        "properties": {"agent": {"type": "string"}, "until": {"type": "integer", "minimum": 0}},
        "required": ["agent", "until"],
    });
    FnTool::with_schema("pause", "Pauses an agent.", schema, move |args| {
        let done = PauseArgs::deserialize(args).map_err(io::Error::other);
        let done = done.and_then(|it| change(&paths, &it));
        async move { done.map_err(|err| ToolError::new(err.to_string())) }
    })
}

fn change(paths: &Paths, args: &PauseArgs) -> io::Result<Output> {
    let file = file(paths, &args.agent);
    if let Some(place) = file.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(place)?;
    }
    let pause = Pause { until: args.until, by: person::name() };
    private_file::write(&file, serde_json::to_vec(&pause)?, Durability::PowerLoss)?;
    Ok(Output::text(match args.until {
        0 => format!("{} goes on", args.agent),
        until => format!("{} is paused until {}", args.agent, Timestamp(until)),
    }))
}
