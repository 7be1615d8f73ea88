//! Runs the checks that a person has named, in the workspace.

use std::path::PathBuf;

use eclusa::{Job, settings::CheckSettings};
use eclusa_tools::diagnostics::{CheckRun, Runner};
use futures::future::BoxFuture;

use crate::spawn::{Program, Streams};

/// Runs checks in this directory.
pub struct Checks {
    /// Where they run.
    pub workspace: PathBuf,
}

impl Runner for Checks {
    fn run<'a>(
        &'a self,
        check: &'a CheckSettings,
        job: &'a Job,
    ) -> BoxFuture<'a, Result<CheckRun, String>> {
        let program = Program {
            command: check.command.clone(),
            directory: self.workspace.clone(),
            env: check.env.clone(),
            set: vec![("ECLUSA_CALL".to_owned(), job.id().into())],
        };
        Box::pin(async move {
            let ended = program.run(Vec::new(), Streams::Apart).await;
            let ended = ended.map_err(|err| format!("{err} (check `{}`)", check.name))?;
            Ok(CheckRun { out: ended.out, err: ended.err, code: ended.code })
        })
    }
}
