//! `eclusa servers`, as typed.

use std::path::PathBuf;

use clap::{
    Args as Group, Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
};
use eclusa::settings::{ServerPermission, WorkspaceAccess};
use eclusa_connect::{AgentSpec, commands::agents::agent_parser};

/// Manage other MCP servers behind the gate
#[derive(Debug, Group)]
#[command(after_help = "\
Examples:
  eclusa servers                                list them
  eclusa servers list --check                   start each and report its state
  eclusa servers add git -- uvx mcp-server-git
  eclusa servers test git                       start it and show what it offers
  eclusa servers import                         import servers of other agents
  eclusa run mcp_git_git_status '{\"repo_path\": \".\"}'
  eclusa servers review git                     review changed tool descriptions

Their tools are called `mcp_SERVER_TOOL`. A server is not trusted: its program runs in a sandbox, reads \
no secrets, writes to a directory of its own, and reaches the hosts that are named.")]
pub(crate) struct ServersArgs {
    #[command(subcommand)]
    pub(super) what: Option<ServersCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServersCommand {
    /// List the servers (default)
    List {
        /// Start each server and report its state
        #[arg(long)]
        check: bool,
    },
    /// Add a server behind the gate
    #[command(after_help = "\
Examples:
  eclusa servers add git -- uvx mcp-server-git
  eclusa servers add memory --access hidden -- npx -y @modelcontextprotocol/server-memory
  eclusa servers add forge --env FORGE_TOKEN --allow-net api.forge.example -- forge-mcp stdio
  eclusa servers add docs --url https://docs.example/mcp --header Authorization=DOCS_AUTHORIZATION

No value of a variable or header is written to the configuration, only its name: the values stay in \
your environment. Write a header's variable as it is sent, with `Bearer ` before a token. A program \
reaches the hosts that are named and no others; `eclusa servers test NAME` says which it tried.")]
    Add(AddArgs),
    /// Remove a server and its pinned tool descriptions
    Remove {
        /// Its name
        name: String,
    },
    /// Start a server and show what it offers
    #[command(after_help = "Exit codes: 0 it works, 1 it does not.")]
    Test {
        /// Its name
        name: String,
        /// The command of a server that is wrapped, and in no configuration
        #[arg(last = true, value_name = "COMMAND")]
        command: Vec<String>,
    },
    /// Review tools whose description changed since first use
    #[command(after_help = "\
Calls of such a tool are refused until the change is accepted. Exit codes: 0 nothing to review or \
accepted, 3 not accepted.")]
    Review {
        /// Its name
        name: String,
        /// Accept the change without asking
        #[arg(long)]
        accept: bool,
        /// The command of a server that is wrapped, and in no configuration
        #[arg(last = true, value_name = "COMMAND")]
        command: Vec<String>,
    },
    /// Log in to a server over HTTP, in the browser
    #[command(after_help = "\
The server says who issues tokens for it; the address that is printed is theirs. The token is issued \
for that server alone, kept encrypted in the state directory, renewed by itself, and shown to nobody \
else. A server that takes a fixed token needs no login: `eclusa servers add --header` names its variable.")]
    Login {
        /// Its name
        name: String,
        /// The id of a client that you have registered with the issuer of its tokens
        #[arg(long, value_name = "ID")]
        client_id: Option<String>,
        /// The environment variable that holds the secret of that client
        #[arg(long, value_name = "VARIABLE", requires = "client_id")]
        client_secret: Option<String>,
        /// Further scopes that the token needs
        #[arg(long, value_name = "WORDS")]
        scope: Vec<String>,
    },
    /// Forget the token of a server
    Logout {
        /// Its name
        name: String,
    },
    /// Import servers from the configuration of another agent
    #[command(after_help = "\
Examples:
  eclusa servers import                         from every agent that has a configuration here
  eclusa servers import --from claude-code      ~/.claude.json and .mcp.json of the workspace
  eclusa servers import other/mcp.json          a file with `mcpServers`, `servers` or `mcp_servers`
  eclusa --dry-run servers import               say what would be done

Nothing is overwritten. Values of variables and headers are not copied: they are listed by name, to \
be set in your environment. What cannot be brought over is listed with the reason.")]
    Import {
        /// A file to read
        #[arg(conflicts_with = "from")]
        file: Option<PathBuf>,
        /// The agent whose configuration is read
        #[arg(long, value_parser = agent_parser(|_| true))]
        from: Option<&'static AgentSpec>,
    },
}

/// A server to be added.
#[derive(Debug, Group)]
pub(crate) struct AddArgs {
    /// Its name: part of the names of its tools
    pub(crate) name: String,
    /// An environment variable that its program sees; repeatable
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) env: Vec<String>,
    /// A host that its program may reach; repeatable
    #[arg(long, alias = "host", value_name = "HOST")]
    pub(crate) allow_net: Vec<String>,
    /// What its program may do with the workspace, `workspace` in eclusa.toml [default: read]
    #[arg(long, value_parser = access(), value_name = "ACCESS")]
    pub(crate) access: Option<WorkspaceAccess>,
    /// Start its program without a sandbox: it can do whatever you can
    #[arg(long, alias = "no-cell")]
    pub(crate) no_sandbox: bool,
    /// Believe what it says about its tools, and do not mark its text as coming from outside
    #[arg(long)]
    pub(crate) trusted: bool,
    /// Address of a server over HTTP
    #[arg(long, conflicts_with = "command", required_unless_present = "command")]
    pub(crate) url: Option<String>,
    /// A header for the address, and the environment variable that holds its value; can be given
    /// several times
    #[arg(long, value_name = "NAME=VARIABLE", requires = "url")]
    pub(crate) header: Vec<String>,
    /// The server's program and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// What a server may ask of the client.
pub(crate) fn ask() -> impl TypedValueParser<Value = ServerPermission> {
    let some = [ServerPermission::Sampling, ServerPermission::Roots];
    PossibleValuesParser::new(some.map(ServerPermission::as_str))
        .try_map(|word| word.parse::<ServerPermission>())
}

pub(crate) fn access() -> impl TypedValueParser<Value = WorkspaceAccess> {
    PossibleValuesParser::new(WorkspaceAccess::ALL.map(WorkspaceAccess::as_str))
        .try_map(|word| word.parse::<WorkspaceAccess>())
}
