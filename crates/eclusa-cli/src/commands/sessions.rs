//! `eclusa sessions`: conversations that were kept: list, show, search, copy, hand over, remove.

use eclusa::{
    Spool as _,
    audit::{
        Log as _,
        calls::{self, CallRecord},
    },
    workspace::UndoStatus,
};
use eclusa_chat::{
    ConversationHead, ItemBody, TranscriptItem, TranscriptStore, fork,
    transcript::{html, markdown},
};
use eclusa_models::money;
use eclusa_store::Store;
use serde_json::{Value, json};

use super::ask::unopened;
use crate::{
    archive::Archive,
    args::{ExportFormat, SessionsCommand, UndoArgs},
    context::AppContext,
    failure::{Exit, Failure},
    screen::{Screen, Style, sanitize},
    since,
    timestamp::Timestamp,
    undo,
};

mod import;

/// So many conversations are listed, unless all are wanted.
const LISTED: usize = 20;

/// So many hits of a search are shown.
const MAX_HITS: usize = 50;

pub(super) async fn run(
    ctx: &AppContext,
    what: SessionsCommand,
    json: bool,
) -> Result<Exit, Failure> {
    let archive = Archive::new(ctx.store()?);
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
                    let exit = undo::run(
                        ctx,
                        UndoArgs { calls: numbers, last: false, turn: false, since: None },
                        json,
                    )
                    .await?;
                    if exit != Exit::Done {
                        return Ok(exit);
                    }
                }
            }
            let copy = copy(&archive, &head.id, Some(at)).await?;
            match json {
                true => screen.json(&json!({"session": copy, "parent": head.id, "turn": at}))?,
                false => screen.line(&format!(
                    "{copy}: a copy of {} up to turn {at}; go on with `eclusa ask --resume {copy} WORDS`",
                    head.id
                ))?,
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
            archive.store.remove_conversation(head.id).await.map_err(Failure::failed)?;
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
) -> Result<(ConversationHead, Vec<TranscriptItem>), Failure> {
    let head = find(archive, id).await?;
    let items = archive.items(&head.id).await.map_err(Failure::failed)?;
    Ok((head, items))
}

/// A conversation without its entries; without an id, the one that was touched last.
pub(super) async fn find(archive: &Archive, id: Option<&str>) -> Result<ConversationHead, Failure> {
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

pub(super) fn cost(head: &ConversationHead) -> String {
    let number = |name: &str| head.usage.get(name).and_then(Value::as_u64).unwrap_or_default();
    match head.usage.get("currency").and_then(Value::as_str) {
        Some(currency) => format!("{} {currency}", money(number("cost"))),
        None => {
            let read = number("input") + number("cache_read") + number("cache_write");
            format!("{} tokens", read + number("output"))
        }
    }
}

fn head_json(head: &ConversationHead) -> Value {
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
    head: &ConversationHead,
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

/// The calls of later turns that changed something, as the undo history has them.
pub(super) fn changed_after(
    ctx: &AppContext,
    items: &[TranscriptItem],
    turn: u64,
) -> Result<Vec<u64>, Failure> {
    let later = items.iter().filter(|it| it.turn > turn);
    let numbers: Vec<u64> = later
        .filter_map(|it| match &it.body {
            ItemBody::Answer(answer) | ItemBody::LateAnswer(answer) => answer.number,
            _ => None,
        })
        .collect();
    let entries = ctx.workspace()?.entries().map_err(Failure::failed)?;
    let undoable = entries.iter().filter(|it| !matches!(it.status, UndoStatus::Undone { .. }));
    let store = ctx.store()?;
    Ok(undoable.map(|it| it.call).filter(|it| is_among(&store, *it, &numbers)).collect())
}

/// Whether a call is one of these, or was made from inside one: by a task.
fn is_among(store: &Store, call: u64, numbers: &[u64]) -> bool {
    let mut call = Some(call);
    while let Some(number) = call {
        if numbers.contains(&number) {
            return true;
        }
        let record = store.first_of(number).ok().flatten();
        let body = record.and_then(|it| serde_json::from_str::<Value>(&it.body).ok());
        // A call inside another has a higher number.
        let parent = body.and_then(|it| it.get("parent")?.as_u64());
        call = parent.filter(|it| *it < number);
    }
    false
}

/// Whether every output is the one that the log knows: it holds its digest.
async fn checked(
    archive: &Archive,
    head: &ConversationHead,
    items: &[TranscriptItem],
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let (mut same, mut other, mut unknown) = (0, Vec::new(), 0);
    for item in items {
        let (ItemBody::Answer(answer) | ItemBody::LateAnswer(answer)) = &item.body else {
            continue;
        };
        let Some(number) = answer.number else { continue };
        let call = calls::call_with(&archive.store, number).map_err(Failure::failed)?;
        let digest = call.as_ref().and_then(CallRecord::output_sha256);
        // An output that was cut is kept whole elsewhere.
        let kept = call.as_ref().and_then(CallRecord::output_spool).filter(|_| answer.truncated);
        let whole = match kept {
            Some(reference) => archive.store.read(reference, 0..usize::MAX).await.ok(),
            None if answer.truncated => None,
            None => Some(answer.output.clone()),
        };
        match (digest, whole) {
            (Some(digest), Some(whole)) => {
                match eclusa::Hash::sha256(whole.as_bytes()).to_string() == digest {
                    true => same += 1,
                    false => other.push(format!("{}.{}", head.id, item.seq)),
                }
            }
            _ => unknown += 1,
        }
    }
    screen
        .line(&format!("{same} outputs are as the log has them, {unknown} have no digest there"))?;
    for it in &other {
        screen.styled(Style::Bad, &format!("{it} is not what the log has"))?;
    }
    screen.flush()?;
    Ok(if other.is_empty() { Exit::Done } else { Exit::Failed })
}
