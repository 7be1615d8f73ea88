//! Opening a model of the configuration, or one that says what a file says: with its key, which is
//! kept in memory alone.

use std::{path::Path, sync::Arc, time::Duration};

use eclusa::redact::SecretRule;
use eclusa_config::{Config, KeySource, ModelSettings, PriceSettings};
use eclusa_models::{HttpModel, Model, ScriptModel, WireSettings, default_url, model::Price};

use crate::{
    failure::Failure,
    read_text::read_text,
    spawn::{Program, Streams},
};

/// What the command line calls a model that says what a file says.
pub(crate) const SCRIPT: &str = "script:";

/// So long a command may take to print a key.
const MAX_KEY_TIME: Duration = Duration::from_secs(30);

/// A model, and its key as something to be taken out of whatever leaves.
#[derive(Clone)]
pub struct OpenedModel {
    /// The model.
    pub model: Arc<dyn Model>,
    /// Its key, which no text that leaves may contain.
    pub secret: Option<SecretRule>,
}

/// The model of this name. Commands for keys run in the workspace.
pub async fn open_model(
    config: &Config,
    workspace: &Path,
    name: &str,
) -> Result<OpenedModel, Failure> {
    if let Some(file) = name.strip_prefix(SCRIPT) {
        let script = read_text(Path::new(file))
            .map_err(|err| Failure::usage(format!("the script `{file}` cannot be read: {err}")))?;
        let model = ScriptModel::new(name, &script)
            .map_err(|err| Failure::usage(format!("the script `{file}` is wrong: {err}")))?;
        return Ok(OpenedModel { model: Arc::new(model), secret: None });
    }
    let settings = config.model(name).map_err(|near| {
        Failure::usage(unknown_model(name, near))
            .hint("`eclusa models` lists them; `script:FILE` plays a file")
    })?;
    open(workspace, settings).await
}

/// The sentence about a model that nobody has configured.
pub(crate) fn unknown_model(name: &str, near: Option<&str>) -> String {
    let near = near.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
    format!("no model is called `{name}`{near}")
}

/// The model that these settings describe, with its key.
async fn open(workspace: &Path, settings: &ModelSettings) -> Result<OpenedModel, Failure> {
    let wrong = |what: String| Failure::usage(format!("{}: {what}", settings.origin));
    let key = match &settings.key {
        None => None,
        Some(source) => Some(key(workspace, source).await.map_err(wrong)?),
    };
    let secret = match &key {
        Some(key) => Some(literal(key).map_err(wrong)?),
        None => None,
    };
    let described = WireSettings {
        name: settings.name.clone(),
        wire: settings.wire,
        model: settings.model.clone(),
        url: settings.url.clone().unwrap_or_else(|| default_url(settings.wire).to_owned()),
        native: settings.native,
        window: settings.window,
        output: settings.output,
        thinking: settings.thinking,
        images: settings.images,
        price: settings.price.as_ref().map(price),
    };
    let model = HttpModel::new(described, key.map(Arc::from)).map_err(wrong)?;
    Ok(OpenedModel { model: Arc::new(model), secret })
}

/// The key: from the environment, or from what a command prints. It is kept in memory alone.
async fn key(workspace: &Path, source: &KeySource) -> Result<String, String> {
    let key = match source {
        KeySource::Env(name) => std::env::var(name)
            .map_err(|_| format!("the variable `{name}` for the key is not set"))?,
        KeySource::Command(command) => {
            let program = Program {
                command: command.clone(),
                directory: workspace.to_owned(),
                env: Vec::new(),
                set: Vec::new(),
            };
            let running = program.run(Vec::new(), Streams::Apart);
            let finished = tokio::time::timeout(MAX_KEY_TIME, running).await;
            let finished = finished
                .map_err(|_| "the command for the key takes longer than 30 s".to_owned())?
                .map_err(|err| format!("the command for the key failed: {err}"))?;
            if finished.code != Some(0) {
                return Err(format!("the command for the key ended with {}", finished.how()));
            }
            finished.out
        }
    };
    let key = key.trim().to_owned();
    match key.is_empty() || key.contains(char::is_control) {
        true => Err("the key is empty, or has more than one line".to_owned()),
        false => Ok(key),
    }
}

/// The key as a kind of secret: taken out wherever it stands, word for word.
fn literal(key: &str) -> Result<SecretRule, String> {
    let escaped = |it: char| if it.is_alphanumeric() { it.to_string() } else { format!("\\{it}") };
    let regex = toml_edit::value(key.chars().map(escaped).collect::<String>());
    let file = format!(
        "[[rule]]\nid = \"model-key\"\ndescription = \"a model's key\"\nkeywords = []\nregex = {regex}\n"
    );
    let read = SecretRule::from_toml(&file).map_err(|err| err.to_string())?;
    read.into_iter().next().ok_or_else(|| "the key cannot be looked for".to_owned())
}

/// Prices of a million tokens, in millionths.
fn price(settings: &PriceSettings) -> Price {
    let micros = |it: f64| (it * 1e6).round().clamp(0.0, 1e15) as u64;
    let input = micros(settings.input);
    Price {
        input,
        output: micros(settings.output),
        cache_read: settings.cache_read.map_or(input, micros),
        cache_write: settings.cache_write.map_or(input, micros),
        currency: settings.currency.clone(),
    }
}

#[cfg(test)]
mod tests;
