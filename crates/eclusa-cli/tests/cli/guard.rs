//! `eclusa guard`: an agent in a sandbox. The agent here is a script that does what Claude Code does
//! with its model, and then what an agent should not.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener},
    sync::mpsc,
};

use crate::world::{Ran, World};

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
    let world = World::new();
    std::fs::create_dir_all(world.path("home/bin")).unwrap();
    std::fs::create_dir_all(world.path("home/.ssh")).unwrap();
    world.write("home/.ssh/id", "secret");
    world.write("workspace/.env", "SECRET=1");
    world.program("home/bin/claude", &AGENT.replace("@MODEL@", &format!("http://{model}/")));
    world
}

fn guard(world: &World, model: SocketAddr, options: &[&str], agent: &[&str]) -> Ran {
    let path = std::env::var("PATH").unwrap_or_default();
    let args = [&["guard"], options, &["--"], agent].concat();
    let mut command = world.command(&args);
    command
        .env("PATH", format!("{}:{path}", world.path("home/bin").display()))
        .env("ANTHROPIC_BASE_URL", format!("http://{model}"))
        .env("ANTHROPIC_API_KEY", KEY);
    let output = command.output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn a_guarded_agent_has_its_model_and_neither_key_nor_secrets_nor_the_network() {
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
    let undone = world.eclusa(&["undo"]);
    assert_eq!((undone.code, world.path("workspace/made.txt").exists()), (0, false), "{undone:?}");
    // What it keeps for itself lasts, and no command sees it.
    let ran = guard(&world, address, &["--discard"], &["claude", "-p", "go"]);
    assert!(ran.out.contains("memory 2"), "{ran:?}");
    assert!(!world.path("workspace/made.txt").exists());
}

#[test]
fn what_cannot_be_guarded_is_not_started() {
    let (address, _told) = model();
    let world = world(address);
    for (agent, said) in [
        (&["claude"][..], "claude -p"),
        (&["bash", "-c", "true"], "no agent that can be guarded"),
        (&["codex", "exec", "go"], "OPENAI_API_KEY"),
    ] {
        let ran = guard(&world, address, &[], agent);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains(said), "{ran:?}");
    }
    assert!(world.records().is_empty());
}
