//! `move`: gives a file or a directory another path.

use std::path::{Path, PathBuf};

use eclusa::{
    Change, Changes, Facts, FileNode, Job, Node, Output, Scene, ToolError, Touch, TypedTool,
    workspace::Content,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    file_tools::{self, FileToolContext, counted, display_path, refused},
    tree::tree,
};

/// Moves things of the workspace.
#[derive(Debug, Clone)]
pub struct Move(FileToolContext);

impl Move {
    /// Moves in this context.
    pub fn new(context: FileToolContext) -> Move {
        Move(context)
    }
}

/// What to move, and where.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct MoveArgs {
    /// The file, link or directory, relative to the workspace.
    from: String,
    /// Its new path, name included. Directories on the way are made.
    to: String,
    /// Replaces a file that is at the new path.
    #[serde(skip_serializing_if = "Option::is_none")]
    overwrite: Option<bool>,
}

impl TypedTool for Move {
    type Args = MoveArgs;
    const NAME: &'static str = "move";

    fn description(&self, _: &Scene) -> String {
        "Moves or renames a file or directory of the workspace. `to` is the whole new path, and \
         nothing may be there unless `overwrite` is set. Example: {\"from\": \"src/old.rs\", \
         \"to\": \"src/new.rs\"}"
            .to_owned()
    }

    fn facts(&self) -> Facts {
        let hint = "rename mv file directory to another path";
        file_tools::facts(&["move_file", "rename", "rename_file"], hint, "move")
    }

    fn touches(&self, args: &MoveArgs) -> Vec<Touch> {
        // Who may not read a file may not put it where they may.
        vec![
            Touch::Read(args.from.clone()),
            Touch::Write(args.from.clone()),
            Touch::Write(args.to.clone()),
        ]
    }

    async fn run(&self, args: MoveArgs, job: &Job) -> Result<Output, ToolError> {
        let context = self.0.clone();
        let output = file_tools::work(job, move |_| moved(&context, &args)).await?;
        let gone = output.changes.iter().filter(|it| it.after.is_none());
        match gone.into_iter().find(|it| job.is_hidden(&it.path)) {
            None => Ok(output),
            Some(hidden) => Err(ToolError::new(format!(
                "`{}` may not be read here, and so it is not moved either; move what else is \
                 beside it",
                display_path(&hidden.path)
            ))),
        }
    }
}

fn moved(context: &FileToolContext, args: &MoveArgs) -> Result<Output, ToolError> {
    let source = context.files.entry(&args.from, 0).map_err(refused)?;
    let Some(node) = source.node else { return Err(refused(context.files.missing(&args.from))) };
    let target = context.files.entry(args.to.trim_end_matches('/'), 0).map_err(refused)?;
    let (from, to) = (&source.path, &target.path);
    let (old_name, new_name) = (display_path(from), display_path(to));
    if from == to {
        return Err(ToolError::new(format!("`{old_name}` exists already; name another path")));
    }
    if to.starts_with(from) {
        return Err(ToolError::new(format!(
            "`{old_name}` cannot be moved into itself; name a path outside it"
        )));
    }
    match &target.node {
        Some(Node::Directory { .. }) => {
            let name = display_path(Path::new(from.file_name().unwrap_or_default()));
            return Err(ToolError::new(format!(
                "`{new_name}` is a directory; name the whole new path, such as `{new_name}/{name}`"
            )));
        }
        Some(_) if !args.overwrite.unwrap_or(false) => {
            return Err(ToolError::new(format!(
                "`{new_name}` exists already; set `overwrite` to replace it, or name another path"
            )));
        }
        Some(_) if matches!(node, Node::Directory { .. }) => {
            return Err(ToolError::new(format!(
                "`{new_name}` is there, and a directory cannot replace it; name another path"
            )));
        }
        _ => {}
    }
    let kind = node.kind();
    let parents = if target.node.is_some() { Vec::new() } else { context.parents(to)? };
    let all = tree(context, from, node)?;
    let inside = all.len() as u64 - 1;
    // Of each move the departure stands before the arrival.
    let mut changes: Vec<Change> = Vec::with_capacity(2 * all.len() + parents.len());
    changes.extend(all.iter().map(|(path, node)| leaves(path, node)));
    changes.extend(parents);
    for (path, node) in all {
        let there = path.strip_prefix(from).ok().filter(|it| !it.as_os_str().is_empty());
        let there = there.map_or_else(|| to.clone(), |it| to.join(it));
        let before = if there == *to { target.node.clone() } else { None };
        changes.push(arrives(there, path, before, node));
    }
    let inside = match kind {
        "directory" => format!(" and {} in it", counted(inside, "thing", "things")),
        _ => String::new(),
    };
    Ok(Output {
        text: format!("moved the {kind} `{old_name}`{inside} to `{new_name}`"),
        data: Some(json!({"from": old_name, "to": new_name, "kind": kind})),
        changes: Changes::of(changes),
        ..Output::default()
    })
}

fn leaves(path: &Path, node: &Node) -> Change {
    Change { path: path.to_owned(), from: None, before: Some(node.clone()), after: None }
}

fn arrives(path: PathBuf, from: PathBuf, before: Option<Node>, node: Node) -> Change {
    let after = match node {
        // The content is read where it is, when the move becomes real.
        Node::File(file) => Node::File(FileNode { content: Content::InPlace, stamp: None, ..file }),
        other => other,
    };
    Change { path, from: Some(from), before, after: Some(after) }
}
