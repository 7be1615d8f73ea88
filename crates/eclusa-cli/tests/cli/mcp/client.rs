//! An MCP client written by hand, so that what goes over the pipe is what the tests say.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use serde_json::{Map, Value, json};

use crate::world::World;

/// How long anything is waited for. Far more than anything takes, even on a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// A client and its server.
pub(crate) struct Client {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    heard: Vec<Value>,
    next: u64,
    /// What every request of the newer era carries; `None` in the older.
    meta: Option<Value>,
}

/// A tool that takes long, and tells its process.
pub(crate) const SLOW: &str = r#"
[tools.slow]
description = "waits"
command = ["sh", "-c", "echo $$ > pid; sleep 600"]
class = "read-only"
reads = []
sandbox = false
timeout = "10m"
"#;

/// The capability of a client that can show a form.
pub(crate) fn asks() -> Value {
    json!({"elicitation": {}})
}

impl Client {
    /// Starts the server and says nothing to it.
    pub(crate) fn start(world: &World, args: &[&str]) -> Client {
        Client::of(world.command(args))
    }

    /// Starts the server as prepared, and says nothing to it.
    pub(crate) fn of(mut command: Command) -> Client {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (tell, lines) = channel();
        thread::spawn(move || {
            for line in stdout.lines() {
                let Ok(line) = line else { return };
                let message = serde_json::from_str(&line).unwrap_or_else(|_| json!({"raw": line}));
                if tell.send(message).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Client { child, stdin, lines, heard: Vec::new(), next: 0, meta: None }
    }

    /// A client of the older era, after its handshake.
    pub(crate) fn legacy(world: &World, version: &str, capabilities: Value) -> Client {
        let mut client = Client::start(world, &["mcp"]);
        let answer = client.initialize(version, capabilities);
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        client
    }

    /// The handshake of the older era.
    pub(crate) fn initialize(&mut self, version: &str, capabilities: Value) -> Value {
        let info = json!({"name": "test", "version": "1"});
        let params = json!({
            "protocolVersion": version, "capabilities": capabilities, "clientInfo": info,
        });
        let answer = self.ask("initialize", params);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer
    }

    /// A client of the newer era, which has no handshake.
    pub(crate) fn modern(world: &World, capabilities: Value) -> Client {
        Client::modern_with(world, &["mcp"], capabilities)
    }

    pub(crate) fn modern_with(world: &World, args: &[&str], capabilities: Value) -> Client {
        let mut client = Client::start(world, args);
        client.speak_modern(capabilities);
        client
    }

    pub(crate) fn speak_modern(&mut self, capabilities: Value) {
        self.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities,
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        }));
    }

    /// Bytes, as they are.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    /// One message.
    pub(crate) fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    /// A request; its id.
    pub(crate) fn request(&mut self, method: &str, mut params: Value) -> u64 {
        self.next += 1;
        if let (Some(meta), Some(params)) = (&self.meta, params.as_object_mut()) {
            let all = params.entry("_meta").or_insert(Value::Object(Map::new()));
            let all = all.as_object_mut().unwrap();
            all.extend(meta.as_object().unwrap().clone());
        }
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The next message that fits, whatever else comes before it.
    pub(crate) fn heard(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.heard.iter().position(&fits) {
            return self.heard.remove(at);
        }
        loop {
            let message = self.lines.recv_timeout(LONG);
            let message = message.unwrap_or_else(|err| panic!("{what}: {err}; {:?}", self.heard));
            if fits(&message) {
                return message;
            }
            self.heard.push(message);
        }
    }

    /// The answer to a request.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        let fits = |it: &Value| it["id"] == id && it.get("method").is_none();
        self.heard(&format!("the answer to {id}"), fits)
    }

    /// A request and its answer.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer(id)
    }

    /// A call and its result.
    pub(crate) fn call(&mut self, tool: &str, args: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": args}))["result"].clone()
    }

    /// The next request of this method that the server makes.
    pub(crate) fn asked(&mut self, method: &str) -> Value {
        self.heard(method, |it| it["method"] == method && it.get("id").is_some())
    }

    /// Answers a request of the server.
    pub(crate) fn reply(&mut self, to: &Value, result: Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": to["id"], "result": result}));
    }

    /// What came and nobody asked for yet.
    pub(crate) fn rest(&mut self) -> Vec<Value> {
        self.heard.extend(self.lines.try_iter());
        std::mem::take(&mut self.heard)
    }

    /// Closes the client's end, and waits for the server to end.
    pub(crate) fn close(mut self) -> (ExitStatus, Vec<Value>) {
        drop(self.stdin.take());
        let status = self.child.wait().unwrap();
        self.heard.extend(self.lines.iter());
        (status, std::mem::take(&mut self.heard))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text of a result.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}
