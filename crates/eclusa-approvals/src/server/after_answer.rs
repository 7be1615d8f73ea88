//! What a yes comes to: a run that waits for it is applied by whoever records it.

use eclusa::approve::{QuestionState, Questions};
use serde_json::{Value, json};

use super::PageServer;

impl PageServer {
    /// What came of an answer: whether others must say yes too, and for a yes to changes whether they
    /// are applied.
    pub(super) async fn after_answer(
        &self,
        workspace: &str,
        questions: &dyn Questions,
        ids: &[u64],
        yes: bool,
    ) -> Value {
        let first = ids.first().copied().unwrap_or_default();
        let now = questions.get(first).await.map(|it| it.state);
        let mut told = Vec::new();
        let mut refused = Vec::new();
        for &id in ids.iter().filter(|_| yes) {
            match self.workspaces.take(workspace, id).await {
                Ok(said) => told.push(said),
                Err(why) => refused.push(format!("{id}: {why}")),
            }
        }
        let mut said = json!({"answered": true, "waits": now == Ok(QuestionState::Pending)});
        if let Some(fields) = said.as_object_mut() {
            if !refused.is_empty() {
                fields.insert("not_applied".to_owned(), refused.join("; ").into());
            } else if told.iter().any(|it| it.contains("applied")) {
                fields.insert("applied".to_owned(), told.join("; ").into());
            }
        }
        said
    }
}
