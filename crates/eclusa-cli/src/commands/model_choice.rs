//! Which model a conversation is with, and as whom: from the command line and the configuration.

use std::{path::Path, sync::Arc, time::Duration};

use eclusa::redact::SecretRule;
use eclusa_agent::{
    HttpModel, Model, Persona, ScriptModel, Thinking, TurnLimits, WireKind, WireSettings,
    model::Price,
};
use eclusa_config::{KeySource, ModelSettings, ModelWire, PriceSettings, ThinkingLevel};

use crate::{
    context::AppContext,
    failure::Failure,
    read_text::read_text,
    spawn::{Program, Streams},
};

/// What the command line calls a model that says what a file says.
const SCRIPT: &str = "script:";

/// So long a command may take to print a key.
const MAX_KEY_TIME: Duration = Duration::from_secs(30);

/// A model, and its key as something to be taken out of whatever leaves.
pub(super) struct ChosenModel {
    pub(super) model: Arc<dyn Model>,
    pub(super) secret: Option<SecretRule>,
}

/// The model of this name; without one, that of the persona, of `[chat]`, or the only one there is.
pub(super) async fn find(
    ctx: &AppContext,
    named: Option<&str>,
    persona: &Persona,
) -> Result<ChosenModel, Failure> {
    let known = &ctx.config.models;
    let only = known.first().filter(|_| known.len() == 1).map(|it| it.name.as_str());
    let named = named.or(persona.model.as_deref()).or(ctx.config.chat_model.as_deref());
    let name = named.or(only).ok_or_else(|| {
        Failure::usage("no model is named, and there is not exactly one in the configuration")
            .hint("`--model NAME`, or add a `[models.NAME]` to your eclusa.toml: `eclusa models`")
    })?;
    if let Some(file) = name.strip_prefix(SCRIPT) {
        let script = read_text(Path::new(file))
            .map_err(|err| Failure::usage(format!("the script `{file}` cannot be read: {err}")))?;
        let model = ScriptModel::new(name, &script)
            .map_err(|err| Failure::usage(format!("the script `{file}` is wrong: {err}")))?;
        return Ok(ChosenModel { model: Arc::new(model), secret: None });
    }
    let settings = known.iter().find(|it| it.name == name).ok_or_else(|| {
        Failure::usage(format!("no model is called `{name}`"))
            .hint("`eclusa models` lists them; `script:FILE` says what a file says")
    })?;
    open(ctx, settings).await
}

/// The model that these settings describe, with its key.
async fn open(ctx: &AppContext, settings: &ModelSettings) -> Result<ChosenModel, Failure> {
    let wrong = |what: String| Failure::usage(format!("{}: {what}", settings.origin));
    let key = match &settings.key {
        None => None,
        Some(source) => Some(key(ctx, source).await.map_err(wrong)?),
    };
    let secret = match &key {
        Some(key) => Some(literal(key).map_err(wrong)?),
        None => None,
    };
    let wire = match settings.wire {
        ModelWire::Anthropic => WireKind::Anthropic,
        ModelWire::Openai => WireKind::OpenaiResponses,
        ModelWire::OpenaiChat => WireKind::OpenaiChat,
        ModelWire::Gemini => WireKind::Gemini,
    };
    let described = WireSettings {
        name: settings.name.clone(),
        wire,
        model: settings.model.clone(),
        url: settings.url.clone().unwrap_or_else(|| wire.default_url().to_owned()),
        native: settings.native,
        window: settings.window,
        output: settings.output,
        thinking: match settings.thinking {
            ThinkingLevel::Off => Thinking::Off,
            ThinkingLevel::Low => Thinking::Low,
            ThinkingLevel::Medium => Thinking::Medium,
            ThinkingLevel::High => Thinking::High,
        },
        images: settings.images,
        price: settings.price.as_ref().map(price),
    };
    let model = HttpModel::new(described, key.map(Arc::from)).map_err(wrong)?;
    Ok(ChosenModel { model: Arc::new(model), secret })
}

/// The key: from the environment, or from what a command prints. It is kept in memory alone.
async fn key(ctx: &AppContext, source: &KeySource) -> Result<String, String> {
    let key = match source {
        KeySource::Env(name) => std::env::var(name)
            .map_err(|_| format!("the variable `{name}` for the key is not set"))?,
        KeySource::Command(command) => {
            let program = Program {
                command: command.clone(),
                directory: ctx.paths.workspace.clone(),
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

/// The persona of this name; without one, that of `[chat]`, or the shipped one.
pub(super) fn persona(ctx: &AppContext, named: Option<&str>) -> Result<Persona, Failure> {
    let name = named.or(ctx.config.chat_persona.as_deref()).unwrap_or("coder");
    let Some(it) = ctx.config.personas.iter().find(|it| it.name == name) else {
        return match name {
            "coder" => Ok(Persona::coder()),
            _ => Err(Failure::usage(format!("no persona is called `{name}`"))
                .hint("`eclusa models` lists models and personas; `coder` is shipped")),
        };
    };
    let prompt = match (&it.prompt, &it.prompt_file) {
        (Some(prompt), _) => prompt.clone(),
        (None, Some(file)) => {
            let beside = ctx.paths.config.as_deref().and_then(Path::parent);
            let path = beside.unwrap_or(&ctx.paths.workspace).join(file);
            read_text(&path).map_err(|err| {
                Failure::usage(format!("{}: `{}` cannot be read: {err}", it.origin, path.display()))
            })?
        }
        (None, None) => Persona::coder().prompt,
    };
    Ok(Persona {
        name: it.name.clone(),
        description: it.description.clone(),
        model: it.model.clone(),
        prompt,
        tools: it.tools.clone(),
        mode: it.mode,
    })
}

/// What a turn may use; so long, unless the configuration says otherwise.
pub(super) fn limits(
    ctx: &AppContext,
    model: &dyn Model,
    time: Option<Duration>,
) -> Result<TurnLimits, Failure> {
    let turn = &ctx.config.turn;
    if turn.money.is_some() && model.profile().price.is_none() {
        return Err(Failure::usage(format!(
            "limits.turn.money needs the price of the model `{}`",
            model.profile().name
        ))
        .hint(
            "add `price = { input = …, output = …, currency = \"USD\" }` to its `[models.NAME]`",
        ));
    }
    Ok(TurnLimits {
        requests: turn.requests,
        tokens: turn.tokens,
        money: turn.money,
        time: turn.time.or(time),
    })
}

#[cfg(test)]
mod tests;
