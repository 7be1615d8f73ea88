//! Answers that a question does not offer.

use eclusa::{Answer, Question};

use crate::{failure::Failure, queues::WorkspaceQueue};

/// Checks that a question offers this answer: one that could not be meant is not given.
pub(super) async fn offered(
    queue: &WorkspaceQueue,
    id: u64,
    answer: &Answer,
) -> Result<(), Failure> {
    if matches!(answer, Answer::Once | Answer::No(_)) {
        return Ok(());
    }
    let question = queue.queue.get(id).await.map_err(super::failed)?.question;
    let why = not_offered(&question, &queue.reference(id), answer);
    why.map_or(Ok(()), |it| Err(Failure::failed(it)))
}

/// Why this answer could not be meant; `None`: it is offered.
fn not_offered(question: &Question, reference: &str, answer: &Answer) -> Option<String> {
    let whole = question.made().is_none_or(|it| it.whole);
    match answer {
        Answer::Session if question.grant.is_none() || !whole => {
            Some(format!("approval {reference} is about this call alone; leave out `--session`"))
        }
        Answer::Edits if !question.offers_edits() || !whole => {
            Some(format!("approval {reference} is not about edits alone; leave out `--edits`"))
        }
        Answer::Review if !question.offers_review() => Some(format!(
            "approval {reference}: it has run, or is not staged; leave out `--review`"
        )),
        Answer::Instead(_) if !question.offers_instead() => Some(format!(
            "approval {reference}: the call is running already, so it cannot be answered in its place"
        )),
        Answer::Edit(_) if !question.can_edit() => Some(format!(
            "approval {reference}: it has run, and its changes can be applied or refused, not edited"
        )),
        _ => None,
    }
}
