//! `eclusa tools`: what can be called here.

use std::sync::Arc;

use eclusa::{
    Registry, Scene,
    parse::fenced,
    registry::{Registered, WhichTools},
};
use eclusa_chat::ui::feed::{self, CallShape};
use serde_json::{Value, json};

use crate::{
    context::AppContext,
    failure::{Exit, Failure},
    screen::{Screen, Style, sanitize},
    servers,
};

/// List, show and search the tools
#[derive(Debug, clap::Args)]
pub(crate) struct ToolsArgs {
    /// Start the servers behind the gate, and show their tools too
    #[arg(long, global = true)]
    servers: bool,
    /// Print the declarations for a model's request, or the text that teaches `tool` blocks
    #[arg(long, value_enum, value_name = "SHAPE")]
    shape: Option<CallShape>,
    /// Declare only these, by name or alias
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "shape")]
    only: Option<Vec<String>>,
    #[command(subcommand)]
    what: Option<ToolsCommand>,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum ToolsCommand {
    /// All tools
    List,
    /// Show one tool: its description, facts and arguments
    Show {
        /// Name or alias
        tool: String,
    },
    /// Find tools that match all of these words, best first
    Search {
        /// What to look for in names, hints and descriptions
        #[arg(required = true)]
        words: Vec<String>,
    },
}

pub(super) async fn run(ctx: &AppContext, args: ToolsArgs, json: bool) -> Result<Exit, Failure> {
    let ToolsArgs { servers, shape, only, what } = args;
    if let Some(shape) = shape {
        return declare(ctx, shape, only.as_deref(), servers).await;
    }
    let registry = ctx.registry()?;
    let behind = match &what {
        _ if servers => servers::wake_all(ctx, &registry).await?,
        Some(ToolsCommand::Show { tool }) => servers::wake(ctx, &registry, tool).await?,
        _ => None,
    };
    let shown = show_all(ctx, &registry, what, json);
    if let Some(behind) = behind {
        behind.close().await;
    }
    shown
}

/// The tools as a request to a model declares them.
async fn declare(
    ctx: &AppContext,
    shape: CallShape,
    only: Option<&[String]>,
    servers: bool,
) -> Result<Exit, Failure> {
    let registry = ctx.registry()?;
    let behind = match servers {
        true => servers::wake_all(ctx, &registry).await?,
        false => None,
    };
    let which = match only {
        Some(names) => WhichTools::Only(feed::only(&registry, names)?.to_vec()),
        None => WhichTools::All,
    };
    let mut screen = Screen::stdout();
    match shape.0 {
        None => {
            let tools = match &which {
                WhichTools::All => registry.visible(),
                WhichTools::Only(names) => registry.only(names).map_err(Failure::usage)?,
            };
            let offered: Vec<_> = tools.into_iter().filter(|it| !registry.is_hidden(it)).collect();
            screen.foreign(&fenced::instruction(&offered, &ctx.scene()))?;
        }
        Some(wire) => {
            let declared = registry.declare(wire, &which, &ctx.scene());
            screen.json(&*declared.map_err(Failure::failed)?)?;
        }
    }
    if let Some(behind) = behind {
        behind.close().await;
    }
    screen.flush()?;
    Ok(Exit::Done)
}

fn show_all(
    ctx: &AppContext,
    registry: &Registry,
    what: Option<ToolsCommand>,
    json: bool,
) -> Result<Exit, Failure> {
    let scene = ctx.scene();
    let mut screen = Screen::stdout();
    match what.unwrap_or(ToolsCommand::List) {
        ToolsCommand::List => {
            let tools = registry.list().into_iter().filter(|it| !it.unlisted());
            list(ctx, &tools.collect::<Vec<_>>(), json, &mut screen)?;
        }
        ToolsCommand::Search { words } => {
            let found = registry.search(&words.join(" "), &scene);
            let tools: Vec<_> = found.into_iter().map(|it| it.tool).collect();
            list(ctx, &tools, json, &mut screen)?;
            if tools.is_empty() && !json {
                screen.line("no tool matches all of these words")?;
            }
        }
        ToolsCommand::Show { tool } => {
            let tool = registry.get(&tool).ok_or_else(|| feed::unknown_tool(registry, &tool))?;
            match json {
                true => screen.json(&described(ctx, &tool, &scene))?,
                false => {
                    let reviewers = ctx.config.reviewers.iter();
                    let reading = reviewers.filter(|it| it.covers(tool.name()));
                    let names: Vec<&str> = reading.map(|it| it.name.as_str()).collect();
                    show(&tool, &scene, &names, &mut screen)?;
                    if let Some(by) = ctx.denial(&tool) {
                        screen
                            .line(&sanitize(&format!("not offered to models: {by} denies it")))?;
                    }
                }
            }
        }
    }
    screen.flush()?;
    Ok(Exit::Done)
}

fn list(
    ctx: &AppContext,
    tools: &[Arc<Registered>],
    json: bool,
    screen: &mut Screen,
) -> std::io::Result<()> {
    let scene = &ctx.scene();
    if json {
        return tools.iter().try_for_each(|tool| screen.json(&described(ctx, tool, scene)));
    }
    let row = |tool: &Arc<Registered>| {
        let description = match ctx.denial(tool) {
            Some(by) => format!("Not offered to models: {by} denies it."),
            None => first(&tool.description(scene)).to_owned(),
        };
        vec![tool.name().to_owned(), tool.class().to_string(), sanitize(&description)]
    };
    screen.table(&tools.iter().map(row).collect::<Vec<_>>())
}

/// The first sentence: it ends with a full stop before a blank. `show` has all of it.
fn first(description: &str) -> &str {
    let line = description.lines().next().unwrap_or_default();
    line.split_inclusive(". ").next().unwrap_or_default().trim_end()
}

fn show(
    tool: &Registered,
    scene: &Scene,
    reviewers: &[&str],
    screen: &mut Screen,
) -> std::io::Result<()> {
    let facts = tool.facts();
    screen.styled(Style::Strong, tool.name())?;
    screen.line(&sanitize(&tool.description(scene)))?;
    screen.line("")?;
    let labels = [
        (facts.read_only, "read-only"),
        (facts.destructive, "hard to undo"),
        (facts.sensitive, "sensitive"),
        (facts.concurrent, "concurrent"),
        (facts.needs_checkpoint, "needs a checkpoint"),
        (facts.needs_reverse_thinking, "needs reverse thinking"),
    ];
    let labels: Vec<&str> = labels.iter().filter(|(holds, _)| *holds).map(|(_, it)| *it).collect();
    let mut rows = vec![
        vec!["class".to_owned(), tool.class().to_string()],
        vec!["operation".to_owned(), sanitize(tool.operation())],
        vec!["revision".to_owned(), tool.revision().to_owned()],
    ];
    if !labels.is_empty() {
        rows.push(vec!["facts".to_owned(), labels.join(", ")]);
    }
    if !reviewers.is_empty() {
        rows.push(vec!["reviewers".to_owned(), sanitize(&reviewers.join(", "))]);
    }
    if !facts.aliases.is_empty() {
        rows.push(vec!["aliases".to_owned(), facts.aliases.join(", ")]);
    }
    screen.table(&rows)?;
    screen.line("")?;
    screen.line("arguments:")?;
    screen.line(&sanitize(&format!("{:#}", tool.schema())))
}

fn described(ctx: &AppContext, tool: &Registered, scene: &Scene) -> Value {
    let facts = tool.facts();
    let mut value = json!({
        "name": tool.name(),
        "description": tool.description(scene),
        "class": tool.class().as_str(),
        "operation": tool.operation(),
        "revision": tool.revision(),
        "aliases": facts.aliases,
        "concurrent": facts.concurrent,
        "read_only": facts.read_only,
        "destructive": facts.destructive,
        "sensitive": facts.sensitive,
        "needs_checkpoint": facts.needs_checkpoint,
        "needs_reverse_thinking": facts.needs_reverse_thinking,
        "input_schema": tool.schema(),
    });
    if let (Some(by), Some(fields)) = (ctx.denial(tool), value.as_object_mut()) {
        fields.insert("denied_by".to_owned(), by.into());
    }
    value
}
