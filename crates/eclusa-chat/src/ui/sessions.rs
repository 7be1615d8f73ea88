//! `eclusa sessions`: conversations that were kept: list, show, search, copy, hand over, remove.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use eclusa_models::money;
use serde_json::{Value, json};

use super::session_setup::unopened;
use crate::ui::{
    archive::Archive,
    context::AppContext,
    failure::{Exit, Failure},
    screen::{Screen, Style, sanitize},
    since,
    timestamp::Timestamp,
    undo::{self, UndoArgs},
};
use crate::{
    TranscriptHead, TranscriptItem, TranscriptStore, fork,
    transcript::{ImportFormat, html, markdown},
};

mod calls_in_log;
mod import;

pub(super) use calls_in_log::changed_after;
use calls_in_log::checked;

/// So many conversations are listed, unless all are wanted.
const LISTED: usize = 20;

/// So many hits of a search are shown.
const MAX_HITS: usize = 50;

/// Examples, for its help.
const EXAMPLES: &str = "\
Examples:
  eclusa sessions                               the latest of this workspace
  eclusa sessions resume                        resume the latest
  eclusa sessions show k3f9q2 --check           as Markdown, and compared with the log
  eclusa sessions fork k3f9q2 --at 3 --undo     continue from turn 3, files included
  eclusa sessions export --format html > s.html
  eclusa sessions search migration
  eclusa sessions import codex FILE             a session of another agent, as text from outside

Sessions are kept in the store of the workspace. Each is open in one process at a time.";

/// List, show, search, resume, copy and export chat sessions
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct SessionsArgs {
    /// What to do.
    #[command(subcommand)]
    pub what: Option<SessionsSubcommand>,
}

/// What to do with sessions, in a chat or outside.
#[derive(Debug, Subcommand)]
pub enum SessionsSubcommand {
    /// Resume a session in a chat
    Resume {
        /// The session [default: the latest]
        id: Option<String>,
        /// Another model than the session's
        #[arg(long, value_name = "MODEL")]
        model: Option<String>,
        /// Labelled lines without motion, as `eclusa chat --plain`
        #[arg(long)]
        plain: bool,
    },
    /// Whatever needs no chat
    #[command(flatten)]
    Kept(SessionsCommand),
}

/// What to do with sessions.
#[derive(Debug, Subcommand)]
pub enum SessionsCommand {
    /// List the sessions of this workspace, the latest first (default)
    List {
        /// All of them, not only the latest
        #[arg(long)]
        all: bool,
    },
    /// Show a session as Markdown
    Show {
        /// The session [default: the latest]
        id: Option<String>,
        /// With the model's reasoning
        #[arg(long)]
        thoughts: bool,
        /// Compare every output with its digest in the log
        #[arg(long)]
        check: bool,
    },
    /// Copy a session up to a turn, to try another way
    Fork {
        /// The session
        id: String,
        /// The last turn of the copy [default: the last there is]
        #[arg(long, value_name = "TURN")]
        at: Option<u64>,
        /// Also undo what later turns changed in the workspace, or nothing at all
        #[arg(long)]
        undo: bool,
    },
    /// Import a session of another agent, as text from outside
    Import {
        /// Whose file it is
        #[arg(value_enum)]
        from: ImportFormat,
        /// The file: `~/.claude/projects/*/*.jsonl`, `~/.codex/sessions/**/*.jsonl`
        file: PathBuf,
    },
    /// Export a session
    Export {
        /// The session [default: the latest]
        id: Option<String>,
        /// The format
        #[arg(long, value_enum, default_value_t)]
        format: ExportFormat,
        /// With the model's reasoning
        #[arg(long)]
        thoughts: bool,
    },
    /// Find words in all sessions
    Search {
        /// The words: all of them must be in one entry
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// Remove a session; its calls stay in the log
    Rm {
        /// The session
        id: String,
    },
}

/// The formats of an export.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Markdown, calls and results as blocks
    #[default]
    Md,
    /// One object with all entries
    Json,
    /// One entry a line
    Jsonl,
    /// One page, without scripts
    Html,
}

/// Does it, and prints what came of it.
pub async fn run(ctx: &AppContext, what: SessionsCommand, json: bool) -> Result<Exit, Failure> {
    let archive = Archive::new(ctx.store()?, ctx.paths.sessions());
    let mut screen = Screen::stdout();
    match what {
        SessionsCommand::List { all } => list(&archive, all, json, &mut screen)?,
        SessionsCommand::Show { id, thoughts, check } => {
            let (head, items) = read(&archive, id.as_deref()).await?;
            screen.foreign(&markdown(&head, &items, thoughts))?;
            screen.flush()?;
            if check {
                return checked(&archive, &head, &items, &mut screen).await;
            }
        }
        SessionsCommand::Import { from, file } => {
            import::run(ctx, &archive, from, &file, json, &mut screen).await?;
        }
        SessionsCommand::Export { id, format, thoughts } => {
            let (head, items) = read(&archive, id.as_deref()).await?;
            screen.foreign(&exported(&head, &items, format, thoughts))?;
        }
        SessionsCommand::Search { words } => {
            search(&archive, &words.join(" "), json, &mut screen)?;
        }
        SessionsCommand::Fork { id, at, undo: take_back } => {
            let (head, items) = read(&archive, Some(&id)).await?;
            let at = at.unwrap_or(head.turns);
            if take_back {
                let numbers = changed_after(ctx, &items, at)?;
                if !numbers.is_empty() {
                    let exit =
                        undo::run(ctx, UndoArgs { calls: numbers, ..UndoArgs::default() }, json)
                            .await?;
                    if exit != Exit::Done {
                        return Ok(exit);
                    }
                }
            }
            let copy = copy(&archive, &head.id, Some(at)).await?;
            if json {
                screen.json(&json!({"session": copy, "parent": head.id, "turn": at}))?
            } else {
                screen.line(&format!(
                    "{copy}: a copy of {} up to turn {at}; resume it with `eclusa ask --resume {copy} WORDS`",
                    head.id
                ))?
            }
        }
        SessionsCommand::Rm { id } => {
            let head = find(&archive, Some(&id)).await?;
            let lock = archive.lock(&head.id).map_err(Failure::failed)?;
            if lock.is_none() {
                return Err(Failure::usage(format!(
                    "the session `{id}` is open in another process"
                )));
            }
            archive.store.remove_transcript(head.id).await.map_err(Failure::failed)?;
            screen.line("removed; what its calls did stays in the log")?;
        }
    }
    screen.flush()?;
    Ok(Exit::Done)
}

/// A copy of a session up to a turn; `None`: all of it.
pub(super) async fn copy(
    archive: &Archive,
    id: &str,
    turn: Option<u64>,
) -> Result<String, Failure> {
    fork(archive, id, turn, since::now()).await.map_err(unopened)
}

/// A conversation and all of its entries; without an id, the one that was touched last.
pub(super) async fn read(
    archive: &Archive,
    id: Option<&str>,
) -> Result<(TranscriptHead, Vec<TranscriptItem>), Failure> {
    let head = find(archive, id).await?;
    let items = archive.items(&head.id).await.map_err(Failure::failed)?;
    Ok((head, items))
}

/// A conversation without its entries; without an id, the one that was touched last.
pub(super) async fn find(archive: &Archive, id: Option<&str>) -> Result<TranscriptHead, Failure> {
    let head = match id {
        Some(id) => archive.head(id).await.map_err(Failure::failed)?,
        None => archive.list(1).map_err(Failure::failed)?.pop(),
    };
    head.ok_or_else(|| {
        let what = match id {
            Some(id) => format!("there is no session `{}`", sanitize(id)),
            None => "there is no session in this workspace yet".to_owned(),
        };
        Failure::usage(what).hint("`eclusa sessions` lists them")
    })
}

fn list(archive: &Archive, all: bool, json: bool, screen: &mut Screen) -> Result<(), Failure> {
    let limit = if all { usize::MAX } else { LISTED };
    let heads = archive.list(limit).map_err(Failure::failed)?;
    if json {
        for it in &heads {
            screen.json(&head_json(it))?;
        }
        return Ok(());
    }
    if heads.is_empty() {
        screen
            .line("no sessions in this workspace yet; `eclusa ask` and `eclusa chat` make them")?;
        return Ok(());
    }
    let mut rows =
        vec![["ID", "LAST", "TURNS", "CALLS", "COST", "TITLE"].map(str::to_owned).to_vec()];
    for it in &heads {
        let open = archive.lock(&it.id).is_ok_and(|it| it.is_none());
        let title = sanitize(&it.title).replace('\n', " ");
        let state = if open { "(open) " } else { "" };
        rows.push(vec![
            it.id.clone(),
            screen.time(Timestamp(it.touched)),
            it.turns.to_string(),
            it.calls.to_string(),
            cost(it),
            format!("{state}{title}"),
        ]);
    }
    Ok(screen.headed_table(&rows)?)
}

pub(super) fn cost(head: &TranscriptHead) -> String {
    let number = |name: &str| head.usage.get(name).and_then(Value::as_u64).unwrap_or_default();
    match head.usage.get("currency").and_then(Value::as_str) {
        Some(currency) => format!("{} {currency}", money(number("cost"))),
        None => {
            let read = number("input") + number("cache_read") + number("cache_write");
            format!("{} tokens", read + number("output"))
        }
    }
}

fn head_json(head: &TranscriptHead) -> Value {
    json!({
        "session": head.id,
        "parent": head.parent,
        "title": head.title,
        "persona": head.persona,
        "model": head.model,
        "created": head.created,
        "touched": head.touched,
        "turns": head.turns,
        "calls": head.calls,
        "usage": head.usage,
        "taint": head.taint,
    })
}

pub(super) fn exported(
    head: &TranscriptHead,
    items: &[TranscriptItem],
    format: ExportFormat,
    thoughts: bool,
) -> String {
    let object = |item: &TranscriptItem| {
        let mut value = item.json(&head.id);
        if let (false, Some(fields)) = (thoughts, value.as_object_mut()) {
            fields.remove("thoughts");
        }
        value
    };
    match format {
        ExportFormat::Md => markdown(head, items, thoughts),
        ExportFormat::Html => html(head, items, thoughts),
        ExportFormat::Jsonl => items.iter().map(|item| format!("{}\n", object(item))).collect(),
        ExportFormat::Json => {
            let items: Vec<Value> = items.iter().map(object).collect();
            let mut value = head_json(head);
            if let Some(fields) = value.as_object_mut() {
                fields.insert("v".to_owned(), 1.into());
                fields.insert("items".to_owned(), items.into());
            }
            format!("{value:#}\n")
        }
    }
}

fn search(archive: &Archive, words: &str, json: bool, screen: &mut Screen) -> Result<(), Failure> {
    let found = archive.search(words, MAX_HITS).map_err(Failure::failed)?;
    for (id, item) in &found {
        if json {
            screen.json(&item.json(id))?;
            continue;
        }
        let text = item.body.words();
        let lower = words.split_whitespace().next().unwrap_or_default().to_lowercase();
        let line = text.lines().find(|it| it.to_lowercase().contains(&lower));
        let line = sanitize(line.or(text.lines().next()).unwrap_or_default());
        screen.styled(
            Style::Strong,
            &format!("{id}.{}  turn {}  {}", item.seq, item.turn, item.body.role()),
        )?;
        screen.line(&format!("  {}", line.chars().take(200).collect::<String>()))?;
    }
    if found.is_empty() && !json {
        screen.line("no session has all of these words in one place")?;
    }
    Ok(())
}
