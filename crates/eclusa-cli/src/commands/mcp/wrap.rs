//! The one server that is wrapped: what it may reach, and what it is called.

use std::{path::Path, time::Duration};

use eclusa::settings::{
    Endpoint, ServerPermission, ServerSettings, WorkspaceAccess, check_server_name,
};
use eclusa_app::values::duration;

use super::super::servers::{access, ask};
use crate::{
    address_variable::{address, header_variable},
    failure::Failure,
    servers::config_edit::variable,
};

// One server that is put behind the gate alone.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "One server alone")]
pub(crate) struct WrapArgs {
    /// Put this one server behind the gate, and nothing else
    #[arg(long, requires = "wrapped")]
    pub(crate) wrap: bool,
    /// What it is called in rules and records [default: after its program or package]
    #[arg(long, requires = "wrap")]
    pub(crate) name: Option<String>,
    /// An environment variable that its program sees; repeatable
    #[arg(long, value_name = "VARIABLE", requires = "wrap")]
    pub(crate) env: Vec<String>,
    /// A host that its program may reach; repeatable
    #[arg(long, value_name = "HOST", requires = "wrap")]
    pub(crate) allow_net: Vec<String>,
    /// How long it may take to start [default: 60s]
    #[arg(long, value_parser = duration, value_name = "TIME", requires = "wrap")]
    pub(crate) start: Option<Duration>,
    /// What its program may do with the workspace [default: read]
    #[arg(long, value_parser = access(), value_name = "ACCESS", requires = "wrap")]
    pub(crate) access: Option<WorkspaceAccess>,
    /// What it may ask of the client, besides questions to you; can be given several times
    #[arg(long, value_delimiter = ',', value_parser = ask(), value_name = "WHAT", requires = "wrap")]
    pub(crate) may: Vec<ServerPermission>,
    /// Start its program without a sandbox: it can do whatever you can
    #[arg(long, alias = "no-cell", requires = "wrap")]
    pub(crate) no_sandbox: bool,
    /// Says that `eclusa install` wrote this: `eclusa uninstall` gives the server back
    #[arg(long, requires = "wrap", hide = true)]
    pub(crate) installed: bool,
    /// The variable that holds a server's address and headers, as the agent's entry had them
    #[arg(long, requires = "wrap", group = "wrapped", value_name = "VARIABLE", hide = true)]
    pub(crate) address_in: Option<String>,
    /// The server's program and its arguments
    #[arg(last = true, requires = "wrap", group = "wrapped", value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// How long it may take to start: an agent that started it itself would wait about as long.
const MAX_START: Duration = Duration::from_secs(60);

/// Programs that run another program or package, which is what the server is called after.
const RUNNERS: [&str; 14] = [
    "npx", "pnpx", "bunx", "uvx", "uv", "pipx", "deno", "node", "bun", "python", "python3", "npm",
    "pnpm", "yarn",
];

/// Names of files and directories that say nothing of the package that they are in.
const UNTELLING: [&str; 12] =
    ["index", "main", "cli", "env", "server", "start", "dist", "build", "lib", "src", "bin", "out"];

/// Words of runners that name nothing.
const VERBS: [&str; 7] = ["run", "exec", "tool", "dlx", "x", "start", "serve"];

/// The server that is meant.
pub(super) fn wrapped(args: WrapArgs) -> Result<ServerSettings, Failure> {
    for name in &args.env {
        variable(name)?;
    }
    let name = args.name.unwrap_or_else(|| called(&args.command));
    check_server_name(&name).map_err(Failure::usage)?;
    let reach = match &args.address_in {
        Some(variable) => at_address(variable)?,
        None => Endpoint::Command(args.command),
    };
    let plain = ServerSettings::new(name, reach);
    Ok(ServerSettings {
        env: args.env,
        hosts: args.allow_net,
        start: args.start.unwrap_or(MAX_START),
        workspace: args.access.unwrap_or(plain.workspace),
        may: plain.may.into_iter().chain(args.may).collect(),
        sandbox: !args.no_sandbox,
        ..plain
    })
}

/// The address that a variable holds. What the server is shown stays there until it is shown.
fn at_address(variable: &str) -> Result<Endpoint, Failure> {
    let address = address(variable).map_err(Failure::usage)?;
    let value = |name: &str| (name.to_owned(), header_variable(variable, name));
    let headers = address.headers.iter().map(|(name, _)| value(name)).collect();
    Ok(Endpoint::Url { url: address.url, headers })
}

/// A name for a server from its command: that of its package or script, or of its program.
fn called(command: &[String]) -> String {
    let program = command.first().map(|it| stem(it)).unwrap_or_default();
    let is_runner = RUNNERS.contains(&program.as_str()) || program.starts_with("python3.");
    let words = command.iter().skip(1).filter(|it| !it.starts_with('-'));
    let package = words.filter(|it| !VERBS.contains(&it.as_str())).map(|it| package(it)).next();
    let name = package.filter(|_| is_runner).unwrap_or(program);
    let plain = |it: char| if it.is_ascii_alphanumeric() || it == '-' { it } else { '_' };
    let name: String = name.chars().map(plain).take(32).collect();
    if name.is_empty() { "server".to_owned() } else { name }
}

/// What a script or a package is called. `index.js` is called after the package that it is in.
fn package(word: &str) -> String {
    let own = stem(word);
    if let Some((_, within)) = word.rsplit_once("node_modules/") {
        let mut parts = within.split('/');
        let first = parts.next().unwrap_or_default();
        let name = if first.starts_with('@') { parts.next().unwrap_or(first) } else { first };
        return stem(name);
    }
    if !UNTELLING.contains(&own.as_str()) {
        return own;
    }
    let mut above = Path::new(word).ancestors().skip(1).filter_map(|it| it.file_name()?.to_str());
    let telling = above.find(|it| !UNTELLING.contains(it) && !it.starts_with('.'));
    telling.map_or(own, stem)
}

/// The name of a file or package without its ending and version.
fn stem(word: &str) -> String {
    let file = Path::new(word).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let file = [".py", ".js", ".mjs", ".cjs", ".ts", ".exe"]
        .iter()
        .find_map(|end| file.strip_suffix(end))
        .map(str::to_owned)
        .unwrap_or(file);
    // `server@1.2.3` and `server==1.2.3` are both `server`.
    let end = file.char_indices().skip(1).find(|(_, it)| ['@', '=', '[', ':'].contains(it));
    let end = end.map_or(file.len(), |(at, _)| at);
    file.get(..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
