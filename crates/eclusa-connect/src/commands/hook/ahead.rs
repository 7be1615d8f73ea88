//! Where a person sits in front of the agent, by what way it shows them a command that has run, and what
//! becomes of one that they do not take.

use std::{
    env,
    fs::{self, OpenOptions},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use eclusa::policy::left_in;
use eclusa_config::jsonc;
use rustix::{fs::OFlags, termios::tcgetwinsize};
use serde_json::Value;

use super::{allowed_calls::OpenPrompt, session::HookSession};
use crate::agents::RewrittenAsk;
use crate::commands::{
    agent_session::{AheadTerms, PromptRoom, TicketedCommand},
    read_text::read_text,
    servers::gateway_lease::parent,
    tickets::ExecTicket,
};
use crate::{EntryFile, HookEvent, HookVerdict, shell_quoted};

/// The first version of Claude Code that was seen to run what a hook put there after a yes.
const CLAUDE_SINCE: [u32; 3] = [2, 1, 101];
/// Lines of a terminal that an agent needs for itself around a question.
const AROUND: usize = 12;
/// Where there is no terminal there is an editor, which scrolls.
const IN_AN_EDITOR: PromptRoom = PromptRoom { rows: 200, columns: 200 };

/// How the agent shows a command that we put there.
pub(super) fn road(event: &HookEvent) -> RewrittenAsk {
    event.agent.hooks.as_ref().map_or(RewrittenAsk::Never, |it| it.asks_rewritten)
}

/// How long commands of this event may run ahead, as far as that is known without a look at the agent.
pub(super) fn time(session: &HookSession, event: &HookEvent) -> Duration {
    let planning = event.mode.as_deref() == Some("plan");
    match road(event) {
        RewrittenAsk::Never => Duration::ZERO,
        _ if planning || event.is_foreign => Duration::ZERO,
        _ => session.agent.ctx.config.agents.ahead,
    }
}

/// How commands of this event run ahead; `None` where nobody was seen to be asked so.
pub(super) fn terms(session: &HookSession, event: &HookEvent) -> Option<AheadTerms> {
    let time = Some(time(session, event)).filter(|it| !it.is_zero())?;
    let agent = process(event);
    let room = agent.and_then(terminal_of);
    let room = match road(event) {
        RewrittenAsk::Never => return None,
        RewrittenAsk::Comments => {
            let since = agent.and_then(version_of).is_some_and(|it| it >= CLAUDE_SINCE);
            if !since || is_answered_elsewhere(event, session.agent.root()) {
                return None;
            }
            room.unwrap_or(IN_AN_EDITOR)
        }
        // Without a terminal it refuses what is asked.
        RewrittenAsk::SecondHook => room?,
    };
    Some(AheadTerms { time, room, marked: road(event) == RewrittenAsk::SecondHook })
}

/// The process of the agent.
fn process(event: &HookEvent) -> Option<u32> {
    let told = env::var("CLAUDE_PID").ok().filter(|_| road(event) == RewrittenAsk::Comments);
    let told = told.and_then(|it| it.parse().ok());
    told.or_else(|| parent(parent(std::process::id())?)).filter(|it| *it > 1)
}

/// The terminal of a process: what a question on it has room for.
fn terminal_of(process: u32) -> Option<PromptRoom> {
    let no_control = i32::try_from(OFlags::NOCTTY.bits()).ok()?;
    let input = OpenOptions::new()
        .read(true)
        .custom_flags(no_control)
        .open(format!("/proc/{process}/fd/0"))
        .ok()?;
    let size = tcgetwinsize(input).ok()?;
    let (rows, columns) = (usize::from(size.ws_row), usize::from(size.ws_col));
    Some(PromptRoom { rows: rows.max(24) - AROUND, columns: columns.max(80) - 4 })
}

/// The version of a program that carries it in its name, or in the package that it belongs to.
fn version_of(process: u32) -> Option<[u32; 3]> {
    let exe = fs::read_link(format!("/proc/{process}/exe")).ok()?;
    if let Some(version) = exe.file_name().and_then(|it| numbers(it.to_str()?)) {
        return Some(version);
    }
    let words = fs::read(format!("/proc/{process}/cmdline")).ok()?;
    let script = words.split(|it| *it == 0).nth(1).and_then(|it| str::from_utf8(it).ok());
    let script = script.and_then(|it| Path::new(it).canonicalize().ok());
    [Some(exe), script].into_iter().flatten().find_map(|it| package_version(&it))
}

fn package_version(file: &Path) -> Option<[u32; 3]> {
    file.ancestors().skip(1).take(3).find_map(|it| {
        let package = jsonc::read(&read_text(&it.join("package.json")).ok()?).ok()?;
        let ours = package.get("name")?.as_str()?.contains("claude-code");
        ours.then(|| numbers(package.get("version")?.as_str()?)).flatten()
    })
}

fn numbers(text: &str) -> Option<[u32; 3]> {
    let mut numbers = text.split('.').map(|it| it.parse().ok());
    let version = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(version)
}

/// Whether a hook that is not ours may answer what the agent asks its person: then a prompt is no proof.
fn is_answered_elsewhere(event: &HookEvent, root: &Path) -> bool {
    let home = env::var_os("HOME").map(PathBuf::from);
    let files = event.agent.denials.as_ref().map_or(&[][..], |it| it.files);
    files.iter().any(|file| {
        let path = match *file {
            EntryFile::Home(name) => home.as_ref().map(|it| it.join(name)),
            EntryFile::Settings(variable, otherwise, name) => {
                let own = env::var_os(variable).map(PathBuf::from);
                own.or_else(|| Some(home.as_ref()?.join(otherwise))).map(|it| it.join(name))
            }
            EntryFile::Project(name) => Some(root.join(name)),
            EntryFile::Machine(path) => Some(PathBuf::from(path)),
        };
        let text = path.and_then(|it| read_text(&it).ok()).unwrap_or_default();
        text.contains("PermissionRequest")
    })
}

/// The answer about a command that has run and must be asked about.
pub(super) fn asking(
    session: &HookSession,
    event: &HookEvent,
    command: &TicketedCommand,
) -> Result<(String, Option<String>), String> {
    let line = staying(event, command.line());
    let Some(asks) = &command.asks else { return Ok((line, None)) };
    let whole = || format!("{}\n{}", asks.summary, asks.lines.join("\n"));
    let (line, ask, text) = match road(event) {
        RewrittenAsk::SecondHook => (line, None, whole()),
        RewrittenAsk::Comments | RewrittenAsk::Never => {
            let lines: String = asks.lines.iter().map(|it| format!("\n# {it}")).collect();
            (format!("{line}{lines}"), Some(asks.summary.clone()), String::new())
        }
    };
    let prompt = OpenPrompt { ticket: command.ticket.clone(), call: asks.call, text };
    session.calls.keep_prompt(&prompt).map_err(|err| format!("it cannot be kept: {err}"))?;
    Ok((line, ask))
}

/// The line of a ticket where the next command starts where the last one has left its shell: the shell that
/// runs the ticket goes where the command went, in which it had another.
fn staying(event: &HookEvent, line: String) -> String {
    let stays = event.agent.hooks.as_ref().is_some_and(|it| it.keeps_directory);
    let background = event.input.get("run_in_background").and_then(Value::as_bool) == Some(true);
    let moved = || {
        let there = left_in(event.input.get("command")?.as_str()?)?;
        let here = event.directory.as_ref().or(event.root.as_ref())?;
        Some(shell_quoted(Path::new(here).join(there).to_str()?))
    };
    match moved().filter(|_| stays && !background) {
        // Where it cannot go the command has ended all the same.
        Some(there) => format!("{line} && {{ cd -- {there} 2>/dev/null || true; }}"),
        None => line,
    }
}

/// What the second hook asks about a command that has run; `None`: there is nothing to ask.
pub(super) fn second(session: &HookSession, event: &HookEvent) -> Option<HookVerdict> {
    let prompt = session.calls.prompt().filter(|it| !it.text.is_empty())?;
    let line = event.input.get("command").and_then(Value::as_str)?;
    if !line.contains(&prompt.ticket) {
        return None;
    }
    let marked = ExecTicket::mark(&session.agent.ctx.paths.agents(), &prompt.ticket);
    Some(match marked {
        Ok(()) => HookVerdict::Ask(prompt.text),
        Err(err) => HookVerdict::Deny(format!("eclusa: the question cannot be noted: {err}")),
    })
}

/// A prompt that was answered otherwise than with yes: its ticket is good for nothing any more.
pub(super) async fn end_prompt(session: &HookSession) -> Result<(), String> {
    let Some(prompt) = session.calls.take_prompt() else { return Ok(()) };
    let agents = session.agent.ctx.paths.agents();
    match ExecTicket::take(&agents, &prompt.ticket) {
        Ok(_) => session.agent.not_taken(prompt.call).await,
        Err(_used) => Ok(()),
    }
}
