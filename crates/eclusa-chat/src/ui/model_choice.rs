//! Which model a conversation is with, and as whom: from the command line and the configuration.

use std::{path::Path, sync::Arc, time::Duration};

use eclusa::redact::SecretRule;
use eclusa_models::{Model, TurnLimits};

use crate::Persona;
use crate::ui::{
    context::AppContext,
    failure::Failure,
    open_model::{OpenedModel, open_model},
    read_text::read_text,
};

/// Whom a session is with: a model as a persona, what a turn may use, and whom it can give work to.
pub(super) struct ModelChoice {
    pub(super) model: Arc<dyn Model>,
    pub(super) persona: Persona,
    pub(super) limits: TurnLimits,
    pub(super) helpers: Vec<Helper>,
    /// The keys of all these models.
    pub(super) secrets: Vec<SecretRule>,
}

/// The model and the persona of these names, or those of the configuration. A turn takes no longer than this,
/// unless the configuration says otherwise.
pub(super) async fn choose(
    ctx: &AppContext,
    model: Option<&str>,
    persona: Option<&str>,
    time: Option<Duration>,
) -> Result<ModelChoice, Failure> {
    let persona = self::persona(ctx, persona)?;
    let chosen = find(ctx, model, &persona).await?;
    let limits = limits(ctx, &*chosen.model, time)?;
    let (helpers, mut secrets) = helpers(ctx, &chosen).await;
    secrets.extend(chosen.secret);
    Ok(ModelChoice { model: chosen.model, persona, limits, helpers, secrets })
}

/// The model of this name; without one, that of the persona, of `[chat]`, or the only one there is.
pub(super) async fn find(
    ctx: &AppContext,
    named: Option<&str>,
    persona: &Persona,
) -> Result<OpenedModel, Failure> {
    let known = &ctx.config.models;
    let only = known.first().filter(|_| known.len() == 1).map(|it| it.name.as_str());
    let named = named.or(persona.model.as_deref()).or(ctx.config.chat_model.as_deref());
    let name = named.or(only).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|it| it.name.as_str()).collect();
        match names.is_empty() {
            true => Failure::usage("no model chosen, and none is configured")
                .hint("add one with `eclusa models add`, or use `--model script:FILE`"),
            false => Failure::usage("no model chosen").hint(format!(
                "choose one with --model; configured: {}",
                crate::ui::screen::sanitize(&names.join(", "))
            )),
        }
    })?;
    open_model(&ctx.config, &ctx.paths.workspace, name).await
}

/// Those whom a model can give work to, each with a model. One whose model cannot be opened says why
/// when it is needed.
async fn helpers(ctx: &AppContext, chosen: &OpenedModel) -> (Vec<Helper>, Vec<SecretRule>) {
    let (mut helpers, mut secrets) = (Vec::new(), Vec::new());
    if ctx.config.tasks == 0 {
        return (helpers, secrets);
    }
    let own = ctx.config.personas.iter().map(|it| it.name.as_str());
    let shipped = ["coder"].into_iter().filter(|name| !own.clone().any(|it| it == *name));
    for name in shipped.chain(own.clone()) {
        let persona = match persona(ctx, Some(name)) {
            Ok(persona) => persona,
            Err(failure) => {
                tracing::warn!("no work can be given to `{name}`: {}", failure.lines().join("; "));
                continue;
            }
        };
        let other = persona.model.as_deref().filter(|it| *it != chosen.model.profile().name);
        let model = match other {
            None => Ok(chosen.model.clone()),
            Some(other) => match open_model(&ctx.config, &ctx.paths.workspace, other).await {
                Ok(opened) => {
                    secrets.extend(opened.secret);
                    Ok(opened.model)
                }
                Err(failure) => Err(failure.lines().join("; ")),
            },
        };
        helpers.push(Helper { persona, model });
    }
    (helpers, secrets)
}

/// Somebody whom a model can give work to.
pub(super) struct Helper {
    pub(super) persona: Persona,
    pub(super) model: Result<Arc<dyn Model>, String>,
}

/// The persona of this name; without one, that of `[chat]`, or the shipped one.
pub(super) fn persona(ctx: &AppContext, named: Option<&str>) -> Result<Persona, Failure> {
    let name = named.or(ctx.config.chat_persona.as_deref()).unwrap_or("coder");
    let it = match ctx.config.persona(name) {
        Ok(it) => it,
        Err(_) if name.eq_ignore_ascii_case("coder") => return Ok(Persona::coder()),
        Err(near) => {
            let near = near.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
            return Err(Failure::usage(format!("no persona is called `{name}`{near}"))
                .hint("`eclusa models` lists models and personas; `coder` is shipped"));
        }
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
fn limits(
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
