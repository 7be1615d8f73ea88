//! Other people's servers behind the gate, each a fake one that does what the test wants.

use std::fs;

use serde_json::{Value, json};

use crate::{
    mcp::client::{Client, text},
    world::World,
};

mod commands;
mod faults;
mod icons;
mod import;
#[cfg(target_arch = "x86_64")]
mod least;
mod many;
mod names;
mod passed_on;
mod pins;
mod rude;
mod said;
mod sandboxes;
mod wrapped;

/// The fake server, as a script.
const FAKE: &str = include_str!("servers/fake.py");

/// Everything may run, nobody is asked.
const YOLO: &str = "mode = \"yolo\"\n";

/// A workspace with the fake server in it, and servers of these names and words.
pub(crate) fn behind(servers: &[(&str, &[&str])]) -> World {
    let mut config = YOLO.to_owned();
    for (name, words) in servers {
        config.push_str(&entry(name, words));
    }
    configured(&config)
}

/// A workspace with the fake server in it, and this configuration.
pub(crate) fn configured(config: &str) -> World {
    let world = World::with(config);
    world.write("workspace/fake.py", FAKE);
    world
}

/// A fake server as it is configured.
fn entry(name: &str, words: &[&str]) -> String {
    let command: Vec<&str> =
        ["python3", "fake.py"].into_iter().chain(words.iter().copied()).collect();
    format!("[servers.{name}]\ncommand = {command:?}\n")
}

/// Waits until every server is up, or has failed: what nobody has is looked for at all of them.
fn settle(client: &mut Client) {
    client.ask("prompts/get", json!({"name": "nobody has this"}));
}

/// The names of the tools that a client sees.
fn listed(client: &mut Client) -> Vec<String> {
    settle(client);
    let answer = client.ask("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap();
    tools.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

/// The text of a call that must work.
pub(crate) fn works(client: &mut Client, tool: &str, args: Value) -> String {
    let result = client.call(tool, args);
    assert_eq!(result["isError"], false, "{result}");
    text(&result).to_owned()
}

/// The text of a call that must fail.
fn fails(client: &mut Client, tool: &str, args: Value) -> String {
    let result = client.call(tool, args);
    assert_eq!(result["isError"], true, "{result}");
    text(&result).to_owned()
}

/// What the fake server kept in its own directory.
fn kept(world: &World, server: &str, file: &str) -> String {
    let home = world.path("state/eclusa-servers").join(server);
    fs::read_to_string(home.join(file)).unwrap_or_default()
}
