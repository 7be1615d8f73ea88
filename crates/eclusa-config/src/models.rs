//! `[models.NAME]`, `[personas.NAME]`, `[limits.turn]` and `[chat]`: whom to talk to, and how far.

use std::{collections::BTreeMap, time::Duration};

use eclusa::{Mode, Wire, settings::Thinking};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::Problem,
    source::LayerReader,
    spanned::{Keyword, KeywordSet, Spanned},
    tighten::{granted, is_looser, set_counts, set_tightening},
    units::{self, Most},
};

/// A model that can be talked to.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSettings {
    /// Its name.
    pub name: String,
    /// How its server is spoken to.
    pub wire: Wire,
    /// What its server calls it.
    pub model: String,
    /// The address of the server; `None`: that of the provider.
    pub url: Option<String>,
    /// Where its key comes from.
    pub key: Option<KeySource>,
    /// Whether it has native calls.
    pub native: bool,
    /// How many tokens it can look at.
    pub window: u64,
    /// How many it may write in one reply.
    pub output: u64,
    /// How much it is asked to think.
    pub thinking: Thinking,
    /// Whether it looks at pictures.
    pub images: bool,
    /// What a million tokens cost.
    pub price: Option<PriceSettings>,
    /// Where it is written.
    pub origin: String,
}

/// Where a key comes from: never from a file of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// An environment variable.
    Env(String),
    /// What a command prints, such as that of a password store.
    Command(Vec<String>),
}

/// What a million tokens cost.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct PriceSettings {
    /// Read.
    #[schemars(range(min = 0))]
    pub input: f64,
    /// Written.
    #[schemars(range(min = 0))]
    pub output: f64,
    /// Read from the provider's cache; as `input` unless said.
    pub cache_read: Option<f64>,
    /// Put into the provider's cache; as `input` unless said.
    pub cache_write: Option<f64>,
    /// Such as "USD".
    pub currency: String,
}

/// How a model is asked to behave, and what it is kept to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonaSettings {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its model.
    pub model: Option<String>,
    /// Its part of the system text.
    pub prompt: Option<String>,
    /// A file that holds it.
    pub prompt_file: Option<String>,
    /// The only tools that it is given.
    pub tools: Option<Vec<String>>,
    /// How careful it is.
    pub mode: Option<Mode>,
    /// Where it is written.
    pub origin: String,
}

/// What one turn with a model may use. `None` is no limit.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnSettings {
    /// Requests.
    pub requests: Option<u64>,
    /// Tokens.
    pub tokens: Option<u64>,
    /// Money, in millionths of the model's currency.
    pub money: Option<u64>,
    /// Time.
    pub time: Option<Duration>,
}

impl Default for TurnSettings {
    fn default() -> TurnSettings {
        TurnSettings { requests: Some(100), tokens: None, money: None, time: None }
    }
}

/// A model, as written.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct ModelEntry {
    /// How its server is spoken to: anthropic, openai (Responses), openai-chat (and everything
    /// compatible: llama.cpp, ollama, vLLM), gemini.
    wire: Keyword<Wire>,
    /// What its server calls it.
    model: String,
    /// The address of the server; that of the provider unless said. Without encryption on this
    /// machine only.
    url: Option<Spanned<String>>,
    /// Where its key comes from: { env = "NAME" } or { command = ["pass", "show", "x"] }.
    key: Option<Spanned<KeyEntry>>,
    /// "native", or "text" for a model without native calls: they are blocks in its text.
    calls: Option<Keyword<CallStyle>>,
    /// How many tokens it can look at; 128000 unless said.
    window: Option<u64>,
    /// How many tokens it may write in one reply; 16000 unless said.
    output: Option<u64>,
    /// How much it is asked to think: off, low, medium, high; off unless said.
    thinking: Option<Keyword<Thinking>>,
    /// Whether it looks at pictures; false unless said.
    images: Option<bool>,
    /// What a million tokens cost.
    price: Option<Spanned<PriceSettings>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallStyle {
    Native,
    Text,
}

impl KeywordSet for CallStyle {
    const WORDS: &'static [(&'static str, CallStyle)] =
        &[("native", CallStyle::Native), ("text", CallStyle::Text)];
}

/// A key's source, as written.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct KeyEntry {
    /// An environment variable.
    env: Option<String>,
    /// A command that prints it.
    command: Option<Vec<String>>,
}

/// A persona, as written.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct PersonaEntry {
    /// What it is for.
    #[serde(default)]
    description: String,
    /// Its model, by name.
    model: Option<String>,
    /// Its part of the system text.
    prompt: Option<String>,
    /// A file that holds it instead, beside this one.
    prompt_file: Option<String>,
    /// The only tools that it is given; all unless said.
    tools: Option<Vec<String>>,
    /// How careful it is; a looser mode than that of the run has no effect.
    mode: Option<Keyword<Mode>>,
}

/// What one turn with a model may use.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Turn {
    /// Requests to the model, or "none".
    requests: Option<Spanned<Most>>,
    /// Tokens, or "none".
    tokens: Option<Spanned<Most>>,
    /// Money in the model's currency, like "2.50", or "none".
    money: Option<Spanned<String>>,
    /// Time, or "none"; for `eclusa ask` half an hour unless said.
    time: Option<Spanned<String>>,
}

/// Talking to a model.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Chat {
    /// The persona, unless the command line names one.
    pub(super) persona: Option<Spanned<String>>,
    /// The model, unless the persona or the command line names one.
    pub(super) model: Option<Spanned<String>>,
    /// Whether a question rings the terminal's bell; it does unless said.
    pub(super) bell: Option<Spanned<bool>>,
}

/// Lays the models and personas of a file over those below. They are the person's affair: a
/// project's file can only lower what a turn may use.
pub(super) fn merge(
    source: &mut LayerReader<'_>,
    below: (&mut Vec<ModelSettings>, &mut Vec<PersonaSettings>),
    models: &BTreeMap<String, Spanned<ModelEntry>>,
    personas: &BTreeMap<String, Spanned<PersonaEntry>>,
) {
    let (known_models, known_personas) = below;
    for (name, written) in models {
        if granted(source, &written.span, "a model")
            && let Some(model) = model(source, name, written)
        {
            known_models.retain(|it| it.name != model.name);
            known_models.push(model);
        }
    }
    for (name, written) in personas {
        if granted(source, &written.span, "a persona") {
            let it = &written.it;
            if it.prompt.is_some() && it.prompt_file.is_some() {
                let text = "a persona has `prompt` or `prompt_file`, not both";
                source.wrong(Problem::new(&written.span, text));
            }
            known_personas.retain(|it| it.name != *name);
            known_personas.push(PersonaSettings {
                name: name.clone(),
                description: it.description.clone(),
                model: it.model.clone(),
                prompt: it.prompt.clone(),
                prompt_file: it.prompt_file.clone(),
                tools: it.tools.clone(),
                mode: it.mode.map(|it| it.0),
                origin: source.origin(&written.span),
            });
        }
    }
}

fn model(
    source: &mut LayerReader<'_>,
    name: &str,
    written: &Spanned<ModelEntry>,
) -> Option<ModelSettings> {
    let it = &written.it;
    let key = match it.key.as_ref().map(|it| (&it.span, &it.it.env, &it.it.command)) {
        None => None,
        Some((_, Some(name), None)) => Some(KeySource::Env(name.clone())),
        Some((_, None, Some(command))) if !command.is_empty() => {
            Some(KeySource::Command(command.clone()))
        }
        Some((span, ..)) => {
            let text = "a key comes from one place: `env`, or `command` with a program";
            source.wrong(Problem::new(span, text));
            return None;
        }
    };
    let (window, output) = (it.window.unwrap_or(128_000), it.output.unwrap_or(16_000));
    if output >= window {
        let text = "`output` is part of `window`, and must be smaller";
        source.wrong(Problem::new(&written.span, text));
        return None;
    }
    Some(ModelSettings {
        name: name.to_owned(),
        wire: it.wire.0,
        model: it.model.clone(),
        url: it.url.as_ref().map(|it| it.it.clone()),
        key,
        native: it.calls.is_none_or(|it| it.0 == CallStyle::Native),
        window,
        output,
        thinking: it.thinking.map(|it| it.0).unwrap_or_default(),
        images: it.images.unwrap_or(false),
        price: it.price.as_ref().map(|it| it.it.clone()),
        origin: source.origin(&written.span),
    })
}

/// Lays what a turn may use over what holds below.
pub(super) fn merge_turn(source: &mut LayerReader<'_>, limits: &mut TurnSettings, file: &Turn) {
    set_counts(
        source,
        [(&file.requests, &mut limits.requests), (&file.tokens, &mut limits.tokens)],
    );
    if let Some(written) = &file.money
        && let Some(most) = source.keep(&written.span, money(&written.it))
    {
        set_tightening(source, &written.span, &mut limits.money, most, is_looser);
    }
    if let Some(written) = &file.time {
        let time = match written.it.as_str() {
            "none" => Ok(None),
            text => units::time(text).map(Some),
        };
        if let Some(time) = source.keep(&written.span, time) {
            set_tightening(source, &written.span, &mut limits.time, time, is_looser);
        }
    }
}

/// An amount like `2.50`, in millionths.
fn money(text: &str) -> Result<Option<u64>, String> {
    if text == "none" {
        return Ok(None);
    }
    let wrong = || format!("`{text}` is not an amount; write it like `2.50`, or `none`");
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 6 {
        return Err(wrong());
    }
    let micros: u64 = format!("{part:0<6}").parse().map_err(|_| wrong())?;
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let total = whole.checked_mul(1_000_000).and_then(|it| it.checked_add(micros));
    total.map(Some).ok_or_else(wrong)
}
