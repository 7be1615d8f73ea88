//! A server that was started, for people and for programs.

use std::io;

use eclusa::{Registry, Scene, one_line, settings::ServerSettings};
use eclusa_mcp::{ListedTool, ServerInfo, ServerStatus};
use serde_json::{Value, json};

use super::{reached, settings};
use crate::screen::{Screen, Style, sanitize};

/// How many letters of a description are shown.
const SHORT: usize = 80;

/// Everything there is to say.
pub(super) fn print(
    server: &ServerSettings,
    condition: &ServerStatus,
    registry: &Registry,
    screen: &mut Screen,
) -> io::Result<()> {
    match (&condition.down, &condition.about) {
        (None, Some(about)) => {
            let took = about.took.as_secs_f32();
            screen.styled(Style::Good, &format!("{} is up, after {took:.2} s", server.name))?;
            screen.table(&facts(server, about))?;
        }
        (down, _) => {
            let why = down.as_deref().unwrap_or("for an unknown reason");
            let text = format!("{} is down: {}", server.name, sanitize(why));
            return screen.styled(Style::Bad, &text);
        }
    }
    let count = condition.tools.len();
    screen.line(&format!("  {count} tool{}", if count == 1 { "" } else { "s" }))?;
    let rows: Vec<Vec<String>> = condition.tools.iter().map(|it| row(it, registry)).collect();
    screen.table(&rows)?;
    for tool in &condition.tools {
        for remark in remarks(tool) {
            let text = format!("  ! {}: {}", sanitize(&tool.original), sanitize(&remark));
            screen.styled(Style::Warn, &text)?;
        }
    }
    Ok(())
}

fn facts(server: &ServerSettings, about: &ServerInfo) -> Vec<Vec<String>> {
    let row = |name: &str, text: String| vec![format!("  {name}"), sanitize(&one_line(&text))];
    let mut rows = vec![row("reached", reached(server))];
    if let Some(sandbox) = &about.sandbox {
        rows.push(row("held", sandbox.clone()));
    }
    rows.push(row("speaks", format!("MCP {}", about.protocol)));
    if let Some((name, version)) = &about.server {
        rows.push(row("is", format!("{name} {version}")));
    }
    rows.push(row("can", can(&about.capabilities)));
    rows
}

/// The names of what a server declares that it can do.
fn can(capabilities: &Value) -> String {
    let all: Vec<&str> =
        capabilities.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    if all.is_empty() { "nothing that it tells of".to_owned() } else { all.join(", ") }
}

fn row(tool: &ListedTool, registry: &Registry) -> Vec<String> {
    let description = registry.get(&tool.name).map(|it| it.description(&Scene::default()));
    let description = description.unwrap_or_default();
    let first: String =
        description.lines().next().unwrap_or_default().chars().take(SHORT).collect();
    vec![format!("    {}", sanitize(&tool.name)), sanitize(&first)]
}

/// What a person should look at.
pub(super) fn remarks(tool: &ListedTool) -> Vec<String> {
    let mut remarks: Vec<String> = tool.flags.iter().map(ToString::to_string).collect();
    if tool.changed.is_some() {
        remarks.push(
            "its description changed since first use: its calls are refused until you accept it \
             with `eclusa servers review`"
                .to_owned(),
        );
    }
    remarks.extend(tool.refused.iter().map(|why| format!("it cannot be had: {why}")));
    remarks
}

/// The same for a program.
pub(super) fn as_json(server: &ServerSettings, condition: &ServerStatus) -> Value {
    let tool = |it: &ListedTool| {
        json!({
            "name": it.name,
            "original": it.original,
            "flags": it.flags.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "changed": it.changed.is_some(),
            "refused": it.refused,
        })
    };
    let mut all = settings(server);
    let about = condition.about.as_ref();
    let more = json!({
        "up": condition.down.is_none(),
        "down": condition.down,
        "starts": condition.starts,
        "protocol": about.map(|it| &it.protocol),
        "server": about.and_then(|it| it.server.as_ref()).map(|(name, version)| {
            json!({"name": name, "version": version})
        }),
        "capabilities": about.map(|it| &it.capabilities),
        "held": about.and_then(|it| it.sandbox.as_ref()),
        "took_ms": about.map(|it| u64::try_from(it.took.as_millis()).unwrap_or(u64::MAX)),
        "tools": condition.tools.iter().map(tool).collect::<Vec<_>>(),
    });
    if let (Some(all), Value::Object(more)) = (all.as_object_mut(), more) {
        all.extend(more);
    }
    all
}
