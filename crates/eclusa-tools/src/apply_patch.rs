//! `apply_patch`: a patch over any number of files, all of them or none.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt::Write as _,
    path::PathBuf,
};

use eclusa::{
    Change, Changes, Facts, FileNode, Job, Node, Output, Scene, ToolError, Touch, TypedTool,
    workspace::files::PathState,
};
use memchr::memchr_iter;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    edit_summary::EditSummary,
    file_tools::{
        self, CallContext, FileToolContext, counted, display_path, refused, write_change,
    },
    patch::{FilePatch, Kind, Outcome, apply_all, parse},
};

/// The bits that let a file be run: all that a patch says of permissions.
const EXECUTE: u32 = 0o111;

/// What a patch may take of memory, at about so much for each byte of a file that is UTF-8 or
/// not, and for each of its lines.
const ROOM: u64 = 56 << 20;
const OF_UTF8: u64 = 4;
const OF_OTHER: u64 = 8;
const OF_A_LINE: u64 = 16;

/// Applies patches to the workspace.
#[derive(Debug, Clone)]
pub struct ApplyPatch(FileToolContext);

impl ApplyPatch {
    /// Applies patches in this context.
    pub fn new(context: FileToolContext) -> ApplyPatch {
        ApplyPatch(context)
    }
}

/// The patch.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct ApplyPatchArgs {
    /// A unified diff, or a patch that begins with `*** Begin Patch`. Paths are relative to the
    /// workspace.
    patch: String,
}

impl TypedTool for ApplyPatch {
    type Args = ApplyPatchArgs;
    const NAME: &'static str = "apply_patch";

    fn description(&self, _: &Scene) -> String {
        "Applies a patch to files of the workspace: a unified diff (as `git diff` writes it), or \
         the `*** Begin Patch` form. It makes, changes, moves and deletes files: all of them, or \
         none if any hunk does not fit. Example: {\"patch\": \"--- a/x.txt\\n+++ b/x.txt\\n@@ -1 \
         +1 @@\\n-old\\n+new\\n\"}"
            .to_owned()
    }

    fn facts(&self) -> Facts {
        let hint = "diff patch unified git apply several files";
        file_tools::facts(&["ApplyPatch", "patch"], hint, "edit")
    }

    fn touches(&self, args: &ApplyPatchArgs) -> Vec<Touch> {
        match parse(&args.patch) {
            Ok(files) => files.iter().flat_map(touched).collect(),
            // What is no patch changes nothing, and the answer says what is wrong with it. Nobody
            // need be asked about that.
            Err(_) => vec![Touch::Read(".".to_owned())],
        }
    }

    async fn run(&self, args: ApplyPatchArgs, job: &Job) -> Result<Output, ToolError> {
        let context = self.0.clone();
        file_tools::work(job, move |caller| patched(&context, caller, &args.patch)).await
    }
}

/// What the patch of one file touches. Rejects show lines of the file.
fn touched(file: &FilePatch) -> Vec<Touch> {
    let write = |it: &str| Touch::Write(it.to_owned());
    let read = |it: &str| Touch::Read(it.to_owned());
    let source = file.source();
    match file.kind {
        Kind::Add | Kind::Delete => vec![write(&file.path)],
        Kind::Update => vec![read(source), write(&file.path)],
        Kind::Copy => vec![read(source), write(&file.path)],
        Kind::Move => vec![read(source), write(source), write(&file.path)],
    }
}

fn patched(
    context: &FileToolContext,
    caller: &CallContext,
    patch: &str,
) -> Result<Output, ToolError> {
    let files = parse(patch).map_err(|err| ToolError::new(err.to_string()))?;
    let mut ground = Ground::new(context, caller);
    for file in files.iter().filter(|it| matches!(it.kind, Kind::Delete | Kind::Move)) {
        ground.is_no_link(file.source())?;
    }
    let outcomes = apply_all(&files, |name| {
        let found = ground.found(name).map_err(|err| err.message)?;
        Ok(found.node.as_ref().and_then(Node::file).and_then(FileNode::bytes).map(<[u8]>::to_vec))
    });
    let outcomes = outcomes
        .map_err(|err| ToolError { output: String::new(), ..ToolError::new(err.to_string()) })?;
    let mut made = PatchedWorkspace::default();
    // Of each move the departure stands before the arrival.
    let (gone, put): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(|it| it.content.is_none());
    let left: HashSet<String> = gone.iter().map(|it| it.path.clone()).collect();
    for outcome in gone.into_iter().chain(put) {
        ground.settle(outcome, &left, &mut made)?;
    }
    for (path, before, after) in &made.proposed {
        context.seen.proposed(&caller.session, path, before.as_ref(), *after);
    }
    Ok(made.output())
}

/// The files that a patch speaks of, each looked at once.
struct Ground<'a> {
    context: &'a FileToolContext,
    caller: &'a CallContext,
    found: HashMap<String, PathState>,
    /// Which name of the patch leads to a file.
    names: HashMap<PathBuf, String>,
    room: u64,
}

impl<'a> Ground<'a> {
    fn new(context: &'a FileToolContext, caller: &'a CallContext) -> Ground<'a> {
        Ground { context, caller, found: HashMap::new(), names: HashMap::new(), room: 0 }
    }

    fn found(&mut self, name: &str) -> Result<&PathState, ToolError> {
        if !self.found.contains_key(name) {
            let found = self.context.found_to_show(self.caller, name)?;
            if let Some(other) = self.names.insert(found.path.clone(), name.to_owned()) {
                return Err(ToolError::new(format!(
                    "the patch calls the same file `{other}` and `{name}`; use one name for it"
                )));
            }
            self.room += found.node.as_ref().and_then(Node::file).map_or(0, room);
            if self.room > ROOM {
                return Err(ToolError::new(format!(
                    "the files of the patch are too large together, `{name}` among them; apply \
                     it in parts, or use `edit`"
                )));
            }
            self.found.insert(name.to_owned(), found);
        }
        self.found.get(name).ok_or_else(|| ToolError::new("a file was lost; try again"))
    }

    /// What is deleted or moved must be what has the name, and not what a link leads to.
    fn is_no_link(&self, name: &str) -> Result<(), ToolError> {
        match self.context.files.entry(name, 0).map_err(refused)?.node {
            Some(Node::Link { .. }) => Err(ToolError::new(format!(
                "`{name}` is a link, which a patch neither deletes nor moves; use `delete` or \
                 `move` for it"
            ))),
            _ => Ok(()),
        }
    }

    /// Makes a change of what becomes of a path.
    fn settle(
        &mut self,
        outcome: Outcome,
        left: &HashSet<String>,
        made: &mut PatchedWorkspace,
    ) -> Result<(), ToolError> {
        let origin = match &outcome.from {
            Some(from) => {
                let found = self.found(from)?;
                let mode = found.node.as_ref().and_then(Node::file).map(|it| it.mode);
                Some((found.path.clone(), mode)).filter(|_| from != &outcome.path)
            }
            None => None,
        };
        let (context, found) = (self.context, self.found(&outcome.path)?);
        let old = found.node.as_ref().and_then(Node::file).cloned();
        let path = found.path.clone();
        let Some(content) = outcome.content else {
            made.delete(path, old);
            return Ok(());
        };
        context.fits(&outcome.path, content.len())?;
        if old.is_none() {
            made.parents(context.parents(&path)?);
        }
        let bytes = old.as_ref().and_then(FileNode::bytes).unwrap_or_default();
        let around = match &origin {
            Some(_) => None,
            None => EditSummary::new(bytes, &content),
        };
        let mut change = write_change(&path, old, content);
        let moved = outcome.from.as_ref().is_some_and(|it| left.contains(it));
        change.from = origin.as_ref().filter(|_| moved).map(|(path, _)| path.clone());
        if let Some(Node::File(file)) = &mut change.after {
            let mode = origin.and_then(|(_, mode)| mode).unwrap_or(file.mode);
            file.mode = match outcome.new_mode {
                // Whoever may not read it may not run it either.
                Some(new) => mode & !EXECUTE & 0o1777 | new & EXECUTE & (mode >> 2),
                None => mode & 0o1777,
            };
        }
        let linked = change.before.as_ref().and_then(|_| context.other_names(&path));
        let notes = outcome.notes.iter().map(ToString::to_string).chain(linked).collect();
        made.add(change, around, notes);
        Ok(())
    }
}

/// How much memory a patch of this file takes, about.
fn room(file: &FileNode) -> u64 {
    let bytes = file.bytes().unwrap_or_default();
    let lines = memchr_iter(b'\n', bytes).count() as u64;
    let each = if std::str::from_utf8(bytes).is_ok() { OF_UTF8 } else { OF_OTHER };
    file.size.saturating_mul(each).saturating_add(lines.saturating_mul(OF_A_LINE))
}

/// What the patch makes of the workspace, and what is said about it.
#[derive(Default)]
struct PatchedWorkspace {
    changes: Vec<Change>,
    directories: BTreeMap<PathBuf, Change>,
    proposed: Vec<(PathBuf, Option<FileNode>, eclusa::workspace::ContentDigest)>,
    told: Vec<String>,
    added: u64,
    removed: u64,
}

impl PatchedWorkspace {
    fn delete(&mut self, path: PathBuf, old: Option<FileNode>) {
        let before = old.map(|it| Node::File(file_tools::let_go(it)));
        self.changes.push(Change { path, from: None, before, after: None });
    }

    fn parents(&mut self, parents: Vec<Change>) {
        self.directories.extend(parents.into_iter().map(|it| (it.path.clone(), it)));
    }

    fn add(&mut self, change: Change, around: Option<EditSummary>, notes: Vec<String>) {
        let name = display_path(&change.path);
        let mut told = match (&change.from, &change.before) {
            (Some(from), _) => format!("moved `{}` to `{name}`", display_path(from)),
            (None, None) => format!("made `{name}`"),
            (None, Some(_)) => format!("changed `{name}`"),
        };
        if let Some(around) = around {
            self.added += around.added;
            self.removed += around.removed;
            let _ = write!(told, ": {}", around.counts());
        }
        for note in notes {
            let _ = write!(told, "\n  {note}");
        }
        self.told.push(told);
        if let Some(after) = change.after.as_ref().and_then(Node::file) {
            let before = change.before.as_ref().and_then(Node::file).cloned();
            self.proposed.push((change.path.clone(), before, after.digest));
        }
        self.changes.push(change);
    }

    fn output(self) -> Output {
        let moved: HashSet<&PathBuf> =
            self.changes.iter().filter_map(|it| it.from.as_ref()).collect();
        let deleted = self.changes.iter().filter(|it| it.after.is_none());
        let deleted =
            deleted.filter(|it| !moved.contains(&it.path)).map(|it| display_path(&it.path));
        let mut told = self.told;
        told.extend(deleted.map(|it| format!("deleted `{it}`")));
        let files = told.len() as u64;
        let mut text = format!("applied the patch to {}\n", counted(files, "file", "files"));
        text.push_str(&told.join("\n"));
        let data = json!({"files": files, "added": self.added, "removed": self.removed});
        let changes = self.directories.into_values().chain(self.changes).collect::<Vec<_>>();
        Output { text, data: Some(data), changes: Changes::of(changes), ..Output::default() }
    }
}
