//! `eclusa up`: the tools for agents that speak MCP, over HTTP.

use std::net::SocketAddr;

use eclusa_app::serve_mcp::{ClientAnswers, end};
use eclusa_mcp::{Http, serve_http};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpListener;

use super::mcp::{self, ServingArgs};
use crate::{
    failure::{Exit, Failure},
    global::Global,
    paths::Paths,
    screen::{Screen, sanitize},
    signals::asked_to_end,
    up_token,
};

/// Serve the tools to agents over MCP, on HTTP
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  eclusa up                                     http://127.0.0.1:8377/mcp, for this machine only
  ECLUSA_TOKEN=... eclusa up --listen 0.0.0.0:8377 --host build.example.org

Every client must send the token (Authorization: Bearer TOKEN). Where you set none, one is made, \
printed, and kept in a file that only you can read. Clients cannot answer questions about their own \
calls unless you pass --trust-client-answers: such questions wait for `eclusa approvals` where \
on_no_approver = \"queue\", and are refused otherwise. /health says whether the workspace is open, \
/metrics counts calls. Ctrl-C ends it: calls are cancelled and recorded.")]
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
    pub(crate) serving: ServingArgs,
}

/// The shortest token of one's own: shorter ones can be guessed.
const MIN_TOKEN: usize = 16;

/// Files for every connection that there may be, and for all else.
const MAX_FILES: u64 = 4096;

pub(super) async fn run(global: Global, args: UpArgs) -> Result<Exit, Failure> {
    let set = std::env::var(&args.token_env).ok().filter(|it| !it.is_empty());
    if let Some(length) = set.as_ref().map(|it| it.chars().count()).filter(|it| *it < MIN_TOKEN) {
        let text = format!("the token in {} has {length} characters", args.token_env);
        return Err(Failure::usage(text).hint(format!("use {MIN_TOKEN} or more, at random")));
    }
    if set.is_none() && !args.listen.ip().is_loopback() {
        let problem =
            format!("`{}` can be reached from other machines, and no token is set", args.listen);
        let hint = format!("set the variable {}, or listen on 127.0.0.1", args.token_env);
        return Err(Failure::usage(problem).hint(hint));
    }
    let (token, made) = match set {
        Some(token) => (token, None),
        None => {
            let file = Paths::find(&global)?.up_token();
            (up_token::read_or_make(&file).map_err(Failure::failed)?, Some(file))
        }
    };
    allow_files();
    let listener = TcpListener::bind(args.listen).await.map_err(|err| {
        Failure::failed(format!("`{}` cannot be listened on: {err}", args.listen))
    })?;
    let mut screen = Screen::stdout();
    screen.line(&format!("serving MCP on http://{}/mcp", listener.local_addr()?))?;
    if let Some(file) = made {
        let file = sanitize(&file.display().to_string());
        screen.line(&format!("clients must send the header: Authorization: Bearer {token}"))?;
        screen.line(&format!(
            "the token is kept in {file}; set {} to use your own",
            args.token_env
        ))?;
    }
    // The address that is printed is one that clients can use: no page can be led here by a number.
    let (mut hosts, here) = (args.host, args.listen.ip());
    match here.is_unspecified() {
        true if hosts.is_empty() => {
            let text = "clients on other machines are refused: name this one with --host NAME";
            screen.line(text)?;
        }
        true => {}
        false => hosts.push(here.to_string()),
    }
    screen.flush()?;
    drop(screen);
    let answers = match args.trust_client_answers {
        true => ClientAnswers::Trusted,
        false => ClientAnswers::Refused,
    };
    let (opening, opened) = mcp::opening(global, &args.serving, answers);
    let (token, same_user) = (Some(token), args.same_user);
    let http = Http { listener, token, same_user, hosts };
    let patience = mcp::patience(&args.serving);
    let served = serve_http(opening.clone(), patience, http, asked_to_end()).await;
    end(&opening).await;
    served?;
    opened.ended()
}

/// Many shells allow a process 1,024 files, and every connection is one. Where more cannot be had, a
/// further connection waits until there is room.
fn allow_files() {
    let limits = getrlimit(Resource::Nofile);
    if limits.current.is_some_and(|it| it < MAX_FILES) {
        let current = Some(limits.maximum.map_or(MAX_FILES, |it| it.min(MAX_FILES)));
        let _ = setrlimit(Resource::Nofile, Rlimit { current, ..limits });
    }
}
