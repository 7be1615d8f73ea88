//! A scripted model that waits after each call until somebody wants to see more.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use eclusa_models::{
    Model, ScriptModel,
    model::{Delta, ModelError, ModelProfile, ModelReply, ModelRequest},
};
use futures::future::BoxFuture;
use tokio::sync::Semaphore;

/// A model whose first words come at once, and the others when it is told to go on.
pub(super) struct PacedModel {
    script: ScriptModel,
    has_begun: AtomicBool,
    next: Arc<Semaphore>,
}

impl PacedModel {
    pub(super) fn new(script: ScriptModel, next: Arc<Semaphore>) -> PacedModel {
        PacedModel { script, has_begun: AtomicBool::new(false), next }
    }
}

impl Model for PacedModel {
    fn profile(&self) -> &ModelProfile {
        self.script.profile()
    }

    fn body(&self, request: &ModelRequest) -> Vec<u8> {
        self.script.body(request)
    }

    fn ask<'a>(
        &'a self,
        body: Vec<u8>,
        hear: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        Box::pin(async move {
            if self.has_begun.swap(true, Ordering::Relaxed) {
                // Closed: nobody looks any more.
                if let Ok(permit) = self.next.acquire().await {
                    permit.forget();
                }
            }
            self.script.ask(body, hear).await
        })
    }
}
