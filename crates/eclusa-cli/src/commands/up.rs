//! `eclusa up`: the tools for agents that speak MCP, over HTTP.

use eclusa_mcp::{Http, serve_http};
use tokio::net::TcpListener;

use super::{mcp, run::asked_to_end};
use crate::{
    args::{Global, UpArgs},
    failure::{Exit, Failure},
    screen::Screen,
};

pub(super) async fn run(global: Global, args: UpArgs) -> Result<Exit, Failure> {
    let token = std::env::var(&args.token_env).ok().filter(|it| !it.is_empty());
    if token.is_none() && !args.listen.ip().is_loopback() {
        let problem =
            format!("`{}` can be reached from elsewhere, and no token is set", args.listen);
        let hint = format!("put one into the variable {}, or listen on 127.0.0.1", args.token_env);
        return Err(Failure::usage(problem).hint(hint));
    }
    let listener = TcpListener::bind(args.listen).await.map_err(|err| {
        Failure::failed(format!("`{}` cannot be listened on: {err}", args.listen))
    })?;
    let mut screen = Screen::stdout();
    screen.line(&format!("serving MCP on http://{}/mcp", listener.local_addr()?))?;
    screen.flush()?;
    drop(screen);
    let (opening, opened) = mcp::opening(global, &args.serving);
    let http = Http { listener, token, hosts: args.host };
    let patience = mcp::patience(&args.serving);
    let served = serve_http(opening.clone(), patience, http, asked_to_end()).await;
    mcp::end_servers(&opening).await;
    served?;
    opened.ended()
}
