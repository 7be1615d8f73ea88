//! `edit`: replaces one piece of text by another, exactly.

use std::borrow::Cow;

use eclusa::{
    Change, Changes, Facts, FileNode, Job, Node, Output, Scene, ToolError, Touch, TypedTool,
    one_line, workspace::files::PathState,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    edit_summary::EditSummary,
    file_tools::{self, CallContext, FileToolContext, display_path, let_go, write_change},
    text::{self, Decoded, Edit, EditError, Edited, Format, decode},
};

/// Edits a file of the workspace in one place, or everywhere.
#[derive(Debug, Clone)]
pub struct EditFile(FileToolContext);

impl EditFile {
    /// Edits in this context.
    pub fn new(context: FileToolContext) -> EditFile {
        EditFile(context)
    }
}

/// Which file, and what in it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct EditArgs {
    /// The file, relative to the workspace.
    path: String,
    /// The text that is there, exactly, with enough around it to be unique. Empty: the file is
    /// made.
    old_string: String,
    /// The text to replace it with.
    new_string: String,
    /// Replaces every occurrence.
    #[serde(skip_serializing_if = "Option::is_none")]
    replace_all: Option<bool>,
}

impl TypedTool for EditFile {
    type Args = EditArgs;
    const NAME: &'static str = "edit";

    fn description(&self, _: &Scene) -> String {
        "Replaces text in a file of the workspace. `old_string` must be there exactly, blanks \
         included, and only once unless `replace_all` is set; line ends are the file's own. The \
         answer shows the lines around the change. Example: {\"path\": \"src/main.rs\", \
         \"old_string\": \"let x = 1;\", \"new_string\": \"let x = 2;\"}"
            .to_owned()
    }

    fn facts(&self) -> Facts {
        let hint = "replace change modify text string in file";
        file_tools::facts(&["Edit", "edit_file", "str_replace", "FileEdit"], hint, "edit")
    }

    fn touches(&self, args: &EditArgs) -> Vec<Touch> {
        touches(&args.path)
    }

    async fn run(&self, args: EditArgs, job: &Job) -> Result<Output, ToolError> {
        let context = self.0.clone();
        let path = args.path.clone();
        file_tools::work_on(&self.0, &path, job, move |caller| {
            let edit = Edit {
                old_string: &args.old_string,
                new_string: &args.new_string,
                replace_all: args.replace_all.unwrap_or(false),
            };
            edited(&context, caller, &args.path, &[edit])
        })
        .await
    }
}

/// What an edit touches: it shows lines of the file, too.
pub(crate) fn touches(path: &str) -> Vec<Touch> {
    vec![Touch::Read(path.to_owned()), Touch::Write(path.to_owned())]
}

/// Makes all edits of a file, or none.
pub(crate) fn edited(
    context: &FileToolContext,
    caller: &CallContext,
    asked: &str,
    edits: &[Edit<'_>],
) -> Result<Output, ToolError> {
    let PathState { path, node } = context.found_to_show(caller, asked)?;
    let session = &caller.session;
    let old = match node {
        Some(Node::File(file)) => Some(file),
        _ => None,
    };
    match &old {
        Some(file) => context.is_fresh(session, &path, file)?,
        None if edits.first().is_some_and(|it| !it.old_string.is_empty()) => {
            let missing = context.files.missing(asked);
            let how = "an empty `old_string` makes the file";
            return Err(ToolError::new(format!("{missing} ({how})")));
        }
        None => {}
    }
    let (old, made) = match old {
        None => (None, made(None, Format::NEW, edits)),
        Some(file) => {
            let (file, made) = remade(file, edits);
            (Some(file), made)
        }
    };
    let EditedFile { content, replaced, around } = made.map_err(|err| ToolError {
        data: Some(json!({"path": display_path(&path), "edit": err.index.map(|it| it + 1)})),
        ..ToolError::new(format!("`{}`: {err}", one_line(asked)))
    })?;
    context.fits(asked, content.len())?;

    let parents = if old.is_some() { Vec::new() } else { context.parents(&path)? };
    let verb = if old.is_some() { "edited" } else { "made" };
    let name = display_path(&path);
    let linked = old.as_ref().and_then(|_| context.other_names(&path));
    let linked = linked.map(|it| format!("\n({it})")).unwrap_or_default();
    let change = write_change(&path, old, content);
    if let Some(after) = change.after.as_ref().and_then(Node::file) {
        let known = change.before.as_ref().and_then(Node::file);
        context.seen.proposed(session, &path, known, after.digest);
    }
    Ok(Output {
        text: format!("{verb} `{name}`: {}\n{}{linked}", around.counts(), around.lines),
        data: Some(json!({
            "path": name,
            "replaced": replaced,
            "added": around.added,
            "removed": around.removed,
        })),
        changes: Changes::of(parents.into_iter().chain([change]).collect::<Vec<Change>>()),
        ..Output::default()
    })
}

/// What edits make of a file.
struct EditedFile {
    content: Vec<u8>,
    replaced: Vec<usize>,
    around: EditSummary,
}

/// Edits what is in a file. Several copies of a large file are in memory at once, and so what is
/// not needed any more is let go: the bytes once they are text of another encoding, and the old
/// text before the new one becomes bytes.
fn remade(mut file: FileNode, edits: &[Edit<'_>]) -> (FileNode, Result<EditedFile, EditError>) {
    let bytes = file.bytes().unwrap_or_default();
    let (format, text) = match decode(bytes) {
        Ok(Decoded { text: Cow::Borrowed(text), format }) => {
            let format = if bytes.is_empty() { Format::NEW } else { format };
            let made = made(Some(Cow::Borrowed(text)), format, edits);
            return (let_go(file), made);
        }
        Ok(Decoded { text: Cow::Owned(text), format }) => (format, text),
        Err(err) => {
            let (of, fault) = (edits.len(), err.into());
            return (file, Err(EditError { index: None, of, fault }));
        }
    };
    file = let_go(file);
    (file, made(Some(Cow::Owned(text)), format, edits))
}

fn made(
    old: Option<Cow<'_, str>>,
    format: Format,
    edits: &[Edit<'_>],
) -> Result<EditedFile, EditError> {
    let Edited { content, replaced } = text::edit(old.as_deref(), edits)?;
    let around = EditSummary::of_text(old.as_deref().unwrap_or_default(), &content);
    drop(old);
    let content = format.encode_owned(content).map_err(|err| EditError {
        index: None,
        of: edits.len(),
        fault: err.into(),
    })?;
    Ok(EditedFile { content, replaced, around })
}
