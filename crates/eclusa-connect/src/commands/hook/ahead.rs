//! Where a person sits in front of the agent, by what way it shows them a command that has run, and what
//! becomes of one that they do not take.

use std::{
    env,
    fs::{self, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use eclusa::{
    audit::{Clock as _, SystemClock},
    policy::left_in,
};
use eclusa_config::jsonc;
use rustix::{fs::OFlags, termios::tcgetwinsize};
use serde_json::Value;

use super::{allowed_calls::OpenPrompt, session::HookSession};
use crate::agents::RewrittenAsk;
use crate::commands::{
    agent_session::{AheadProof, AheadTerms, PromptRoom, TicketedCommand},
    read_text::read_text,
    servers::gateway_lease::parent,
    tickets::ExecTicket,
};
use crate::{EntryFile, HookEvent, HookVerdict, ResultNote, shell_quoted};

/// The first versions that were seen to run what a hook put there after a yes, by the packages' names.
const CLAUDE_SINCE: (&str, [u32; 3]) = ("claude-code", [2, 1, 101]);
const GEMINI_SINCE: (&str, [u32; 3]) = ("gemini-cli", [0, 61, 0]);
const CODEX_SINCE: (&str, [u32; 3]) = ("codex", [0, 166, 0]);
/// With these Gemini CLI works without its person.
const HEADLESS: [&str; 2] = ["-p", "--prompt"];
/// The event of Claude Code at which others may answer for its person.
const ANSWERS: &str = "PermissionRequest";
/// What the system says behind the name of a program that was replaced or removed while it runs.
const GONE: &str = " (deleted)";
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
    let since = |(package, first)| agent.and_then(|it| version_of(it, package)) >= Some(first);
    let (room, proof) = match road(event) {
        RewrittenAsk::Never => return None,
        RewrittenAsk::Comments => {
            if !since(CLAUDE_SINCE) || is_answered_elsewhere(event, session.agent.root()) {
                return None;
            }
            (room.unwrap_or(IN_AN_EDITOR), AheadProof::Ticket)
        }
        // Without a terminal it refuses what is asked.
        RewrittenAsk::SecondHook => (room?, AheadProof::Mark),
        // Without a terminal it hangs.
        RewrittenAsk::Message => {
            let headless = words_of(agent?).iter().any(|word| {
                let name = word.split('=').next().unwrap_or_default();
                HEADLESS.contains(&name)
            });
            if headless || !since(GEMINI_SINCE) {
                return None;
            }
            (room?, AheadProof::Mark)
        }
        // What shows a prompt elsewhere may leave out the message above it.
        RewrittenAsk::OwnRule(rules) => {
            let asks = event.mode.as_deref() == Some("default");
            if !asks || !since(CODEX_SINCE) || !is_ruled(rules, session.agent.root()) {
                return None;
            }
            (room?, AheadProof::AfterCall)
        }
    };
    Some(AheadTerms { time, room, proof })
}

/// Whether commands of this event may be run ahead at all.
pub(super) fn asks(event: &HookEvent, attended: bool) -> bool {
    match road(event) {
        RewrittenAsk::Never => false,
        RewrittenAsk::Comments | RewrittenAsk::SecondHook => event.can_ask(attended),
        // Whether somebody sits there is seen only by its process.
        RewrittenAsk::Message | RewrittenAsk::OwnRule(_) => true,
    }
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

/// The words of a process.
fn words_of(process: u32) -> Vec<String> {
    let words = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    words.split(|it| *it == 0).map(|it| String::from_utf8_lossy(it).into_owned()).collect()
}

/// The version of a program that carries it in its name, or in the package that it belongs to.
fn version_of(process: u32, package: &str) -> Option<[u32; 3]> {
    let exe = fs::read_link(format!("/proc/{process}/exe")).ok()?;
    let name = exe.file_name()?.to_str()?;
    let own_name = name.strip_suffix(GONE).unwrap_or(name);
    if let Some(version) = numbers(own_name) {
        return Some(version);
    }
    // It was upgraded while it runs: what lies there now is another one.
    if own_name != name {
        return None;
    }
    let words = words_of(process);
    let script = words.iter().skip(1).find(|it| !it.starts_with('-'));
    let script = script.and_then(|it| Path::new(it).canonicalize().ok());
    [Some(exe), script].into_iter().flatten().find_map(|it| package_version(&it, package))
}

fn package_version(file: &Path, name: &str) -> Option<[u32; 3]> {
    file.ancestors().skip(1).take(5).find_map(|it| {
        let package = jsonc::read(&read_text(&it.join("package.json")).ok()?).ok()?;
        let ours = package.get("name")?.as_str()?.contains(name);
        ours.then(|| numbers(package.get("version")?.as_str()?)).flatten()
    })
}

/// The numbers of a version, without what is said of the machine that it is for.
fn numbers(text: &str) -> Option<[u32; 3]> {
    let mut numbers = text.split('-').next()?.split('.').map(|it| it.parse().ok());
    let version = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(version)
}

/// Whether a hook that is not ours may answer what the agent asks its person: then a prompt is no proof.
/// Where a file cannot be read, one may.
fn is_answered_elsewhere(event: &HookEvent, root: &Path) -> bool {
    let files = event.agent.denials.as_ref().map_or(&[][..], |it| it.files);
    files.iter().any(|file| {
        let text = match place(*file, root).map(|it| read_text(&it)) {
            None => return false,
            Some(Ok(text)) => text,
            Some(Err(err)) => return !is_missing(&err),
        };
        // Its name may be written with escapes.
        let read = jsonc::read(&text).map(|it| it.to_string().contains(ANSWERS));
        text.contains(ANSWERS) || !text.trim().is_empty() && read.unwrap_or(true)
    })
}

/// True when there is no such file.
fn is_missing(err: &io::Error) -> bool {
    matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Whether the agent has the rules by which it asks about what this program tells.
fn is_ruled(rules: EntryFile, root: &Path) -> bool {
    let text = place(rules, root).and_then(|it| read_text(&it).ok()).unwrap_or_default();
    let program =
        env::current_exe().ok().and_then(|it| Some(Value::from(it.to_str()?).to_string()));
    program.is_some_and(|it| text.contains(&format!("[{it}, \"exec\", \"--ask\"]")))
}

/// Where a file of the agent's settings is.
fn place(file: EntryFile, root: &Path) -> Option<PathBuf> {
    let home = || env::var_os("HOME").map(PathBuf::from);
    match file {
        EntryFile::Home(name) => home().map(|it| it.join(name)),
        EntryFile::Settings(variable, otherwise, name) => {
            let own = env::var_os(variable).map(PathBuf::from);
            own.or_else(|| Some(home()?.join(otherwise))).map(|it| it.join(name))
        }
        EntryFile::Project(name) => Some(root.join(name)),
        EntryFile::Machine(path) => Some(PathBuf::from(path)),
    }
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
        RewrittenAsk::Message => (line, Some(whole()), whole()),
        RewrittenAsk::OwnRule(_) => {
            let line = command.telling_line();
            (line.clone(), Some(whole()), line)
        }
        RewrittenAsk::Comments | RewrittenAsk::Never => {
            let lines: String = asks.lines.iter().map(|it| format!("\n# {it}")).collect();
            (format!("{line}{lines}"), Some(asks.summary.clone()), String::new())
        }
    };
    let prompt = OpenPrompt {
        ticket: command.ticket.clone(),
        call: asks.call,
        text,
        asked_with: event.asked_with.clone(),
        kept_at: SystemClock.unix_ms(),
    };
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
    let line = event.input.get("command").and_then(Value::as_str)?;
    let mut prompts = session.calls.prompts().into_iter();
    let prompt = prompts.find(|it| !it.text.is_empty() && line.contains(&it.ticket))?;
    let marked = ExecTicket::mark(&session.agent.ctx.paths.agents(), &prompt.ticket);
    Some(match marked {
        Ok(()) if road(event) == RewrittenAsk::Message => HookVerdict::Allow { context: None },
        Ok(()) => HookVerdict::Ask(prompt.text),
        Err(err) => HookVerdict::Deny(format!("eclusa: the question cannot be noted: {err}")),
    })
}

/// Notes that the agent asks about what a command of ours did: it does so for this call alone.
pub(super) fn asked(session: &HookSession, event: &HookEvent) -> Result<(), String> {
    match told_prompt(session, event) {
        None => Ok(()),
        Some(prompt) => ExecTicket::mark(&session.agent.ctx.paths.agents(), &prompt.ticket)
            .map_err(|err| format!("the question cannot be noted: {err}")),
    }
}

/// The question that this event's command tells of, byte for byte.
fn told_prompt(session: &HookSession, event: &HookEvent) -> Option<OpenPrompt> {
    let RewrittenAsk::OwnRule(_) = road(event) else { return None };
    let line = event.input.get("command").and_then(Value::as_str)?;
    session.calls.prompts().into_iter().find(|it| !it.text.is_empty() && it.text == line)
}

/// Where another event comes between a question and the end of its call, its answer is not known any more. Calls that
/// are asked about together come beside each other.
pub(super) fn forget_marks(session: &HookSession, event: &HookEvent) {
    let RewrittenAsk::OwnRule(_) = road(event) else { return };
    for prompt in session.calls.prompts().iter().filter(|it| !it.stands_beside(event)) {
        ExecTicket::take_mark(&session.agent.ctx.paths.agents(), &prompt.ticket);
    }
}

/// The call has ended that told what a command did: where the agent has asked about it, it is taken now.
pub(super) async fn ended(session: &HookSession, event: &HookEvent) -> Result<ResultNote, String> {
    let Some(prompt) = told_prompt(session, event) else { return Ok(ResultNote::default()) };
    session.calls.take_prompt(&prompt);
    let agents = session.agent.ctx.paths.agents();
    // It opens nothing any more, whatever becomes of its changes.
    let ticket = ExecTicket::take(&agents, &prompt.ticket);
    let asked = ExecTicket::take_mark(&agents, &prompt.ticket);
    let not_applied = match ticket {
        Err(why) => Some(why),
        Ok(_) if asked => session.agent.take_ahead(prompt.call).await?,
        Ok(_) => {
            session.agent.not_taken(prompt.call).await?;
            let call = prompt.call;
            Some(format!("nobody was asked; apply it with `eclusa changes apply {call}`"))
        }
    };
    let replacement = not_applied.map(|why| format!("ran, and its changes are not applied: {why}"));
    Ok(ResultNote { replacement, ..ResultNote::default() })
}

/// Prompts that were answered otherwise than with yes: their tickets are good for nothing any more. Without an event
/// all of them are over.
pub(super) async fn end_prompts(
    session: &HookSession,
    event: Option<&HookEvent>,
) -> Result<(), String> {
    let agents = session.agent.ctx.paths.agents();
    let stands = |prompt: &OpenPrompt| event.is_some_and(|it| prompt.stands_beside(it));
    for prompt in session.calls.prompts().iter().filter(|it| !stands(it)) {
        session.calls.take_prompt(prompt);
        if ExecTicket::take(&agents, &prompt.ticket).is_ok() {
            session.agent.not_taken(prompt.call).await?;
        }
    }
    Ok(())
}
