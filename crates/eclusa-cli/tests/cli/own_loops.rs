//! The loops of docs/feed.md, each run as it stands there, with a model that calls one tool and then answers.

use std::{os::unix::fs::PermissionsExt, path::Path};

use crate::world::{Ran, World, run};

const PAGE: &str = include_str!("../../../../docs/feed.md");

/// A model behind an address: asked first it calls `list_files`, then it says how many messages it was sent.
const MODEL: &str = r#"
import http.server, json, sys
class Model(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        told = json.dumps(asked["messages"])
        if "tools" not in asked or not asked["tools"]: sys.exit("no tools were declared")
        said = "Seen: " + ("a.txt" if "a.txt" in told else "nothing")
        anthropic = "x-api-key" in self.headers
        first = len(asked["messages"]) == 1
        if anthropic:
            call = {"type": "tool_use", "id": "c1", "name": "list_files", "input": {}}
            answer = {"content": [call if first else {"type": "text", "text": said}]}
        else:
            call = {"id": "c1", "type": "function", "function": {"name": "list_files", "arguments": "{}"}}
            message = {"role": "assistant", "content": None, "tool_calls": [call]} if first else {"role": "assistant", "content": said}
            answer = {"choices": [{"message": message}]}
        body = json.dumps(answer).encode()
        self.send_response(200); self.send_header("content-length", str(len(body))); self.end_headers(); self.wfile.write(body)
server = http.server.HTTPServer(("127.0.0.1", 0), Model)
import subprocess, os, threading
threading.Thread(target=server.serve_forever, daemon=True).start()
os.environ["MODEL_URL"] = f"http://127.0.0.1:{server.server_port}/"
sys.exit(subprocess.run(sys.argv[1:]).returncode)
"#;

/// The block of the page that begins with this fence.
fn block(kind: &str) -> &'static str {
    let begin = format!("```{kind}\n");
    let from = PAGE.find(&begin).unwrap() + begin.len();
    let rest = PAGE.get(from..).unwrap();
    rest.get(..rest.find("```").unwrap()).unwrap()
}

/// Runs these words beside the model, with the program by its name.
fn beside_the_model(world: &World, words: &[&str]) -> Ran {
    world.write("workspace/a.txt", "x\n");
    let model = world.write("model.py", MODEL);
    let program = world.command(&[]);
    #[expect(clippy::disallowed_methods, reason = "the test starts a loop of somebody else's")]
    let mut command = std::process::Command::new("python3");
    command.arg(model).args(words).current_dir(world.path("workspace")).env_clear();
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.envs([("MODEL", "m"), ("MODEL_KEY", "k")]);
    let beside = Path::new(program.get_program()).parent().unwrap().display().to_string();
    let own = world.path("").display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{own}:{beside}:{path}"));
    run(command, "")
}

#[test]
fn the_loop_in_python_runs_as_it_stands_on_its_page() {
    let world = World::new();
    let file = world.write("loop.py", block("python"));
    let ran = beside_the_model(&world, &["python3", file.to_str().unwrap()]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Seen: a.txt\n"), "{ran:?}");
}

#[test]
fn the_loop_in_typescript_runs_as_it_stands_on_its_page() {
    let world = World::new();
    let file = world.write("loop.mjs", block("typescript"));
    let ran = beside_the_model(&world, &["node", file.to_str().unwrap()]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Seen: a.txt\n"), "{ran:?}");
}

#[test]
fn the_loop_in_shell_runs_as_it_stands_on_its_page() {
    let world = World::new();
    let ask = "#!/bin/sh\ngrep -q 'tool_result' \"$2\" || { printf '%s\\n' 'I look.' '```tool' \
        '{\"name\": \"list_files\", \"args\": {}}' '```'; exit; }\n\
        grep -q 'a.txt' \"$2\" && echo 'Seen: a.txt'\n";
    let ask = world.write("ask-model", ask);
    std::fs::set_permissions(ask, std::fs::Permissions::from_mode(0o755)).unwrap();
    let file = world.write("loop.sh", block("sh"));
    let ran = beside_the_model(&world, &["sh", file.to_str().unwrap()]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Seen: a.txt\n"), "{ran:?}");
}

/// Gemini pairs answers with calls by the name, and sends no id.
#[test]
fn answers_carry_the_name_that_the_model_used() {
    let world = World::new();
    world.write("workspace/a.txt", "x\n");
    let parts = r#"[{"functionCall": {"name": "read_file", "args": {"path": "a.txt"}}}]"#;
    let answer = format!(r#"{{"candidates": [{{"content": {{"parts": {parts}}}}}]}}"#);
    let ran = world.piped(&["feed", "--shape", "gemini"], &answer);
    assert!(ran.code == 0 && ran.out.contains(r#""name":"read_file""#), "{ran:?}");
    let block = "```tool\n{\"name\": \"read_file\", \"args\": {\"path\": \"a.txt\"}}\n```\n";
    let ran = world.piped(&["feed"], block);
    assert!(ran.code == 0 && ran.out.contains(r#""tool":"read_file""#), "{ran:?}");
}

#[test]
fn a_feed_is_kept_to_the_tools_that_are_named() {
    let world = World::new();
    let text = "Now.\n```tool\n{\"name\": \"time\", \"args\": {}}\n```\n";
    let words = ["feed", "--tools", "read,grep", "--text", "said.txt"];
    let ran = world.piped(&words, text);
    assert!(ran.code == 3 && ran.out.contains("no tool is called"), "{ran:?}");
    assert_eq!(world.read("workspace/said.txt").trim(), "Now.");
    let ran = world.piped(&["feed", "--tools", "raed"], text);
    assert!(ran.code == 2 && ran.err.contains("did you mean `read`?"), "{ran:?}");
    let ran = world.piped(&["feed", "--lenient"], "```tool\n{broken\n```\n");
    assert_eq!((ran.code, ran.out.trim()), (0, ""), "{ran:?}");
    let shown = world.eclusa(&["tools", "--shape", "anthropic", "--only", "read"]).out;
    assert!(shown.contains("\"name\":\"read\"") && !shown.contains("\"name\":\"grep\""), "{shown}");
}

/// A yes to changes applies them; a yes to running a call is taken by the same answer, fed again.
#[test]
fn a_feed_that_parks_ends_with_4_and_the_yes_is_taken_once() {
    let asked = "[[rules]]\ndecision = \"ask\"\ntool = \"echo\"\n";
    let world = World::with(&format!("on_no_approver = \"queue\"\n{asked}"));
    let note = "```tool\n{\"name\": \"note\", \"args\": {\"text\": \"x\"}}\n```\n";
    assert_eq!(world.piped(&["feed", "--park"], note).code, 4);
    assert_eq!(world.eclusa(&["approvals", "yes", "1"]).code, 0);
    assert_eq!(world.read("workspace/notes.txt"), "x\n");
    let echo = "```tool\n{\"name\": \"echo\", \"args\": {\"text\": \"hi\"}}\n```\n";
    assert_eq!(world.piped(&["feed", "--park"], echo).code, 4);
    assert_eq!(world.eclusa(&["approvals", "yes", "2"]).code, 0);
    let ran = world.piped(&["feed", "--park"], echo);
    assert!(ran.code == 0 && ran.out.contains("hi"), "{ran:?}");
    assert_eq!(world.piped(&["feed", "--park"], echo).code, 4, "the yes was for once");
}

/// A turn ends with its time while the model still writes, and while a call still runs.
#[test]
fn a_turn_ends_with_its_time_whatever_it_waits_for() {
    let world = World::with("mode = \"yolo\"\n[limits.turn]\ntime = \"1s\"\n");
    let long = "word ".repeat(5000);
    let sleep = "```tool\n{\"name\": \"bash\", \"args\": {\"command\": \"sleep 600\"}}\n```\n";
    for script in
        [format!("rate: 1\n## says\n{long}\n"), format!("## says\n{sleep}## says\nDone.\n")]
    {
        let model = format!("script:{}", world.write("script.md", &script).display());
        let ran = world.eclusa(&["--json", "ask", "--model", &model, "go"]);
        assert_eq!(ran.code, 4, "{ran:?}");
        assert!(ran.out.contains("limits.turn.time"), "{ran:?}");
    }
}

/// Who answered which question, for whoever reads the events.
#[test]
fn an_answer_to_a_question_is_an_event_for_programs() {
    let world = World::with("on_no_approver = \"deny\"\n");
    let script =
        "## says\n```tool\n{\"name\": \"note\", \"args\": {\"text\": \"x\"}}\n```\n## says\nNo.\n";
    let model = format!("script:{}", world.write("script.md", script).display());
    let ran = world.eclusa(&["ask", "--jsonl", "--model", &model, "go"]);
    let events = ran.out.lines().map(|it| serde_json::from_str::<serde_json::Value>(it).unwrap());
    let approval: Vec<_> = events.filter(|it| it["event"] == "tool_approval").collect();
    assert!(
        matches!(&approval[..], [it] if it["approved"] == false && it["tool"] == "note"),
        "{ran:?}"
    );
}
