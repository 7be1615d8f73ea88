//! Reviewers that are programs: facts H.

use serde_json::Value;

use crate::world::{World, wait_until};

/// A world with one reviewer of `echo` that is this script.
fn reviewed(script: &str, more: &str) -> World {
    let world = World::new();
    let path = world.script("reviewer", script);
    world.write(
        "config/eclusa/eclusa.toml",
        &format!(
            "[[reviewers]]\nname = \"guard\"\ntools = [\"echo\"]\ncommand = [{path}]\n{more}\n"
        ),
    );
    world
}

fn echo(world: &World) -> (i32, Value) {
    let ran = world.eclusa(&["--json", "run", "echo", r#"{"text": "hello"}"#]);
    (ran.code, ran.json())
}

/// Shows H.
#[test]
fn what_is_no_decision_is_a_denial() {
    // Text, silence, a number: whoever prints `deny` and ends with 0 has not approved.
    for said in ["true > /dev/null", "echo 'deny: this is dangerous'", "echo 42", "echo '\"ok\"'"] {
        for on in ["input", "output"] {
            let world = reviewed(said, &format!("on = {on:?}"));
            let (code, reply) = echo(&world);
            assert!(code != 0 && reply["output"] == "", "{said}: {reply}");
            assert!(reply["error"].as_str().unwrap().contains("could not decide"), "{reply}");
        }
    }
}

/// Shows H.
#[test]
fn a_reviewer_can_have_a_person_asked() {
    let world = reviewed(r#"echo '{"decision": "ask", "reason": "a new face"}'"#, "on = \"input\"");
    let (code, reply) = echo(&world);
    assert_eq!((code, &reply["code"]), (3, &"no_approver".into()));
    let record = &world.records()[0];
    assert_eq!(
        (&record["decision"], &record["reviews"][0]["said"]),
        (&"ask".into(), &"ask".into())
    );
    assert!(record["because"][0]["text"].as_str().unwrap().contains("a new face"), "{record}");
}

/// Shows H.
#[test]
fn exit_2_denies_and_stderr_is_the_reason() {
    let world = reviewed("echo 'not on a Sunday' >&2; exit 2", "on = \"input\"");
    let (code, reply) = echo(&world);
    assert_eq!((code, &reply["code"]), (3, &"denied_by_review".into()));
    assert!(reply["error"].as_str().unwrap().contains("not on a Sunday"), "{reply}");
    assert_eq!(world.records()[0]["reviews"][0]["said"], "deny");
}

/// Shows H.
#[test]
fn json_can_approve_deny_modify_and_merge() {
    let table = [
        (r#"{"decision": "approve"}"#, 0, "hello"),
        (r#"{"decision": "deny", "reason": "no"}"#, 3, ""),
        (r#"{"decision": "modify", "value": {"text": "other"}}"#, 0, "other"),
        (r#"{"decision": "merge", "value": {"times": 2}}"#, 0, "hello\nhello"),
        (r#"{"hookSpecificOutput": {"permissionDecision": "allow"}}"#, 0, "hello"),
        (r#"{"hookSpecificOutput": {"permissionDecision": "deny"}}"#, 3, ""),
        (r#"{"hookSpecificOutput": {"updatedInput": {"text": "hooked"}}}"#, 0, "hooked"),
        (r#"{"approved": true, "modified_value": {"text": "loose"}}"#, 0, "loose"),
        (r#"{"approved": false, "reason": "no"}"#, 3, ""),
        (r#"{"text": "replaced"}"#, 0, "replaced"),
        ("true", 0, "hello"),
        ("false", 3, ""),
    ];
    for (answer, code, output) in table {
        let world = reviewed(&format!("cat > /dev/null\necho '{answer}'"), "on = \"input\"");
        let (got, reply) = echo(&world);
        assert_eq!((got, reply["output"].as_str().unwrap()), (code, output), "{answer}: {reply}");
    }
}

/// Shows H.
#[test]
fn context_is_on_record() {
    let said = r#"echo '{"hookSpecificOutput": {"additionalContext": "looks harmless"}}'"#;
    let world = reviewed(said, "on = \"input\"");
    assert_eq!(echo(&world).0, 0);
    let review = &world.records()[0]["reviews"][0];
    assert_eq!((&review["said"], &review["why"]), (&"approve".into(), &"looks harmless".into()));
}

/// Shows H, C29, S0.31.
#[test]
fn everything_else_is_an_error_and_denies() {
    let table = [
        "exit 1",
        "exit 127",
        "echo '{\"decision\": '",
        "echo '{\"decision\": \"perhaps\"}'",
        "echo 42",
        "kill -9 $$",
    ];
    for script in table {
        let (code, reply) = echo(&reviewed(script, "on = \"input\""));
        assert_eq!((code, &reply["code"]), (3, &"denied_by_review".into()), "{script}");
    }
    let (code, reply) = echo(&reviewed("sleep 300", "on = \"input\"\ntime = \"300ms\""));
    assert_eq!(code, 3);
    assert!(reply["error"].as_str().unwrap().contains("no answer within"), "{reply}");
}

/// Shows C29.
#[test]
fn an_error_lets_pass_only_where_configured_and_it_is_on_record() {
    for script in ["exit 1", "echo '{'", "sleep 300"] {
        let world = reviewed(script, "on = \"input\"\ntime = \"300ms\"\non_error = \"allow\"");
        assert_eq!(echo(&world).0, 0, "{script}");
        let review = &world.records()[0]["reviews"][0];
        assert!(review["why"].as_str().unwrap().contains("although it failed"), "{review}");
    }
    // A clear no is no error.
    let world = reviewed("exit 2", "on = \"input\"\non_error = \"allow\"");
    assert_eq!(echo(&world).0, 3);
}

#[test]
fn a_reviewer_gets_the_call_as_json_and_the_output_with_the_arguments_used() {
    // S0.5, S0.6, S0.16
    let world = reviewed(
        "cat > got-$$.json\ngrep -q '\"on\":\"input\"' got-$$.json && echo '{\"text\": \"changed\"}' || echo true",
        "",
    );
    assert_eq!(echo(&world).1["output"], "changed");
    let mut got: Vec<Value> = std::fs::read_dir(world.path("workspace"))
        .unwrap()
        .map(|it| std::fs::read_to_string(it.unwrap().path()).unwrap())
        .map(|it| serde_json::from_str(&it).unwrap())
        .collect();
    got.sort_by_key(|it| it["on"].as_str().unwrap().to_owned());
    assert_eq!(got.len(), 2);
    assert_eq!((&got[0]["tool"], &got[0]["args"]["text"]), (&"echo".into(), &"hello".into()));
    assert_eq!((&got[1]["on"], &got[1]["args"]["text"]), (&"output".into(), &"changed".into()));
    assert_eq!(got[1]["output"]["text"], "changed");
    assert_eq!(got[0]["id"], got[1]["id"]);
}

/// Shows S0.15, C22.
#[test]
fn an_output_can_be_withheld_or_replaced() {
    let world = reviewed("echo 'too private' >&2; exit 2", "on = \"output\"");
    let (code, reply) = echo(&world);
    assert_eq!((code, &reply["code"]), (1, &"executed_output_withheld".into()));
    assert!(!reply.to_string().contains("hello"), "{reply}");
    let world = reviewed(r#"echo '{"decision": "modify", "value": "instead"}'"#, "on = \"output\"");
    assert_eq!(echo(&world).1["output"], "instead");
}

/// Shows H.
#[test]
fn a_modified_input_is_validated_again_and_judged_again() {
    // W2: what does not fit the schema is blocked.
    let (code, reply) = echo(&reviewed("echo '{\"text\": 5}'", "on = \"input\""));
    assert_eq!((code, &reply["code"]), (3, &"invalid_args".into()));
    // The rules see the new arguments.
    let world = reviewed("echo '{\"text\": \"password\"}'", "on = \"input\"");
    let config = world.read("config/eclusa/eclusa.toml")
        + "[[rules]]\ndecision = \"deny\"\ntool = \"echo\"\narg.\"/text\" = \"password\"\n";
    world.write("config/eclusa/eclusa.toml", &config);
    assert_eq!(echo(&world).1["code"], "denied_by_policy");
}

/// Shows H.
#[test]
fn after_a_no_later_reviewers_are_not_run_and_other_tools_are_not_read() {
    let world = World::new();
    let no = world.script("no", "exit 2");
    let later = world.script("later", "touch ran");
    world.write(
        "config/eclusa/eclusa.toml",
        &format!(
            "[[reviewers]]\nname = \"no\"\ntools = [\"echo\"]\ncommand = [{no}]\n\
             [[reviewers]]\nname = \"later\"\ncommand = [{later}]\ntools = [\"echo\"]\n"
        ),
    );
    assert_eq!(echo(&world).0, 3);
    assert!(!world.path("workspace/ran").exists());
    assert_eq!(world.eclusa(&["run", "time"]).code, 0);
}

/// Shows H: one that reads calls of the tools that name it, calls about some files, or none at all.
#[test]
fn a_reviewer_is_kept_to_its_tools_and_its_files() {
    let world = World::new();
    let no = world.script("no", "echo no >&2; exit 2");
    let config = format!(
        "{DEPLOY}reviewers = [\"own\"]\n\
         [[reviewers]]\nname = \"own\"\ntools = []\ncommand = [{no}]\n\
         [[reviewers]]\nname = \"files\"\npath = \"secret/**\"\non = \"input\"\ncommand = [{no}]\n"
    );
    world.write("config/eclusa/eclusa.toml", &config);
    assert_eq!(echo(&world).0, 0);
    let code = |args: &[&str]| {
        let words = [&["--json", "--mode", "auto-approve", "run"], args].concat();
        world.eclusa(&words).json()["code"].clone()
    };
    assert_eq!(code(&["deploy"]), "denied_by_review");
    assert_eq!(code(&["write", "path=docs.txt", "content=x"]), "ok");
    assert_eq!(code(&["write", "path=secret/a.txt", "content=x"]), "denied_by_review");
    assert_eq!(code(&["bash", "command=mkdir secret; echo x > secret/a.txt"]), "denied_by_review");
    let said = &world.records()[0]["reviews"][0];
    assert_eq!(
        (&said["said"], &said["why"]),
        (&"approve".into(), &"it is not about its files".into())
    );
}

/// Shows H.
#[test]
fn an_observer_neither_delays_nor_decides() {
    let wait =
        "while [ ! -e ../go ]; do sleep 0.1; done; cat > ../part; mv ../part ../seen; exit 2";
    let world = reviewed(wait, "on = \"input\"\nasync = true");
    // It waits until the call has long been answered, and would have said no.
    let (code, reply) = echo(&world);
    assert_eq!((code, &reply["output"]), (0, &"hello".into()), "{reply}");
    assert_eq!(world.records()[0]["reviews"][0]["why"], "it observes");
    world.write("go", "");
    wait_until("it has seen the call", || world.read("seen").contains("\"tool\":\"echo\""));
    let ran =
        reviewed("true", "async = true\non_error = \"allow\"").eclusa(&["run", "echo", "text=x"]);
    assert!(ran.code == 2 && ran.err.contains("has no `on_error`"), "{ran:?}");
}

const DEPLOY: &str =
    "[tools.deploy]\ndescription = \"deploys\"\ncommand = [\"echo\", \"deployed\"]\nreads = []\n";

/// A world with a tool that demands this of somebody who is this script.
fn demanding(demand: &str, section: &str, script: &str) -> World {
    let world = World::new();
    let path = world.script("somebody", script);
    let allow = "[[rules]]\ndecision = \"allow\"\ntool = \"deploy\"\n";
    let config = format!("{DEPLOY}{demand} = true\n[{section}]\ncommand = [{path}]\n{allow}");
    world.write("config/eclusa/eclusa.toml", &config);
    world
}

#[test]
fn reverse_thinking_by_a_program_can_stop_and_fails_closed() {
    let think = |script: &str| {
        let world = demanding("reverse_thinking", "reverse_thinker", script);
        let ran = world.eclusa(&["--json", "run", "deploy"]);
        let record = world.records().into_iter().next().unwrap();
        (ran.json(), record)
    };
    let (reply, record) = think(
        r#"grep -q '"on":"reverse-thinking"' && echo '{"verdict": "proceed", "reason": "fine", "failure_scenarios": ["none"]}'"#,
    );
    assert_eq!(reply["output"], "deployed\n", "{reply}");
    assert_eq!(record["reverse_thinking"]["verdict"], "proceed", "{record}");
    for (script, told) in [
        (r#"echo '{"verdict": "stop", "reason": "on a Friday"}'"#, "on a Friday"),
        ("echo 'no way' >&2; exit 2", "no way"),
        ("echo proceed", "not a JSON object"),
        ("echo '{}'", "no `verdict`"),
        ("exit 1", "it ended with"),
    ] {
        let (reply, _) = think(script);
        assert!(reply["error"].as_str().unwrap().contains(told), "{script}: {reply}");
        assert_eq!(reply["output"], "", "{script}: {reply}");
    }
    let (reply, _) = think(r#"echo '{"verdict": "ask", "reason": "who knows"}'"#);
    assert_eq!(reply["code"], "no_approver", "{reply}");
}

#[test]
fn a_checkpoint_by_a_program_opens_without_a_terminal_and_fails_closed() {
    let open = |script: &str| {
        let world = demanding("checkpoint", "checkpoint", script);
        world.eclusa(&["--json", "run", "deploy"]).json()
    };
    let reply = open(r#"grep -q '"on":"checkpoint"' && echo '{"decision": "approve"}'"#);
    assert_eq!(reply["output"], "deployed\n", "{reply}");
    for script in [
        r#"echo '{"decision": "deny", "reason": "closed today"}'"#,
        r#"echo '{"decision": "modify", "value": {}}'"#,
        "echo open",
        "true > /dev/null",
        "exit 2",
        "exit 1",
    ] {
        let reply = open(script);
        assert!(reply["output"] == "" && reply["error"].is_string(), "{script}: {reply}");
    }
}

/// S3.35: which of the two comes first, or stands for both, is a matter of configuration. One that a
/// tool asks for alone is never left out.
/// Shows S3.35.
#[test]
fn checkpoint_and_reverse_thinking_come_before_after_or_instead_of_each_other() {
    let took = |order: &str, demands: &str| {
        let world = World::new();
        let [think, open] =
            [("thinking", "verdict\": \"proceed"), ("checkpoint", "decision\": \"approve")].map(
                |(name, answer)| {
                    let note = world.path("steps").display().to_string();
                    let text = format!(
                        "echo {name} >> '{note}'; echo '{{\"{answer}\", \"reason\": \"fine\"}}'"
                    );
                    world.script(name, &text)
                },
            );
        let allow = "[[rules]]\ndecision = \"allow\"\ntool = \"deploy\"\n";
        let config = format!(
            "order = {order}\n{DEPLOY}{demands}[reverse_thinker]\ncommand = [{think}]\n\
             [checkpoint]\ncommand = [{open}]\n{allow}"
        );
        world.write("config/eclusa/eclusa.toml", &config);
        let ran = world.eclusa(&["run", "deploy"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "deployed\n"), "{ran:?}");
        world.read("steps").split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let both = "reverse_thinking = true\ncheckpoint = true\n";
    let order = r#"["reverse-thinking", "approval", "checkpoint"]"#;
    assert_eq!(took(order, both), "thinking checkpoint");
    let order = r#"["checkpoint", "approval", "reverse-thinking"]"#;
    assert_eq!(took(order, both), "checkpoint thinking");
    let without_thinking = r#"["approval", "checkpoint"]"#;
    assert_eq!(took(without_thinking, both), "checkpoint");
    assert_eq!(took(r#"["approval", "reverse-thinking"]"#, both), "thinking");
    assert_eq!(took(without_thinking, "reverse_thinking = true\n"), "thinking");
}
