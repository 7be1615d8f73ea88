//! `eclusa servers add` and `remove`.

use std::{collections::BTreeMap, path::Path};

use eclusa::settings::{Endpoint, ServerSettings, check_server_name};
use serde_json::json;

use super::args::AddArgs;
use super::settings;
use crate::{
    context::AppContext,
    failure::{Exit, Failure},
    screen::{Screen, note, sanitize},
    servers::{PinFiles, config_edit},
};

pub(super) fn run(ctx: &AppContext, args: AddArgs, json: bool) -> Result<Exit, Failure> {
    let file = file(ctx)?;
    check_server_name(&args.name).map_err(Failure::usage)?;
    if let Some(taken) = ctx.config.servers.iter().find(|it| it.name == args.name) {
        let text = format!("a server is called `{}` already, at {}", taken.name, taken.origin);
        return Err(Failure::usage(text).hint(format!("`eclusa servers remove {}`", taken.name)));
    }
    let server = selected(args)?;
    if let Some(why) = config_edit::secret_in(&server, &ctx.redactor()?) {
        return Err(Failure::usage(format!("nothing was written: {why}")));
    }
    let mut screen = Screen::stdout();
    if !ctx.dry_run {
        config_edit::add(file, std::slice::from_ref(&server))?;
    }
    match json {
        true => screen.json(&settings(&server))?,
        false => {
            let file = sanitize(&file.display().to_string());
            let (name, done) = (&server.name, if ctx.dry_run { "would be" } else { "is" });
            screen.line(&format!("`{name}` {done} behind the gate, in {file}"))?;
            screen.line(&format!("try it with `eclusa servers test {name}`"))?;
        }
    }
    screen.flush()?;
    for variable in server.env.iter().filter(|it| std::env::var_os(it).is_none()) {
        note(&format!("the environment variable {variable} is not set here"));
    }
    if !server.sandbox {
        note(&format!("`{}` runs without a sandbox: it can do whatever you can", server.name));
    }
    Ok(Exit::Done)
}

fn selected(args: AddArgs) -> Result<ServerSettings, Failure> {
    for name in &args.env {
        config_edit::variable(name)?;
    }
    let reach = match args.url {
        None => Endpoint::Command(args.command),
        Some(url) => {
            if let (true, _) | (_, true) = (!args.env.is_empty(), !args.allow_net.is_empty()) {
                let text =
                    "a server over HTTP has no program, so neither `--env` nor `--allow-net`";
                return Err(Failure::usage(text));
            }
            Endpoint::Url { url, headers: headers(&args.header)? }
        }
    };
    let plain = ServerSettings::new(&args.name, reach);
    Ok(ServerSettings {
        env: args.env,
        hosts: args.allow_net,
        trusted: args.trusted,
        workspace: args.access.unwrap_or(plain.workspace),
        sandbox: !args.no_sandbox,
        ..plain
    })
}

fn headers(written: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let mut headers = BTreeMap::new();
    for header in written {
        let (name, variable) = header
            .split_once('=')
            .ok_or_else(|| Failure::usage("a header is written `--header NAME=VARIABLE`"))?;
        config_edit::variable(variable)?;
        headers.insert(name.to_owned(), variable.to_owned());
    }
    Ok(headers)
}

/// The person's own file.
pub(super) fn file(ctx: &AppContext) -> Result<&Path, Failure> {
    ctx.paths.config.as_deref().ok_or_else(|| {
        Failure::usage(
            "there is no configuration of yours: neither XDG_CONFIG_HOME nor HOME is set",
        )
        .hint("name a file with `--config FILE`")
    })
}

pub(super) fn remove(ctx: &AppContext, name: &str, json: bool) -> Result<Exit, Failure> {
    let server = super::find(ctx, name)?;
    let file = file(ctx)?;
    if !ctx.dry_run && !config_edit::remove(file, name)? {
        let text = format!("`{name}` is not in your own file: it is at {}", server.origin);
        return Err(Failure::usage(text).hint("take it out there"));
    }
    if !ctx.dry_run {
        PinFiles::new(ctx, [server]).forget(name).map_err(Failure::failed)?;
    }
    let home = ctx.paths.home_of(server);
    let left = home.is_dir().then(|| home.display().to_string());
    let mut screen = Screen::stdout();
    match json {
        true => screen.json(&json!({"removed": name, "left": left}))?,
        false => {
            screen.line(&format!("`{name}` is no longer behind the gate"))?;
            if let Some(left) = left {
                screen.line(&format!("its files are still in {}", sanitize(&left)))?;
            }
        }
    }
    screen.flush()?;
    Ok(Exit::Done)
}
