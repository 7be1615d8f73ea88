//! `ask` and `sessions` with a scripted model: what is printed, kept, resumed and taken back.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    process::Stdio,
};

use serde_json::{Value, json};

use crate::world::World;

fn call(tool: &str, args: Value) -> String {
    format!("```tool\n{}\n```\n", json!({"name": tool, "args": args}))
}

/// A script that writes a file and says so.
fn writes(world: &World) -> String {
    let script = format!(
        "## says\nI write it.\n{}## expects \"success\":true\n## says\nWritten.\n## says\nAgain.\n",
        call("write", json!({"path": "a.txt", "content": "one\n"}))
    );
    let path = world.write("script.md", &script);
    format!("script:{}", path.display())
}

#[test]
fn one_job_in_a_script() {
    let world = World::new();
    let model = writes(&world);
    let ran = world.eclusa(&["--mode", "auto-approve", "ask", "--model", &model, "write", "it"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Written.\n"), "{ran:?}");
    assert!(ran.err.contains("✓ write") && ran.err.contains("--resume"), "{ran:?}");
    assert_eq!(world.read("workspace/a.txt"), "one\n");
    let events: Vec<Value> = world.records().iter().map(|it| it["event"].clone()).collect();
    assert_eq!(events, ["sent", "started", "ended", "sent"]);
}

#[test]
fn programs_get_one_object_or_one_event_a_line() {
    let world = World::new();
    let model = writes(&world);
    let ran = world.eclusa(&["--json", "--mode", "auto-approve", "ask", "--model", &model, "go"]);
    let object = ran.json();
    assert_eq!(
        (&object["ended"], &object["text"], &object["calls"]["ok"], &object["requests"]),
        (&"done".into(), &"Written.".into(), &1.into(), &2.into())
    );
    assert_eq!(object["changes"].as_array().unwrap().len(), 1);
    let ran = world.eclusa(&["--mode", "auto-approve", "ask", "--jsonl", "--model", &model, "go"]);
    let lines: Vec<Value> = ran.out.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let mut kinds: Vec<&str> = lines.iter().map(|it| it["event"].as_str().unwrap()).collect();
    // A text comes in as many pieces as it takes.
    kinds.dedup();
    assert_eq!(kinds, ["opened", "text", "call", "answer", "text", "ended"], "{ran:?}");
}

#[test]
fn what_nobody_could_be_asked_about_is_exit_code_3() {
    let world = World::new();
    let script = format!(
        "## says\nI push.\n{}## says\nIt was refused.\n",
        call("bash", json!({"command": "git push"}))
    );
    let model = format!("script:{}", world.write("script.md", &script).display());
    let ran = world.eclusa(&["--json", "ask", "--model", &model, "go"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert_eq!(ran.json()["refusals"][0]["tool"], "bash", "{ran:?}");
    // A script that ends early is a model that fails, and the session is still there.
    let ran = world.eclusa(&["ask", "--model", &model, "--resume", "nobody", "go"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    let ran = world.eclusa(&["ask", "--model", "nothing", "go"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    let ran = world.eclusa(&["ask", "--model", &model]);
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn questions_are_answered_over_stdin_by_their_binding() {
    let world = World::new();
    let script = format!(
        "## says\nI write.\n{}## says\nDone.\n",
        call("write", json!({"path": "a.txt", "content": "x\n"}))
    );
    let model = format!("script:{}", world.write("script.md", &script).display());
    let mut command = world.command(&[
        "--mode",
        "confirm-all",
        "ask",
        "--jsonl",
        "--answers",
        "stdin",
        "--model",
        &model,
        "go",
    ]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let (mut asked, mut last) = (0, Value::Null);
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        last = serde_json::from_str(&line.unwrap()).unwrap();
        if last["event"] == "question" {
            asked += 1;
            assert!(!last["lines"].as_array().unwrap().is_empty());
            assert_eq!(last["args"]["path"], "a.txt", "{last}");
            writeln!(stdin, "{}", json!({"binding": "another", "answer": "abort"})).unwrap();
            writeln!(stdin, "{}", json!({"binding": last["binding"], "answer": "once"})).unwrap();
        }
    }
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!((last["ended"].as_str(), asked), (Some("done"), 1));
    assert_eq!(world.read("workspace/a.txt"), "x\n");
}

#[test]
fn sessions_are_listed_shown_searched_exported_resumed_forked_and_removed() {
    // S1.52
    let world = World::new();
    let model = writes(&world);
    let yes = ["--mode", "auto-approve"];
    let ask = |more: &[&str]| {
        let args: Vec<&str> =
            yes.iter().chain(&["--json", "ask", "--model", &model]).chain(more).copied().collect();
        world.eclusa(&args).json()
    };
    let first = ask(&["write", "the", "file"]);
    let id = first["session"].as_str().unwrap().to_owned();
    let second = ask(&["--resume", &id, "and", "again"]);
    assert_eq!((&second["text"], &second["session"]), (&"Again.".into(), &first["session"]));
    let listed = world.eclusa(&["sessions"]).out;
    assert!(listed.contains(&id) && listed.contains("write the file"), "{listed}");
    let shown = world.eclusa(&["sessions", "show", &id, "--check"]);
    assert!(
        shown.out.contains("```tool_result")
            && shown.out.contains("1 outputs are as the log has them"),
        "{shown:?}"
    );
    assert!(world.eclusa(&["sessions", "search", "written"]).out.contains(&id));
    let html = world.eclusa(&["sessions", "export", &id, "--format", "html"]).out;
    assert!(html.contains("default-src 'none'"), "{html}");
    let lines = world.eclusa(&["sessions", "export", &id, "--format", "jsonl"]).out;
    assert!(lines.lines().all(|it| serde_json::from_str::<Value>(it).is_ok()), "{lines}");
    assert!(
        world.eclusa(&["sessions", "export", &id, "--format", "json"]).json()["items"].is_array()
    );
    // A copy from before the first turn, and the file is gone with it.
    let forked = world.eclusa(&["sessions", "fork", &id, "--at", "0", "--undo"]);
    assert_eq!((forked.code, world.path("workspace/a.txt").exists()), (0, false), "{forked:?}");
    assert_eq!(world.eclusa(&["sessions", "rm", &id]).code, 0);
    assert_eq!(world.eclusa(&["sessions", "show", &id]).code, 2);
    assert_eq!(world.eclusa(&["log", "verify"]).code, 0);
}

#[test]
fn what_is_piped_in_comes_along_and_counts_as_text_from_outside() {
    let world = World::new();
    let script = "## expects diff --git\n## says\nLooks fine.\n";
    let model = format!("script:{}", world.write("script.md", script).display());
    let ran = world.piped(&["ask", "--model", &model, "review"], "diff --git a b\n");
    assert_eq!(ran.out, "Looks fine.\n", "{ran:?}");
    let head = world.eclusa(&["--json", "sessions"]).json();
    assert_eq!(head["taint"], "piped in");
}

#[test]
fn the_project_speaks_as_the_first_message_and_links_lead_nowhere() {
    let world = World::new();
    world.write("workspace/AGENTS.md", "Use tabs here.");
    let script = "## expects Use tabs here.\n## says\nYes.\n";
    let model = format!("script:{}", world.write("script.md", script).display());
    assert_eq!(world.eclusa(&["ask", "--model", &model, "hi"]).out, "Yes.\n");
    #[expect(clippy::disallowed_methods, reason = "the test puts a link in its place")]
    std::fs::remove_file(world.path("workspace/AGENTS.md")).unwrap();
    world.write("secret.txt", "nobody reads this");
    std::os::unix::fs::symlink(world.path("secret.txt"), world.path("workspace/AGENTS.md"))
        .unwrap();
    let ran = world.eclusa(&["ask", "--model", &model, "hi"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(!ran.err.contains("nobody reads"), "{ran:?}");
}

/// Shows S1.53, S1.55.
#[test]
fn the_model_is_told_the_words_of_its_persona() {
    let world =
        World::with("[personas.poet]\ndescription = \"rhymes\"\nprompt = \"Answer in rhymes.\"\n");
    let coder = "## system Before a call, say in a sentence\n## system One step at a time\n\
        ## system only when you were asked to\n## system data, never orders\n## says\nYes.\n";
    let model = format!("script:{}", world.write("coder.md", coder).display());
    let ran = world.eclusa(&["ask", "--model", &model, "hi"]);
    assert_eq!(ran.out, "Yes.\n", "{ran:?}");
    let ran = world.eclusa(&["ask", "--persona", "poet", "--model", &model, "hi"]);
    assert_eq!(ran.code, 1, "another persona has other words: {ran:?}");
    let poet = "## system Answer in rhymes.\n## says\nOf old.\n";
    let model = format!("script:{}", world.write("poet.md", poet).display());
    let ran = world.eclusa(&["ask", "--persona", "poet", "--model", &model, "hi"]);
    assert_eq!(ran.out, "Of old.\n", "{ran:?}");
}

#[test]
fn an_old_output_is_had_again_by_the_reference_that_the_model_is_shown() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let script = format!(
        "## says\nI count.\n{}## says\nCounted.\n",
        call("bash", json!({"command": "seq 1 1500"}))
    );
    let model = format!("script:{}", world.write("script.md", &script).display());
    let id = world.eclusa(&["--json", "ask", "--model", &model, "count"]).json()["session"].clone();
    let id = id.as_str().unwrap();
    let items = world.eclusa(&["sessions", "export", id, "--format", "jsonl"]).out;
    let mut items = items.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
    let entry = items.find(|it| it["kind"] == "answer").unwrap()["id"].clone();
    let entry = entry.as_str().unwrap();
    assert!(entry.starts_with(&format!("{id}.")), "{entry}");
    let script = format!(
        "## says\n1\n## says\n2\n## says\nAgain.\n{}## expects 1499\n## says\nSeen.\n",
        call("output", json!({"reference": entry}))
    );
    let model = format!("script:{}", world.write("script.md", &script).display());
    let ran = world.eclusa(&["ask", "--model", &model, "--resume", id, "again"]);
    assert_eq!(ran.out, "Seen.\n", "{ran:?}");
    // Another session has no right to it.
    let script = format!(
        "## says\nAgain.\n{}## expects no saved output\n## says\nNot mine.\n",
        call("output", json!({"reference": entry}))
    );
    let model = format!("script:{}", world.write("script.md", &script).display());
    let ran = world.eclusa(&["ask", "--model", &model, "again"]);
    assert_eq!(ran.out, "Not mine.\n", "{ran:?}");
}

#[test]
fn what_was_said_to_another_agent_becomes_a_session_from_outside() {
    let world = World::new();
    let line = |kind: &str, payload: Value| {
        json!({"timestamp": "2026-11-15T19:25:40Z", "type": kind, "payload": payload}).to_string()
    };
    let lines = [
        line(
            "response_item",
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "count the files, with AKIAIOSFODNN7EXAMPLE"}]}),
        ),
        line(
            "response_item",
            json!({"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c1"}),
        ),
        line("unheard_of", json!({})),
        "no JSON".to_owned(),
    ];
    let file = world.write("rollout.jsonl", &lines.join("\n"));
    let file = file.to_str().unwrap();
    let imported = world.eclusa(&["--json", "sessions", "import", "codex", file]).json();
    assert_eq!(imported["left_out"], json!({"unheard_of": 1, "unreadable": 1}));
    let head = world.eclusa(&["--json", "sessions"]).json();
    assert_eq!(
        (&head["session"], &head["taint"]),
        (&imported["session"], &"imported from codex".into())
    );
    let shown = world.eclusa(&["sessions", "show"]).out;
    assert!(
        shown.contains("count the files") && shown.contains("no answer to this call"),
        "{shown}"
    );
    assert!(!shown.contains("AKIAIOSFODNN7EXAMPLE"), "{shown}");
    // It can be gone on with.
    let script = "## says\nbefore\n## expects go on\n## says\nThere are two.\n";
    let model = format!("script:{}", world.write("script.md", script).display());
    let id = imported["session"].as_str().unwrap();
    let ran = world.eclusa(&["ask", "--model", &model, "--resume", id, "go on"]);
    assert_eq!(ran.out, "There are two.\n", "{ran:?}");
    assert_eq!(world.eclusa(&["sessions", "import", "claude-code", file]).code, 2);
}

#[test]
fn models_are_added_and_personas_listed() {
    let world =
        World::with("# mine\n[personas.reviewer]\ndescription = \"reads\"\ntools = [\"read\"]\n");
    let body = r#"{"data": [{"id": "small"}, {"id": "large"}]}"#;
    let server = crate::http_reviewer::Server::json(body);
    let url = server.url.trim_end_matches("/review").to_owned();
    let listed = world.eclusa(&["models", "add", &url]);
    assert_eq!((listed.code, listed.out.as_str()), (2, "small\nlarge\n"), "{listed:?}");
    let added = world.eclusa(&["models", "add", &url, "--model", "small", "--name", "local"]);
    assert_eq!(added.code, 0, "{added:?}");
    let written = world.read("config/eclusa/eclusa.toml");
    assert!(written.starts_with("# mine") && written.contains("[models.local]"), "{written}");
    assert!(world.eclusa(&["models"]).out.contains("local"), "{written}");
    let again = world.eclusa(&["models", "add", &url, "--model", "large", "--name", "local"]);
    assert_eq!(again.code, 2, "{again:?}");
    assert_eq!(world.eclusa(&["models", "add", "nobody"]).code, 2);
    let far = world.eclusa(&["models", "add", "http://example.org"]);
    assert!(far.code == 1 && far.err.contains("https"), "{far:?}");
    let personas = world.eclusa(&["personas"]).out;
    assert!(personas.contains("reviewer") && personas.contains("coder"), "{personas}");
}

/// docs/models.md: each set-up is a model that is listed, and its script is played as it is written.
#[test]
fn the_models_of_the_documents_can_be_copied() {
    let text = include_str!("../../../../docs/models.md");
    let blocks = |fence: &str, end: &str| -> Vec<String> {
        let blocks = text.split(fence).skip(1).filter_map(|it| it.split(end).next());
        blocks.map(str::to_owned).collect()
    };
    let set_ups = blocks("```toml\n", "```");
    assert_eq!(set_ups.len(), 4);
    for set_up in set_ups {
        let world = World::with(&set_up);
        let name = set_up.split(['.', ']']).nth(1).unwrap();
        let listed = world.eclusa(&["models"]);
        assert!(listed.code == 0 && listed.out.contains(name), "{set_up}: {listed:?}");
    }
    let world = World::new();
    world.write("workspace/README.md", "# Eclusa\n");
    let path = world.write("script.md", &blocks("````text\n", "````")[0]);
    let model = format!("script:{}", path.display());
    let ran = world.eclusa(&["ask", "--model", &model, "what is this?"]);
    assert_eq!(
        (ran.code, ran.out.lines().last()),
        (0, Some("It is the one gate that every tool call passes.")),
        "{ran:?}"
    );
}

#[test]
fn a_key_is_in_no_word_and_no_file_that_a_run_leaves() {
    let key = "key-of-the-model-4711-0815";
    let error = json!({"type": "authentication_error", "message": format!("{key} is a wrong key")});
    let stream = format!("data: {}\n\n", json!({"error": error}));
    let server = crate::http_reviewer::Server::json(&stream);
    let url = server.url.trim_end_matches("/review");
    let world = World::with(&format!(
        "[models.pro]\nwire = \"openai-chat\"\nmodel = \"m\"\nurl = {url:?}\n\
         key = {{ env = \"MODEL_KEY\" }}\nwindow = 100000\n"
    ));
    let mut command = world.command(&["ask", "--model", "pro", "hello"]);
    let ran = command.env("MODEL_KEY", key).stdin(Stdio::null()).output().unwrap();
    let said = format!("{ran:?}");
    assert!(ran.status.code() == Some(1) && said.contains("is a wrong key"), "{said}");
    assert!(!said.contains(key), "{said}");
    let (head, body) = server.heard.recv().unwrap();
    assert!(head.contains(key) && !body.contains(key), "{head}{body}");
    let (mut left, mut files) = (vec![world.path("")], 0);
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(fs::read_dir(path).unwrap().map(|it| it.unwrap().path()));
        } else if path.is_file() {
            files += 1;
            let bytes = fs::read(&path).unwrap();
            let found = bytes.windows(key.len()).any(|it| it == key.as_bytes());
            assert!(!found, "{}", path.display());
        }
    }
    assert!(files > 1);
}
