//! Trying a rule before anybody writes it: the same configuration with one more layer.

use eclusa::{Decision, Gate, ToolCall};
use eclusa_config::{Config, Layer};

use crate::{config_layers, context::AppContext, failure::Failure};

/// What messages call the layer that is tried.
const NAME: &str = "trial";

/// What a call would come to with this text in the person's configuration. `None`: it cannot be
/// read, or it cannot be laid over what is there.
pub(in crate::commands) fn decision(
    ctx: &AppContext,
    toml: &str,
    call: &ToolCall,
) -> Option<Decision> {
    let gate = gate(ctx, toml).ok()?;
    gate.check(call.clone()).ok().map(|(_, verdict)| verdict.decision)
}

/// The gate with this text in the person's configuration.
pub(in crate::commands) fn gate(ctx: &AppContext, toml: &str) -> Result<Gate, Failure> {
    let mut layers = config_layers::layers(&ctx.paths)?;
    let project = ctx.paths.project().display().to_string();
    let at = layers.iter().position(|it| it.name == project).unwrap_or(layers.len());
    layers.insert(at, Layer::of_person(NAME, toml));
    with(ctx, &layers)
}

/// The gate that these layers make.
pub(in crate::commands) fn with(ctx: &AppContext, layers: &[Layer]) -> Result<Gate, Failure> {
    let config = Config::load(layers).map_err(config_layers::unusable)?;
    let (paths, mode, dry_run) = (ctx.paths.clone(), ctx.mode, ctx.dry_run);
    let example_tools = ctx.example_tools;
    let tried = AppContext { paths, mode, dry_run, example_tools, config };
    tried.judge()
}
