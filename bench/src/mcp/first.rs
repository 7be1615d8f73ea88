//! What a newly started server answers first, and a command beside the same in plain bash.

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{Failed, Pipe, STARTS, command};
use crate::measure::middle;

/// How often a command is run.
const COMMANDS: usize = 61;

/// From the start of a process to its first answer.
pub(super) fn answer(make: impl Fn() -> Result<Command, Failed>) -> Result<Duration, Failed> {
    first(make, "server/discover", &json!({}))
}

/// From the start of a process to the answer of its first tool call.
pub(super) fn call(make: impl Fn() -> Result<Command, Failed>) -> Result<Duration, Failed> {
    first(make, "tools/call", &json!({"name": "echo", "arguments": {"text": "the same"}}))
}

fn first(
    make: impl Fn() -> Result<Command, Failed>,
    method: &str,
    params: &Value,
) -> Result<Duration, Failed> {
    let mut all = Vec::new();
    for _ in 0..STARTS {
        let began = Instant::now();
        let answer = Pipe::start(make()?)?.ask(method, params.clone())?;
        all.push(began.elapsed());
        if answer.contains("\"error\"") {
            return Err(answer.into());
        }
    }
    Ok(middle(all))
}

/// `ls` through the tool `bash` of a server, and in plain bash, in turn.
pub(super) fn list(server: Command, place: &Path) -> Result<(Duration, Duration), Failed> {
    let mut server = Pipe::start(server)?;
    let call = json!({"name": "bash", "arguments": {"command": "ls"}});
    server.ask("tools/call", call.clone())?;
    let (mut ours, mut plain) = (Vec::new(), Vec::new());
    for _ in 0..COMMANDS {
        let began = Instant::now();
        let answer = server.ask("tools/call", call.clone())?;
        ours.push(began.elapsed());
        if answer.contains("\"isError\":true") {
            return Err(answer.into());
        }
        let began = Instant::now();
        command(Path::new("/bin/bash"), &["-c", "ls"]).current_dir(place).output()?;
        plain.push(began.elapsed());
    }
    Ok((middle(ours), middle(plain)))
}
