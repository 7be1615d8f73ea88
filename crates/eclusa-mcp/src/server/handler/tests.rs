//! The server over a pipe in memory, with tools that do what the built-in ones do not.

use std::{sync::Arc, time::Duration};

use eclusa::{
    Facts, Gate, Job, Output, PermissionClass, Registry, Rules, Scene, ToolError, Touch, TypedTool,
    attachment::Media,
};
use rmcp::service::serve_directly;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

use super::*;
use crate::server::{call::WaitLimits, pipe::Pipe, startup::Startup};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

struct Paint;

impl TypedTool for Paint {
    type Args = Nothing;
    const NAME: &'static str = "paint";
    fn description(&self, _: &Scene) -> String {
        "paints".to_owned()
    }
    fn facts(&self) -> Facts {
        Facts { class: Some(PermissionClass::ReadOnly), ..Facts::default() }
    }
    fn touches(&self, _: &Nothing) -> Vec<Touch> {
        Vec::new()
    }
    async fn run(&self, _: Nothing, job: &Job) -> Result<Output, ToolError> {
        for step in 1..=4 {
            job.progress(f64::from(step) / 4.0, &format!("stroke {step}"));
            tokio::task::yield_now().await;
        }
        let image = Media { media_type: "image/png".to_owned(), bytes: Arc::from(*b"pixels") };
        Ok(Output { attachments: vec![eclusa::Attachment::Image(image)], ..Output::text("done") })
    }
}

struct Late;

impl TypedTool for Late {
    type Args = Nothing;
    const NAME: &'static str = "late";
    fn description(&self, _: &Scene) -> String {
        "comes later".to_owned()
    }
    fn touches(&self, _: &Nothing) -> Vec<Touch> {
        Vec::new()
    }
    async fn run(&self, _: Nothing, _: &Job) -> Result<Output, ToolError> {
        Ok(Output::default())
    }
}

/// A tool that takes its time and says nothing meanwhile.
struct Slow;

impl TypedTool for Slow {
    type Args = Nothing;
    const NAME: &'static str = "slow";
    fn description(&self, _: &Scene) -> String {
        "takes its time".to_owned()
    }
    fn facts(&self) -> Facts {
        Facts { class: Some(PermissionClass::ReadOnly), ..Facts::default() }
    }
    fn touches(&self, _: &Nothing) -> Vec<Touch> {
        Vec::new()
    }
    async fn run(&self, _: Nothing, _: &Job) -> Result<Output, ToolError> {
        tokio::time::sleep(Duration::from_secs(17)).await;
        Ok(Output::text("done"))
    }
}

/// A client on the other end.
struct Client {
    registry: Arc<Registry>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
}

impl Client {
    fn new() -> Client {
        let registry = Arc::new(Registry::new());
        registry.add(Paint).unwrap();
        registry.add(Slow).unwrap();
        let rules = Rules::new(Vec::new(), std::path::Path::new("/nowhere"));
        let setup = Gate::builder().registry(registry.clone()).policy(rules);
        let opening = Startup::ready(setup.build().unwrap());
        let shared = ServerState::new(opening, WaitLimits::default()).unwrap();
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (read, write) = tokio::io::split(theirs);
        let pipe = Pipe::new(read, write, shared.clone());
        let running = serve_directly(Server::new(shared).unwrap(), pipe, None);
        tokio::spawn(running.waiting());
        let (read, write) = tokio::io::split(ours);
        Client { registry, lines: BufReader::new(read).lines(), write }
    }

    async fn send(&mut self, message: Value) {
        self.write.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn next(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(60), self.lines.next_line()).await;
        serde_json::from_str(&line.unwrap().unwrap().unwrap()).unwrap()
    }
}

fn request(id: u64, method: &str, mut params: Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": "token",
    });
    params["_meta"] = meta;
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

#[tokio::test]
async fn progress_is_told_before_the_result_and_pictures_come_as_pictures() {
    let mut client = Client::new();
    client.send(request(1, "tools/call", json!({"name": "paint", "arguments": {}}))).await;
    let mut told = Vec::new();
    let result = loop {
        let message = client.next().await;
        match message["method"].as_str() {
            Some("notifications/progress") => told.push(message["params"].clone()),
            _ => break message,
        }
    };
    assert_eq!(told.last().unwrap()["progress"], 1.0, "{told:?}");
    assert_eq!(told.last().unwrap()["message"], "stroke 4");
    assert!(told.iter().all(|it| it["progressToken"] == "token"));
    assert!(told.is_sorted_by_key(|it| it["progress"].as_f64().unwrap()));
    let content = &result["result"]["content"];
    assert_eq!(content[0]["text"], "done");
    let picture = json!({"type": "image", "data": "cGl4ZWxz", "mimeType": "image/png"});
    assert_eq!(content[1], picture);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_says_nothing_is_told_to_be_alive() {
    let mut client = Client::new();
    client.send(request(1, "tools/call", json!({"name": "slow", "arguments": {}}))).await;
    let mut beats: Vec<f64> = Vec::new();
    let result = loop {
        let message = client.next().await;
        match message["method"].as_str() {
            Some("notifications/progress") => {
                assert_eq!(message["params"]["message"], "still running");
                beats.push(message["params"]["progress"].as_f64().unwrap());
            }
            _ => break message,
        }
    };
    assert_eq!(result["result"]["content"][0]["text"], "done", "{result}");
    assert_eq!(beats.len(), 3, "{beats:?}");
    assert!(beats.is_sorted_by(|a, b| a < b), "{beats:?}");
}

#[tokio::test]
async fn older_clients_are_told_when_tools_come_and_go() {
    let mut client = Client::new();
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}});
    client.send(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})).await;
    client.next().await;
    client.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    // A request after it has been answered: so the notification has been heard.
    let told = async |client: &mut Client| {
        loop {
            let message = client.next().await;
            if message["method"] == "notifications/tools/list_changed" {
                return message;
            }
        }
    };
    client.send(json!({"jsonrpc": "2.0", "id": 2, "method": "ping"})).await;
    client.next().await;
    // The listening task may still be on its way: changes go on until one is told.
    let registry = client.registry.clone();
    let changing = tokio::spawn(async move {
        loop {
            registry.add(Late).unwrap();
            registry.remove("late").unwrap();
            tokio::task::yield_now().await;
        }
    });
    told(&mut client).await;
    changing.abort();
}

#[tokio::test]
async fn newer_clients_are_told_what_they_listen_for() {
    let mut client = Client::new();
    let filter = json!({"notifications": {"toolsListChanged": true}});
    client.send(request(7, "subscriptions/listen", filter)).await;
    let acknowledged = client.next().await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    let registry = client.registry.clone();
    let changing = tokio::spawn(async move {
        loop {
            registry.add(Late).unwrap();
            registry.remove("late").unwrap();
            tokio::task::yield_now().await;
        }
    });
    let told = client.next().await;
    changing.abort();
    assert_eq!(told["method"], "notifications/tools/list_changed");
    let meta = &told["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/subscriptionId"], 7, "{told}");
}
