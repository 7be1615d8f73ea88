//! `edit`: replaces one piece of text by another, exactly.

use eclusa::{
    Change, Changes, Facts, FileNode, Job, Node, Output, Scene, ToolError, Touch, TypedTool,
    files::Found, one_line,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    around::Around,
    hands::{self, Hands, put, shown},
    text::{Edit, edit_bytes},
};

/// Edits a file of the workspace in one place, or everywhere.
#[derive(Debug, Clone)]
pub struct EditFile(Hands);

impl EditFile {
    /// Edits with these hands.
    pub fn new(hands: Hands) -> EditFile {
        EditFile(hands)
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
    /// The text that shall be there instead.
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
        hands::facts(&["Edit", "edit_file", "str_replace"], hint, "edit")
    }

    fn touches(&self, args: &EditArgs) -> Vec<Touch> {
        touches(&args.path)
    }

    async fn run(&self, args: EditArgs, job: &Job) -> Result<Output, ToolError> {
        let hands = self.0.clone();
        hands::work(job, move |conversation| {
            let edit = Edit {
                old_string: &args.old_string,
                new_string: &args.new_string,
                replace_all: args.replace_all.unwrap_or(false),
            };
            edited(&hands, conversation, &args.path, &[edit])
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
    hands: &Hands,
    conversation: &str,
    asked: &str,
    edits: &[Edit<'_>],
) -> Result<Output, ToolError> {
    let Found { path, node } = hands.found(asked)?;
    let old = match node {
        Some(Node::File(file)) => Some(file),
        _ => None,
    };
    match &old {
        Some(file) => hands.is_fresh(conversation, &path, file)?,
        None if edits.first().is_some_and(|it| !it.old_string.is_empty()) => {
            let missing = hands.files.missing(asked);
            let how = "an empty `old_string` makes the file";
            return Err(ToolError::new(format!("{missing} ({how})")));
        }
        None => {}
    }
    let bytes = old.as_ref().and_then(FileNode::bytes);
    let made = edit_bytes(bytes, edits).map_err(|err| ToolError {
        data: Some(json!({"path": shown(&path), "edit": err.index.map(|it| it + 1)})),
        ..ToolError::new(format!("`{}`: {err}", one_line(asked)))
    })?;
    hands.fits(asked, made.content.len())?;

    let around = Around::of(bytes.unwrap_or_default(), &made.content).unwrap_or_default();
    let parents = if old.is_some() { Vec::new() } else { hands.parents(&path)? };
    let verb = if old.is_some() { "edited" } else { "made" };
    let name = shown(&path);
    let change = put(&path, old, made.content);
    if let Some(after) = change.after.as_ref().and_then(Node::file) {
        let known = change.before.as_ref().and_then(Node::file);
        hands.seen.proposed(conversation, &path, known, after.digest);
    }
    Ok(Output {
        text: format!("{verb} `{name}`: {}\n{}", around.counts(), around.lines),
        data: Some(json!({
            "path": name,
            "replaced": made.replaced,
            "added": around.added,
            "removed": around.removed,
        })),
        changes: Changes::of(parents.into_iter().chain([change]).collect::<Vec<Change>>()),
        ..Output::default()
    })
}
