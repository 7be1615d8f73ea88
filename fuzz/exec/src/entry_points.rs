//! The program's front doors with hostile bytes: MCP on a pipe and over HTTP, the approvals page, a
//! hook, and the proxy of commands. Each must still answer afterwards.

#![expect(clippy::disallowed_methods, reason = "the program, in a throw-away home")]

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use eclusa_sandbox::proxy::{Hosts, Proxy};

use crate::bytes::{mutated, report};
use crate::random::Random;

/// An answer that takes longer does not come.
const PATIENCE: Duration = Duration::from_secs(60);
/// So many texts are sent between two looks whether it still answers.
const BETWEEN: usize = 64;
/// What clients show.
const TOKEN: &str = "0123456789abcdef0123456789abcdef";

const FRAMES: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"read","arguments":{"path":"a.txt"}}}"#,
    r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"grep","arguments":{"pattern":"a","path":"."}}}"#,
    r#"{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"eclusa://log"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#,
    r#"{"jsonrpc":"2.0","id":"e","result":{"action":"accept","content":{}}}"#,
    r#"{"jsonrpc":"2.0","id":6,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"x","version":"1"}}}"#,
    r#"[{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","id":8,"method":"nope"}]"#,
];

const GREETING: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"hunt\",\"version\":\"1\"}}}\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";

const REQUESTS: &[&str] = &[
    "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer 0123456789abcdef0123456789abcdef\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\nContent-Length: 46\r\nConnection: close\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
    "GET /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: x\r\nAuthorization: Bearer 0123456789abcdef0123456789abcdef\r\nAccept: text/event-stream\r\nConnection: close\r\n\r\n",
    "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://evil.example\r\nConnection: close\r\n\r\n",
];

const PAGES: &[&str] = &[
    "GET / HTTP/1.1\r\nHost: localhost\r\nCookie: eclusa=x\r\nConnection: close\r\n\r\n",
    "POST /api/pair HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nSec-Fetch-Site: same-origin\r\nContent-Type: application/json\r\nContent-Length: 47\r\nConnection: close\r\n\r\n{\"code\":\"x\",\"public\":\"AAAA\",\"label\":\"b\",\"sig\":1}",
    "POST /api/answer HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 62\r\nConnection: close\r\n\r\n{\"questions\":[1],\"answer\":\"once\",\"expires\":1,\"signature\":\"AA\"}",
    "GET /api/questions?workspace=a%20b&since=1 HTTP/1.1\r\nHost: localhost\r\nCookie: a=b; c=d\r\nConnection: close\r\n\r\n",
];

const EVENTS: &[&str] = &[
    r#"{"session_id":"s","hook_event_name":"PreToolUse","cwd":"/","tool_name":"Read","tool_input":{"file_path":"a.txt"},"tool_use_id":"t"}"#,
    r#"{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{"stdout":"x"}}"#,
];

const PROXIED: &[&str] = &[
    "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n\u{16}\u{3}\u{1}\0\u{5}\u{1}\0\0\u{1}\u{3}",
    "GET http://example.com/a HTTP/1.1\r\nHost: example.com\r\nContent-Length: 3\r\n\r\nabc",
    "POST http://[::1]:80/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "CONNECT 0x7f.1:22 HTTP/1.0\r\n\r\n",
];

/// Sends to each of them for so long. Says what was found.
pub(crate) fn run(program: &Path, time: Duration, seed: u64) -> Result<usize, String> {
    let home = tempfile::tempdir().map_err(|err| err.to_string())?;
    let work = home.path().join("w");
    std::fs::create_dir(&work).map_err(|err| err.to_string())?;
    std::fs::write(work.join("a.txt"), "alpha\n").map_err(|err| err.to_string())?;
    let house = House { program, home: home.path(), work: &work };
    let mut found = 0;
    let text = |err: io::Error| err.to_string();
    found += house.pipe(time, seed).map_err(text)?;
    found +=
        house.port("MCP over HTTP", &["up", "--listen", "127.0.0.1:0"], REQUESTS, time, seed)?;
    let page = ["approvals", "serve", "--listen", "127.0.0.1:0"];
    found += house.port("the approvals page", &page, PAGES, time, seed)?;
    found += house.hook(time, seed).map_err(text)?;
    found += proxy(time, seed).map_err(text)?;
    Ok(found)
}

struct House<'a> {
    program: &'a Path,
    home: &'a Path,
    work: &'a Path,
}

impl House<'_> {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.program);
        command.args(args).current_dir(self.work).env("HOME", self.home).env("ECLUSA_TOKEN", TOKEN);
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"] {
            command.env(name, self.home.join(name));
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        command
    }

    /// MCP on a pipe: frames, and now and then a question that must be answered.
    fn pipe(&self, time: Duration, seed: u64) -> io::Result<usize> {
        let (mut random, began, mut texts) = (Random::new(seed), Instant::now(), 0);
        let mut slowest = Duration::ZERO;
        while began.elapsed() < time {
            let mut child = self.command(&["mcp"]).stdin(Stdio::piped()).spawn()?;
            let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
                return Err(io::Error::other("no pipes"));
            };
            let mut sent = Vec::new();
            let mut talk = Talk::new(stdin, stdout);
            talk.write(GREETING.as_bytes())?;
            while began.elapsed() < time {
                sent.clear();
                for _ in 0..BETWEEN {
                    let mut frame = mutated(FRAMES, &mut random);
                    frame.push(b'\n');
                    sent.push(frame);
                }
                texts += sent.len();
                let start = Instant::now();
                let written = sent.iter().try_for_each(|it| talk.write(it));
                if written.is_err() || !talk.answers() {
                    break;
                }
                slowest = slowest.max(start.elapsed());
            }
            let silent = began.elapsed() < time;
            drop(talk);
            if silent {
                let what = ending(&mut child)?;
                for frame in &sent {
                    println!("      {:?}", String::from_utf8_lossy(frame));
                }
                println!("FOUND MCP on a pipe: no answer after these ({what})");
                return Ok(1);
            }
            end(&mut child)?;
        }
        report("MCP on a pipe", texts, began.elapsed(), slowest);
        Ok(0)
    }

    /// A server on a port: requests, and now and then a look whether it still lets others in.
    fn port(
        &self,
        name: &str,
        args: &[&str],
        seeds: &[&str],
        time: Duration,
        seed: u64,
    ) -> Result<usize, String> {
        let text = |err: io::Error| format!("{name}: {err}");
        let mut child = self.command(args).spawn().map_err(text)?;
        let port = child.stdout.take().and_then(port_in);
        let Some(port) = port else {
            let _ = child.kill();
            return Err(format!("{name}: it did not say where it listens"));
        };
        let (mut random, began, mut texts) = (Random::new(seed), Instant::now(), 0);
        let (mut slowest, mut found) = (Duration::ZERO, 0);
        while began.elapsed() < time && found == 0 {
            let input = mutated(seeds, &mut random);
            let start = Instant::now();
            // What it answers is its affair, and to close the connection is an answer too.
            let _ = knock(port, &input, Duration::from_millis(300), true);
            slowest = slowest.max(start.elapsed());
            texts += 1;
            let alive = || {
                let hello = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
                knock(port, hello, PATIENCE, false).is_ok_and(|it| it.starts_with(b"HTTP/1.1 "))
            };
            if texts % BETWEEN == 0 && !alive() {
                println!("FOUND {name}: no answer after {:?}", String::from_utf8_lossy(&input));
                found = 1;
            }
        }
        if child.try_wait().map_err(text)?.is_some() {
            println!("FOUND {name}: it ended ({})", ending(&mut child).map_err(text)?);
            found = 1;
        }
        end(&mut child).map_err(text)?;
        report(name, texts, began.elapsed(), slowest);
        Ok(found)
    }

    /// A hook is started for each event.
    fn hook(&self, time: Duration, seed: u64) -> io::Result<usize> {
        let (mut random, began, mut texts) = (Random::new(seed), Instant::now(), 0);
        let (mut slowest, mut found) = (Duration::ZERO, 0);
        while began.elapsed() < time {
            let agent = random.word(&["claude-code", "codex", "gemini", "cursor", "windsurf"]);
            let input = mutated(EVENTS, &mut random);
            let start = Instant::now();
            let mut child = self.command(&["hook", &agent]).stdin(Stdio::piped()).spawn()?;
            if let Some(mut stdin) = child.stdin.take() {
                let _ = stdin.write_all(&input);
            }
            let status = child.wait_with_output()?.status;
            slowest = slowest.max(start.elapsed());
            texts += 1;
            if !matches!(status.code(), Some(0..=3)) {
                println!("FOUND hook {agent} ({status}): {:?}", String::from_utf8_lossy(&input));
                found += 1;
            }
        }
        report("a hook", texts, began.elapsed(), slowest);
        Ok(found)
    }
}

/// The proxy of commands, with no host allowed.
fn proxy(time: Duration, seed: u64) -> io::Result<usize> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    let serving = Proxy::new(Hosts::none(), |_| ()).serve(listener)?;
    let (mut random, began, mut texts) = (Random::new(seed), Instant::now(), 0);
    let (mut slowest, mut found) = (Duration::ZERO, 0);
    while began.elapsed() < time && found == 0 {
        let input = mutated(PROXIED, &mut random);
        let start = Instant::now();
        let _ = knock(port, &input, Duration::from_millis(300), true);
        slowest = slowest.max(start.elapsed());
        texts += 1;
        let alive = || {
            let request = b"GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n";
            knock(port, request, PATIENCE, false).is_ok_and(|it| it.starts_with(b"HTTP/1.1 403"))
        };
        if texts % BETWEEN == 0 && !alive() {
            println!("FOUND proxy: no refusal after {:?}", String::from_utf8_lossy(&input));
            found = 1;
        }
    }
    serving.stop();
    report("the proxy of commands", texts, began.elapsed(), slowest);
    Ok(found)
}

/// Sends bytes, says that this was all if `ends`, and gives what comes back until the end.
fn knock(port: u16, bytes: &[u8], patience: Duration, ends: bool) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(patience))?;
    stream.set_write_timeout(Some(patience))?;
    stream.write_all(bytes)?;
    if ends {
        stream.shutdown(Shutdown::Write)?;
    }
    let mut answer = Vec::new();
    match stream.take(1 << 20).read_to_end(&mut answer) {
        Err(err) if answer.is_empty() => Err(err),
        _ => Ok(answer),
    }
}

/// The port in the first line of a server that names one.
fn port_in(stdout: ChildStdout) -> Option<u16> {
    let mut lines = BufReader::new(stdout).lines();
    let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
        let after = line.split("127.0.0.1:").nth(1).or_else(|| line.split("localhost:").nth(1))?;
        let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    });
    // It goes on to write, and somebody must read.
    std::thread::spawn(move || lines.for_each(drop));
    port
}

/// Both ends of a pipe; lines are read as they come, so that neither side waits for the other.
struct Talk {
    stdin: ChildStdin,
    lines: std::sync::mpsc::Receiver<String>,
    asked: usize,
}

impl Talk {
    fn new(stdin: ChildStdin, stdout: ChildStdout) -> Talk {
        let (send, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let read = BufReader::new(stdout).lines().map_while(Result::ok);
            read.take_while(|it| send.send(it.clone()).is_ok()).for_each(drop);
        });
        Talk { stdin, lines, asked: 0 }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stdin.write_all(bytes)
    }

    /// True when a question that nobody else asks is answered.
    fn answers(&mut self) -> bool {
        self.asked += 1;
        let id = format!("hunt-{}", self.asked);
        let ping = format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{id}\",\"method\":\"ping\"}}\n");
        let until = Instant::now() + PATIENCE;
        let mut sent = self.write(ping.as_bytes()).is_ok();
        while sent {
            let left = until.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) if line.contains(&id) => return true,
                Ok(_) => {}
                Err(_) => sent = false,
            }
        }
        false
    }
}

/// How a child ended, or that it has not.
fn ending(child: &mut Child) -> io::Result<String> {
    let until = Instant::now() + Duration::from_secs(5);
    while Instant::now() < until {
        if let Some(status) = child.try_wait()? {
            return Ok(status.to_string());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    end(child)?;
    Ok("it had not ended".to_owned())
}

fn end(child: &mut Child) -> io::Result<()> {
    let _ = child.kill();
    child.wait().map(drop)
}
