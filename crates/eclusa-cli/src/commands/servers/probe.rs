//! `eclusa servers test` and `list --check`: servers started, looked at, and ended.

use std::sync::Arc;

use eclusa::{Registry, settings::ServerSettings};
use eclusa_mcp::ServerStatus;

use super::describe;
use crate::{
    context::AppContext,
    failure::{Exit, Failure},
    screen::{Screen, Style, sanitize},
    servers,
};

/// Starts servers, and ends them when they have told what they are.
pub(super) async fn seen(
    ctx: &AppContext,
    servers: Vec<ServerSettings>,
) -> Result<(Vec<ServerStatus>, Arc<Registry>), Failure> {
    let registry = ctx.registry()?;
    let Some(gateway) = servers::open(ctx, servers, registry.clone(), false)? else {
        return Ok((Vec::new(), registry));
    };
    gateway.ready().await;
    let conditions = gateway.conditions();
    gateway.close().await;
    Ok((conditions, registry))
}

pub(super) async fn test(
    ctx: &AppContext,
    server: &ServerSettings,
    json: bool,
) -> Result<Exit, Failure> {
    let (conditions, registry) = seen(ctx, vec![server.clone()]).await?;
    let condition = conditions.first().ok_or_else(|| Failure::failed("nothing was started"))?;
    let mut screen = Screen::stdout();
    match json {
        true => screen.json(&describe::as_json(server, condition))?,
        false => describe::print(server, condition, &registry, &mut screen)?,
    }
    screen.flush()?;
    Ok(if condition.down.is_none() { Exit::Done } else { Exit::Failed })
}

pub(super) async fn all(ctx: &AppContext, json: bool) -> Result<Exit, Failure> {
    let (conditions, _) = seen(ctx, ctx.config.servers.clone()).await?;
    let mut screen = Screen::stdout();
    let mut rows = Vec::new();
    for (server, condition) in ctx.config.servers.iter().zip(&conditions) {
        if json {
            screen.json(&describe::as_json(server, condition))?;
        }
        rows.push(row(condition, &screen));
    }
    if !json {
        screen.table(&rows)?;
    }
    screen.flush()?;
    Ok(if conditions.iter().all(|it| it.down.is_none()) { Exit::Done } else { Exit::Failed })
}

fn row(condition: &ServerStatus, screen: &Screen) -> Vec<String> {
    let name = condition.name.clone();
    if let Some(why) = &condition.down {
        let down = screen.paint.text(Style::Bad, "down").into_owned();
        return vec![name, down, sanitize(why)];
    }
    let held = condition.about.as_ref().and_then(|it| it.sandbox.clone()).unwrap_or_default();
    let count = |what: &dyn Fn(&&eclusa_mcp::ListedTool) -> bool| {
        condition.tools.iter().filter(|it| what(it)).count()
    };
    let mut told = vec![format!("{} tools", condition.tools.len())];
    for (many, what) in [
        (count(&|it| !it.flags.is_empty()), "to look at"),
        (count(&|it| it.changed.is_some()), "changed"),
        (count(&|it| it.refused.is_some()), "cannot be had"),
    ] {
        if many > 0 {
            told.push(format!("{many} {what}"));
        }
    }
    if !held.is_empty() {
        told.push(format!("held: {held}"));
    }
    vec![name, screen.paint.text(Style::Good, "up").into_owned(), sanitize(&told.join(", "))]
}
