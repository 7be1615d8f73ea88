//! The command that makes a call again whose question is over.

use eclusa::{Question, approve::QueueError};
use eclusa_connect::shell_quoted;

use super::failed;
use crate::{failure::Failure, queues::WorkspaceQueue};

/// A command that makes the call of a question again. What is over has its arguments in the log alone.
pub(in crate::commands) fn made_again(question: &Question) -> String {
    let tool = shell_quoted(&question.tool);
    match question.args.is_null() {
        true => format!(
            "`eclusa run --park {tool} ARGS` makes it again; `eclusa log` has its arguments"
        ),
        false => {
            let args = shell_quoted(&question.args.to_string());
            format!("`eclusa run --park {tool} {args}` makes it again")
        }
    }
}

/// Why an answer does not count any more, and what does.
pub(super) async fn unanswered(queue: &WorkspaceQueue, id: u64, err: QueueError) -> Failure {
    let expired = matches!(err, QueueError::Expired(_));
    match queue.queue.get(id).await {
        Ok(queued) if expired => failed(err).hint(made_again(&queued.question)),
        _ => failed(err),
    }
}
