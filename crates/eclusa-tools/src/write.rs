//! `write`: makes a file, replaces what is in it, or adds to its end.

use eclusa::{
    Change, Changes, FileNode, Job, Node, Output, Scene, ToolError, Touch, TypedTool, one_line,
    workspace::files::PathState,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    edit_summary::EditSummary,
    file_tools::{self, FileToolContext, counted, display_path, write_change},
    text::{Format, Newline, decode},
};

/// Writes whole files of the workspace.
#[derive(Debug, Clone)]
pub struct Write(FileToolContext);

impl Write {
    /// Writes in this context.
    pub fn new(context: FileToolContext) -> Write {
        Write(context)
    }
}

/// Which file, and what shall be in it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct WriteArgs {
    /// The file, relative to the workspace. Directories on the way are made.
    path: String,
    /// The text. Its line ends become those of the file, if there is one.
    content: String,
    /// Adds to the end of the file instead of replacing it.
    #[serde(skip_serializing_if = "Option::is_none")]
    append: Option<bool>,
    /// Another way to say `append`.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<WriteMode>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum WriteMode {
    Overwrite,
    Append,
}

impl WriteArgs {
    fn appends(&self) -> Result<bool, ToolError> {
        match (self.append, self.mode.map(|it| it == WriteMode::Append)) {
            (Some(append), Some(mode)) if append != mode => {
                Err(ToolError::new("`append` and `mode` contradict each other; give one of them"))
            }
            (append, mode) => Ok(append.or(mode).unwrap_or(false)),
        }
    }
}

impl TypedTool for Write {
    type Args = WriteArgs;
    const NAME: &'static str = "write";

    fn description(&self, _: &Scene) -> String {
        "Writes a file of the workspace: makes it, with the directories on the way, or replaces \
         all that is in it; with `append` it adds to the end. To change a part of a file use \
         `edit`. Example: {\"path\": \"docs/notes.md\", \"content\": \"# Notes\\n\"}"
            .to_owned()
    }

    fn facts(&self) -> eclusa::Facts {
        let hint = "create make save overwrite append new file content";
        file_tools::facts(&["write_file", "Write", "FileWrite"], hint, "write")
    }

    fn touches(&self, args: &WriteArgs) -> Vec<Touch> {
        vec![Touch::Write(args.path.clone())]
    }

    async fn run(&self, args: WriteArgs, job: &Job) -> Result<Output, ToolError> {
        let append = args.appends()?;
        let context = self.0.clone();
        file_tools::work(job, move |caller| written(&context, &caller.session, &args, append)).await
    }
}

fn written(
    context: &FileToolContext,
    session: &str,
    args: &WriteArgs,
    append: bool,
) -> Result<Output, ToolError> {
    context.fits(&args.path, args.content.len())?;
    let PathState { path, node } = context.found(&args.path)?;
    let old = match node {
        Some(Node::File(file)) => Some(file),
        _ => None,
    };
    if let Some(file) = old.as_ref().filter(|_| !append) {
        context.is_fresh(session, &path, file)?;
    }
    let bytes = old.as_ref().and_then(FileNode::bytes).unwrap_or_default();
    let (content, remark) = match append {
        true => (longer(bytes, args)?, None),
        false => replaced(bytes, &args.content),
    };
    context.fits(&args.path, content.len())?;

    let name = display_path(&path);
    let size = content.len();
    let around = old.as_ref().and_then(|_| EditSummary::new(bytes, &content));
    let parents = if old.is_some() { Vec::new() } else { context.parents(&path)? };
    let made: Vec<String> =
        parents.iter().map(|it| format!("`{}`", display_path(&it.path))).collect();
    let (before, is_new) = (old.as_ref().map(|it| it.digest), old.is_none());
    let change = write_change(&path, old, content);
    let digest = change.after.as_ref().and_then(Node::file).map(|it| it.digest);
    if let Some(digest) = digest {
        let known = change.before.as_ref().and_then(Node::file);
        context.seen.proposed(session, &path, known, digest);
    }
    let mut text = match (is_new, append) {
        _ if before.is_some() && before == digest => {
            format!("`{name}` has this content already; nothing was changed")
        }
        (true, _) => format!("made `{name}` ({})", counted(size as u64, "byte", "bytes")),
        (false, append) => {
            let verb = if append { "appended to" } else { "wrote" };
            let counts = around.as_ref().map(|it| format!(": {}", it.counts()));
            let size = counted(size as u64, "byte", "bytes");
            format!("{verb} `{name}`{} ({size})", counts.unwrap_or_default())
        }
    };
    if !made.is_empty() {
        let directories = if made.len() == 1 { "directory" } else { "directories" };
        text.push_str(&format!(", and the {directories} {}", made.join(", ")));
    }
    let linked = (!is_new && before != digest).then(|| context.other_names(&path)).flatten();
    for remark in [remark, linked].into_iter().flatten() {
        text.push_str(&format!("\n({remark})"));
    }
    let lines = around.map(|it| json!({"added": it.added, "removed": it.removed}));
    Ok(Output {
        text,
        data: Some(json!({"path": name, "made": is_new, "bytes": size, "lines": lines})),
        changes: Changes::of(parents.into_iter().chain([change]).collect::<Vec<Change>>()),
        ..Output::default()
    })
}

/// The content in the encoding and with the line ends of what it replaces, as far as it can be.
fn replaced(old: &[u8], content: &str) -> (Vec<u8>, Option<String>) {
    let plain = |remark| (content.as_bytes().to_vec(), remark);
    let Ok(decoded) = decode(old) else { return plain(None) };
    if old.is_empty() {
        return plain(None);
    }
    // A text with line ends like these means them.
    let text = match content.contains("\r\n") {
        true => content.into(),
        false => Newline::detect(&decoded.text).dress(content),
    };
    let marked = text.starts_with('\u{FEFF}');
    let format = Format { bom: decoded.format.bom && !marked, ..decoded.format };
    match format.encode(&text) {
        Ok(bytes) => (bytes, None),
        Err(_) => {
            let was = decoded.format.encoding;
            (text.as_bytes().to_vec(), Some(format!("the file was {was} and is UTF-8 now")))
        }
    }
}

/// What is there, and the content after it.
fn longer(old: &[u8], args: &WriteArgs) -> Result<Vec<u8>, ToolError> {
    let mut bytes = old.to_vec();
    let Ok(decoded) = decode(old) else {
        bytes.extend_from_slice(args.content.as_bytes());
        return Ok(bytes);
    };
    let text = match args.content.contains("\r\n") {
        true => args.content.as_str().into(),
        false => Newline::detect(&decoded.text).dress(&args.content),
    };
    let format = Format { bom: false, ..decoded.format };
    let added = format.encode(&text).map_err(|err| {
        let path = one_line(&args.path);
        ToolError::new(format!("cannot append to `{path}`: {err}"))
    })?;
    bytes.extend_from_slice(&added);
    Ok(bytes)
}
