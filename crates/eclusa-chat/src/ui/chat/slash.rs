//! Commands of a chat: what a person types after a slash, or after `!`. They print to stdout.

use std::{
    io::{self, Write},
    path::Path,
};

use eclusa::Mode;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{ChatChoice, OpenChat, model_choice, person_call, sessions};
use crate::ui::{
    failure::Failure,
    models, reply,
    screen::{Screen, layout, sanitize, size_of},
    sessions::{ExportFormat, SessionsCommand},
    undo::{self, UndoArgs},
};
use crate::{TranscriptStore, transcript::markdown};

mod rewind;

/// The commands, for help and completion.
pub(super) const COMMANDS: [(&str, &str, &str); 15] = [
    ("/help", "", "this"),
    ("/model", "[NAME]", "the models there are; switch to another one"),
    ("/persona", "[NAME]", "switch persona"),
    ("/mode", "[MODE]", "show or change the approval mode"),
    ("/tools", "", "the tools there are"),
    ("/cost", "", "the cost of this session, and how full the window is"),
    ("/compact", "", "sum up the session for the model"),
    ("/undo", "", "undo the latest change in the workspace"),
    ("/rewind", "[TURN]", "return to before a turn, and undo its changes, shell commands included"),
    ("/fork", "", "continue in a copy of the session"),
    ("/sessions", "", "the sessions of this workspace"),
    ("/resume", "ID", "resume another session"),
    ("/clear", "", "begin a new session"),
    ("/export", "FILE", "write the session to a file: .md, .json, .jsonl or .html"),
    ("/quit", "", "leave; the session is kept"),
];

/// The keys of the screen, for help.
const KEYS: [(&str, &str); 8] = [
    ("Enter", "sends; while the model works, with its next request"),
    ("Alt+Enter", "begins a new line, as Ctrl+J does"),
    ("Tab", "completes; while the model works, sends after the turn"),
    ("Esc", "interrupts; twice rewinds"),
    ("Ctrl+O", "the whole output of the last call"),
    ("Ctrl+T", "the transcript"),
    ("Ctrl+G", "the input in your editor"),
    ("Ctrl+C", "twice leaves; the session is kept"),
];

/// What the chat does after a command.
#[derive(Debug)]
pub(super) enum AfterCommand {
    /// It goes on.
    GoOn,
    /// It ends.
    Quit,
    /// The model is asked to sum up what came before.
    Compact,
    /// The model is told this with the next words.
    Tell(String),
    /// It goes on elsewhere, or otherwise; with this in the input.
    Reopen(ChatChoice, String),
}

/// What commands work with.
pub(super) struct CommandContext<'a> {
    pub(super) chat: &'a OpenChat,
    pub(super) choice: &'a ChatChoice,
    /// Ends a call of the person.
    pub(super) cancel: &'a CancellationToken,
}

/// Whether a line is a command and no words for the model. Words may begin with a path.
pub(super) fn is_command(line: &str) -> bool {
    let name = line.strip_prefix('/').and_then(|it| it.split(' ').next());
    !line.contains('\n') && (line.starts_with('!') || name.is_some_and(|it| !it.contains('/')))
}

/// Does what a line after a slash says.
pub(super) async fn run(with: CommandContext<'_>, line: &str) -> Result<AfterCommand, Failure> {
    if let Some(command) = line.strip_prefix('!') {
        return with.run_typed(command.trim()).await;
    }
    let (command, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
    let (rest, chat) = (rest.trim(), with.chat);
    match command {
        "/help" | "/?" => help()?,
        "/model" | "/persona" | "/mode" => return with.switch(command, rest).await,
        "/tools" => {
            let tools = chat.gate.registry().visible();
            let names: Vec<&str> = tools.iter().map(|it| it.name()).collect();
            say(&names.join(" "))?;
        }
        "/undo" => {
            let session = Some(chat.id.to_string());
            let last = UndoArgs { last: true, session, ..UndoArgs::default() };
            undo::run(&chat.ctx, last, false).await?;
        }
        "/cost" | "/context" => {
            let head = chat.archive.head(&chat.id).await.map_err(Failure::failed)?;
            say(&head.map_or_else(|| "nothing yet".to_owned(), |it| sessions::cost(&it)))?;
        }
        "/compact" => return Ok(AfterCommand::Compact),
        "/rewind" => return with.rewind(rest).await,
        "/fork" => {
            let id = sessions::copy(&chat.archive, &chat.id, None).await?;
            say(&format!("{id} is a copy of {}", chat.id))?;
            return Ok(with.elsewhere(Some(id), String::new()));
        }
        "/sessions" => {
            sessions::run(&chat.ctx, SessionsCommand::List { all: false }, false).await?;
        }
        "/resume" if rest.is_empty() => {
            sessions::run(&chat.ctx, SessionsCommand::List { all: false }, false).await?;
            say("`/resume ID` resumes one of them")?;
        }
        "/resume" => {
            let head = sessions::find(&chat.archive, Some(rest)).await?;
            return Ok(with.elsewhere(Some(head.id), String::new()));
        }
        "/clear" | "/new" => return Ok(with.elsewhere(None, String::new())),
        "/export" => with.export(rest).await?,
        "/quit" | "/exit" => return Ok(AfterCommand::Quit),
        other => say(&format!("`{}` is not a command; /help lists them", sanitize(other)))?,
    }
    Ok(AfterCommand::GoOn)
}

fn help() -> io::Result<()> {
    const PREFIXES: [(&str, &str); 2] = [
        ("@PATH", "attaches a file, read through the gate; Tab completes it"),
        ("!COMMAND", "runs a command through the gate, as yourself"),
    ];
    let columns = size_of(&io::stdout()).map_or(usize::MAX, |it| it.0);
    let commands = COMMANDS.iter().map(|(name, takes, what)| (format!("{name} {takes}"), *what));
    let others = PREFIXES.iter().chain(&KEYS).map(|(key, what)| ((*key).to_owned(), *what));
    for (key, what) in commands.chain(others) {
        layout::hang(&format!("{key:<16} "), what, columns).iter().try_for_each(|it| say(it))?;
    }
    Ok(())
}

/// The conversation so far, as Markdown.
pub(super) async fn transcript(chat: &OpenChat) -> Result<String, Failure> {
    let (head, items) = sessions::read(&chat.archive, Some(&chat.id)).await?;
    Ok(sanitize(&markdown(&head, &items, false)))
}

fn say(text: &str) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{text}")
}

impl CommandContext<'_> {
    /// The chat as it is, in another session; `None`: a new one.
    fn elsewhere(&self, resume: Option<String>, draft: String) -> AfterCommand {
        let choice = ChatChoice { resume, last: false, keep_mode: false, ..self.choice.clone() };
        AfterCommand::Reopen(choice, draft)
    }

    /// This session with another model, persona or mode.
    async fn switch(&self, command: &str, name: &str) -> Result<AfterCommand, Failure> {
        let ctx = &self.chat.ctx;
        if name.is_empty() {
            match command {
                "/mode" => {
                    for mode in Mode::ALL {
                        let now = if mode == ctx.mode { " (now)" } else { "" };
                        say(&format!("{mode}{now}"))?;
                    }
                }
                _ => drop(models::list(ctx, false)?),
            }
            return Ok(AfterCommand::GoOn);
        }
        let name_of = || Some(name.to_owned());
        let mut choice =
            ChatChoice { resume: Some(self.chat.id.clone()), last: false, ..self.choice.clone() };
        match command {
            "/mode" => {
                choice.mode = Some(name.parse::<Mode>().map_err(Failure::usage)?);
                choice.keep_mode = true;
            }
            "/persona" => choice.persona = name_of(),
            _ => choice.model = name_of(),
        }
        // What is wrong with it is told before the session is left.
        let persona = model_choice::persona(ctx, choice.persona.as_deref())?;
        model_choice::find(ctx, choice.model.as_deref(), &persona).await?;
        Ok(AfterCommand::Reopen(choice, String::new()))
    }

    /// A command that the person typed, through the gate.
    async fn run_typed(&self, command: &str) -> Result<AfterCommand, Failure> {
        if command.is_empty() {
            return Ok(AfterCommand::GoOn);
        }
        let args = json!({"command": command});
        let replied = person_call::pass(self.chat, "bash", args, self.cancel).await;
        let mut screen = Screen::stdout();
        reply::print(&replied, &mut screen)?;
        screen.flush()?;
        Ok(AfterCommand::Tell(person_call::note_for_model(command, &replied)))
    }

    async fn export(&self, file: &str) -> Result<(), Failure> {
        let format = match Path::new(file).extension().and_then(|it| it.to_str()) {
            Some("md") => ExportFormat::Md,
            Some("json") => ExportFormat::Json,
            Some("jsonl") => ExportFormat::Jsonl,
            Some("html") => ExportFormat::Html,
            _ => {
                return Err(Failure::usage(
                    "`/export` needs a file that ends in .md, .json, .jsonl or .html",
                )
                .hint(format!("`eclusa sessions export {}` prints the session", self.chat.id)));
            }
        };
        let (head, items) = sessions::read(&self.chat.archive, Some(&self.chat.id)).await?;
        let content = sessions::exported(&head, &items, format, false);
        let args = json!({"path": file, "content": content});
        let replied = person_call::pass(self.chat, "write", args, self.cancel).await;
        let mut screen = Screen::stdout();
        reply::print(&replied, &mut screen)?;
        Ok(screen.flush()?)
    }
}
