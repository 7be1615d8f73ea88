//! The configuration files that have a say, and what is told of one that cannot be used.

use std::{io, path::Path};

use eclusa::Hash;
use eclusa_config::{Config, ConfigError, ConfigErrors, Layer};

use crate::{failure::Failure, fleet_standing, paths::Paths, read_text::read_text, trust};

/// Every file that has a say, lowest first. A workspace's own file that nobody has trusted comes
/// last but for the administrator's and the fleet's: it can only tighten.
pub fn layers(paths: &Paths) -> Result<Vec<Layer>, Failure> {
    layers_with(paths, |own, administrator| fleet_standing::layers(paths, own, administrator))
}

/// The same with other files of the fleet: they are made from the person's file and the
/// administrator's, where these are there.
pub(crate) fn layers_with(
    paths: &Paths,
    fleet: impl FnOnce(Option<&Layer>, Option<&Layer>) -> Result<Vec<Layer>, Failure>,
) -> Result<Vec<Layer>, Failure> {
    let name = |file: &Path| file.display().to_string();
    let (mut layers, mut own) = (Vec::new(), None);
    if let Some(file) = &paths.config {
        match read_text(file) {
            Ok(text) => {
                layers.push(Layer::of_person(name(file), text));
                own = layers.last().cloned();
            }
            Err(err) if is_absent(file, &err) && !paths.config_named => {}
            Err(err) => return Err(unreadable(file, &err)),
        }
    }
    // What the person answered with "always" in this workspace.
    let file = paths.workspace_rules();
    if file.exists()
        && let Some(text) = if_there(&file)?
    {
        layers.push(Layer::of_person(name(&file), text));
    }
    let file = paths.project();
    let project = if_there(&file)?;
    let trusted = project.as_ref().is_some_and(|text| trust::holds(paths, text, &layers));
    if let Some(text) = project.as_ref().filter(|_| trusted) {
        layers.push(Layer::of_person(name(&file), text));
    }
    for file in &paths.policies {
        let text = read_text(file).map_err(|err| unreadable(file, &err))?;
        layers.push(Layer::of_person(name(file), text));
    }
    if let Some(text) = project.filter(|_| !trusted) {
        layers.push(Layer::of_project(name(&file), text));
    }
    let file = Paths::administrator();
    let top = if_there(file)?.map(|text| Layer::of_administrator(name(file), text));
    layers.extend(fleet(own.as_ref(), top.as_ref())?);
    layers.extend(top);
    Ok(layers)
}

/// The digest of layers in their order: of each who vouches for it and its text.
pub fn digest(layers: &[Layer]) -> Hash {
    let mut text = String::new();
    for layer in layers {
        text.push_str(&format!("{:?} {} {}\n", layer.trust, layer.text.len(), layer.text));
    }
    Hash::sha256(text.as_bytes())
}

/// What is in a file that need not be there.
fn if_there(file: &Path) -> Result<Option<String>, Failure> {
    match read_text(file) {
        Ok(text) => Ok(Some(text)),
        Err(err) if is_absent(file, &err) => Ok(None),
        Err(err) => Err(unreadable(file, &err)),
    }
}

/// True where there is nothing of this name. A link that leads nowhere is something: whoever made it
/// means rules to be there.
fn is_absent(file: &Path, err: &io::Error) -> bool {
    err.kind() == io::ErrorKind::NotFound && file.symlink_metadata().is_err()
}

fn unreadable(file: &Path, err: &io::Error) -> Failure {
    Failure::usage(format!("cannot read the configuration `{}`: {err}", file.display()))
}

/// What is told of a project's file of which something is left out because nobody trusts it.
pub fn left_out(config: &Config, paths: &Paths) -> Option<String> {
    let first = config.left_out.first()?;
    let more = match config.left_out.len() {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    let since = if trust::was_given(paths) { " since it was changed" } else { "" };
    Some(format!(
        "{}:{}{more}: left out, because this file is not trusted{since}; its denials and questions \
        still apply. Read it, \
         then `eclusa config trust`",
        first.file, first.line
    ))
}

/// Everything that is wrong, one line each, and how to fix it.
pub fn unusable(errors: ConfigErrors) -> Failure {
    let lines: Vec<String> = errors.0.iter().map(ConfigError::with_excerpt).collect();
    Failure::usage(format!("configuration error:\n  {}", lines.join("\n  ")))
        .hint("`eclusa man eclusa.toml` and docs/configuration.md describe every key")
}
