//! `eclusa servers review`: what tools say now and did not say when they were first used.

use eclusa::{settings::ServerSettings, workspace::visible};
use eclusa_mcp::{DefinitionChange, PinStore};
use serde_json::{Value, json};
use similar::{Algorithm, DiffTag, capture_diff_slices, group_diff_ops};

use super::probe;
use crate::{
    context::AppContext,
    failure::{Exit, Failure},
    screen::{Screen, Style},
    servers::PinFiles,
    terminal::Terminal,
};

pub(super) async fn run(
    ctx: &AppContext,
    server: &ServerSettings,
    accept: bool,
    json: bool,
) -> Result<Exit, Failure> {
    let name = &server.name;
    let (conditions, _) = probe::seen(ctx, vec![server.clone()]).await?;
    let condition = conditions.first().ok_or_else(|| Failure::failed("nothing was started"))?;
    if let Some(why) = &condition.down {
        return Err(Failure::failed(format!("the server `{name}` is down: {why}")));
    }
    let changed: Vec<&DefinitionChange> =
        condition.tools.iter().filter_map(|it| it.changed.as_ref()).collect();
    let mut screen = Screen::stdout();
    match json {
        true => screen.json(&json!({
            "server": name,
            "changed": changed.iter().map(|it| as_json(it)).collect::<Vec<_>>(),
            "accepted": accept && !ctx.dry_run && !changed.is_empty(),
        }))?,
        false => {
            changed.iter().try_for_each(|it| print(it, &mut screen))?;
            if changed.is_empty() {
                screen.line(&format!("the tool descriptions of `{name}` have not changed"))?;
            }
        }
    }
    screen.flush()?;
    drop(screen);
    if changed.is_empty() || ctx.dry_run {
        return Ok(Exit::Done);
    }
    if !accept && !asked(ctx, name)? {
        return Ok(Exit::Refused);
    }
    pin(ctx, server, &changed)?;
    let mut screen = Screen::stdout();
    if !json {
        screen.line("accepted: these tools can be called again")?;
    }
    screen.flush()?;
    Ok(Exit::Done)
}

/// Whether a person accepts it. Where none can be asked nobody does.
fn asked(ctx: &AppContext, name: &str) -> Result<bool, Failure> {
    let terminal = Terminal::new(false, ctx.paths.always_files());
    terminal.confirm("Accept the new descriptions? [y/n] ").map_err(|why| {
        Failure::refused(format!("no terminal to accept it on: {why}"))
            .hint(format!("`eclusa servers review {name} --accept` accepts it as shown"))
    })
}

fn pin(
    ctx: &AppContext,
    server: &ServerSettings,
    changed: &[&DefinitionChange],
) -> Result<(), Failure> {
    let (name, pins) = (&server.name, PinFiles::new(ctx, [server]));
    let mut pinned = pins.pinned(name).map_err(Failure::failed)?;
    for difference in changed {
        pinned.insert(difference.tool.clone(), difference.is.clone());
    }
    pins.pin(name, &pinned).map_err(Failure::failed)
}

fn as_json(difference: &DefinitionChange) -> Value {
    json!({"tool": difference.tool, "was": difference.was, "is": difference.is})
}

/// The lines that differ, with everything in them visible.
fn print(difference: &DefinitionChange, screen: &mut Screen) -> Result<(), Failure> {
    screen.styled(Style::Strong, &visible(&difference.tool))?;
    let text = |it: &Value| visible(&format!("{it:#}\n").replace("\\n", "\\n\n"));
    let (was, is) = (text(&difference.was), text(&difference.is));
    let (was, is): (Vec<&str>, Vec<&str>) = (was.lines().collect(), is.lines().collect());
    let compared = capture_diff_slices(Algorithm::Myers, &was, &is);
    for op in group_diff_ops(compared, 2).into_iter().flatten() {
        let (tag, old, new) = op.as_tag_tuple();
        let (old, new) = (was.get(old).unwrap_or_default(), is.get(new).unwrap_or_default());
        let mut show = |mark: char, style, lines: &[&str]| {
            lines.iter().try_for_each(|it| screen.styled(style, &format!("  {mark} {it}")))
        };
        match tag {
            DiffTag::Equal => show(' ', Style::Plain, old)?,
            DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => {
                show('-', Style::Bad, old)?;
                show('+', Style::Good, new)?;
            }
        }
    }
    screen.line("")?;
    Ok(())
}
