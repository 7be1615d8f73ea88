//! The dry run of a whole job: later calls see what earlier ones did, and nothing of it is real.

use serde_json::{Value, json};

use crate::{
    prompt::Person,
    world::{Ran, World},
};

fn call(tool: &str, args: Value) -> String {
    format!("```tool\n{}\n```\n", json!({"name": tool, "args": args}))
}

/// The plan: the last JSON value of the output.
fn plan(ran: &Ran) -> Value {
    let values = serde_json::Deserializer::from_str(&ran.out).into_iter::<Value>();
    values.map(|it| it.unwrap_or_else(|err| panic!("{err}: {ran:?}"))).last().unwrap()
}

fn would(plan: &Value) -> Vec<(String, String, bool)> {
    let text = |it: &Value| it.as_str().unwrap().to_owned();
    let calls = plan["plan"].as_array().unwrap().iter();
    calls.map(|it| (text(&it["tool"]), text(&it["would"]), it["made"] == true)).collect()
}

fn expected(all: &[(&str, &str, bool)]) -> Vec<(String, String, bool)> {
    all.iter().map(|(tool, would, made)| ((*tool).into(), (*would).into(), *made)).collect()
}

/// Shows D, C9.
#[test]
fn later_calls_see_what_earlier_ones_did_and_nothing_is_real() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with("[effects]\ndelete = \"deny\"\n");
    world.write("workspace/gone.txt", "here\n");
    world.write("workspace/old.txt", "old\n");
    let answer = [
        call("write", json!({"path": "a.txt", "content": "one\n"})),
        call("bash", json!({"command": "cat a.txt; echo two >> a.txt; echo new > old.txt"})),
        call("read", json!({"path": "a.txt"})),
        call("bash", json!({"command": "rm gone.txt"})),
        call("read", json!({"path": "gone.txt"})),
        call("web_fetch", json!({"url": "https://example.com/"})),
        call("write", json!({"path": "../outside.txt", "content": "x"})),
    ]
    .concat();
    let ran = world.piped(&["--dry-run", "--json", "feed"], &answer);
    let plan = plan(&ran);
    let want = [
        ("write", "ask", true),
        ("bash", "ask", true),
        ("read", "run", true),
        ("bash", "deny", false),
        ("read", "run", true),
        ("web_fetch", "ask", false),
        ("write", "deny", false),
    ];
    assert_eq!(would(&plan), expected(&want), "{ran:?}");
    assert_eq!(ran.code, 3, "something would be denied");
    // The model was told what it would have been told.
    assert!(ran.out.contains("one") && ran.out.contains("two"), "{ran:?}");
    let diff = plan["changes"]["diff"].as_str().unwrap();
    assert!(diff.contains("+ two") && diff.contains("+ new") && !diff.contains("gone"), "{diff}");
    assert!(plan["plan"][3]["because"][0].as_str().unwrap().contains("delet"), "{plan}");
    // Nothing is real, on record or left behind.
    assert!(!world.path("workspace/a.txt").exists());
    assert_eq!(world.read("workspace/old.txt"), "old\n");
    assert_eq!(world.read("workspace/gone.txt"), "here\n");
    assert_eq!(world.eclusa(&["log"]).out.matches("write").count(), 0);
    // People read the same.
    let ran = world.piped(&["--dry-run", "feed"], &answer);
    assert!(ran.err.contains("nothing was applied, nobody was asked"), "{ran:?}");
    assert!(ran.err.contains("1. would ask  write") && ran.err.contains("not made"), "{ran:?}");
    let ran = world.piped(&["--dry-run", "feed"], "I have nothing to do.\n");
    assert!(ran.code == 0 && ran.err.contains("The plan is empty"), "{ran:?}");
}

#[test]
fn a_model_is_asked_and_its_job_is_a_plan() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let script = format!(
        "## says\nI write it.\n{}## expects \"success\":true\n## says\nI look.\n{}## expects one\n\
         ## says\nWritten.\n",
        call("write", json!({"path": "a.txt", "content": "one\n"})),
        call("bash", json!({"command": "cat a.txt"})),
    );
    let model = format!("script:{}", world.write("script.md", &script).display());
    let ran = world.eclusa(&["--dry-run", "ask", "--model", &model, "write", "it"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Written.\n"), "{ran:?}");
    assert!(ran.err.contains("would ask  write") && ran.err.contains("+ one"), "{ran:?}");
    assert!(!ran.err.contains("--resume"), "{ran:?}");
    assert!(!world.path("workspace/a.txt").exists());
    let ran = world.piped(&["--dry-run", "chat", "--plain", "--model", &model], "write it\n");
    assert!(ran.err.contains("would ask  write"), "{ran:?}");
    assert!(!world.path("workspace/a.txt").exists());
    let ran = world.eclusa(&["ask", "--apply", "--model", &model, "write", "it"]);
    assert!(ran.code == 2 && ran.err.contains("--dry-run"), "{ran:?}");
}

/// What was planned is what is done, as one call, and one no is a no to all of it.
#[test]
fn a_plan_is_applied_as_one_call_or_not_at_all() {
    eclusa_testing::needs!(Namespaces);
    let world =
        World::with("[[rules]]\ndecision = \"ask\"\ntool = \"write\"\nreason = \"look at it\"\n");
    world.write("workspace/old.txt", "old\n");
    let script = format!(
        "## says\nI work.\n{}{}## says\nDone.\n",
        call("write", json!({"path": "a.txt", "content": "one\n"})),
        call("bash", json!({"command": "echo new > old.txt"})),
    );
    let model = format!("script:{}", world.write("script.md", &script).display());
    let words = ["--dry-run", "ask", "--apply", "--model", &model, "work"];
    // Nobody can be asked.
    let ran = world.eclusa(&words);
    assert_eq!(ran.code, 3, "{ran:?}");
    let mut person = Person::runs(&world, &words);
    person.sees("look at it");
    person.answers("n");
    person.sees("Why?");
    person.types("not now");
    let (code, seen) = person.ends();
    assert!(code == 3 && seen.contains("Nothing of the plan was applied"), "{seen}");
    assert!(!world.path("workspace/a.txt").exists());
    let mut person = Person::runs(&world, &words);
    person.sees("look at it");
    person.answers("y");
    person.sees("Apply these changes?");
    person.types("y");
    let (code, seen) = person.ends();
    assert_eq!(code, 0, "{seen}");
    assert_eq!(world.read("workspace/a.txt"), "one\n");
    assert_eq!(world.read("workspace/old.txt"), "new\n");
    assert_eq!(world.eclusa(&["undo"]).code, 0);
    assert_eq!(world.read("workspace/old.txt"), "old\n");
    assert!(!world.path("workspace/a.txt").exists());
}

/// What commands may write at once lies outside the layer.
#[test]
fn a_dry_run_writes_no_place_outside_the_workspace() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let out = world.path("home/out");
    std::fs::create_dir_all(&out).unwrap();
    let config =
        format!("mode = \"auto-approve\"\n[commands]\nwritable = [\"{}\"]\n", out.display());
    world.write("config/eclusa/eclusa.toml", &config);
    let command = json!({"command": format!("echo x > {}/new", out.display())});
    let ran = world.piped(&["--dry-run", "--json", "feed"], &call("bash", command.clone()));
    assert_eq!(plan(&ran)["plan"].as_array().unwrap().len(), 1, "{ran:?}");
    assert!(!out.join("new").exists(), "{ran:?}");
    world.eclusa(&["run", "bash", &command.to_string()]);
    assert!(out.join("new").exists());
}

/// A command that a dry run would not hold back is not done.
#[test]
fn what_takes_no_dry_run_refuses_it() {
    let world = World::with("on_no_approver = \"queue\"\n");
    let note = world.eclusa(&["run", "--park", "note", "text=hello"]);
    assert_eq!(note.code, 4, "{note:?}");
    for words in [
        &["approvals", "yes", "1"][..],
        &["approvals", "no", "1"],
        &["jobs", "end", "--all"],
        &["allow", "--times", "1", "--for", "1h", "rule.toml"],
        &["people", "list"],
        &["disk", "--clean"],
    ] {
        let ran = world.eclusa(&[&["--dry-run"][..], words].concat());
        assert!(ran.code == 2 && ran.err.contains("nothing was done"), "{words:?}: {ran:?}");
    }
    assert!(world.eclusa(&["approvals"]).out.contains("hello"), "it waits still");
    assert!(!world.path("workspace/notes.txt").exists());
}

/// A rule that is good for one call lets one call of a job pass. A plan uses nothing up; applying it does.
#[test]
fn a_plan_counts_uses_of_rules_and_applying_it_uses_them_up() {
    eclusa_testing::needs!(Namespaces);
    let rule = "[[rules]]\nid = \"few\"\ndecision = \"allow\"\ntool = \"write\"\ntimes = 1\n";
    let world = World::with(rule);
    let write = |name: &str| call("write", json!({"path": name, "content": "x\n"}));
    let job = write("a.txt") + &write("b.txt");
    for _ in 0..2 {
        let ran = world.piped(&["--dry-run", "--json", "feed"], &job);
        let want = [("write", "run", true), ("write", "ask", true)];
        assert_eq!(would(&plan(&ran)), expected(&want), "{ran:?}");
    }
    let words = ["--mode", "auto-approve", "--dry-run", "feed", "--apply"];
    let ran = world.piped(&words, &write("a.txt"));
    assert_eq!((ran.code, world.read("workspace/a.txt").as_str()), (0, "x\n"), "{ran:?}");
    let ran = world.piped(&["--dry-run", "--json", "feed"], &write("b.txt"));
    assert_eq!(would(&plan(&ran)), expected(&[("write", "ask", true)]), "{ran:?}");
}
