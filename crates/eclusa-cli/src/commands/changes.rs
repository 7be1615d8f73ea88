//! `eclusa changes`: what past calls changed in the workspace, or would have changed.

use std::sync::Arc;

use eclusa::{
    Workspace,
    audit::calls::CallRecord,
    one_line,
    store::Store,
    workspace::{Bounds, Diff, PendingError, UndoEntry, UndoStatus, natural},
};
use serde_json::{Value, json};

pub(super) mod apply;
mod discarded;
mod folded;

use folded::FoldedLines;

use crate::{
    context::AppContext,
    failure::{Exit, Failure},
    log_call,
    screen::{Screen, Style, diff_lines, diff_view::DiffView, sanitize},
    timestamp::Timestamp,
    undo::{call_number, unknown},
    undo_retention,
};

/// Show what calls changed in the workspace
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eclusa changes                                the last calls that changed something
  eclusa changes show 7                         the changes of call 7
  eclusa changes diff 7                         the same as a patch
  eclusa changes --discarded                    changes that were discarded
  eclusa changes apply 7                        apply discarded changes
  eclusa changes compact                        shrink the undo history now")]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ChangesArgs {
    #[command(flatten)]
    list: ChangesList,
    #[command(subcommand)]
    what: Option<ChangesCommand>,
}

impl ChangesArgs {
    /// True when discarded changes are to be applied.
    pub(super) fn applies(&self) -> bool {
        matches!(self.what, Some(ChangesCommand::Apply { .. }))
    }
}

// Which changes to list.
#[derive(Debug, clap::Args)]
pub(crate) struct ChangesList {
    /// How many
    #[arg(short = 'n', long, default_value_t = 20)]
    pub(crate) count: usize,
    /// List calls whose changes were discarded
    #[arg(long)]
    pub(crate) discarded: bool,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum ChangesCommand {
    /// List the last calls that changed something, newest last
    List(ChangesList),
    /// Show the changes of one call, for people
    Show {
        /// Its number [default: the latest]
        #[arg(value_parser = call_number)]
        call: Option<u64>,
        /// Show every file, also what git did and what it ignores
        #[arg(long)]
        all: bool,
    },
    /// Show the changes of one call, as a patch for `git apply`
    Diff {
        /// Its number [default: the latest]
        #[arg(value_parser = call_number)]
        call: Option<u64>,
    },
    /// Apply discarded changes; they are kept for a day
    Apply {
        /// The number of the call, as `eclusa changes --discarded` lists it
        #[arg(value_parser = call_number)]
        call: u64,
    },
    /// Shrink the undo history now
    Compact,
}

/// How many paths of a call are named in a list.
const MAX_PATHS: usize = 3;

pub(super) async fn run(ctx: &AppContext, args: ChangesArgs, json: bool) -> Result<Exit, Failure> {
    let mut screen = Screen::stdout();
    let what = args.what.unwrap_or(ChangesCommand::List(args.list));
    if let ChangesCommand::List(ChangesList { discarded: true, count }) = what {
        discarded::list(&*ctx.paths.log()?, &ctx.workspace()?, count, json, &mut screen)?;
        screen.flush()?;
        return Ok(Exit::Done);
    }
    if !ctx.paths.undo().exists() {
        return match what {
            ChangesCommand::Show { call: Some(call), .. }
            | ChangesCommand::Diff { call: Some(call) }
            | ChangesCommand::Apply { call } => Err(unknown(call)),
            _ if json => Ok(Exit::Done),
            _ => {
                screen.line("nothing was changed in this workspace yet")?;
                screen.flush()?;
                Ok(Exit::Done)
            }
        };
    }
    let book = Book { workspace: ctx.workspace()?, store: ctx.store()? };
    undo_retention::recover(&book.workspace, &*book.store)?;
    match what {
        ChangesCommand::List(list) => book.list(list.count, json, &mut screen)?,
        ChangesCommand::Show { call, all } => {
            book.show(call, Details { patch: false, all }, json, &mut screen)?;
        }
        ChangesCommand::Diff { call } => {
            book.show(call, Details { patch: true, all: true }, json, &mut screen)?;
        }
        ChangesCommand::Compact => book.compact(ctx, json, &mut screen)?,
        ChangesCommand::Apply { call } => return apply::run(ctx, call, json).await,
    }
    screen.flush()?;
    Ok(Exit::Done)
}

/// How much of a call is shown.
struct Details {
    /// As a patch.
    patch: bool,
    /// Every file, also what is told in a line otherwise.
    all: bool,
}

/// What was changed, and the log that says by whom.
struct Book {
    workspace: Workspace,
    store: Arc<dyn Store>,
}

impl Book {
    fn list(&self, count: usize, json: bool, screen: &mut Screen) -> Result<(), Failure> {
        let latest = self.workspace.latest_entries().map_err(Failure::failed)?;
        let mut last: Vec<UndoEntry> = latest.take(count).collect();
        last.reverse();
        let headings = ["call", "time", "tool", "status", "paths"];
        let mut rows = vec![headings.map(str::to_owned).to_vec()];
        for entry in &last {
            let past = log_call::find(&*self.store, entry.call)?;
            let changes = self.workspace.outline(entry).map_err(Failure::failed)?;
            let mut paths: Vec<String> =
                changes.iter().map(|it| it.path.to_string_lossy().into_owned()).collect();
            paths.sort_by(|a, b| natural(a.as_ref(), b.as_ref()));
            if json {
                let mut value = as_json(entry, &past);
                if let Some(fields) = value.as_object_mut() {
                    fields.insert("paths".to_owned(), paths.into());
                }
                screen.json(&value)?;
                continue;
            }
            let folded = FoldedLines::read(&*self.store, entry)?;
            let rest = folded.without(&changes);
            let mut rest: Vec<_> = rest.iter().map(|it| it.path.as_path()).collect();
            rest.sort_by(|a, b| natural(a, b));
            let rest = rest.into_iter().map(|it| it.to_string_lossy().into_owned());
            let named: Vec<String> = folded.lines.iter().cloned().chain(rest).collect();
            // A name cannot make lines of its own.
            let shown = named.iter().take(MAX_PATHS).map(|it| one_line(it));
            let more = named.len().saturating_sub(MAX_PATHS);
            let mut named = shown.collect::<Vec<_>>().join(", ");
            if more > 0 {
                named.push_str(&format!(" and {more} more"));
            }
            rows.push(vec![
                entry.call.to_string(),
                screen.time_cell(Timestamp(past.at())),
                sanitize(past.tool()),
                status(entry),
                one_line(&named),
            ]);
        }
        match json {
            true => Ok(()),
            false if rows.len() == 1 => {
                Ok(screen.line("nothing was changed in this workspace yet")?)
            }
            false => Ok(screen.headed_table(&rows)?),
        }
    }

    /// One call: what it did, for a person or as a patch.
    fn show(
        &self,
        call: Option<u64>,
        Details { patch, all }: Details,
        json: bool,
        screen: &mut Screen,
    ) -> Result<(), Failure> {
        let latest = || self.workspace.latest_entries().map(|mut it| it.next());
        let found = call.map_or_else(latest, |call| self.workspace.entry(call));
        let entry = match (found.map_err(Failure::failed)?, call) {
            (Some(entry), _) => entry,
            (None, Some(call)) => {
                return self.show_discarded(call, Details { patch, all }, json, screen);
            }
            (None, None) => {
                return Err(Failure::failed("nothing was changed in this workspace yet"));
            }
        };
        let entry = &entry;
        let past = log_call::find(&*self.store, entry.call)?;
        let changes = self.workspace.changes(entry.call).map_err(Failure::failed)?;
        let diff = Diff::of(&changes, &self.workspace, Bounds::default());
        if json {
            let mut value = as_json(entry, &past);
            if let Some(fields) = value.as_object_mut() {
                fields.insert("changes".to_owned(), diff.json());
                if patch {
                    fields.insert("diff".to_owned(), diff.unified().into());
                }
            }
            return Ok(screen.json(&value)?);
        }
        if patch {
            return print_patch(&diff, screen);
        }
        let title = format!("call {}: {}, {}", entry.call, sanitize(past.tool()), status(entry));
        screen.styled(Style::Strong, &title)?;
        let time = screen.time(Timestamp(past.at()));
        screen.line(&format!("  {time}, {}", diff.summary()))?;
        let folded =
            if all { FoldedLines::default() } else { FoldedLines::read(&*self.store, entry)? };
        for line in &folded.lines {
            screen.styled(Style::Strong, &format!("  * {}", sanitize(line)))?;
        }
        let shown = folded.without(&changes);
        let shown = Diff::of(&shown, &self.workspace, Bounds::default()).shown();
        let view = DiffView::on(&std::io::stdout()).indented(2);
        let view = if all { view.whole() } else { view };
        for line in view.lines(&shown) {
            screen.verbatim(Style::Plain, &format!("  {line}"))?;
        }
        if !folded.lines.is_empty() {
            let text = format!("`eclusa changes show {} --all` shows every file", entry.call);
            screen.styled(Style::Faint, &format!("  {text}"))?;
        }
        Ok(())
    }

    /// What a call would have done whose changes were discarded.
    fn show_discarded(
        &self,
        call: u64,
        Details { patch, all }: Details,
        json: bool,
        screen: &mut Screen,
    ) -> Result<(), Failure> {
        let kept = self.workspace.pending_run(call);
        let changes = kept.map_err(|err| unavailable(call, &err))?.changes;
        let diff = Diff::of(&changes, &self.workspace, Bounds::default());
        if json {
            let value = json!({"call": call, "status": "discarded", "changes": diff.json()});
            return Ok(screen.json(&value)?);
        }
        if patch {
            return print_patch(&diff, screen);
        }
        let text = format!("call {call}: discarded, {}", diff.summary());
        screen.styled(Style::Strong, &text)?;
        let view = DiffView::on(&std::io::stdout()).indented(2);
        let view = if all { view.whole() } else { view };
        for line in view.lines(&diff.shown()) {
            screen.verbatim(Style::Plain, &format!("  {line}"))?;
        }
        let text = format!("  `eclusa changes apply {call}` applies it after all");
        Ok(screen.styled(Style::Faint, &text)?)
    }

    fn compact(&self, ctx: &AppContext, json: bool, screen: &mut Screen) -> Result<(), Failure> {
        let compacted = undo_retention::compact(&self.workspace, ctx.config.keep, &*self.store)?;
        let evicted: Vec<u64> = compacted.evicted.iter().map(|it| it.call).collect();
        if json {
            let value =
                json!({"packed": compacted.packed, "evicted": evicted, "bytes": compacted.bytes});
            return Ok(screen.json(&value)?);
        }
        screen.line(&format!(
            "packed: {}, no longer undoable: {}, undo history: {} bytes",
            compacted.packed.len(),
            evicted.len(),
            compacted.bytes
        ))?;
        Ok(())
    }
}

pub(super) fn print_patch(diff: &Diff<'_>, screen: &mut Screen) -> Result<(), Failure> {
    for line in diff.unified().lines() {
        let line = screen.sanitize_on_terminal(line).into_owned();
        screen.verbatim(diff_lines::style(&line), &line)?;
    }
    Ok(())
}

pub(in crate::commands) fn status(entry: &UndoEntry) -> String {
    match &entry.status {
        UndoStatus::Committed => "applied".to_owned(),
        UndoStatus::Undone { by } => format!("undone by {by}"),
        UndoStatus::Evicted => "applied, undo expired".to_owned(),
        UndoStatus::Irreversible(why) => format!("applied, cannot be undone: {}", one_line(why)),
    }
}

/// A call that changed something, for programs. Fields that do not apply are absent.
fn as_json(entry: &UndoEntry, past: &CallRecord) -> Value {
    let (word, by, why) = match &entry.status {
        UndoStatus::Committed => ("committed", None, None),
        UndoStatus::Undone { by } => ("rolled_back", Some(*by), None),
        UndoStatus::Evicted => ("evicted", None, None),
        UndoStatus::Irreversible(why) => ("irreversible", None, Some(why)),
    };
    let mut value = json!({
        "call": entry.call,
        "at": past.at(),
        "tool": past.tool(),
        "status": word,
    });
    let optional = [
        ("undone_by", by.map(Value::from)),
        ("undoes", (!entry.undoes.is_empty()).then(|| entry.undoes.clone().into())),
        ("why", why.map(|it| it.clone().into())),
    ];
    if let Some(fields) = value.as_object_mut() {
        let present = optional.into_iter().filter_map(|(name, it)| Some((name.to_owned(), it?)));
        fields.extend(present);
    }
    value
}

/// Why nothing of a call can be shown.
fn unavailable(call: u64, err: &PendingError) -> Failure {
    match err {
        PendingError::Unknown(_) => unknown(call)
            .hint("`eclusa changes --discarded` lists discarded changes; they are kept for a day"),
        err => Failure::failed(err),
    }
}
