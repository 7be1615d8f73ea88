//! `note`: puts a line into the workspace's `notes.txt`.

use eclusa::{
    Change, Changes, Facts, FileNode, Files, Job, Node, Output, PermissionClass, Scene, ToolError,
    Touch, TypedTool,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// The one file that notes go to.
const FILE: &str = "notes.txt";

/// The longest file of notes, in bytes.
const MAX_NOTES: u64 = 1024 * 1024;

/// Writes notes.
pub(super) struct Note {
    files: Files,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct NoteArgs {
    /// The note: one line.
    #[schemars(length(min = 1, max = 2000))]
    text: String,
}

impl Note {
    pub(super) fn new(files: Files) -> Note {
        Note { files }
    }
}

impl TypedTool for Note {
    type Args = NoteArgs;
    const NAME: &'static str = "note";

    fn description(&self, _: &Scene) -> String {
        format!("Adds a line to `{FILE}` in the workspace.")
    }

    fn facts(&self) -> Facts {
        Facts {
            class: Some(PermissionClass::File),
            search_hint: "write down remember a line example".to_owned(),
            audit_operation: "write".to_owned(),
            stages: true,
            ..Facts::default()
        }
    }

    fn touches(&self, _: &NoteArgs) -> Vec<Touch> {
        vec![Touch::Write(FILE.to_owned())]
    }

    async fn run(&self, line: NoteArgs, _: &Job) -> Result<Output, ToolError> {
        let failed = |why: &dyn std::fmt::Display| {
            ToolError::new(format!("`{FILE}` cannot be written: {why}"))
        };
        // A link in its place could lead anywhere, so the name itself is meant.
        let before = self.files.entry(FILE, MAX_NOTES).map_err(|err| failed(&err))?.node;
        let (mut content, mode) = match &before {
            None => (Vec::new(), 0o644),
            Some(Node::File(file)) => match file.bytes() {
                Some(bytes) => (bytes.to_vec(), file.mode),
                None => return Err(failed(&"it has grown too long")),
            },
            Some(_) => return Err(ToolError::new(format!("`{FILE}` is not a plain file"))),
        };
        content.extend_from_slice(line.text.replace('\n', " ").as_bytes());
        content.push(b'\n');
        let after = Some(Node::File(FileNode::new(content, mode)));
        let change = Change { path: FILE.into(), from: None, before, after };
        Ok(Output {
            changes: Changes::of([change]),
            ..Output::text(format!("added a line to `{FILE}`"))
        })
    }
}
