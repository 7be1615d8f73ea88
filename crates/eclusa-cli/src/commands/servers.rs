//! `eclusa servers`: other people's servers behind the gate.

use eclusa::settings::{Endpoint, ServerSettings, check_server_name};
use eclusa_mcp::PinStore;
use serde_json::{Value, json};

use crate::{
    context::AppContext,
    failure::{Exit, Failure},
    global::Global,
    screen::{Screen, sanitize},
    servers,
};

mod add;
mod args;
mod describe;
mod import;
mod login;
mod probe;
mod review;

pub(crate) use args::ServersArgs;
use args::ServersCommand;
pub(super) use args::{access, ask};

pub(super) async fn run(global: &Global, args: ServersArgs) -> Result<Exit, Failure> {
    let ctx = AppContext::open(global)?;
    match args.what.unwrap_or(ServersCommand::List { check: false }) {
        ServersCommand::List { check: false } => list(&ctx, global.json),
        ServersCommand::List { check: true } => probe::all(&ctx, global.json).await,
        ServersCommand::Add(args) => add::run(&ctx, args, global.json),
        ServersCommand::Remove { name } => add::remove(&ctx, &name, global.json),
        ServersCommand::Test { name, command } => {
            probe::test(&ctx, &selected(&ctx, &name, command)?, global.json).await
        }
        ServersCommand::Login { name, client_id, client_secret, scope } => {
            let server = find(&ctx, &name)?;
            let wanted = login::terms(&*ctx.paths.keys(), client_id, client_secret, &scope)?;
            login::login(server, ctx.paths.keys(), wanted).await?;
            print_line(&format!("logged in to `{name}`; its token is kept for it alone"))
        }
        ServersCommand::Logout { name } => {
            // Also for one that is no longer in the configuration.
            check_server_name(&name).map_err(Failure::usage)?;
            ctx.paths.keys().keep(&name, None)?;
            print_line(&format!("the token of `{name}` is forgotten"))
        }
        ServersCommand::Review { name, accept, command } => {
            review::run(&ctx, &selected(&ctx, &name, command)?, accept, global.json).await
        }
        ServersCommand::Import { file, from } => {
            import::run(&ctx, file.as_deref(), from, global.json)
        }
    }
}

fn print_line(line: &str) -> Result<Exit, Failure> {
    let mut screen = Screen::stdout();
    screen.line(line)?;
    screen.flush()?;
    Ok(Exit::Done)
}

/// The server of this name, or one that is wrapped and in no file.
fn selected(ctx: &AppContext, name: &str, command: Vec<String>) -> Result<ServerSettings, Failure> {
    if command.is_empty() {
        return find(ctx, name).cloned();
    }
    check_server_name(name).map_err(Failure::usage)?;
    Ok(ServerSettings::new(name, Endpoint::Command(command)))
}

/// The server of this name.
fn find<'a>(ctx: &'a AppContext, name: &str) -> Result<&'a ServerSettings, Failure> {
    ctx.config.servers.iter().find(|it| it.name == name).ok_or_else(|| {
        let known: Vec<&str> = ctx.config.servers.iter().map(|it| it.name.as_str()).collect();
        let failure = Failure::usage(format!("there is no server `{}`", sanitize(name)));
        if known.is_empty() {
            failure.hint("`eclusa servers add` adds one")
        } else {
            failure.hint(format!("there are: {}", known.join(", ")))
        }
    })
}

/// What is set up. Nothing is started for it.
fn list(ctx: &AppContext, json: bool) -> Result<Exit, Failure> {
    let pins = servers::PinFiles::new(ctx, &ctx.config.servers);
    let known = |it: &ServerSettings| pins.pinned(&it.name).map(|it| it.len());
    let mut screen = Screen::stdout();
    if json {
        for server in &ctx.config.servers {
            let mut line = settings(server);
            if let Some(line) = line.as_object_mut() {
                line.insert("known_tools".to_owned(), json!(known(server).ok()));
            }
            screen.json(&line)?;
        }
    } else if ctx.config.servers.is_empty() {
        screen.line("no servers; `eclusa servers add` adds one")?;
    } else {
        let row = |it: &ServerSettings| {
            let tools = match known(it) {
                Ok(0) => "not used yet".to_owned(),
                Ok(1) => "1 tool".to_owned(),
                Ok(count) => format!("{count} tools"),
                Err(err) => format!("its answer cannot be read: {err}"),
            };
            vec![it.name.clone(), sanitize(&reached(it)), notes(it), tools]
        };
        screen.table(&ctx.config.servers.iter().map(row).collect::<Vec<_>>())?;
    }
    screen.flush()?;
    Ok(Exit::Done)
}

/// How a server is reached, on one line.
fn reached(server: &ServerSettings) -> String {
    match &server.reach {
        Endpoint::Command(command) => command.join(" "),
        Endpoint::Url { url, .. } => url.clone(),
    }
}

/// What sets a server apart from one that nobody said anything about.
fn notes(server: &ServerSettings) -> String {
    let mut notes = Vec::new();
    if matches!(server.reach, Endpoint::Command(_)) {
        notes.push(format!("workspace: {}", server.workspace));
        if !server.sandbox {
            notes.push("NOT HELD".to_owned());
        }
        if !server.hosts.is_empty() {
            notes.push(format!("hosts: {}", server.hosts.join(" ")));
        }
    }
    if server.trusted {
        notes.push("trusted".to_owned());
    }
    sanitize(&notes.join(", "))
}

fn settings(server: &ServerSettings) -> Value {
    let (command, url, headers) = match &server.reach {
        Endpoint::Command(command) => (Some(command), None, None),
        Endpoint::Url { url, headers } => (None, Some(url), Some(headers)),
    };
    json!({
        "name": server.name,
        "command": command,
        "url": url,
        "headers": headers,
        "env": server.env,
        "hosts": server.hosts,
        "workspace": server.workspace.as_str(),
        "sandbox": server.sandbox,
        "trusted": server.trusted,
        "origin": server.origin,
    })
}
