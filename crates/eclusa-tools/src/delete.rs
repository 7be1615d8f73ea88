//! `delete`: deletes a file, a link, or a directory with all that is in it.

use eclusa::{Change, Changes, Facts, Job, Node, Output, Scene, ToolError, Touch, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    file_tools::{self, FileToolContext, counted, display_path, refused},
    tree::tree,
};

/// Deletes things of the workspace.
#[derive(Debug, Clone)]
pub struct Delete(FileToolContext);

impl Delete {
    /// Deletes in this context.
    pub fn new(context: FileToolContext) -> Delete {
        Delete(context)
    }
}

/// What to delete.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct DeleteArgs {
    /// The file, link or directory, relative to the workspace. Of a link, the link itself.
    path: String,
    /// Needed for a directory that is not empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    recursive: Option<bool>,
}

impl TypedTool for Delete {
    type Args = DeleteArgs;
    const NAME: &'static str = "delete";

    fn description(&self, _: &Scene) -> String {
        "Deletes a file of the workspace, or with `recursive` a directory and everything in it. Deletes \
        a link itself, never its target. Example: \
         {\"path\": \"build/old.log\"}"
            .to_owned()
    }

    fn facts(&self) -> Facts {
        let hint = "remove erase unlink rm file directory";
        let facts = file_tools::facts(&["delete_file", "Delete", "remove_file"], hint, "delete");
        Facts { destructive: true, ..facts }
    }

    fn touches(&self, args: &DeleteArgs) -> Vec<Touch> {
        vec![Touch::Write(args.path.clone())]
    }

    async fn run(&self, args: DeleteArgs, job: &Job) -> Result<Output, ToolError> {
        let context = self.0.clone();
        let recursive = args.recursive.unwrap_or(false);
        file_tools::work(job, move |_| deleted(&context, &args.path, recursive)).await
    }
}

fn deleted(context: &FileToolContext, asked: &str, recursive: bool) -> Result<Output, ToolError> {
    let found = context.files.entry(asked, 0).map_err(refused)?;
    let Some(node) = found.node else { return Err(refused(context.files.missing(asked))) };
    let (name, kind) = (display_path(&found.path), node.kind());
    if matches!(node, Node::Directory { .. }) && !recursive {
        let mut listing =
            context.files.directory(file_tools::asked(&found.path)).map_err(refused)?;
        if listing.next().is_some() || listing.blocked() > 0 {
            return Err(ToolError::new(format!(
                "`{name}` is a directory and not empty; set `recursive` to delete all that is in \
                 it"
            )));
        }
    }
    let all = tree(context, &found.path, node)?;
    let inside = all.len() as u64 - 1;
    let changes = all.into_iter().map(|(path, node)| Change {
        path,
        from: None,
        before: Some(node),
        after: None,
    });
    let changes = Changes::of(changes.collect::<Vec<_>>());
    let text = match (kind, inside) {
        ("directory", inside) => {
            let inside = counted(inside, "thing", "things");
            format!("deleted the directory `{name}` and {inside} in it")
        }
        (kind, _) => format!("deleted the {kind} `{name}`"),
    };
    Ok(Output {
        text,
        data: Some(json!({"path": name, "kind": kind, "deleted": changes.len()})),
        changes,
        ..Output::default()
    })
}
