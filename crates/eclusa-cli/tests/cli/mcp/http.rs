//! The tools over HTTP: who is let in, what the headers must say, how it ends.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Stdio},
};

use serde_json::{Value, json};

use super::client::{SLOW, text};
use crate::world::{World, alive, wait_until};

/// A server, and where it listens.
pub(crate) struct Up {
    child: Child,
    address: String,
    pub(crate) token: String,
}

/// What came back.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    /// The message in it, from a plain body or from an event.
    fn json(&self) -> Value {
        let event = self.body.lines().find_map(|it| it.strip_prefix("data: {"));
        let plain = self.body.find('{').map(|at| self.body.get(at..).unwrap());
        let text = event.map(|it| format!("{{{it}")).or_else(|| plain.map(str::to_owned));
        let text = text.unwrap_or_else(|| panic!("no message in {self:?}"));
        let mut values = serde_json::Deserializer::from_str(&text).into_iter();
        values.next().unwrap().unwrap_or_else(|err| panic!("{err} in {self:?}"))
    }
}

impl Up {
    pub(crate) fn start(world: &World, token: Option<&str>) -> Up {
        Up::start_with(world, token, &["up", "--listen", "127.0.0.1:0"])
    }

    pub(crate) fn start_with(world: &World, token: Option<&str>, args: &[&str]) -> Up {
        let mut command = world.command(args);
        if let Some(token) = token {
            command.env("ECLUSA_TOKEN", token);
        }
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = lines.next().unwrap().unwrap();
        let token = token.map(str::to_owned).unwrap_or_else(|| {
            // It is printed once, and kept for its owner alone.
            let line = lines.next().unwrap().unwrap();
            line.rsplit(' ').next().unwrap().to_owned()
        });
        let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
        Up { child, address, token }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    fn send(&self, head: &str, body: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        write!(stream, "{head}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or_default();
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    fn get(&self, path: &str, more: &str) -> Answer {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{more}", self.address), "")
    }

    /// What a client by this name is answered that knows tasks.
    pub(crate) fn ask_as(&self, client: &str, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities":
                {"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}},
            "io.modelcontextprotocol/clientInfo": {"name": client, "version": "1"},
        });
        self.post(method, params, "").json()
    }

    /// A request of the newer era, with headers that repeat what it says.
    fn post(&self, method: &str, mut params: Value, more: &str) -> Answer {
        if params["_meta"].is_null() {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
            });
        }
        let name = params["name"].as_str().or(params["taskId"].as_str());
        let name = name.map(|it| format!("Mcp-Name: {it}\r\n"));
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut head = format!("POST /mcp HTTP/1.1\r\n{STANDARD}{}", name.unwrap_or_default());
        for (key, value) in [("Host", self.address.as_str()), ("Mcp-Method", method)] {
            if !more.contains(&format!("{key}:")) {
                head.push_str(&format!("{key}: {value}\r\n"));
            }
        }
        if !more.contains("Authorization:") && !more.contains("No-Token:") {
            head.push_str(&format!("Authorization: Bearer {}\r\n", self.token));
        }
        self.send(&format!("{head}{more}"), &body.to_string())
    }
}

const STANDARD: &str = "Content-Type: application/json\r\n\
    Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n";

impl Drop for Up {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn echo() -> Value {
    json!({"name": "echo", "arguments": {"text": "hello"}})
}

#[test]
fn mcp_http_answers_the_newer_era_without_a_session() {
    let world = World::new();
    let args = ["up", "--listen", "127.0.0.1:0", "--trust-client-answers"];
    let up = Up::start_with(&world, None, &args);
    let answer = up.post("tools/call", echo(), "");
    assert_eq!((answer.status, text(&answer.json()["result"])), (200, "hello"), "{answer:?}");
    assert!(!answer.head.to_lowercase().contains("mcp-session-id"));
    let answer = up.post("server/discover", json!({}), "");
    assert!(answer.json()["result"]["supportedVersions"].is_array(), "{answer:?}");
    // A question is asked by answering, and the retry comes over another connection.
    let note = json!({"name": "note", "arguments": {"text": "hello"}});
    let asked = up.post("tools/call", note.clone(), "").json();
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let mut again = note;
    again["requestState"] = asked["result"]["requestState"].clone();
    again["inputResponses"] =
        json!({"approval": {"action": "accept", "content": {"answer": "yes"}}});
    let done = up.post("tools/call", again, "").json();
    assert_eq!(done["result"]["isError"], false, "{done}");
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
}

#[test]
fn mcp_http_requests_of_one_client_are_one_conversation() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    std::fs::create_dir(world.path("workspace/inner")).unwrap();
    let up = Up::start(&world, None);
    let bash =
        |args: Value| up.post("tools/call", json!({"name": "bash", "arguments": args}), "").json();
    bash(json!({"command": "true", "cwd": "inner"}));
    // The directory is kept for the conversation, as text from outside is.
    let said = bash(json!({"command": "pwd"}));
    assert!(text(&said["result"]).contains("/inner"), "{said}");
}

#[test]
fn mcp_http_lets_in_only_who_meant_this_host() {
    let world = World::new();
    let up = Up::start(&world, None);
    let post = |more: &str| up.post("tools/call", echo(), more).status;
    assert_eq!(text(&up.post("tools/call", echo(), "").json()["result"]), "hello");
    assert_eq!(post("Host: evil.example\r\n"), 403);
    assert_eq!(post("Host: 127.0.0.1.evil.example:80\r\n"), 403);
    assert_eq!(post("Host: localhost:1\r\n"), 200);
    assert_eq!(post("Origin: http://evil.example\r\n"), 403);
    assert_eq!(post("Origin: null\r\n"), 403);
    assert_eq!(post("Origin: http://localhost:3000\r\n"), 200);
    for odd in ["[::1].evil.example", "[localhost]evil", "localhost:80.evil.example"] {
        assert_eq!(post(&format!("Host: {odd}\r\n")), 403, "{odd}");
        assert_eq!(post(&format!("Origin: http://{odd}\r\n")), 403, "{odd}");
    }
    assert_eq!(post("Host: localhost\r\nHost: localhost\r\n"), 403);
    let twice = "Origin: http://localhost\r\nOrigin: http://localhost\r\n";
    assert_eq!(post(twice), 403);
    for path in ["/health", "/metrics"] {
        let rebound = format!("GET {path} HTTP/1.1\r\nHost: evil.example\r\n");
        assert_eq!(up.send(&rebound, "").status, 403);
    }
}

#[test]
fn mcp_http_headers_must_say_what_the_body_says() {
    let world = World::new();
    let up = Up::start(&world, None);
    let answer = up.post("tools/call", echo(), "Mcp-Method: tools/list\r\n");
    assert_eq!((answer.status, answer.json()["error"]["code"].as_i64()), (400, Some(-32020)));
    let answer = up.post("no/such", json!({}), "");
    assert_eq!((answer.status, answer.json()["error"]["code"].as_i64()), (404, Some(-32601)));
}

#[test]
fn mcp_http_a_token_is_asked_of_everybody_where_there_is_one() {
    let world = World::new();
    let up = Up::start(&world, Some("open sesame, now"));
    assert_eq!(up.get("/health", "").status, 200);
    for wrong in [
        "No-Token: 1\r\n",
        "Authorization: Bearer open\r\n",
        "Authorization: Basic open sesame, now\r\n",
    ] {
        let answer = up.post("tools/call", echo(), wrong);
        assert_eq!(answer.status, 401, "{wrong}");
        assert!(answer.head.to_lowercase().contains("www-authenticate: bearer"));
        assert_eq!(up.get("/metrics", wrong).status, 401);
    }
    let right = "Authorization: Bearer open sesame, now\r\n";
    assert_eq!(up.post("tools/call", echo(), right).status, 200);
    let counted = up.get("/metrics", right);
    assert!(counted.body.contains("eclusa_calls_total{outcome=\"ok\"} 1"), "{counted:?}");
    // Nobody listens for everybody without one.
    let ran = world.eclusa(&["up", "--listen", "0.0.0.0:0"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("no token is set"), "{}", ran.err);
    let mut short = world.command(&["up", "--listen", "127.0.0.1:0"]);
    let refused = short.env("ECLUSA_TOKEN", "short").output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("has 5 characters"), "{refused:?}");
}

/// The address that is printed is one that clients can use, and what is no message is told so.
#[test]
fn mcp_http_an_address_of_this_machine_is_served_and_broken_json_is_a_bad_request() {
    let world = World::new();
    let up = Up::start_with(&world, None, &["up", "--listen", "127.0.0.2:0"]);
    assert_eq!(up.post("tools/call", echo(), "").status, 200);
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\n{STANDARD}Authorization: Bearer {}\r\n",
        up.address, up.token
    );
    for body in ["{", "nonsense", "[1,2"] {
        let answer = up.send(&head, body);
        assert_eq!(answer.status, 400, "{answer:?}");
        assert_eq!(answer.json()["error"]["code"], -32700, "{answer:?}");
    }
}

/// Another user of this machine reaches the port, and must not act as the person who serves.
#[test]
fn mcp_http_nobody_is_served_without_a_token_and_who_asks_does_not_answer() {
    let world = World::new();
    let up = Up::start(&world, None);
    assert_eq!(up.post("tools/call", echo(), "No-Token: 1\r\n").status, 401);
    assert_eq!(up.post("tools/call", echo(), "Authorization: Bearer x\r\n").status, 401);
    let file = world.store().with_file_name("up-token");
    let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&file).unwrap());
    assert_eq!((mode & 0o777, std::fs::read_to_string(&file).unwrap().trim()), (0o600, &*up.token));
    // The client says that it can ask a person, and is not believed: it asks for itself.
    let note = json!({"name": "note", "arguments": {"text": "hello"}});
    let asked = up.post("tools/call", note, "").json();
    assert_eq!(asked["result"]["isError"], true, "{asked}");
    assert_eq!(world.read("workspace/notes.txt"), "");
}

#[test]
fn mcp_http_an_orderly_end_takes_calls_back_and_records_them() {
    let world = World::with(SLOW);
    let mut up = Up::start(&world, None);
    std::thread::scope(|scope| {
        let call = scope.spawn(|| {
            let (up, call) = (&up, json!({"name": "slow", "arguments": {}}));
            up.post("tools/call", call, "")
        });
        wait_until("the tool runs", || !world.read("workspace/pid").is_empty());
        let pid = rustix::process::Pid::from_child(&up.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let _ = call.join();
    });
    assert_eq!(up.child.wait().unwrap().code(), Some(0));
    assert!(!alive(&world.read("workspace/pid")));
    assert!(world.records().iter().any(|it| it["code"] == "cancelled"), "{:?}", world.records());
}

#[test]
fn mcp_http_closing_the_stream_takes_the_call_back() {
    let world = World::with(SLOW);
    let up = Up::start(&world, None);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
    "name": "slow", "arguments": {}, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }}})
    .to_string();
    let mut stream = TcpStream::connect(&up.address).unwrap();
    let (host, token, length) = (&up.address, &up.token, body.len());
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\n{STANDARD}Mcp-Method: tools/call\r\nMcp-Name: slow\r\nAuthorization: Bearer {token}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    wait_until("the tool runs", || !world.read("workspace/pid").is_empty());
    drop(stream);
    wait_until("the command is gone", || !alive(&world.read("workspace/pid")));
    wait_until("it is on record", || world.records().iter().any(|it| it["code"] == "cancelled"));
}

#[test]
fn mcp_http_unfinished_requests_make_room_for_others() {
    let world = World::new();
    let up = Up::start(&world, None);
    // More than are served at once, and none of them is ever sent whole.
    let unfinished: Vec<TcpStream> = (0..540)
        .map(|_| {
            let mut stream = TcpStream::connect(&up.address).unwrap();
            let (host, token) = (&up.address, &up.token);
            let head = format!(
                "POST /mcp HTTP/1.1\r\nHost: {host}\r\n{STANDARD}Authorization: Bearer {token}\r\n"
            );
            // The server may have closed it by then.
            let _ = write!(stream, "{head}Content-Length: 100000\r\n\r\n{{");
            stream
        })
        .collect();
    assert_eq!(up.get("/health", "").status, 200);
    let answer = up.post("tools/call", echo(), "");
    assert_eq!((answer.status, text(&answer.json()["result"])), (200, "hello"), "{answer:?}");
    drop(unfinished);
}

/// Begins a session of the older era.
fn greet(up: &Up, version: &str) -> Answer {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }});
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nAuthorization: Bearer {}\r\n",
        up.address, up.token
    );
    up.send(&head, &body.to_string())
}

/// How a session is answered that says something.
fn speak(up: &Up, session: &str) -> u16 {
    let body = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMcp-Session-Id: {session}\r\n\
         MCP-Protocol-Version: 2025-11-25\r\nAuthorization: Bearer {}\r\n",
        up.address, up.token
    );
    up.send(&head, &body.to_string()).status
}

fn session(answer: &Answer) -> String {
    let line = answer.head.lines().find_map(|it| {
        let (name, value) = it.split_once(':')?;
        name.eq_ignore_ascii_case("mcp-session-id").then(|| value.trim().to_owned())
    });
    line.unwrap_or_else(|| panic!("no session in {answer:?}"))
}

#[test]
fn mcp_http_sessions_are_bounded_and_those_in_use_stay() {
    let world = World::new();
    let up = Up::start(&world, None);
    let used = session(&greet(&up, "2025-11-25"));
    assert_eq!(speak(&up, &used), 202);
    let unused = session(&greet(&up, "2025-11-25"));
    for _ in 0..256 {
        greet(&up, "2025-11-25");
    }
    assert_eq!(speak(&up, &unused), 404);
    assert_eq!(speak(&up, &used), 202);
}

#[test]
fn mcp_http_clients_before_2025_11_25_get_no_event_without_data() {
    let world = World::new();
    let up = Up::start(&world, None);
    let empty = |version: &str| {
        let answer = greet(&up, version);
        assert!(answer.json()["result"].is_object(), "{answer:?}");
        answer.body.lines().any(|it| it.trim() == "data:")
    };
    assert!(!empty("2025-06-18"));
    assert!(empty("2025-11-25"));
}
