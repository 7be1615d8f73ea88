//! `eclusa disk`: what the program keeps, and how much of it can go.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use serde_json::json;

use crate::{
    context::AppContext,
    failure::{Exit, Failure},
    screen::{Screen, Style, sanitize},
    shell, undo_retention,
};

/// Show what Eclusa keeps on this disk, and clean up
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eclusa disk                                   what is kept of this workspace, and the limits
  eclusa disk --clean                           remove what is no longer needed, and list it

--clean removes leftovers of commands that died, compresses the undo history and brings it within \
undo.keep, and deletes copies of stores of older versions. It names the calls that can no longer be \
undone. The log, sessions and pending runs stay: docs/privacy.md says how to erase them.")]
pub(crate) struct DiskArgs {
    /// Remove what is no longer needed
    #[arg(long)]
    clean: bool,
}

/// Something that is kept.
struct DiskUse {
    what: &'static str,
    bytes: u64,
    bound: String,
}

pub(super) fn run(ctx: &AppContext, args: &DiskArgs, json: bool) -> Result<Exit, Failure> {
    let before = kept(ctx);
    let cleaned = if args.clean { Some(clean(ctx)?) } else { None };
    let after = if args.clean { kept(ctx) } else { before };
    let mut screen = Screen::stdout();
    let total: u64 = after.iter().map(|it| it.bytes).sum();
    if json {
        let kept: Vec<_> = after
            .iter()
            .map(|it| json!({"what": it.what, "bytes": it.bytes, "bound": it.bound}))
            .collect();
        let value = json!({"kept": kept, "bytes": total, "cleaned": cleaned});
        screen.json(&value)?;
    } else {
        let rows = after
            .iter()
            .filter(|it| it.bytes > 0)
            .map(|it| vec![it.what.to_owned(), in_words(it.bytes), sanitize(&it.bound)]);
        let head = ["what", "size", "bound"].map(str::to_owned).to_vec();
        screen.headed_table(&std::iter::once(head).chain(rows).collect::<Vec<_>>())?;
        screen.styled(Style::Strong, &format!("{} in all", in_words(total)))?;
        for line in cleaned.iter().flatten() {
            screen.line(&sanitize(line))?;
        }
    }
    screen.flush()?;
    Ok(Exit::Done)
}

/// What is kept of this workspace, then of others and of servers and agents.
fn kept(ctx: &AppContext) -> Vec<DiskUse> {
    let (undo, keep) = (ctx.paths.undo(), ctx.config.keep);
    let own = ctx.paths.store.parent().unwrap_or(&undo);
    let below = |names: &[&str]| names.iter().map(|it| size(&undo.join(it))).sum::<u64>();
    let files = |is_it: fn(&str) -> bool| -> u64 {
        let all = fs::read_dir(own).into_iter().flatten().flatten();
        let chosen = all.filter(|it| it.file_name().to_str().is_some_and(is_it));
        chosen.map(|it| size(&it.path())).sum()
    };
    let of_others = || {
        let all = ctx.paths.state().and_then(|it| fs::read_dir(it).ok()).into_iter().flatten();
        let others = all.flatten().filter(|it| it.path() != *own);
        others.map(|it| size(&it.path())).sum()
    };
    let forever = "until it is erased";
    let row = |what, bytes, bound: &str| DiskUse { what, bytes, bound: bound.to_owned() };
    vec![
        row("log, approvals, sessions and saved output", files(is_store), forever),
        row("copies of older stores", files(is_old_store), "until a clean"),
        row("undo history", below(&["done", "store", "open"]), &in_words(keep.bytes)),
        row("pending and discarded runs", below(&["pending"]), "approvals.keep"),
        row("rescued after a crash", below(&["rescued"]), forever),
        row("jobs and their output", below(&["jobs", "sessions"]), "as long as they run"),
        row(
            "layers, caches and /tmp of commands",
            below(&["stages", "caches", "tmp"]),
            "commands.disk",
        ),
        row("other workspaces, tickets and people", of_others(), "as in this one"),
        row("homes of servers", size(&ctx.paths.homes()), "until a server is removed"),
        row("homes of guarded agents", size(&ctx.paths.agent_homes()), forever),
    ]
}

fn is_old_store(name: &str) -> bool {
    name.starts_with("eclusa.db.format-")
}

fn is_store(name: &str) -> bool {
    name.starts_with("eclusa.db") && !is_old_store(name)
}

/// Takes away what nobody needs, and says what that was.
fn clean(ctx: &AppContext) -> Result<Vec<String>, Failure> {
    let mut told = Vec::new();
    shell::sweep(&ctx.sandboxes(&[])?);
    if ctx.paths.undo().exists() {
        let (workspace, store) = (ctx.workspace()?, ctx.store()?);
        undo_retention::recover(&workspace, &*store)?;
        let compacted = undo_retention::compact(&workspace, ctx.config.keep, &*store)?;
        let evicted: Vec<u64> = compacted.evicted.iter().map(|it| it.call).collect();
        if !evicted.is_empty() {
            told.push(format!("no longer undoable: {}", undo_retention::calls(&evicted)));
        }
        if !compacted.packed.is_empty() {
            told.push(format!("packed for undo: {}", undo_retention::calls(&compacted.packed)));
        }
    }
    let own = ctx.paths.store.parent().and_then(|it| fs::read_dir(it).ok());
    for file in own.into_iter().flatten().flatten() {
        if file.file_name().to_str().is_some_and(is_old_store) {
            #[expect(clippy::disallowed_methods, reason = "a file of ours, in no workspace")]
            fs::remove_file(file.path()).map_err(Failure::failed)?;
            told.push(format!("deleted the copy `{}`", file.path().display()));
        }
    }
    if told.is_empty() {
        told.push("nothing else could go".to_owned());
    }
    Ok(told)
}

/// What a file or a tree takes on the disk. Links are not followed.
fn size(path: &Path) -> u64 {
    let Ok(about) = fs::symlink_metadata(path) else { return 0 };
    let own = about.blocks() * 512;
    if !about.is_dir() {
        return own;
    }
    let below = fs::read_dir(path).into_iter().flatten().flatten();
    own + below.map(|it| size(&it.path())).sum::<u64>()
}

/// `3.4 MB`: a number that people compare.
fn in_words(bytes: u64) -> String {
    let units = [("GB", 1_u64 << 30), ("MB", 1 << 20), ("kB", 1 << 10)];
    match units.iter().find(|it| bytes >= it.1) {
        Some((unit, one)) => {
            let tenths = bytes.saturating_mul(10) / one;
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} bytes"),
    }
}
