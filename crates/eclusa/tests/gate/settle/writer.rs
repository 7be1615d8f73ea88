//! A tool that changes files.

use std::path::PathBuf;

use eclusa::*;
use futures::future::BoxFuture;
use serde_json::{Value, json};

/// A tool that would write the files of its argument, and says so only of `path`.
pub(super) struct Writer {
    pub(super) root: PathBuf,
}

impl Tool for Writer {
    fn name(&self) -> &str {
        "put"
    }
    fn description(&self, _: &Scene) -> String {
        "puts text into files".to_owned()
    }
    fn input_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "text": {"type": "string"},
                "also": {"type": "string"},
                "fail": {"type": "boolean"},
            },
            "required": ["path", "text"],
        })
    }
    fn facts(&self) -> Facts {
        Facts { class: Some(PermissionClass::File), stages: true, ..Facts::default() }
    }
    fn touches(&self, args: &Value) -> Vec<Touch> {
        vec![Touch::Write(args["path"].as_str().unwrap_or_default().to_owned())]
    }
    fn run<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Output, ToolError>> {
        Box::pin(async move {
            let args = job.args();
            let text = args["text"].as_str().unwrap_or_default();
            let paths = [&args["path"], &args["also"]].into_iter().filter_map(Value::as_str);
            let changes = paths.map(|path| {
                let before = std::fs::read(self.root.join(path)).ok();
                Change {
                    path: path.into(),
                    from: None,
                    before: before.map(|it| Node::File(FileNode::new(it, 0o644))),
                    after: Some(Node::File(FileNode::new(text.as_bytes(), 0o644))),
                }
            });
            Ok(Output {
                changes: Changes::of(changes.collect::<Vec<_>>()),
                error: args["fail"].as_bool().unwrap_or_default().then(|| "it failed".to_owned()),
                ..Output::text("put it")
            })
        })
    }
}
