//! Trying a rule before anybody writes it: the same configuration with one more layer.

use std::sync::Arc;

use eclusa::{Decision, Gate, Registry, ToolCall};
use eclusa_config::{Config, Layer};

use crate::{config_layers, context::AppContext, failure::Failure};

/// What messages call the layer that is tried.
const NAME: &str = "trial";

/// What a call would come to with this text in the person's configuration. `None`: it cannot be
/// read, or it cannot be laid over what is there.
/// `registry` are the tools that the configuration as it is makes.
pub(in crate::commands) fn decision(
    ctx: &AppContext,
    registry: &Arc<Registry>,
    toml: &str,
    call: &ToolCall,
) -> Option<Decision> {
    let tried = tried(ctx, &layers(ctx, toml).ok()?).ok()?;
    // A text that changes no tool needs no others.
    let gate = match tried.config.blocked.same_as(&ctx.config.blocked) {
        true => tried.judge_with(registry.clone()),
        false => tried.judge(),
    };
    gate.ok()?.check(call.clone()).ok().map(|(_, verdict)| verdict.decision)
}

/// The gate with this text in the person's configuration.
pub(in crate::commands) fn gate(ctx: &AppContext, toml: &str) -> Result<Gate, Failure> {
    with(ctx, &layers(ctx, toml)?)
}

/// The layers with this text in the person's configuration.
fn layers(ctx: &AppContext, toml: &str) -> Result<Vec<Layer>, Failure> {
    let mut layers = config_layers::layers(&ctx.paths)?;
    let project = ctx.paths.project().display().to_string();
    let at = layers.iter().position(|it| it.name == project).unwrap_or(layers.len());
    layers.insert(at, Layer::of_person(NAME, toml));
    Ok(layers)
}

/// The gate that these layers make.
pub(in crate::commands) fn with(ctx: &AppContext, layers: &[Layer]) -> Result<Gate, Failure> {
    tried(ctx, layers)?.judge()
}

fn tried(ctx: &AppContext, layers: &[Layer]) -> Result<AppContext, Failure> {
    let config = Config::load(layers).map_err(config_layers::unusable)?;
    let (paths, mode, dry_run) = (ctx.paths.clone(), ctx.mode, ctx.dry_run);
    let example_tools = ctx.example_tools;
    let config_digest = config_layers::digest(layers);
    Ok(AppContext { paths, mode, dry_run, example_tools, config, config_digest })
}
