//! Trying a rule before anybody writes it: the same configuration with one more layer.

use eclusa::{Config, Decision, Gate, Layer, ToolCall};

use crate::{failure::Failure, workplace, workplace::Workplace};

/// What messages call the layer that is tried.
const NAME: &str = "trial";

/// What a call would come to with this text in the person's configuration. `None`: it cannot be
/// read, or it cannot be laid over what is there.
pub(in crate::commands) fn decision(
    here: &Workplace,
    toml: &str,
    call: &ToolCall,
) -> Option<Decision> {
    let gate = gate(here, toml).ok()?;
    gate.check(call.clone()).ok().map(|(_, verdict)| verdict.decision)
}

/// The gate with this text in the person's configuration.
pub(in crate::commands) fn gate(here: &Workplace, toml: &str) -> Result<Gate, Failure> {
    let mut layers = workplace::layers(&here.place)?;
    let project = here.place.project().display().to_string();
    let at = layers.iter().position(|it| it.name == project).unwrap_or(layers.len());
    layers.insert(at, Layer::of_person(NAME, toml));
    with(here, &layers)
}

/// The gate that these layers make.
pub(in crate::commands) fn with(here: &Workplace, layers: &[Layer]) -> Result<Gate, Failure> {
    let config = Config::load(layers).map_err(workplace::unusable)?;
    let tried =
        Workplace { place: here.place.clone(), mode: here.mode, dry_run: here.dry_run, config };
    tried.judge()
}
