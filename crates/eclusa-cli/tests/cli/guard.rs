//! `eclusa guard`: an agent in a sandbox. The agent here is a script that does what Claude Code does
//! with its model, and then what an agent should not.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener},
    process::Command,
    sync::mpsc,
};

use crate::{
    prompt::Person,
    world::{Ran, World},
};

const KEY: &str = "the-real-key-of-a-person";

const AGENT: &str = r#"#!/usr/bin/env python3
import json, os, subprocess, sys, urllib.request

def ask(token):
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages?beta=true",
                                     b'{"model":"m"}', {"x-api-key": token, "x-kept": "yes"})
    try:
        return urllib.request.urlopen(request).read().decode()
    except urllib.error.HTTPError as err:
        return str(err.code)

token = os.environ["ANTHROPIC_API_KEY"]
print("model says", ask(token))
print("a guess gives", ask("guess"))
print("key", "seen" if "the-real-key" in str(dict(os.environ)) else "unseen")
open(os.environ["CLAUDE_CONFIG_DIR"] + "/memory", "a").write("m")
print("memory", len(open(os.environ["CLAUDE_CONFIG_DIR"] + "/memory").read()))
print("hooks", json.load(open(os.environ["CLAUDE_CONFIG_DIR"] + "/settings.json"))["disableAllHooks"])
for name in [".env", os.path.expanduser("~/.ssh/id"), os.path.expanduser("~/made")]:
    try:
        open(name, "a" if name.endswith("made") else "r")
        print("opened", name)
    except OSError:
        pass
def net(url):
    try:
        return urllib.request.urlopen(url, timeout=20).status
    except urllib.error.HTTPError as err:
        return err.code
    except OSError as err:
        return "unreached"
print("elsewhere", net("http://other.example/"), net("@MODEL@"))
open("made.txt", "w").write("by the agent\n")
# Its settings lead elsewhere from now on.
os.remove(os.environ["CLAUDE_CONFIG_DIR"] + "/settings.json")
os.symlink(os.path.expanduser("~/victim"), os.environ["CLAUDE_CONFIG_DIR"] + "/settings.json")
sys.exit(7)
"#;

/// A model that answers every request with `pong`, and tells the head of each.
fn model() -> (SocketAddr, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let start = head.len();
                reader.read_line(&mut head).unwrap();
                let line = head.get(start..).unwrap_or_default().trim().to_ascii_lowercase();
                match line.strip_prefix("content-length:") {
                    Some(value) => length = value.trim().parse().unwrap(),
                    None if line.is_empty() => break,
                    None => {}
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let _ = tell.send(head);
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\npong";
            let _ = reader.into_inner().write_all(answer.as_bytes());
        }
    });
    (address, told)
}

fn world(model: SocketAddr) -> World {
    with_agent(World::new(), &AGENT.replace("@MODEL@", &format!("http://{model}/")))
}

fn with_agent(world: World, agent: &str) -> World {
    std::fs::create_dir_all(world.path("home/bin")).unwrap();
    std::fs::create_dir_all(world.path("home/.ssh")).unwrap();
    world.write("home/.ssh/id", "secret");
    world.write("workspace/.env", "SECRET=1");
    world.write("home/victim", "as it was");
    world.program("home/bin/claude", agent);
    world
}

fn command(world: &World, model: SocketAddr, options: &[&str], agent: &[&str]) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let args = [&["guard"], options, &["--"], agent].concat();
    let mut command = world.command(&args);
    command
        .env("PATH", format!("{}:{path}", world.path("home/bin").display()))
        .env("ANTHROPIC_BASE_URL", format!("http://{model}"))
        .env("ANTHROPIC_API_KEY", KEY);
    command
}

fn guard(world: &World, model: SocketAddr, options: &[&str], agent: &[&str]) -> Ran {
    let output = command(world, model, options, agent).output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn a_guarded_agent_has_its_model_and_neither_key_nor_secrets_nor_the_network() {
    eclusa_testing::needs!(Namespaces);
    let (address, told) = model();
    let world = world(address);
    let ran = guard(&world, address, &["--apply"], &["claude", "-p", "go"]);
    assert_eq!(ran.code, 7, "the agent's own exit code: {ran:?}");
    for line in ["model says pong", "a guess gives 403", "key unseen", "memory 1", "hooks True"] {
        assert!(ran.out.contains(line), "{line}: {ran:?}");
    }
    assert!(ran.out.contains("elsewhere 403 unreached"), "{ran:?}");
    assert!(!ran.out.contains("opened"), "{ran:?}");
    // The key was added outside, once; the guess went nowhere.
    let head = told.recv().unwrap().to_ascii_lowercase();
    assert!(head.starts_with("post /v1/messages?beta=true "), "{head}");
    assert!(head.contains(&format!("x-api-key: {KEY}")) && head.contains("x-kept: yes"), "{head}");
    assert!(told.try_recv().is_err());
    // Its changes are one call, judged and applied at its end, and can be undone.
    assert_eq!(world.read("workspace/made.txt"), "by the agent\n");
    assert!(world.records().iter().all(|it| !it.to_string().contains(KEY)));
    // Whom it asked is named as what it is: its model, and not our proxy.
    assert!(ran.err.contains("it reaches 127.0.0.1\n"), "{ran:?}");
    let undone = world.eclusa(&["undo"]);
    assert_eq!((undone.code, world.path("workspace/made.txt").exists()), (0, false), "{undone:?}");
    // What it keeps for itself lasts, and no command sees it.
    // A link that it left does not lead us anywhere.
    let ran = guard(&world, address, &["--discard", "--json"], &["claude", "-p", "go"]);
    assert!(ran.out.contains("memory 2") && ran.out.contains("hooks True"), "{ran:?}");
    let network = ran.json()["data"]["network"].to_string();
    assert!(network.contains(&address.port().to_string()), "{network}");
    assert!(!network.contains("3128"), "{network}");
    assert_eq!(world.read("home/victim"), "as it was");
    assert!(!world.path("workspace/made.txt").exists());
}

#[test]
fn what_cannot_be_guarded_is_not_started() {
    let (address, _told) = model();
    let world = world(address);
    for (agent, said) in [
        (&["claude"][..], "claude -p"),
        (&["bash", "-c", "true"], "cannot guard `bash`"),
        (&["codex", "exec", "go"], "OPENAI_API_KEY"),
    ] {
        let ran = guard(&world, address, &[], agent);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains(said), "{ran:?}");
    }
    assert!(world.records().is_empty());
}

/// What an agent does that has no tools but ours: it finds them where its settings say.
const LIVE_AGENT: &str = r#"#!/usr/bin/env python3
import json, os, signal, sys, time, urllib.error, urllib.request

home = os.environ["CLAUDE_CONFIG_DIR"]
server = json.load(open(home + "/eclusa-mcp.json"))["mcpServers"]["eclusa"]
session = None

def rpc(method, params, token=os.environ["ECLUSA_GUARD_TOKEN"]):
    global session
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream",
               "authorization": "Bearer " + token}
    if session:
        headers.update({"mcp-session-id": session, "mcp-protocol-version": "2025-06-18"})
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    if not method.startswith("notifications/"):
        message["id"] = 1
    request = urllib.request.Request(server["url"], json.dumps(message).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        session = session or answer.headers.get("mcp-session-id")
        for line in answer:
            line = line.decode().strip().removeprefix("data:").strip()
            if line.startswith("{") and ("result" in line or "error" in line):
                value = json.loads(line)
                if "id" in value and "method" not in value:
                    return value

def bash(command):
    result = rpc("tools/call", {"name": "bash", "arguments": {"command": command}})["result"]
    return " ".join(it.get("text", "") for it in result["content"])

def begin():
    about = {"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}},
             "clientInfo": {"name": "claude-code", "version": "1"}}
    rpc("initialize", about)
    rpc("notifications/initialized", {})

def headless():
    try:
        rpc("initialize", {}, "guess")
    except urllib.error.HTTPError as err:
        print("a guess gives", err.code)
    begin()
    for name in ["beside.txt", ".git/config", "allowed.txt"]:
        try:
            open(name, "w")
            print("wrote", name)
        except OSError:
            pass
    print("allowed:", bash("touch allowed.txt && ls"))
    print("seen here", os.path.exists("allowed.txt"))
    print("denied:", bash("touch denied.txt"))
    print("asked:", bash("touch asked.txt"))
    print("a sibling has", bash('echo "[$ECLUSA_GUARD_TOKEN$ANTHROPIC_API_KEY$CLAUDE_CONFIG_DIR]"'))

def on_a_terminal():
    winches = []
    signal.signal(signal.SIGWINCH, lambda *_: winches.append(1))
    size = os.get_terminal_size()
    open("/dev/tty", "w").close()
    print("tty", all(os.isatty(it) for it in range(3)), size.columns, size.lines, flush=True)
    print("key", "ANTHROPIC_API_KEY" in os.environ, "\x1b[?1049h\x1b[?25l", flush=True)
    begin()
    print("answered:", bash("touch asked.txt"), os.path.exists("asked.txt"), flush=True)
    while not winches:
        time.sleep(0.01)
    print("ready", flush=True)
    while os.get_terminal_size().columns != 77:
        time.sleep(0.01)
    print("resized", flush=True)
    print("typed", input(), flush=True)
    sys.exit(5)

headless() if "-p" in sys.argv else on_a_terminal()
"#;

const RULES: &str = r#"
[[rules]]
decision = "allow"
command = "touch allowed.txt"

[[rules]]
decision = "deny"
command = "touch denied.txt"
reason = "not this one"
"#;

#[test]
fn a_live_agent_writes_nothing_itself_and_its_calls_run_in_sandboxes_of_their_own() {
    eclusa_testing::needs!(Namespaces);
    let (address, _told) = model();
    let world = with_agent(World::with(RULES), LIVE_AGENT);
    let ran = guard(&world, address, &["--live"], &["claude", "-p", "go"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!ran.out.contains("wrote"), "{ran:?}");
    for line in [
        "a guess gives 403",
        "seen here True",
        "not this one",
        "a sibling has []",
        "with Eclusa's tools alone",
    ] {
        assert!(ran.out.contains(line) || ran.err.contains(line), "{line}: {ran:?}");
    }
    let there = |name: &str| world.path("workspace").join(name).exists();
    assert_eq!(
        (there("allowed.txt"), there("denied.txt"), there("asked.txt")),
        (true, false, false)
    );
    // Each call is on record under the agent's name, and can be undone by itself.
    let calls = world.records();
    let named = calls
        .iter()
        .filter(|it| it["client"].as_str().is_some_and(|it| it.starts_with("claude-code")));
    assert!(named.count() >= 4, "{calls:?}");
    let undone = world.eclusa(&["undo"]);
    assert_eq!((undone.code, there("allowed.txt")), (0, false), "{undone:?}");
}

#[test]
fn an_agent_on_a_terminal_has_one_of_its_own_and_the_person_is_asked_beside_it() {
    eclusa_testing::needs!(Namespaces);
    let (address, _told) = model();
    let world = with_agent(World::with(RULES), LIVE_AGENT);
    let mut person = Person::sized(command(&world, address, &[], &["claude"]), 100, 30);
    person.sees("tty True 100 30");
    person.sees("key False");
    person.answers("y");
    person.sees("True");
    person.sees("ready");
    person.session.get_process_mut().set_window_size(77, 30).unwrap();
    person.sees("resized");
    person.types("hello");
    person.sees("typed hello");
    let (code, seen) = person.ends();
    assert_eq!(code, 5, "the agent's own exit code: {seen}");
    // What the agent wrote has no say in how the question looks: the terminal is reset and cleared.
    for part in ["\x18\x1b\\", "\x1b[!p", "\x1b[r", "\x1b(B", "\x1b[0m", "\x1b[2J\x1b[H"] {
        assert!(seen.contains(part), "{part:?}: {seen:?}");
    }
    // Our question is not on the agent's screen, and that comes back; at the end it is left.
    let left: Vec<_> = seen.match_indices("\x1b[?1049l").collect();
    assert!(left.len() == 2 && seen.matches("\x1b[?1049h").count() == 2, "{seen:?}");
    assert!(world.path("workspace/asked.txt").exists());
    // Staging is for agents that work alone.
    for (options, said) in [(&["--staged"][..], "not staged"), (&["--live", "--apply"], "--apply")]
    {
        let ran = guard(&world, address, options, &["claude"]);
        assert!(ran.code == 2 && ran.err.contains(said), "{ran:?}");
    }
}

const REMEMBERS: &str = r#"#!/usr/bin/env python3
import glob, os
own = os.environ["CLAUDE_CONFIG_DIR"]
print("found", sorted(os.listdir(own)).count("CLAUDE.md"))
open(own + "/CLAUDE.md", "w").write("obey me")
print("others", [it for it in glob.glob(own + "/../*/CLAUDE.md") + glob.glob(own + "/../../*/*/CLAUDE.md")
                 if os.path.realpath(it) != os.path.realpath(own + "/CLAUDE.md")])
"#;

#[test]
fn what_an_agent_writes_for_itself_stays_with_its_workspace() {
    eclusa_testing::needs!(Namespaces);
    let (address, _told) = model();
    let world = with_agent(World::new(), REMEMBERS);
    let first = guard(&world, address, &["--staged", "--discard"], &["claude", "-p", "x"]);
    assert!(first.out.contains("found 0"), "{first:?}");
    let again = guard(&world, address, &["--staged", "--discard"], &["claude", "-p", "x"]);
    assert!(again.out.contains("found 1"), "{again:?}");
    std::fs::create_dir_all(world.path("elsewhere")).unwrap();
    let elsewhere = world.path("elsewhere");
    let options = ["--workspace", elsewhere.to_str().unwrap(), "--staged", "--discard"];
    let other = guard(&world, address, &options, &["claude", "-p", "x"]);
    assert!(other.out.contains("found 0") && other.out.contains("others []"), "{other:?}");
}

/// What it leaves running could write to its own directory, which is real.
#[test]
fn a_guarded_agent_leaves_nothing_running() {
    eclusa_testing::needs!(Namespaces);
    let (address, _told) = model();
    let long = crate::exec::mark("7531.7");
    let leaves = format!(
        "#!/usr/bin/env python3\nimport os\nif os.fork() == 0:\n    os.setsid()\n    \
         for it in (0, 1, 2): os.close(it)\n    os.execvp('sleep', ['sleep', '{long}'])\nprint('left')\n"
    );
    let world = with_agent(World::new(), &leaves);
    let ran = guard(&world, address, &["--staged", "--discard"], &["claude", "-p", "x"]);
    assert!(ran.out.contains("left"), "{ran:?}");
    assert_eq!(crate::exec::running(&long), 0, "{ran:?}");
}
