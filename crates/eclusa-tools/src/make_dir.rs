//! `make_dir`: makes a directory, with those on the way to it.

use eclusa::{Changes, Facts, Job, Node, Output, Scene, ToolError, Touch, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::file_tools::{self, FileToolContext, display_path, make_directory, refused};

/// Makes directories of the workspace.
#[derive(Debug, Clone)]
pub struct MakeDir(FileToolContext);

impl MakeDir {
    /// Makes directories in this context.
    pub fn new(context: FileToolContext) -> MakeDir {
        MakeDir(context)
    }
}

/// Which directory.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct MakeDirArgs {
    /// The directory, relative to the workspace. Those on the way are made, too.
    path: String,
}

impl TypedTool for MakeDir {
    type Args = MakeDirArgs;
    const NAME: &'static str = "make_dir";

    fn description(&self, _: &Scene) -> String {
        "Makes a directory in the workspace, with those on the way to it. An existing one is left \
        alone. `write` makes the directories that it needs by itself. \
         Example: {\"path\": \"src/api\"}"
            .to_owned()
    }

    fn facts(&self) -> Facts {
        let hint = "create new directory folder mkdir";
        file_tools::facts(&["mkdir", "make_directory", "create_directory"], hint, "create")
    }

    fn touches(&self, args: &MakeDirArgs) -> Vec<Touch> {
        vec![Touch::Write(args.path.clone())]
    }

    async fn run(&self, args: MakeDirArgs, job: &Job) -> Result<Output, ToolError> {
        let context = self.0.clone();
        file_tools::work(job, move |_| made(&context, &args.path)).await
    }
}

fn made(context: &FileToolContext, asked: &str) -> Result<Output, ToolError> {
    // A slash at the end says that a directory is meant, which is meant anyway.
    let bare = asked.trim_end_matches('/');
    let asked = if bare.is_empty() { asked } else { bare };
    if matches!(context.files.name(asked), Ok(name) if name.as_os_str() == ".") {
        return Ok(there("."));
    }
    let found = context.files.node(asked, 0).map_err(refused)?;
    let name = display_path(&found.path);
    match &found.node {
        Some(Node::Directory { .. }) => return Ok(there(&name)),
        Some(other) => {
            let kind = other.kind();
            return Err(ToolError::new(format!("`{name}` is a {kind}; use another path")));
        }
        None => {}
    }
    let mut changes = context.parents(&found.path)?;
    changes.push(make_directory(&found.path));
    Ok(Output {
        text: format!("made the directory `{name}`"),
        data: Some(json!({"path": name, "made": changes.len()})),
        changes: Changes::of(changes),
        ..Output::default()
    })
}

fn there(name: &str) -> Output {
    Output {
        text: format!("the directory `{name}` exists already; nothing was changed"),
        data: Some(json!({"path": name, "made": 0})),
        ..Output::default()
    }
}
