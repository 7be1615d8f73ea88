//! `eclusa policy import`: other agents' permission settings, as rules of this language.

use std::path::Path;

use eclusa_config::{Config, Layer};
use eclusa_connect::{AgentSpec, ImportedRules, SkippedRule};
use serde_json::json;

use crate::{
    config_layers,
    failure::{Exit, Failure},
    global::Global,
    screen::{Screen, note, sanitize},
};

pub(super) fn run(
    global: &Global,
    agent: &AgentSpec,
    file: &Path,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let mut brought = read(agent, file)?;
    brought.keep_readable();
    let toml = toml(&brought, agent, file);
    Config::load(&[Layer::of_person("import", toml.as_str())]).map_err(config_layers::unusable)?;
    if global.json {
        let left = |it: &SkippedRule| json!({"what": it.what, "why": it.why, "looser": it.looser});
        let left: Vec<_> = brought.left.iter().map(left).collect();
        screen.json(&json!({"toml": toml, "rules": brought.rules.len(), "left": left}))?;
        return Ok(Exit::Done);
    }
    screen.line(&sanitize(&toml))?;
    let (carried, left) = (brought.rules.len(), brought.left.len());
    note(&format!("{carried} imported, {left} skipped"));
    Ok(Exit::Done)
}

/// What an agent's settings come to here.
fn read(agent: &AgentSpec, file: &Path) -> Result<ImportedRules, Failure> {
    let text = crate::read_text::read_text(file)
        .map_err(|err| Failure::usage(format!("`{}` cannot be read: {err}", file.display())))?;
    let import = agent.import_rules.ok_or_else(|| {
        Failure::usage(format!("the permission settings of {agent} cannot be imported"))
    })?;
    import(&text).map_err(|why| {
        Failure::usage(format!("`{}` cannot be read as settings of {agent}: {why}", file.display()))
    })
}

/// The rules, and in comments what is not among them.
fn toml(brought: &ImportedRules, agent: &AgentSpec, file: &Path) -> String {
    let mut text = format!("# From {} of {agent}.\n", plain(&file.display().to_string()));
    for (_, rule) in &brought.rules {
        text.push_str(&format!("\n{}\n", rule.toml()));
    }
    let (looser, others): (Vec<&SkippedRule>, Vec<&SkippedRule>) =
        brought.left.iter().partition(|it| it.looser);
    let lists = [
        ("Skipped, so these rules are LOOSER than the settings were:", looser),
        ("Skipped:", others),
    ];
    for (title, left) in lists.iter().filter(|(_, left)| !left.is_empty()) {
        text.push_str(&format!("\n# {title}\n"));
        for SkippedRule { what, why, .. } in left {
            text.push_str(&format!("#   {}: {why}\n", plain(what)));
        }
    }
    text
}

/// A text that stays on its line.
fn plain(text: &str) -> String {
    sanitize(&text.replace(['\n', '\r', '\t'], " "))
}
