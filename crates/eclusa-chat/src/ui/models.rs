//! `eclusa models`: whom to talk to, and whether that works.

use std::sync::Arc;

use clap::{Args, Subcommand};
use eclusa_config::KeySource;
use eclusa_models::model::{Delta, ModelRequest, ViewMessage};
use serde_json::json;

use super::model_choice;
use crate::Persona;
use crate::ui::{
    context::AppContext,
    failure::{Exit, Failure},
    screen::{Screen, Style, sanitize},
};

pub mod add;

/// List the configured models and personas, and try a model
#[derive(Debug, Args)]
pub struct ModelsArgs {
    #[command(subcommand)]
    what: Option<ModelsCommand>,
}

/// What to do with models.
#[derive(Debug, Subcommand)]
enum ModelsCommand {
    /// List them (default)
    List,
    /// Ask a model for one word
    Test {
        /// The model
        name: String,
    },
    /// Add a model to your configuration; without `--model`, list those of the server
    #[command(after_help = add::EXAMPLES)]
    Add(add::AddModelArgs),
}

/// Lists, tries or adds models.
pub async fn run(ctx: &AppContext, args: ModelsArgs, json: bool) -> Result<Exit, Failure> {
    match args.what.unwrap_or(ModelsCommand::List) {
        ModelsCommand::List => list(ctx, json),
        ModelsCommand::Test { name } => test(ctx, &name).await,
        ModelsCommand::Add(args) => add::run(ctx, args).await,
    }
}

/// Lists the models of the configuration.
pub fn list(ctx: &AppContext, json: bool) -> Result<Exit, Failure> {
    let mut screen = Screen::stdout();
    let mut rows = vec![["MODEL", "WIRE", "NAME THERE", "KEY"].map(str::to_owned).to_vec()];
    for it in &ctx.config.models {
        let key = match &it.key {
            None => "none".to_owned(),
            Some(KeySource::Env(name)) => {
                let set = std::env::var_os(name).is_some_and(|it| !it.is_empty());
                format!("{name} ({})", if set { "set" } else { "not set" })
            }
            Some(KeySource::Command(command)) => command.join(" "),
        };
        let wire = format!("{:?}", it.wire).to_lowercase();
        if json {
            screen.json(&json!({"name": it.name, "wire": wire, "model": it.model, "url": it.url, "window": it.window, "output": it.output}))?;
        }
        rows.push(vec![it.name.clone(), wire, it.model.clone(), key]);
    }
    if !json {
        match rows.len() {
            1 => screen.line("no models configured; add one with `eclusa models add`")?,
            _ => screen.headed_table(&rows)?,
        }
        screen.line("")?;
        let shipped = Persona::coder();
        let own = ctx.config.personas.iter().map(|it| (&it.name, &it.description));
        for (name, description) in own.chain([(&shipped.name, &shipped.description)]) {
            screen.line(&format!("persona {}: {}", sanitize(name), sanitize(description)))?;
        }
    }
    screen.flush()?;
    Ok(Exit::Done)
}

/// How a model may be asked to behave, and what it is kept to.
pub fn personas(ctx: &AppContext, json: bool) -> Result<Exit, Failure> {
    let mut screen = Screen::stdout();
    let own = ctx.config.personas.iter().map(|it| it.name.as_str());
    let shipped = ["coder"].into_iter().filter(|name| !own.clone().any(|it| it == *name));
    let mut rows =
        vec![["PERSONA", "MODEL", "MODE", "TOOLS", "WHAT FOR"].map(str::to_owned).to_vec()];
    for name in own.clone().chain(shipped) {
        let it = model_choice::persona(ctx, Some(name))?;
        let mode = it.mode.map(|it| it.to_string());
        if json {
            screen.json(&json!({"name": it.name, "description": it.description, "model": it.model, "mode": mode, "tools": it.tools}))?;
        }
        let any = || "any".to_owned();
        rows.push(vec![
            sanitize(&it.name),
            it.model.as_deref().map_or_else(any, sanitize),
            mode.unwrap_or_else(any),
            it.tools.map_or_else(any, |it| sanitize(&it.join(" "))),
            sanitize(&it.description),
        ]);
    }
    if !json {
        screen.headed_table(&rows)?;
    }
    screen.flush()?;
    Ok(Exit::Done)
}

/// One request, and what came of it. No tool is declared, so nothing can be called.
async fn test(ctx: &AppContext, name: &str) -> Result<Exit, Failure> {
    let chosen = model_choice::find(ctx, Some(name), &Persona::coder()).await?;
    let model: Arc<_> = chosen.model;
    let words = "Answer with the one word: ready".to_owned();
    let request = ModelRequest {
        system: "You answer with one word.".to_owned(),
        messages: vec![Arc::new(ViewMessage::User { text: words, pictures: Vec::new() })],
        conversation: "test".to_owned(),
        ..ModelRequest::default()
    };
    let mut pieces = 0;
    let mut hear = |_: Delta| pieces += 1;
    let asked = model.ask(model.body(&request), &mut hear).await;
    let mut screen = Screen::stdout();
    let exit = match asked {
        Ok(reply) => {
            let usage = reply.usage;
            screen.styled(
                Style::Good,
                &format!("`{name}` answers: {}", sanitize(reply.text.trim())),
            )?;
            screen.line(&format!(
                "{pieces} pieces, {} tokens read, {} written",
                usage.read(),
                usage.output
            ))?;
            Exit::Done
        }
        Err(err) => {
            screen.styled(
                Style::Bad,
                &format!("`{name}` does not answer: {}", sanitize(&err.what)),
            )?;
            Exit::Failed
        }
    };
    screen.flush()?;
    Ok(exit)
}
