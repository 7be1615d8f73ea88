//! `eclusa config`: what is set, from where, and whether it can be used.

use eclusa_config::Config;
use serde_json::json;

use crate::{
    args::{ConfigCommand, Global},
    config_layers,
    context::AppContext,
    failure::{Exit, Failure},
    paths::Paths,
    screen::{Screen, sanitize},
    trust,
};

pub(super) fn run(global: &Global, what: Option<ConfigCommand>) -> Result<Exit, Failure> {
    let mut screen = Screen::stdout();
    match what.unwrap_or(ConfigCommand::Show) {
        ConfigCommand::Schema => screen.line(&format!("{:#}", Config::schema()))?,
        ConfigCommand::Show => {
            let (ctx, broken) = AppContext::open_anyway(global)?;
            show(&ctx.config, global.json, &mut screen)?;
            if let Some(why) = broken {
                screen.flush()?;
                return Err(why.hint("shown is what is shipped, until this is put right"));
            }
        }
        ConfigCommand::Check => check(global, &mut screen)?,
        ConfigCommand::Trust => trust(global, &mut screen)?,
        ConfigCommand::Untrust => {
            let paths = Paths::find(global)?;
            trust::take_back(&paths).map_err(Failure::failed)?;
            let file = sanitize(&paths.project().display().to_string());
            screen.line(&format!("{file} is no longer trusted: it may only add restrictions"))?;
        }
    }
    screen.flush()?;
    Ok(Exit::Done)
}

/// Trusts the file that is there now, once it can be used as it is.
fn trust(global: &Global, screen: &mut Screen) -> Result<(), Failure> {
    let paths = Paths::find(global)?;
    let file = paths.project();
    let name = sanitize(&file.display().to_string());
    let text = crate::read_text::read_text(&file)
        .map_err(|err| Failure::usage(format!("cannot read `{name}`: {err}")))?;
    let digest = trust::give(&paths, &text).map_err(Failure::failed)?;
    screen.line(&format!("{name} is trusted until it changes (sha256 {digest})"))?;
    screen.line("`eclusa config untrust` takes the trust back")?;
    Ok(())
}

fn show(config: &Config, json: bool, screen: &mut Screen) -> Result<(), Failure> {
    let settings = config.settings();
    if json {
        for it in settings {
            screen.json(&json!({"key": it.key, "value": it.value, "origin": it.origin}))?;
        }
        return Ok(());
    }
    for it in settings {
        let line = format!("{} = {}", sanitize(&it.key), sanitize(&it.value));
        screen.setting(&line, &sanitize(&it.origin))?;
    }
    Ok(())
}

/// A usable configuration may still name tools that cannot be registered: those are made too.
fn check(global: &Global, screen: &mut Screen) -> Result<(), Failure> {
    let ctx = AppContext::open(global)?;
    let registry = ctx.registry()?;
    ctx.judge()?;
    let paths = Paths::find(global)?;
    for layer in config_layers::layers(&paths)? {
        screen.line(&format!("read {}", sanitize(&layer.name)))?;
    }
    let count = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    };
    let config = &ctx.config;
    screen.line(&format!(
        "configuration OK: {}, {}, {}",
        count(config.rules.len(), "rule"),
        count(registry.count(), "tool"),
        count(config.reviewers.len(), "reviewer"),
    ))?;
    Ok(())
}
