//! `eclusa approvals notify-test`: tries every configured notification, and says what came of it.

use serde_json::json;

use crate::{
    context::AppContext,
    failure::{Exit, Failure},
    global::Global,
    notifications,
    screen::{Screen, Style, note, sanitize},
};

pub(super) async fn run(global: &Global) -> Result<Exit, Failure> {
    let ctx = AppContext::open(global)?;
    let store = ctx.store()?;
    let sender = ctx.notification_sender(ctx.approval_queue(&*store));
    let sent = sender.send_test().await;
    if sent.is_empty() {
        return Err(Failure::usage("no notification is configured")
            .hint("`[[notifications]]` in your eclusa.toml; docs/approvals.md has examples"));
    }
    let mut screen = Screen::stdout();
    let mut exit = Exit::Done;
    for (name, outcome) in &sent {
        let why = outcome.as_ref().err();
        if why.is_some() {
            exit = Exit::Failed;
        }
        if global.json {
            screen.json(&json!({"notification": name, "sent": why.is_none(), "error": why}))?;
            continue;
        }
        match why {
            None => screen.line(&sanitize(&format!("{name}: sent")))?,
            Some(why) => {
                screen.styled(Style::Bad, &sanitize(&format!("{name}: not sent: {why}")))?
            }
        }
    }
    screen.flush()?;
    let page = notifications::page(&ctx.config.approvals);
    if notifications::is_local(page) && !global.json {
        note(&format!(
            "its link begins with {page}, which opens on this machine only; `approvals.url` names another address"
        ));
    }
    Ok(exit)
}
