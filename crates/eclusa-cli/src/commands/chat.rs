//! `eclusa chat`: a conversation on the terminal in labelled lines, without motion.

use std::io::{IsTerminal, Write};

use eclusa::Gate;
use eclusa_agent::{AgentEvent, Conversation, TurnEnd, TurnReport, UserMessage, money};
use tokio::sync::mpsc::UnboundedReceiver;

use super::{
    ask::{report, unopened},
    model_choice,
    run::asked_to_end,
    session_setup, sessions, undo,
};
use crate::{
    archive::Archive,
    args::{ChatArgs, UndoArgs},
    context::AppContext,
    failure::{Exit, Failure},
    screen::{Paint, Style, sanitize},
    servers,
    terminal::Terminal,
};

const HELP: &str = "\
/help            this
/tools           the tools there are
/undo            undo the latest change in the workspace
/compact         make what the model is shown smaller
/cost            what this session has cost
/quit            leave; the session is kept
Ctrl+C           interrupt the model; at the prompt: leave";

pub(super) async fn run(ctx: &AppContext, args: ChatArgs, json: bool) -> Result<Exit, Failure> {
    let persona = model_choice::persona(ctx, args.persona.as_deref())?;
    let chosen = model_choice::find(ctx, args.model.as_deref(), &persona).await?;
    let limits = model_choice::limits(ctx, &*chosen.model, None)?;
    let store = ctx.store()?;
    let archive = Archive::new(store.clone());
    let mut setup =
        ctx.furnished(&store, Terminal::new(true, ctx.paths.always_files()), Vec::new())?;
    if let Some(secret) = chosen.secret {
        setup.redactor = std::sync::Arc::new(setup.redactor.with_rules([secret]));
    }
    // Whoever sits here is asked for as long as it takes.
    setup.limits.approval = crate::gates::AS_LONG_AS_IT_TAKES;
    let gate = Gate::new(setup).for_run(ctx.run());
    let behind = servers::wake_all(ctx, &gate.setup().registry).await?;
    let setup =
        session_setup::conversation(ctx, gate.clone(), &archive, chosen.model, persona, limits)?;
    let resume = match (&args.resume, args.last) {
        (Some(id), _) => Some(id.clone()),
        (None, true) => Some(sessions::read(&archive, None).await?.0.id),
        (None, false) => None,
    };
    let opened = match &resume {
        Some(id) => Conversation::resume(setup, id).await,
        None => Conversation::open(setup).await,
    };
    let (conversation, events) = opened.map_err(unopened)?;
    let mut chat =
        PlainChat { ctx, gate: gate.clone(), conversation, events, calls: Vec::new(), json };
    let first = args.words.join(" ");
    let exit = chat.talk(first).await?;
    let id = chat.conversation.id().to_owned();
    gate.end_conversation();
    if let Some(behind) = behind {
        behind.close().await;
    }
    let paint = Paint::on(&std::io::stderr());
    let line = format!("session {id}: go on with `eclusa chat --resume {id}`");
    writeln!(std::io::stderr(), "{}", paint.text(Style::Faint, &line))?;
    Ok(exit)
}

/// A conversation in labelled lines.
struct PlainChat<'a> {
    ctx: &'a AppContext,
    gate: Gate,
    conversation: Conversation,
    events: UnboundedReceiver<AgentEvent>,
    /// What calls are about, by their ids.
    calls: Vec<(String, String)>,
    json: bool,
}

impl PlainChat<'_> {
    /// Talks until the input ends or the person leaves.
    async fn talk(&mut self, first: String) -> Result<Exit, Failure> {
        let mut words = first;
        loop {
            if words.trim().is_empty() {
                let Some(line) = read_line().await? else { return Ok(Exit::Done) };
                words = line;
            }
            let line = std::mem::take(&mut words);
            match line.trim() {
                "" => {}
                "/quit" | "/exit" => return Ok(Exit::Done),
                command if command.starts_with('/') => self.command(command).await?,
                text => self.turn(text).await?,
            }
        }
    }

    async fn turn(&mut self, text: &str) -> Result<(), Failure> {
        let handle = self.conversation.handle();
        let interrupting = tokio::spawn(async move {
            asked_to_end().await;
            handle.interrupt();
        });
        let calls = &mut self.calls;
        let events = &mut self.events;
        let follow = async {
            let mut speaking = false;
            while let Some(event) = events.recv().await {
                if let AgentEvent::Ended(report) = event {
                    tell_end(&report, speaking)?;
                    break;
                }
                speaking = tell(&event, calls, speaking)?;
            }
            Ok::<(), Failure>(())
        };
        let words = UserMessage { text: text.to_owned(), ..UserMessage::default() };
        let (_, followed) = tokio::join!(self.conversation.turn(words), follow);
        interrupting.abort();
        followed
    }

    async fn command(&mut self, command: &str) -> Result<(), Failure> {
        match command {
            "/help" | "/?" => say(HELP)?,
            "/tools" => {
                let tools = self.gate.setup().registry.visible();
                let names: Vec<&str> = tools.iter().map(|it| it.name()).collect();
                say(&names.join(" "))?;
            }
            "/undo" => {
                let last = UndoArgs { calls: Vec::new(), last: true, turn: false, since: None };
                if let Err(failure) = undo::run(self.ctx, last, self.json).await {
                    say(&failure.lines().join("\n"))?;
                }
            }
            "/compact" => {
                self.conversation.compact().await;
                while let Ok(event) = self.events.try_recv() {
                    tell(&event, &mut self.calls, false)?;
                }
            }
            "/cost" => say(&self.conversation.head().usage.to_string())?,
            other => say(&format!("`{}` is not a command; /help lists them", sanitize(other)))?,
        }
        Ok(())
    }
}

/// A line that a person types; `None` when there will be none, or at Ctrl+C.
async fn read_line() -> Result<Option<String>, Failure> {
    if std::io::stdin().is_terminal() {
        let mut err = std::io::stderr().lock();
        write!(err, "you: ")?;
        err.flush()?;
    }
    let reading = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map(|count| (count > 0).then_some(line))
    });
    tokio::select! {
        line = reading => Ok(line.map_err(|_| Failure::failed("reading the line failed"))??),
        () = asked_to_end() => Ok(None),
    }
}

fn say(text: &str) -> std::io::Result<()> {
    writeln!(std::io::stdout().lock(), "{text}")
}

/// Tells one event; true while a message of the model is being written.
fn tell(
    event: &AgentEvent,
    calls: &mut Vec<(String, String)>,
    speaking: bool,
) -> std::io::Result<bool> {
    let mut out = std::io::stdout().lock();
    if let AgentEvent::Text(text) = event {
        if !speaking {
            write!(out, "model: ")?;
        }
        write!(out, "{}", sanitize(text))?;
        out.flush()?;
        return Ok(true);
    }
    let line = match event {
        AgentEvent::Opened { session, model, persona, resumed } => {
            let how = if *resumed { "resumed" } else { "new" };
            Some(format!("session: {session} ({how}), model {model}, persona {persona}"))
        }
        AgentEvent::Call { id, tool, args, .. } => {
            let brief = report::brief(args);
            calls.push((id.clone(), brief.clone()));
            Some(format!("tool: {tool} {brief}"))
        }
        AgentEvent::Answered(call) => {
            let what = calls.iter().find(|(id, _)| *id == call.id);
            let what = what.map(|(_, args)| args.as_str()).unwrap_or_default();
            Some(format!("answer: {}", report::call_line(call, what).1.trim_start()))
        }
        AgentEvent::Retry { why, wait } => Some(format!(
            "note: what was said does not count; asks again in {} s: {why}",
            wait.as_secs()
        )),
        AgentEvent::Compacted { before, after, .. } => Some(format!(
            "note: the model is shown less: about {before} tokens before, {after} now"
        )),
        AgentEvent::Notice(text) => Some(format!("note: {text}")),
        _ => None,
    };
    let Some(line) = line else { return Ok(speaking) };
    if speaking {
        writeln!(out)?;
    }
    writeln!(out, "{}", sanitize(&line))?;
    out.flush()?;
    Ok(false)
}

fn tell_end(report: &TurnReport, speaking: bool) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    if speaking {
        writeln!(out)?;
    }
    let why = match &report.end {
        TurnEnd::Done => None,
        TurnEnd::Failed(what) | TurnEnd::Limit(what) => Some(what.clone()),
        other => Some(other.as_str().to_owned()),
    };
    if let Some(why) = why {
        writeln!(out, "ended: {}", sanitize(&why))?;
    }
    if let (Some(cost), Some(currency)) = (report.cost, &report.currency) {
        writeln!(out, "cost: {} {currency}", money(cost))?;
    }
    if let Some(taint) = &report.taint {
        writeln!(out, "note: text from outside is in this session: {}", sanitize(taint))?;
    }
    out.flush()
}
