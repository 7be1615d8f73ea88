//! `multi_edit`: several edits of one file, one after the other, all or none.

use eclusa::{Facts, Job, Output, Scene, ToolError, Touch, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    edit::{edited, touches},
    file_tools::{self, FileToolContext},
    text::Edit,
};

/// Edits a file of the workspace in several places.
#[derive(Debug, Clone)]
pub struct MultiEdit(FileToolContext);

impl MultiEdit {
    /// Edits in this context.
    pub fn new(context: FileToolContext) -> MultiEdit {
        MultiEdit(context)
    }
}

/// Which file, and what in it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct MultiEditArgs {
    /// The file, relative to the workspace.
    path: String,
    /// The edits, each made in what the ones before it made.
    #[schemars(length(min = 1, max = 1000))]
    edits: Vec<OneEdit>,
}

/// One of the edits.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct OneEdit {
    /// The text that is there, exactly, with enough around it to be unique.
    old_string: String,
    /// The text to replace it with.
    new_string: String,
    /// Replaces every occurrence.
    #[serde(skip_serializing_if = "Option::is_none")]
    replace_all: Option<bool>,
}

impl TypedTool for MultiEdit {
    type Args = MultiEditArgs;
    const NAME: &'static str = "multi_edit";

    fn description(&self, _: &Scene) -> String {
        "Makes several edits in one file of the workspace, in order, each in what the ones before \
         it made: all of them, or none if one does not fit. Each is like an `edit`. Example: \
         {\"path\": \"a.py\", \"edits\": [{\"old_string\": \"x = 1\", \"new_string\": \"x = 2\"}, \
         {\"old_string\": \"foo\", \"new_string\": \"bar\", \"replace_all\": true}]}"
            .to_owned()
    }

    fn facts(&self) -> Facts {
        let hint = "several replacements changes in one file at once";
        file_tools::facts(&["MultiEdit", "multiedit"], hint, "edit")
    }

    fn touches(&self, args: &MultiEditArgs) -> Vec<Touch> {
        touches(&args.path)
    }

    async fn run(&self, args: MultiEditArgs, job: &Job) -> Result<Output, ToolError> {
        let context = self.0.clone();
        let path = args.path.clone();
        file_tools::work_on(&self.0, &path, job, move |caller| {
            let edits: Vec<Edit<'_>> = args
                .edits
                .iter()
                .map(|it| Edit {
                    old_string: &it.old_string,
                    new_string: &it.new_string,
                    replace_all: it.replace_all.unwrap_or(false),
                })
                .collect();
            edited(&context, caller, &args.path, &edits)
        })
        .await
    }
}
