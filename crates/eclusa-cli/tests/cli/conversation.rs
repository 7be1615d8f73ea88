//! Conversations through the binary: tasks, calls that wait for a person, a model that argues the other
//! side, and what ends with a session.

use expectrl::Expect as _;
use serde_json::{Value, json};

use crate::{
    prompt::Person,
    world::{World, wait_until},
};

fn call(tool: &str, args: Value) -> String {
    format!("```tool\n{}\n```\n", json!({"name": tool, "args": args}))
}

/// A model that says this.
fn script(world: &World, name: &str, text: &str) -> String {
    format!("script:{}", world.write(name, text).display())
}

/// One turn, as its object.
fn ask(world: &World, code: i32, args: &[&str]) -> Value {
    let ran = world.eclusa(&[&["--json", "ask"], args].concat());
    assert_eq!(ran.code, code, "{ran:?}");
    ran.json()
}

#[test]
fn what_commands_left_in_tmp_ends_with_the_session() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let text = format!(
        "## says\nI keep it.\n{}{}## expects kept\n## says\nKept.\n",
        call("bash", json!({"command": "echo kept > /tmp/x"})),
        call("bash", json!({"command": "cat /tmp/x"})),
    );
    let model = script(&world, "script.md", &text);
    let answer = ask(&world, 0, &["--model", &model, "go"]);
    assert_eq!(answer["text"], "Kept.");
    let states = std::fs::read_dir(world.path("state/eclusa")).unwrap().flatten();
    let left: Vec<_> = states
        .filter_map(|it| std::fs::read_dir(it.path().join("tmp")).ok())
        .flat_map(|it| it.flatten().map(|it| it.path()))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn work_is_given_to_a_helper_and_undone_with_the_turn() {
    let helper = format!(
        "## expects write x\n## says\nI write.\n{}## says\nx is written.\n",
        call("write", json!({"path": "x", "content": "1\n"}))
    );
    let world = World::new();
    let helper = script(&world, "helper.md", &helper);
    let config = format!("[personas.writer]\ndescription = \"writes\"\nmodel = {helper:?}\n");
    world.write("config/eclusa/eclusa.toml", &config);
    let text = format!(
        "## system writer: writes\n## says\nYou write.\n{}## expects x is written.\n## says\nGood.\n",
        call("task", json!({"persona": "writer", "prompt": "write x"}))
    );
    let model = script(&world, "script.md", &text);
    let args = ["--mode", "auto-approve", "ask", "--jsonl", "--model", &model, "go"];
    let ran = world.eclusa(&args);
    let lines: Vec<Value> = ran.out.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let last = lines.last().unwrap();
    assert_eq!((ran.code, &last["text"]), (0, &"Good.".into()), "{ran:?}");
    assert_eq!((&last["calls"]["ok"], &last["requests"]), (&2.into(), &4.into()), "{last}");
    let inner = lines.iter().find(|it| it["event"] == "task" && it["of"]["event"] == "call");
    assert_eq!(inner.unwrap()["persona"], "writer", "{ran:?}");
    assert_eq!(world.read("workspace/x"), "1\n");
    let session = last["session"].as_str().unwrap();
    let listed = world.eclusa(&["--json", "sessions"]).out;
    assert!(listed.contains(&format!("\"parent\":\"{session}\"")), "{listed}");
    // What the helper changed belongs to the turn.
    let forked = world.eclusa(&["sessions", "fork", session, "--at", "0", "--undo"]);
    assert_eq!((forked.code, world.path("workspace/x").exists()), (0, false), "{forked:?}");
}

#[test]
fn questions_of_a_helper_say_who_asks() {
    let world = World::new();
    let text = format!(
        "## says\nI write.\n{}## says\nDone.\n",
        call("write", json!({"path": "x", "content": "1\n"}))
    );
    let helper = script(&world, "helper.md", &text);
    world.write("config/eclusa/eclusa.toml", &format!("[personas.writer]\nmodel = {helper:?}\n"));
    let text = format!(
        "## says\nGo.\n{}## says\nGood.\n",
        call("task", json!({"persona": "writer", "prompt": "go"}))
    );
    let model = script(&world, "script.md", &text);
    let mut command = world.command(&["chat", "--model", &model, "go"]);
    command.env("NO_COLOR", "1");
    let mut person = Person::sized(command, 80, 24);
    person.sees("asked by: task writer");
    person.answers("y");
    person.sees("Good.");
    person.session.send("/quit\r").unwrap();
    assert_eq!((person.ends().0, world.read("workspace/x").as_str()), (0, "1\n"));
}

const QUEUE: &str = "on_no_approver = \"queue\"\n";

fn note() -> String {
    call("note", json!({"text": "hello"}))
}

/// A session whose call of `note` waits for approval 1.
fn waiting(world: &World) -> (String, String) {
    let text = format!(
        "## says\nI note it.\n{}## expects its changes wait for approval 1 and are not applied\n\
         ## says\nIt waits.\n## expects a call that waited for approval\n## says\nNow I know.\n",
        note()
    );
    let model = script(world, "script.md", &text);
    let answer = ask(world, 4, &["--model", &model, "go"]);
    assert_eq!((&answer["text"], &answer["waiting"]), (&"It waits.".into(), &json!([1])));
    (model, answer["session"].as_str().unwrap().to_owned())
}

/// Shows A1, A7.
#[test]
fn a_call_that_waits_is_applied_once_somebody_said_yes_and_told_to_nobody_else() {
    let world = World::with(QUEUE);
    let (model, id) = waiting(&world);
    let go_on = ["--model", &model, "--resume", &id];
    // Nobody has answered: nothing runs, and the model is not asked.
    let answer = ask(&world, 4, &go_on);
    assert_eq!((&answer["requests"], world.read("workspace/notes.txt").as_str()), (&0.into(), ""));
    // Nobody waits for it: whoever says yes applies it, and nothing runs again.
    assert_eq!(world.eclusa(&["approvals", "yes", "1"]).code, 0);
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
    // Somebody else cannot go on with it.
    let mut command = world.command(&[&["ask"], &go_on[..]].concat());
    let ran = command.env("USER", "another").stdin(std::process::Stdio::null()).output().unwrap();
    assert_eq!(ran.status.code(), Some(4));
    let answer = ask(&world, 0, &go_on);
    assert_eq!(answer["text"], "Now I know.");
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
    // Once.
    assert_eq!(world.eclusa(&[&["ask"], &go_on[..]].concat()).code, 2);
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
    let shown = world.eclusa(&["sessions", "show", &id, "--check"]);
    assert!(shown.code == 0 && shown.out.contains("~1"), "{shown:?}");
}

#[test]
fn a_no_to_a_call_that_waits_reaches_the_model_and_a_copy_has_no_claim() {
    let world = World::with(QUEUE);
    let (model, id) = waiting(&world);
    let copy = world.eclusa(&["sessions", "fork", &id]).out;
    let copy = copy.split_once(':').unwrap().0.to_owned();
    assert_eq!(world.eclusa(&["approvals", "no", "1", "not on a Friday"]).code, 0);
    let text = "## says\n1\n## says\n2\n## expects not on a Friday\n## says\nThen not.\n";
    let other = script(&world, "other.md", text);
    let answer = ask(&world, 0, &["--model", &other, "--resume", &id, "and?"]);
    assert_eq!(answer["text"], "Then not.");
    let answer = ask(&world, 0, &["--model", &model, "--resume", &copy]);
    assert_eq!(
        (&answer["text"], world.read("workspace/notes.txt").as_str()),
        (&"Now I know.".into(), "")
    );
}

#[test]
fn an_open_chat_goes_on_by_itself_when_a_call_is_answered_elsewhere() {
    let world = World::with("[[rules]]\ndecision = \"ask\"\ntool = \"note\"\nwith = \"key\"\n");
    let key = world.path("ana.key").display().to_string();
    assert_eq!(world.eclusa(&["people", "add", "ana", "--new-key", &key]).code, 0);
    let text = format!(
        "## says\nI note it.\n{}## expects waits for a person\n## says\nIt waits.\n\
         ## expects a call that waited for approval\n## says\nNow I know.\n",
        note()
    );
    let model = script(&world, "script.md", &text);
    let mut command = world.command(&["chat", "--model", &model, "go"]);
    command.env("NO_COLOR", "1");
    let mut person = Person::sized(command, 80, 24);
    person.sees("waits for approval 1");
    person.sees("It waits.");
    wait_until("somebody with a key says yes", || {
        world.eclusa(&["approvals", "yes", "1", "--key", &key]).code == 0
    });
    person.sees("Now I know.");
    person.session.send("/quit\r").unwrap();
    assert_eq!(person.ends().0, 0);
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");
}

/// Shows S3.32.
#[test]
fn a_model_argues_the_other_side_and_what_is_no_clear_answer_stops_the_call() {
    let think = |says: &str| {
        let world = World::new();
        let text = format!("## system Argue the other side\n## expects deploy\n## says\n{says}\n");
        let model = script(&world, "thinker.md", &text);
        let config = format!(
            "[tools.deploy]\ndescription = \"deploys\"\ncommand = [\"echo\", \"deployed\"]\nreads = []\n\
             reverse_thinking = true\n[reverse_thinker]\nmodel = {model:?}\n\
             [[rules]]\ndecision = \"allow\"\ntool = \"deploy\"\n"
        );
        world.write("config/eclusa/eclusa.toml", &config);
        let reply = world.eclusa(&["--json", "run", "deploy"]).json();
        (reply, world.records())
    };
    let (reply, records) = think(
        r#"{"verdict": "proceed", "reason": "fine", "hidden_assumptions": ["it is tested"]}"#,
    );
    assert_eq!((&reply["output"], &records[0]["event"]), (&"deployed\n".into(), &"sent".into()));
    assert_eq!(records[1]["reverse_thinking"]["verdict"], "proceed", "{records:?}");
    let (reply, _) = think("```json\n{\"verdict\": \"ask\", \"reason\": \"who knows\"}\n```");
    assert_eq!(reply["code"], "no_approver", "{reply}");
    for (says, told) in [
        (r#"{"verdict": "stop", "reason": "on a Friday"}"#, "on a Friday"),
        ("proceed", "not a JSON object"),
        (r#"{"verdict": "sure"}"#, "no `verdict`"),
        ("```tool\n{\"name\": \"deploy\", \"args\": {}}\n```", "call tools"),
    ] {
        let (reply, _) = think(says);
        assert!(reply["error"].as_str().unwrap().contains(told), "{says}: {reply}");
        assert_eq!(reply["output"], "", "{says}: {reply}");
    }
}

#[test]
fn a_reverse_thinkers_request_counts_to_the_limits_of_the_turn() {
    for (requests, code, counted, output) in
        [(1, 4, 1, ""), (2, 4, 2, "deployed\n"), (3, 0, 3, "deployed\n")]
    {
        let world = World::new();
        let proceed = "## says\n{\"verdict\": \"proceed\", \"reason\": \"fine\"}\n";
        let thinker = script(&world, "thinker.md", proceed);
        world.write(
            "config/eclusa/eclusa.toml",
            &format!(
                "limits.turn.requests = {requests}\n\
                 [tools.deploy]\ndescription = \"deploys\"\ncommand = [\"echo\", \"deployed\"]\nreads = []\n\
                 reverse_thinking = true\n[reverse_thinker]\nmodel = {thinker:?}\n\
                 [[rules]]\ndecision = \"allow\"\ntool = \"deploy\"\n"
            ),
        );
        let text = format!("## says\nOff.\n{}## says\nDone.\n", call("deploy", json!({})));
        let model = script(&world, "script.md", &text);
        let answer = ask(&world, code, &["--model", &model, "go"]);
        assert_eq!(answer["requests"], counted, "{answer}");
        let id = answer["session"].as_str().unwrap();
        let kept = world.eclusa(&["sessions", "export", id, "--format", "json"]).json();
        let items = kept["items"].as_array().unwrap();
        let result = items.iter().find_map(|it| it.get("tool_result")).unwrap();
        assert_eq!(result["output"], output, "{result}");
        if requests == 1 {
            let why = result["error"].as_str().unwrap();
            assert!(why.contains("limits.turn.requests"), "{why}");
        }
    }
}

#[test]
fn what_was_interrupted_is_not_said_again_by_a_script() {
    let world = World::new();
    let text = "rate: 20\n## says\nfirst words and many more of them, slowly, one after the other, for a while\n\
                ## says\nthe second message\n";
    let model = script(&world, "script.md", text);
    let mut command = world.command(&["chat", "--model", &model, "go"]);
    command.env("NO_COLOR", "1");
    let mut person = Person::sized(command, 80, 24);
    person.sees("first words");
    person.session.send("\x1b").unwrap();
    person.sees("interrupted");
    person.session.send("and now?\r").unwrap();
    person.sees("second message");
    person.session.send("/quit\r").unwrap();
    assert_eq!(person.ends().0, 0);
}
