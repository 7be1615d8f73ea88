//! `note`: puts a line into the workspace's `notes.txt`.

use std::{
    fs::OpenOptions,
    io::Write,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use eclusa::{Facts, Job, Output, PermissionClass, Scene, ToolError, Touch, TypedTool};
use rustix::fs::OFlags;
use schemars::JsonSchema;
use serde::Deserialize;

/// The one file that notes go to.
const FILE: &str = "notes.txt";

/// Writes notes.
pub(super) struct Note {
    file: PathBuf,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Line {
    /// The note: one line.
    #[schemars(length(min = 1, max = 2000))]
    text: String,
}

impl Note {
    pub(super) fn new(workspace: &Path) -> Note {
        Note { file: workspace.join(FILE) }
    }
}

impl TypedTool for Note {
    type Args = Line;
    const NAME: &'static str = "note";

    fn description(&self, _: &Scene) -> String {
        format!("Adds a line to `{FILE}` in the workspace.")
    }

    fn facts(&self) -> Facts {
        Facts {
            class: Some(PermissionClass::File),
            search_hint: "write down remember a line example".to_owned(),
            audit_operation: "write".to_owned(),
            sensitive: true,
            ..Facts::default()
        }
    }

    fn touches(&self, _: &Line) -> Vec<Touch> {
        vec![Touch::Write(FILE.to_owned())]
    }

    async fn run(&self, line: Line, _: &Job) -> Result<Output, ToolError> {
        let failed = |err| ToolError::new(format!("`{FILE}` cannot be written: {err}"));
        // A link in its place could lead anywhere, and a pipe would keep us waiting.
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .custom_flags(flags)
            .open(&self.file)
            .map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(ToolError::new(format!("`{FILE}` is not a plain file")));
        }
        writeln!(file, "{}", line.text.replace('\n', " ")).map_err(failed)?;
        Ok(Output::text(format!("added a line to `{FILE}`")))
    }
}
