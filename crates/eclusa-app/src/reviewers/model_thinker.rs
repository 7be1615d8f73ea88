//! A reverse thinker that is a model of the configuration: opened when it is needed first.

use std::{path::PathBuf, sync::Arc, time::Duration};

use eclusa::{
    AuditSink, Redactor, Validated, Verdict,
    audit::Clock,
    preflight::{PreflightError, ReverseThinker, ReverseThinkingReport},
};
use eclusa_config::Config;
use eclusa_models::ModelThinker;
use futures::future::BoxFuture;
use tokio::sync::OnceCell;

use crate::open_model::open_model;

/// A model of the configuration that argues the other side.
pub(super) struct ConfiguredThinker {
    pub name: String,
    pub config: Config,
    pub workspace: PathBuf,
    pub redactor: Arc<Redactor>,
    pub log: Arc<dyn AuditSink>,
    pub clock: Arc<dyn Clock>,
    /// How long it may take.
    pub time: Duration,
    /// Whether whoever runs the machine set it up.
    pub administrators: bool,
    pub opened: OnceCell<ModelThinker>,
}

impl ConfiguredThinker {
    async fn open(&self) -> Result<ModelThinker, String> {
        let opened = open_model(&self.config, &self.workspace, &self.name).await;
        let opened = opened.map_err(|failure| failure.lines().join("; "))?;
        // Its key is taken out of whatever it says.
        let redactor = Arc::new(self.redactor.with_rules(opened.secret));
        Ok(ModelThinker::new(opened.model, redactor, self.log.clone(), self.clock.clone()))
    }
}

impl ReverseThinker for ConfiguredThinker {
    fn is_administrators(&self) -> bool {
        self.administrators
    }

    fn think<'a>(
        &'a self,
        call: &'a Validated,
        verdict: &'a Verdict,
    ) -> BoxFuture<'a, Result<ReverseThinkingReport, PreflightError>> {
        Box::pin(async move {
            let thinking = async {
                let thinker = self.opened.get_or_try_init(|| self.open()).await?;
                thinker.think(call, verdict).await
            };
            let thought = tokio::time::timeout(self.time, thinking).await;
            thought
                .unwrap_or_else(|_elapsed| Err(format!("no answer within {:?}", self.time).into()))
        })
    }
}
