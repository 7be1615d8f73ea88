//! `eclusa servers login`: a token for a server at an address, by way of the browser.

use std::{sync::Arc, time::Duration};

use eclusa::settings::ServerSettings;
use eclusa_mcp::{Credentials, Login, LoginOptions};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use crate::{failure::Failure, screen::Screen, servers::config_edit::variable};

/// How long a person may take in the browser.
const PATIENCE: Duration = Duration::from_secs(300);

/// The longest request that a browser may send here.
const REQUEST: usize = 16 << 10;

/// What the person says about the login.
pub(super) fn terms(
    keys: &dyn Credentials,
    client: Option<String>,
    secret: Option<String>,
    scopes: &[String],
) -> Result<LoginOptions, Failure> {
    if let Some(name) = &secret {
        variable(name)?;
    }
    let secret = secret.map(|name| {
        let unset = || Failure::usage(format!("the variable `{name}` is not set"));
        keys.variable(&name).ok_or_else(unset)
    });
    let scopes = scopes.iter().flat_map(|it| it.split_whitespace()).map(str::to_owned);
    Ok(LoginOptions { client, secret: secret.transpose()?, scopes: scopes.collect() })
}

/// Logs in to a server, and keeps the token.
pub(super) async fn login(
    server: &ServerSettings,
    keys: Arc<dyn Credentials>,
    terms: LoginOptions,
) -> Result<(), Failure> {
    // A port of our own on this machine alone: the address that the person comes back to.
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let base = format!("http://{}", listener.local_addr()?);
    let redirect = format!("{base}/callback");
    let login = Login::begin(server, keys, &redirect, terms).await.map_err(Failure::failed)?;
    let mut screen = Screen::stdout();
    screen.line(&format!("Open this address to log in to `{}`:", server.name))?;
    screen.line(&format!("\n  {}\n", login.address()))?;
    screen.flush()?;
    drop(screen);
    let came_back = tokio::time::timeout(PATIENCE, come_back(&listener)).await;
    let path = came_back.map_err(|_| {
        Failure::failed("no login from the browser within five minutes")
            .hint("run the command again, and open the address that it prints")
    })?;
    login.end(&format!("{base}{path}")).await.map_err(Failure::failed)
}

/// Waits until the browser comes back with an answer. Whatever else it asks for is not here.
async fn come_back(listener: &TcpListener) -> String {
    loop {
        let Ok((mut stream, _)) = listener.accept().await else { continue };
        let path = tokio::time::timeout(Duration::from_secs(10), asked_for(&mut stream)).await;
        let path = path.ok().flatten().unwrap_or_default();
        let answers = path.starts_with("/callback?");
        let (status, text) = match answers {
            true => ("200 OK", "You can close this page and go back to the terminal."),
            false => ("404 Not Found", "There is nothing here."),
        };
        let answer = format!(
            "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\n\
             cache-control: no-store\r\nreferrer-policy: no-referrer\r\nconnection: close\r\n\r\n{text}",
            text.len()
        );
        // Whether the browser hears it makes no difference.
        let _ = stream.write_all(answer.as_bytes()).await;
        let _ = stream.shutdown().await;
        if answers {
            return path;
        }
    }
}

/// The path of a GET request.
async fn asked_for(stream: &mut TcpStream) -> Option<String> {
    let (mut head, mut buffer) = (Vec::new(), [0; 2048]);
    while !head.windows(4).any(|it| it == b"\r\n\r\n") && head.len() < REQUEST {
        let count = stream.read(&mut buffer).await.ok().filter(|it| *it > 0)?;
        head.extend_from_slice(buffer.get(..count)?);
    }
    let head = String::from_utf8(head).ok()?;
    let path = head.strip_prefix("GET ")?.split(' ').next()?;
    path.starts_with('/').then(|| path.to_owned())
}
