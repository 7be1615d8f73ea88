//! `eclusa guard`: a whole agent in a sandbox. What it changes is staged, judged and shown at its
//! end; the key of its model stays outside.

use std::{
    env, fs,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use eclusa_agents::GuardRow;
use eclusa_tools::{Sandboxes, WriteTracking};

use super::exec;
use crate::{
    args::{ExecArgs, Global, GuardArgs},
    context::AppContext,
    failure::{Exit, Failure},
    remember::replace,
    screen::{note, sanitize},
    shell,
    tickets::random_name,
};

mod model_proxy;

use model_proxy::ModelProxy;

pub(super) async fn run(global: &Global, args: GuardArgs) -> Result<Exit, Failure> {
    let ctx = AppContext::open(global)?;
    let program = args.command.first().map(String::as_str).unwrap_or_default();
    let row = GuardRow::for_program(program).ok_or_else(|| {
        Failure::usage(format!("`{}` is no agent that can be guarded", sanitize(program)))
            .hint("claude, codex, gemini and opencode can; `eclusa exec` runs any other program")
    })?;
    if !row.is_headless(&args.command) {
        let text = format!("{} has no terminal in there, and would wait for one", row.agent);
        let word = row.headless.first().copied().unwrap_or_default();
        return Err(Failure::usage(text).hint(format!("start it headless: `{program} {word} …`")));
    }
    let model_proxy = open_model_proxy(&row, args.key.as_deref()).await?;
    let home = own_directory(&ctx.paths.agent_homes().join(row.agent.name()), &row)?;
    let sandboxes = sandboxes(&ctx, &args, &row, &home, &model_proxy)?;
    let command = row.command(&args.command);
    note(&format!(
        "{} runs in a sandbox: its changes are staged, its key stays outside, and it reaches its \
         model{}",
        row.agent,
        match sandboxes.settings().hosts.join(", ") {
            none if none.is_empty() => " and nothing else".to_owned(),
            hosts => format!(" and {hosts}"),
        }
    ));
    let exec = ExecArgs {
        apply: args.apply,
        discard: args.discard,
        allow_net: Vec::new(),
        timeout: args.timeout,
        ticket: None,
        command: vec![command],
    };
    exec::run_in(&ctx, exec, sandboxes, global.json).await
}

/// The proxy of the agent's model, which has the person's key.
async fn open_model_proxy(row: &GuardRow, variable: Option<&str>) -> Result<ModelProxy, Failure> {
    let variable = variable.unwrap_or(row.key);
    let key = env::var(variable).ok().filter(|it| !it.is_empty()).ok_or_else(|| {
        Failure::usage(format!("the key of {}'s model is not in `{variable}`", row.agent))
            .hint("set it, or name another variable: `--key VARIABLE`; logins do not work in here")
    })?;
    let (name, otherwise) = row.service;
    let service = env::var(name).ok().filter(|it| !it.is_empty());
    let service = service.unwrap_or_else(|| otherwise.to_owned());
    ModelProxy::open(&service, row.header, &key, random_name()?)
        .await
        .map_err(|why| Failure::usage(format!("`{}` cannot be used: {why}", sanitize(&service))))
}

/// The agent's own directory, which it may write to: its settings are ours each time.
fn own_directory(home: &Path, row: &GuardRow) -> Result<PathBuf, Failure> {
    let failed = |err: std::io::Error| {
        Failure::failed(format!("`{}` cannot be made: {err}", home.display()))
    };
    fs::DirBuilder::new().recursive(true).mode(0o700).create(home).map_err(failed)?;
    for (name, text) in row.files {
        replace(&home.join(name), text).map_err(failed)?;
    }
    home.canonicalize().map_err(failed)
}

fn sandboxes(
    ctx: &AppContext,
    args: &GuardArgs,
    row: &GuardRow,
    home: &Path,
    model_proxy: &ModelProxy,
) -> Result<Sandboxes, Failure> {
    let lost = || Failure::failed("the path of the agent's own directory is not UTF-8");
    let variables = row.variables(home.to_str().ok_or_else(lost)?, model_proxy.token());
    let mut settings = shell::settings(&ctx.paths, &ctx.config, &args.allow_net);
    settings.env.extend(variables.into_iter().map(|(name, value)| (name.into(), value.into())));
    settings.hide.retain(|it| !home.starts_with(it));
    settings.writable.push(home.to_owned());
    settings.model_proxy = Some(model_proxy.address());
    let sandboxes = shell::with_settings(settings)?;
    match sandboxes.write_tracking() {
        WriteTracking::Overlay => Ok(sandboxes),
        WriteTracking::Nothing => {
            Err(Failure::failed("this machine cannot stage changes, so no agent can be guarded")
                .hint("`eclusa doctor` says what is missing"))
        }
    }
}
