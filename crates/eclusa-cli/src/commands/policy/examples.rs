//! `eclusa policy test`: every example of every rule, in all layers.

use std::{collections::BTreeMap, path::PathBuf};

use eclusa_config::{Config, Layer};
use serde_json::json;

use super::layers;
use crate::{
    config_layers,
    failure::{Exit, Failure},
    global::Global,
    paths::Paths,
    screen::{Screen, Style, sanitize},
};

pub(super) fn run(
    global: &Global,
    files: &[PathBuf],
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let layers = match files.is_empty() {
        true => config_layers::layers(&Paths::find(global)?)?,
        false => from_arguments(files)?,
    };
    let config = match Config::load(&layers) {
        Ok(config) => config,
        Err(errors) => {
            for error in &errors.0 {
                match global.json {
                    true => screen.json(&json!({
                        "ok": false,
                        "file": error.file,
                        "line": error.line,
                        "message": error.message,
                    }))?,
                    false => screen.styled(Style::Bad, &sanitize(&error.to_string()))?,
                }
            }
            let count = errors.0.len();
            if !global.json {
                let what = if count == 1 { "problem" } else { "problems" };
                screen.line(&format!("{count} {what}: no call is permitted with these files"))?;
            }
            return Ok(Exit::Failed);
        }
    };
    let mut counts: BTreeMap<String, (usize, usize, usize)> = BTreeMap::new();
    for rule in layers::rules(&config) {
        let file = rule.origin.rsplit_once(':').map_or(rule.origin.as_str(), |(file, _)| file);
        let (rules, examples, bare) = counts.entry(file.to_owned()).or_default();
        *rules += 1;
        *examples += rule.examples();
        *bare += usize::from(rule.examples() == 0);
    }
    for (file, (rules, examples, bare)) in &counts {
        if global.json {
            screen.json(&json!({
                "ok": true, "file": file, "rules": rules, "examples": examples,
                "without_examples": bare,
            }))?;
            continue;
        }
        let bare = match bare {
            0 => String::new(),
            bare => format!(", {bare} without examples"),
        };
        let count = |count: usize, what: &str| match count {
            1 => format!("1 {what}"),
            count => format!("{count} {what}s"),
        };
        let (rules, examples) = (count(*rules, "rule"), count(*examples, "example"));
        let text = format!("{file}: {rules}, {examples} checked{bare}");
        screen.line(&sanitize(&text))?;
    }
    Ok(Exit::Done)
}

/// Files that are tested before they are put in place.
fn from_arguments(files: &[PathBuf]) -> Result<Vec<Layer>, Failure> {
    let layer = |file: &PathBuf| {
        let text = crate::read_text::read_text(file).map_err(|err| {
            Failure::usage(format!("the file `{}` cannot be read: {err}", file.display()))
        })?;
        Ok(Layer::of_person(file.display().to_string(), text))
    };
    files.iter().map(layer).collect()
}
