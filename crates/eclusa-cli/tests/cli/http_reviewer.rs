//! A reviewer behind HTTP (S0.26), against a server of a few lines.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};

use serde_json::Value;

use crate::world::World;

/// A server that gives every request the same answer, and hands on what it was sent.
pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) heard: mpsc::Receiver<(String, String)>,
}

impl Server {
    fn answering(response: impl Into<String>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/review", listener.local_addr().unwrap());
        let (tell, heard) = mpsc::channel();
        let response = response.into();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { continue };
                let _ = tell.send(request(&mut stream));
                // The reader may have gone away.
                let _ = stream.write_all(response.as_bytes());
            }
        });
        Server { url, heard }
    }

    pub(crate) fn json(body: &str) -> Server {
        Server::answering(response("200 OK", body))
    }
}

fn response(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// The head and the body of a request.
pub(crate) fn request(stream: &mut TcpStream) -> (String, String) {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) <= 2 {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (head, String::from_utf8(body).unwrap())
}

fn world(url: &str, more: &str) -> World {
    World::with(&format!(
        "[[reviewers]]\nname = \"service\"\nurl = {url:?}\non = \"input\"\n{more}\n"
    ))
}

fn echo(world: &World) -> (i32, Value) {
    let ran = world.eclusa(&["--json", "run", "echo", r#"{"text": "hello"}"#]);
    (ran.code, ran.json())
}

/// Shows S0.26.
#[test]
fn a_service_approves_denies_and_modifies() {
    let server = Server::json(r#"{"decision": "approve"}"#);
    assert_eq!(echo(&world(&server.url, "")).0, 0);
    let (head, body) = server.heard.recv().unwrap();
    assert!(head.starts_with("POST /review "), "{head}");
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((&body["tool"], &body["args"]["text"]), (&"echo".into(), &"hello".into()));

    let (code, reply) =
        echo(&world(&Server::json(r#"{"approved": false, "reason": "closed"}"#).url, ""));
    assert_eq!((code, &reply["code"]), (3, &"denied_by_review".into()));
    assert!(reply["error"].as_str().unwrap().contains("closed"));

    let server = Server::json(r#"{"decision": "merge", "value": {"text": "patched"}}"#);
    assert_eq!(echo(&world(&server.url, "")).1["output"], "patched");
}

#[test]
fn everything_else_fails_closed() {
    let long = format!("{{\"decision\": \"approve\", \"padding\": \"{}\"}}", "x".repeat(2_000_000));
    let table = [
        response("500 Internal Server Error", r#"{"decision": "approve"}"#),
        response("404 Not Found", r#"{"decision": "approve"}"#),
        response("200 OK", "<html>please log in</html>"),
        response("200 OK", ""),
        response("204 No Content", ""),
        response("200 OK", &long),
        "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"decision\"".to_owned(),
        "not HTTP at all".to_owned(),
    ];
    for answer in table {
        let server = Server::answering(answer.as_str());
        let (code, reply) = echo(&world(&server.url, ""));
        let start: String = answer.chars().take(60).collect();
        assert_eq!((code, &reply["code"]), (3, &"denied_by_review".into()), "{start}");
    }
}

#[test]
fn redirects_are_not_followed() {
    let yes = Server::json(r#"{"decision": "approve"}"#);
    let away = format!(
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n",
        yes.url
    );
    let server = Server::answering(away);
    assert_eq!(echo(&world(&server.url, "")).0, 3);
    assert!(yes.heard.try_recv().is_err());
}

#[test]
fn a_service_that_is_not_there_or_says_nothing_denies_unless_configured_otherwise() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    // It accepts, and never answers.
    let (code, reply) = echo(&world(&url, "time = \"300ms\""));
    assert_eq!((code, &reply["code"]), (3, &"denied_by_review".into()), "{reply}");
    // Nobody listens at the near end of a connection, and as long as it is there nobody else can.
    let taken = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let url = format!("http://{}/", taken.local_addr().unwrap());
    assert_eq!(echo(&world(&url, "")).0, 3);
    assert_eq!(echo(&world(&url, "on_error = \"allow\"")).0, 0);
}

#[test]
fn headers_take_their_values_from_the_environment() {
    let server = Server::json(r#"{"decision": "approve"}"#);
    let world = world(&server.url, "headers = { authorization = \"REVIEW_TOKEN\" }");
    let mut command = world.command(&["run", "echo", r#"{"text": "hello"}"#]);
    let output = command.env("REVIEW_TOKEN", "Bearer abc").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let (head, _) = server.heard.recv().unwrap();
    assert!(head.to_lowercase().contains("authorization: bearer abc"), "{head}");
    // Without the variable nothing is sent, and nothing runs.
    let ran = world.eclusa(&["run", "echo", r#"{"text": "hello"}"#]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("`REVIEW_TOKEN`"), "{}", ran.err);
}
