//! Telling people of what waits, from the server: which receiver is told what. Whoever has the network sends it.

use std::time::Duration;

use eclusa::{
    audit::{Clock as _, SystemClock},
    one_line,
};
use eclusa_approvals::{Announcement, web::span};
use serde_json::json;

use crate::{
    Database, ServerError,
    store::{notifications, questions},
};

pub use notifications::NotificationRoute;

/// An instance looks back so far at every look; at its first look at everything that waits.
const RECENT: Duration = Duration::from_secs(60);
const EVERYTHING: Duration = Duration::from_secs(365 * 86_400);

/// Something that is to be sent now.
#[derive(Debug, Clone)]
pub struct DueAnnouncement {
    /// Its number.
    pub id: u64,
    /// The name of the receiver.
    pub target: String,
    /// What is told.
    pub told: Announcement,
}

/// What is due for these receivers. `page` is the address of the page; the headline of a question is told to those whom
/// `headlines` names. `first`: also what changed before this instance was there.
pub async fn due_announcements(
    database: &Database,
    routes: &[NotificationRoute],
    (page, headlines): (&str, &[String]),
    first: bool,
) -> Result<Vec<DueAnnouncement>, ServerError> {
    let now = SystemClock.unix_ms();
    let within = if first { EVERYTHING } else { RECENT };
    for route in routes {
        notifications::keep(database, route, (within, now)).await?;
    }
    let names: Vec<String> = routes.iter().map(|it| it.name.clone()).collect();
    let mut due = Vec::new();
    for it in notifications::claim(database, &names).await? {
        let Some(found) = questions::find(database, it.question).await? else { continue };
        let row = &found.row;
        let machine = match row.team.is_empty() {
            true => one_line(&row.name),
            false => format!("{}/{}", one_line(&row.team), one_line(&row.name)),
        };
        let left = span(row.expires.saturating_sub(now));
        let tool = one_line(&row.tool);
        let needs: Vec<String> =
            row.requirements.iter().map(|it| one_line(&it.requirement().to_string())).collect();
        let binding: String = one_line(&row.binding).chars().take(8).collect();
        let mut details: Vec<String> = needs.iter().map(|it| format!("needs {it}")).collect();
        details.push(format!("question {}, binding {binding}", row.number));
        let link = format!("{}/inbox?question={}", page.trim_end_matches('/'), row.number);
        let mut data = json!({
            "question": row.number, "machine": machine, "team": row.team, "workspace": row.workspace, "tool": row.tool,
            "binding": row.binding, "principal": row.principal, "asked": row.created, "expires": row.expires,
            "needs": needs, "link": link, "identical": row.identical,
        });
        if headlines.contains(&it.target) {
            details.push(one_line(&row.headline));
            if let Some(fields) = data.as_object_mut() {
                fields.insert("headline".to_owned(), row.headline.clone().into());
            }
        }
        let told = Announcement {
            id: format!("fleet_{}", it.id),
            title: format!("{tool} on {machine} waits for approval ({left} left)"),
            details: details.join("\n"),
            link,
            event: json!({"type": "approval.asked", "data": data}),
            now,
        };
        due.push(DueAnnouncement { id: it.id, target: it.target, told });
    }
    Ok(due)
}

/// Notes what came of an attempt to send it.
pub async fn note_attempt(
    database: &Database,
    id: u64,
    outcome: Result<(), String>,
) -> Result<(), ServerError> {
    notifications::note(database, id, outcome).await
}
