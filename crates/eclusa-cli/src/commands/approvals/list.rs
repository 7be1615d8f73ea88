//! What waits: one question in full, several as a table.

use eclusa::{
    approve::{QuestionPage, QueuedQuestion},
    audit::calls::subject,
    one_line,
};

use super::{as_json, failed, show};
use crate::{
    commands::call_record,
    failure::Failure,
    queues::WorkspaceQueue,
    screen::{Screen, Style},
    timestamp::Timestamp,
};

/// Prints what waits in all of these.
pub(super) async fn list(
    queues: &[WorkspaceQueue],
    page: QuestionPage,
    json: bool,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let mut waiting = Vec::new();
    let mut more = Vec::new();
    for queue in queues {
        let found = queue.queue.list(page).await.map_err(failed)?;
        if found.len() == page.limit {
            more.extend(found.last().map(|it| it.id));
        }
        waiting.extend(found.into_iter().map(|it| (queue, it)));
    }
    match waiting.as_slice() {
        waiting if json => {
            return Ok(waiting
                .iter()
                .try_for_each(|(queue, it)| screen.json(&as_json(queue, it)))?);
        }
        [] => return Ok(screen.line("no pending approvals")?),
        [(queue, only)] => show(queue, only, screen).await?,
        several => table(several, screen)?,
    }
    for last in more {
        screen.line(&format!("more may wait: `eclusa approvals list --after {last}`"))?;
    }
    Ok(())
}

fn table(
    waiting: &[(&WorkspaceQueue, QueuedQuestion)],
    screen: &mut Screen,
) -> Result<(), Failure> {
    let headings = ["approval", "asked", "tool", "about", "changes"];
    let mut rows = vec![headings.map(str::to_owned).to_vec()];
    rows.extend(waiting.iter().map(|(queue, it)| {
        let question = &it.question;
        let changes = question.preview().map(|it| one_line(&it.summary));
        vec![
            queue.reference(it.id),
            screen.time_cell(Timestamp(it.created)),
            one_line(&question.tool),
            call_record::short(&subject(&question.args)),
            changes.map(|it| call_record::short(&it)).unwrap_or_default(),
        ]
    }));
    screen.headed_table(&rows)?;
    let first = waiting.first().map(|(queue, it)| queue.reference(it.id)).unwrap_or_default();
    // Nobody should say yes to what they have not seen.
    let next = format!(
        "`eclusa approvals show {first}` shows one in full, before `yes {first}` or `no {first} REASON`"
    );
    Ok(screen.styled(Style::Faint, &next)?)
}
