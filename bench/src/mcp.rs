//! A tool that says its text again, over MCP: a bare rmcp server, `eclusa mcp`, and the gateway with
//! that bare server behind it. One client, written by hand, for all of them.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

mod crowd;
mod first;
mod web;

use web::Web;

use crate::measure::{Told, line, middle, number, tell};

/// How many round trips are timed.
const TRIPS: usize = 3000;
/// How many of them one after the other, before it is another server's turn.
const TURN: usize = 100;
/// How often a process is started.
const STARTS: usize = 11;

type Failed = Box<dyn std::error::Error>;

pub(crate) fn run() -> Told {
    let beside = std::env::current_exe()?;
    let beside = beside.parent().unwrap_or(Path::new("."));
    let (bare, eclusa) = (beside.join("bare"), beside.join("eclusa"));
    for program in [&bare, &eclusa] {
        if !program.exists() {
            return Err(format!(
                "`{}` is not there: cargo build --release -p eclusa-bench -p eclusa-cli",
                program.display()
            )
            .into());
        }
    }
    let room = Room::new(&bare)?;
    let ours = |args: &[&str], behind: &str, durability: &str| {
        room.eclusa(&eclusa, args, behind, durability)
    };
    let mut pipes = vec![
        Round::of("stdio, bare rmcp", Pipe::start(command(&bare, &[]))?, "echo"),
        Round::of(
            "stdio, bare rmcp without threads",
            Pipe::start(command(&bare, &["pipes"]))?,
            "echo",
        ),
        Round::of(
            "stdio, eclusa mcp, log survives a crash",
            Pipe::start(ours(&["mcp"], "", "crash")?)?,
            "echo",
        ),
        Round::of(
            "stdio, eclusa mcp, log survives a power loss",
            Pipe::start(ours(&["mcp"], "", "power-loss")?)?,
            "echo",
        ),
        Round::of(
            "stdio, gateway over bare rmcp without threads",
            Pipe::start(ours(&["mcp"], "stdio", "crash")?)?,
            "mcp_bare_echo",
        ),
    ];
    if let [_, best, rest @ ..] = &*in_turn(&mut pipes)? {
        for (Round { name, .. }, took) in pipes.iter().skip(2).zip(rest) {
            let ratio = took.as_secs_f64() / best.as_secs_f64();
            let more = took.as_micros().saturating_sub(best.as_micros());
            tell(format_args!("    {name}: {ratio:.2} x the one without threads, {more} µs more"));
        }
    }
    let up = ["up", "--same-user", "--listen", "127.0.0.1:0"];
    let mut webs = vec![
        Round::of("http, bare rmcp", Web::start(command(&bare, &["http"]))?, "echo"),
        Round::of("http, eclusa up", Web::start(ours(&up, "", "crash")?)?, "echo"),
        Round::of(
            "http, gateway over bare rmcp",
            Web::start(ours(&up, "stdio", "crash")?)?,
            "mcp_bare_echo",
        ),
    ];
    in_turn(&mut webs)?;
    for Round { name, server, .. } in pipes.iter().skip(2) {
        let memory = resident(server.child.id())?;
        number(&format!("memory after that, {name}"), memory, "MB");
    }
    let baseline = first::answer(|| Ok(command(&bare, &[])))?;
    line("first answer, bare rmcp", baseline, baseline);
    line("first answer, eclusa mcp", first::answer(|| ours(&["mcp"], "", "crash"))?, baseline);
    line("first answer, gateway", first::answer(|| ours(&["mcp"], "stdio", "crash"))?, baseline);
    let baseline = first::call(|| Ok(command(&bare, &[])))?;
    line("first tool call, bare rmcp", baseline, baseline);
    let called = first::call(|| ours(&["mcp"], "", "power-loss"))?;
    line("first tool call, eclusa mcp (goal: 8 ms)", called, baseline);
    let workspace = room.place.path().join("workspace");
    let (listed, plain) = first::list(ours(&["mcp"], "", "power-loss")?, &workspace)?;
    line("ls, plain bash", plain, plain);
    line("ls, bash of eclusa mcp (goal: 8 ms)", listed, plain);
    let mut idle = Pipe::start(ours(&["mcp"], "", "power-loss")?)?;
    idle.ask("tools/list", json!({}))?;
    std::thread::sleep(Duration::from_millis(300));
    number("idle memory, eclusa mcp", resident(idle.child.id())?, "MB");
    let alone = crowd::call(command(&bare, &["http"]))?;
    let gated = crowd::call(ours(&up, "", "power-loss")?)?;
    for (name, crowd) in [("bare rmcp", &alone), ("eclusa up", &gated)] {
        line(&format!("http, 200 at once, median, {name}"), crowd.median, alone.median);
        line(&format!("http, 200 at once, 99th percentile, {name}"), crowd.slow, alone.slow);
        let label = match crowd.connections {
            1000 => "1,000".to_owned(),
            fewer => format!("{fewer} (the most here)"),
        };
        number(&format!("memory with {label} connections, {name}"), crowd.memory, "MB");
    }
    Ok(())
}

/// A place for the binary: workspace, configuration, state.
struct Room {
    place: tempfile::TempDir,
    bare: PathBuf,
}

impl Room {
    fn new(bare: &Path) -> Result<Room, Failed> {
        let place = tempfile::tempdir()?;
        for name in ["workspace", "home"] {
            fs::create_dir(place.path().join(name))?;
        }
        Ok(Room { place, bare: bare.to_owned() })
    }

    fn eclusa(
        &self,
        eclusa: &Path,
        args: &[&str],
        behind: &str,
        durability: &str,
    ) -> Result<Command, Failed> {
        let mut config = format!("mode = \"yolo\"\n[audit]\ndurability = {durability:?}\n");
        if behind == "stdio" {
            config.push_str(&format!("[servers.bare]\ncommand = [{:?}, \"pipes\"]\n", self.bare));
        }
        let at = |name: &str| self.place.path().join(name);
        let file = at(&format!("{behind}-{durability}.toml"));
        fs::File::create(&file)?.write_all(config.as_bytes())?;
        let mut command = command(eclusa, args);
        command
            .arg("--config")
            .arg(file)
            .current_dir(at("workspace"))
            .env("HOME", at("home"))
            .env("XDG_STATE_HOME", at(&format!("state-{behind}-{durability}")));
        Ok(command)
    }
}

#[expect(clippy::disallowed_methods, reason = "the benchmark starts what it measures")]
fn command(program: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).env("ECLUSA_EXAMPLE_TOOLS", "true");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// What every request of the newer era carries.
fn with_meta(mut params: Value) -> Value {
    if let Some(params) = params.as_object_mut() {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        params.insert("_meta".to_owned(), meta);
    }
    params
}

/// What can be called.
trait Trip {
    fn trip(&mut self, tool: &str) -> Result<String, Failed>;
}

/// A server, what of it is called, and how long each call took.
struct Round<T> {
    name: &'static str,
    server: T,
    tool: &'static str,
    took: Vec<Duration>,
}

impl<T: Trip> Round<T> {
    fn of(name: &'static str, server: T, tool: &'static str) -> Round<T> {
        Round { name, server, tool, took: Vec::with_capacity(TRIPS) }
    }

    fn trip(&mut self) -> Result<(), Failed> {
        let began = Instant::now();
        let answer = self.server.trip(self.tool)?;
        self.took.push(began.elapsed());
        if answer.contains("the same") { Ok(()) } else { Err(answer.into()) }
    }
}

/// Calls one server after the other, some calls each, again and again: what else the machine does
/// meanwhile falls on all of them. The first is the baseline.
fn in_turn<T: Trip>(servers: &mut [Round<T>]) -> Result<Vec<Duration>, Failed> {
    for _ in 0..TURN {
        servers.iter_mut().try_for_each(Round::trip)?;
    }
    servers.iter_mut().for_each(|it| it.took.clear());
    for _ in 0..TRIPS / TURN {
        for server in &mut *servers {
            (0..TURN).try_for_each(|_| server.trip())?;
        }
    }
    let took: Vec<Duration> =
        servers.iter_mut().map(|it| middle(std::mem::take(&mut it.took))).collect();
    for (server, took_it) in servers.iter().zip(&took) {
        line(server.name, *took_it, took.first().copied().unwrap_or_default());
    }
    Ok(took)
}

/// A server on a pipe.
struct Pipe {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
    next: u64,
}

impl Pipe {
    fn start(mut command: Command) -> Result<Pipe, Failed> {
        let mut child = command.spawn()?;
        let output = BufReader::new(child.stdout.take().ok_or("no pipe")?);
        Ok(Pipe { child, output, next: 0 })
    }

    fn ask(&mut self, method: &str, params: Value) -> Result<String, Failed> {
        self.next += 1;
        let request = json!({
            "jsonrpc": "2.0", "id": self.next, "method": method, "params": with_meta(params),
        });
        let input = self.child.stdin.as_mut().ok_or("no pipe")?;
        input.write_all(format!("{request}\n").as_bytes())?;
        let mut answer = String::new();
        loop {
            answer.clear();
            if self.output.read_line(&mut answer)? == 0 {
                return Err("the server went away".into());
            }
            if answer.contains(&format!("\"id\":{}", self.next)) {
                return Ok(answer);
            }
        }
    }
}

impl Trip for Pipe {
    fn trip(&mut self, tool: &str) -> Result<String, Failed> {
        self.ask("tools/call", json!({"name": tool, "arguments": {"text": "the same"}}))
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Trip for Web {
    fn trip(&mut self, tool: &str) -> Result<String, Failed> {
        self.connection.call(tool)
    }
}

/// Memory that a process holds, in megabytes.
fn resident(pid: u32) -> Result<f64, Failed> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:")).unwrap_or("0 kB");
    let kib: f64 = line.trim().trim_end_matches(" kB").trim().parse()?;
    Ok(kib * 1024.0 / 1e6)
}
