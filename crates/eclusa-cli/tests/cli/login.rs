//! Servers at an address (HTTP), and logging in to them (OAuth with PKCE, RFC 8707, RFC 9728),
//! against a server of a few lines that is both the server and whoever issues tokens for it.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::Stdio,
    sync::{Arc, Mutex},
};

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use serde_json::{Value, json};

use crate::{http_reviewer::request, world::World};

const TOKEN: &str = "token-for-notes-alone";

/// What the server was told.
#[derive(Default)]
struct Heard {
    /// What came with the person's way to the login page.
    asked: HashMap<String, String>,
    /// What the token was asked for with.
    exchanged: HashMap<String, String>,
    /// Every `Authorization` that came with a call.
    shown: Vec<String>,
    /// How many clients have registered themselves.
    registered: usize,
}

struct Notes {
    base: String,
    heard: Arc<Mutex<Heard>>,
}

impl Notes {
    /// `header`: what has to be shown; a login is offered where it is not.
    fn start() -> Notes {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let heard = Arc::new(Mutex::new(Heard::default()));
        let (at, told) = (base.clone(), heard.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { continue };
                let (at, told) = (at.clone(), told.clone());
                std::thread::spawn(move || {
                    let answer = answer(&at, &told, &asked(&mut stream));
                    // The reader may have gone away.
                    let _ = stream.write_all(answer.as_bytes());
                });
            }
        });
        Notes { base, heard }
    }

    fn url(&self) -> String {
        format!("{}/mcp", self.base)
    }
}

struct Request {
    method: String,
    path: String,
    query: HashMap<String, String>,
    head: String,
    body: String,
}

fn asked(stream: &mut TcpStream) -> Request {
    let (head, body) = request(stream);
    let mut words = head.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    Request { method: method.to_owned(), path: path.to_owned(), query: form(query), body, head }
}

fn form(text: &str) -> HashMap<String, String> {
    url::form_urlencoded::parse(text.as_bytes()).into_owned().collect()
}

fn said(status: &str, more: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{more}\
         connection: close\r\n\r\n{body}",
        body.len()
    )
}

fn answer(base: &str, heard: &Mutex<Heard>, request: &Request) -> String {
    let ok = |body: Value| said("200 OK", "", &body.to_string());
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", path) if path.starts_with("/.well-known/oauth-protected-resource") => {
            ok(json!({"resource": format!("{base}/mcp"), "authorization_servers": [base]}))
        }
        ("GET", path) if path.starts_with("/.well-known/oauth-authorization-server") => ok(json!({
            "issuer": base,
            "authorization_endpoint": format!("{base}/authorize"),
            "token_endpoint": format!("{base}/token"),
            "registration_endpoint": format!("{base}/register"),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": true,
        })),
        ("POST", "/register") => {
            let mut client: Value = serde_json::from_str(&request.body).unwrap();
            client["client_id"] = json!("eclusa-here");
            heard.lock().unwrap().registered += 1;
            said("201 Created", "", &client.to_string())
        }
        ("GET", "/authorize") => {
            heard.lock().unwrap().asked = request.query.clone();
            let mut back = url::Url::parse(&request.query["redirect_uri"]).unwrap();
            let state = &request.query["state"];
            let mut pairs = back.query_pairs_mut();
            pairs.append_pair("code", "the-code").append_pair("state", state);
            pairs.append_pair("iss", base);
            drop(pairs);
            said("302 Found", &format!("location: {back}\r\n"), "")
        }
        ("POST", "/token") => {
            heard.lock().unwrap().exchanged = form(&request.body);
            ok(json!({"access_token": TOKEN, "token_type": "Bearer", "expires_in": 3600}))
        }
        ("POST", "/mcp") => speak(base, heard, request),
        _ => said("404 Not Found", "", ""),
    }
}

/// The server itself: one tool, for whoever shows the token.
fn speak(base: &str, heard: &Mutex<Heard>, request: &Request) -> String {
    let shown = request.head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.eq_ignore_ascii_case("authorization")).then(|| value.trim().to_owned())
    });
    heard.lock().unwrap().shown.extend(shown.clone());
    if shown.as_deref() != Some(&format!("Bearer {TOKEN}")) {
        let more = format!(
            "www-authenticate: Bearer resource_metadata=\"{base}/.well-known/oauth-protected-resource/mcp\"\r\n"
        );
        return said("401 Unauthorized", &more, "");
    }
    let message: Value = serde_json::from_str(&request.body).unwrap();
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "notes", "version": "1"},
        }),
        "tools/list" => json!({"tools": [
            {"name": "read", "inputSchema": {"type": "object"}},
            {"name": "write", "inputSchema": {"type": "object"}},
        ]}),
        "tools/call" if message["params"]["name"] == "write" => {
            let wants =
                "www-authenticate: Bearer error=\"insufficient_scope\", scope=\"notes:write\"\r\n";
            return said("403 Forbidden", wants, "");
        }
        "tools/call" => json!({"content": [{"type": "text", "text": "a note"}]}),
        _ if message.get("id").is_none() => return said("202 Accepted", "", ""),
        _ => {
            let error = json!({"code": -32601, "message": "no such method"});
            let answer = json!({"jsonrpc": "2.0", "id": message["id"], "error": error});
            return said("200 OK", "", &answer.to_string());
        }
    };
    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
    said("200 OK", "", &answer.to_string())
}

/// What a browser does: goes where it is told, and comes back to where it is sent.
fn browse(address: &str) -> String {
    let target = address.strip_prefix("http://").unwrap();
    let (host, path) = target.split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    match answer.lines().find_map(|it| it.strip_prefix("location: ")) {
        Some(next) => browse(next.trim()),
        None => answer,
    }
}

fn world(notes: &Notes, more: &str) -> World {
    World::with(&format!(
        "[servers.notes]\nurl = \"{}\"\n{more}\n[[rules]]\ndecision = \"allow\"\nserver = \"notes\"\n",
        notes.url()
    ))
}

#[test]
fn who_has_not_logged_in_is_told_how() {
    let notes = Notes::start();
    let world = world(&notes, "");
    let ran = world.eclusa(&["run", "mcp_notes_read", "{}"]);
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains("eclusa servers login notes"), "{ran:?}");
}

/// Logs in, as a person who goes where they are sent.
fn log_in(world: &World, more: &[&str]) {
    let words: Vec<&str> = ["servers", "login", "notes"].iter().chain(more).copied().collect();
    let mut command = world.command(&words);
    command.env("NOTES_SECRET", "word-of-mine");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let address = lines.find_map(|line| {
        let line = line.unwrap();
        line.trim().starts_with("http").then(|| line.trim().to_owned())
    });
    let page = browse(&address.unwrap());
    assert!(page.contains("close this page"), "{page}");
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(child.wait().unwrap().success(), "{rest:?}");
}

#[test]
fn who_needs_a_better_token_for_a_call_is_told_how_to_get_it() {
    let notes = Notes::start();
    let world = world(&notes, "");
    log_in(&world, &[]);
    let ran = world.eclusa(&["run", "mcp_notes_write", "{}"]);
    assert_ne!(ran.code, 0);
    let wanted = "`eclusa servers login notes --scope 'notes:write'`";
    assert!(ran.out.contains(wanted) || ran.err.contains(wanted), "{ran:?}");
    log_in(&world, &["--scope", "notes:write"]);
    assert_eq!(notes.heard.lock().unwrap().asked["scope"], "notes:write");
}

#[test]
fn a_client_that_was_registered_by_hand_logs_in_with_its_secret_from_a_variable() {
    let notes = Notes::start();
    let world = world(&notes, "");
    let unset = world.eclusa(&[
        "servers",
        "login",
        "notes",
        "--client-id",
        "x",
        "--client-secret",
        "NONE_SUCH",
    ]);
    assert!(unset.err.contains("`NONE_SUCH` is not set"), "{unset:?}");
    log_in(&world, &["--client-id", "mine", "--client-secret", "NOTES_SECRET"]);
    let heard = notes.heard.lock().unwrap();
    assert_eq!((heard.asked["client_id"].as_str(), heard.registered), ("mine", 0));
    drop(heard);
    let ran = world.eclusa(&["run", "mcp_notes_read", "{}"]);
    assert_eq!((ran.code, ran.out.trim()), (0, "a note"), "{ran:?}");
}

#[test]
fn a_login_ends_with_a_token_that_is_kept_and_shown_to_that_server_alone() {
    let notes = Notes::start();
    let world = world(&notes, "");
    log_in(&world, &[]);
    let heard = notes.heard.lock().unwrap();
    let digest = eclusa::Hash::sha256(heard.exchanged["code_verifier"].as_bytes()).to_string();
    let challenge = BASE64.decode(&heard.asked["code_challenge"]).unwrap();
    let challenge: String = challenge.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(heard.asked["code_challenge_method"], "S256");
    assert_eq!(digest, challenge, "the proof belongs to the question");
    assert_eq!(heard.asked["resource"], notes.url());
    assert_eq!(heard.exchanged["resource"], notes.url());
    drop(heard);

    let ran = world.eclusa(&["run", "mcp_notes_read", "{}"]);
    assert_eq!((ran.code, ran.out.trim()), (0, "a note"), "{ran:?}");
    let shown = std::mem::take(&mut notes.heard.lock().unwrap().shown);
    assert!(!shown.is_empty() && shown.iter().all(|it| it == &format!("Bearer {TOKEN}")));

    let ran = world.eclusa(&["servers", "logout", "notes"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_ne!(world.eclusa(&["run", "mcp_notes_read", "{}"]).code, 0);
}

#[test]
fn a_header_comes_from_the_environment_and_its_value_is_never_written_down() {
    let notes = Notes::start();
    let world = world(&notes, "headers = { Authorization = \"NOTES\" }");
    let ran = world.eclusa(&["run", "mcp_notes_read", "{}"]);
    assert!(ran.err.contains("the variable `NOTES`"), "{ran:?}");
    let mut command = world.command(&["run", "mcp_notes_read", "{}"]);
    let output = command.env("NOTES", format!("Bearer {TOKEN}")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "a note", "{output:?}");
}
