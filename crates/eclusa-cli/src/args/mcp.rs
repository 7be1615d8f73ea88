//! `eclusa mcp` and `eclusa up`, as typed.

use std::{net::SocketAddr, time::Duration};

use clap::Args as Group;
use eclusa::settings::{ServerPermission, WorkspaceAccess};

use super::{
    duration,
    servers::{access, ask},
};

pub(super) const EXAMPLES: &str = "\
Put this into the agent's configuration as the command of an MCP server:
  eclusa mcp                                    for the directory that the agent starts it in
  eclusa --workspace DIR mcp                    for another one
  eclusa mcp --wrap -- uvx mcp-server-git       one other server alone, behind the gate
  eclusa mcp --wrap --env FORGE_TOKEN --allow-net api.forge.example -- forge-mcp stdio

Every call passes the gate. Where a person must approve, the client shows the question if it can; \
otherwise the next way to ask is tried, as configured. Servers of other people (`eclusa servers`) \
are behind the same gate. See docs/agents.md for each agent.";

pub(super) const UP_EXAMPLES: &str = "\
Examples:
  eclusa up                                     http://127.0.0.1:8377/mcp, for this machine only
  ECLUSA_TOKEN=... eclusa up --listen 0.0.0.0:8377 --host build.example.org

Every client must send the token (Authorization: Bearer TOKEN). Where you set none, one is made, \
printed, and kept in a file that only you can read. Clients cannot answer questions about their own \
calls unless you pass --trust-client-answers: such questions wait for `eclusa approvals` where \
on_no_approver = \"queue\", and are refused otherwise. /health says whether the workspace is open, \
/metrics counts calls. Ctrl-C ends it: calls are cancelled and recorded.";

/// How MCP clients are served.
#[derive(Debug, Clone, Group)]
pub(crate) struct McpArgs {
    /// How long a call may wait for a person before the client is told to ask again [default: 50s,
    /// or 270s while the client itself shows the question]
    #[arg(long, value_parser = duration, value_name = "TIME")]
    pub(crate) patience: Option<Duration>,
    #[command(flatten)]
    pub(crate) wrap: WrapArgs,
}

/// One server that is put behind the gate alone.
#[derive(Debug, Clone, Group)]
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
    /// How long it may take to start [default: 20s]
    #[arg(long, value_parser = duration, value_name = "TIME", requires = "wrap")]
    pub(crate) start: Option<Duration>,
    /// What its program may do with the workspace [default: read]
    #[arg(long, value_parser = access(), value_name = "ACCESS", requires = "wrap")]
    pub(crate) access: Option<WorkspaceAccess>,
    /// What it may ask of the client, besides questions to you; can be given several times
    #[arg(long, value_parser = ask(), value_name = "WHAT", requires = "wrap")]
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

/// Where MCP clients are served over HTTP.
#[derive(Debug, Clone, Group)]
pub(crate) struct UpArgs {
    /// Address and port to listen on
    #[arg(long, default_value = "127.0.0.1:8377", value_name = "ADDRESS")]
    pub(crate) listen: SocketAddr,
    /// A name of this machine that clients use; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// The environment variable that holds the token which clients must send
    #[arg(long, default_value = "ECLUSA_TOKEN", value_name = "VARIABLE")]
    pub(crate) token_env: String,
    /// Let programs of your own user in without the token, on the loopback only
    #[arg(long)]
    pub(crate) same_user: bool,
    /// The clients are yours and ask you: accept their answers to questions about their own calls
    #[arg(long)]
    pub(crate) trust_client_answers: bool,
    #[command(flatten)]
    pub(crate) serving: McpArgs,
}
