//! What newcomers met that has no better place: each in the words in which it was reported.

use serde_json::json;

use crate::{prompt::Person, world::World};

fn bash(command: &str) -> String {
    json!({ "command": command }).to_string()
}

/// Runs git in the workspace, and gives what it says.
fn git(world: &World, args: &[&str]) -> String {
    #[expect(clippy::disallowed_methods, reason = "the test prepares a repository")]
    let mut command = std::process::Command::new("git");
    command.args(["-c", "user.name=Ana", "-c", "user.email=ana@example.org"]).args(args);
    command.current_dir(world.path("workspace")).env("HOME", world.path("home"));
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{args:?}: {ran:?}");
    String::from_utf8(ran.stdout).unwrap()
}

/// A2.2: what `exec` says can be undone can be, also where git wrote its own files.
/// Shows A2.2.
#[test]
fn what_git_did_is_undone() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    world.write("workspace/a.txt", "one\n");
    git(&world, &["init", "-q", "-b", "main"]);
    git(&world, &["add", "-A"]);
    git(&world, &["commit", "-qm", "first"]);
    let ran = world.eclusa(&["exec", "--apply", "--", "git tag v1 && git switch -q -c topic"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("`eclusa undo 1` undoes it"), "{ran:?}");
    assert_eq!(git(&world, &["tag"]), "v1\n");
    let undone = world.eclusa(&["undo"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!(git(&world, &["tag"]), "");
    assert_eq!(git(&world, &["branch", "--show-current"]), "main\n");
}

/// A2.4: `run` ends with its call, and says so instead of promising a job.
/// Shows A2.4.
#[test]
fn run_starts_nothing_in_the_background() {
    let world = World::new();
    let args = json!({"command": "sleep 60", "background": true}).to_string();
    for tool in ["bash", "Bash"] {
        let ran = world.eclusa(&["run", tool, &args]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains("nothing can go on in the background"), "{ran:?}");
    }
    assert_eq!(world.eclusa(&["log", "export"]).out, "");
}

/// A2.5, A2.6: `check` names a rule wherever one helps, and where none does it says what would.
/// Shows A2.5, A2.6.
#[test]
fn check_names_what_would_change_the_outcome() {
    let tool = |more: &str| {
        let head = "[tools.go]\ndescription = \"goes\"\ncommand = [\"true\"]\n";
        World::with(&format!("{head}{more}"))
    };
    let told = tool("reads = []\n").eclusa(&["check", "go", "{}"]).out;
    assert!(
        told.contains("with this rule it would be allow") && told.contains("tool = \"go\""),
        "{told}"
    );
    let silent = tool("[[rules]]\ndecision = \"allow\"\ntool = \"go\"\n");
    let told = silent.eclusa(&["check", "go", "{}"]).out;
    assert!(told.contains("no rule changes this") && told.contains("reads"), "{told}");
    let ran = silent.eclusa(&["run", "go", "{}"]);
    assert!(ran.code == 3 && ran.err.contains("reads = []"), "{ran:?}");
}

/// A3.3: hours are a time, and what timed out says the time that was given, and the flag.
/// Shows A3.3.
#[test]
fn times_are_told_as_they_were_given() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    assert_eq!(world.eclusa(&["exec", "--timeout", "2h", "--", "true"]).code, 0);
    let ran = world.eclusa(&["exec", "--timeout", "1s", "--", "echo begun; sleep 300"]);
    assert!(ran.code != 0 && ran.err.contains("timed out after 1 s "), "{ran:?}");
    assert!(ran.err.contains("`--timeout` on the command line"), "{ran:?}");
}

/// A4.6, A5: small things that were odd.
/// Shows A4.6, A5.
#[test]
fn small_things_are_put_right() {
    let world = World::new();
    world.write("workspace/a.txt", "one\n");
    // Arguments that nobody gave are not shown, nor a person's reason as a model's.
    let fetch = ["run", "web_fetch", "url=https://docs.example/a", "--reason", "to read it"];
    let mut person = Person::runs(&world, &fetch);
    person.sees("Run it? [");
    assert!(!person.seen.contains("null") && !person.seen.contains("model"), "{}", person.seen);
    person.types("q");
    assert_eq!(person.ends().0, 130);
    // Whoever changes something is told how to undo it.
    let edit = ["run", "edit", "path=a.txt", "old_string=one", "new_string=two"];
    let mut person = Person::runs(&world, &edit);
    person.answers("y");
    let (code, seen) = person.ends();
    assert!(code == 0 && seen.contains("applied as call 2; `eclusa undo 2` undoes it"), "{seen}");
    let empty = world.eclusa(&["output", "0", "--range", "20..10"]);
    assert!(empty.code == 2 && empty.err.contains("its end is before its start"), "{empty:?}");
    // A file that is read and written is named once.
    let args = json!({"path": "a.txt", "old_string": "two", "new_string": "one"}).to_string();
    let told = world.eclusa(&["check", "edit", &args]).out;
    assert!(told.contains("path = \"/a.txt\"") || told.contains("path = [\"/a.txt\"]"), "{told}");
}

/// A1.7: an answer for the session is as narrow as one for always.
#[test]
fn s_answers_for_the_conversation_says_for_what_and_is_no_wider_than_always() {
    let world = World::new();
    let mut person = Person::runs(&world, &["run", "note", r#"{"text": "hello"}"#]);
    person.answers("s");
    let (code, seen) = person.ends();
    assert_eq!(code, 0, "{seen}");
    assert!(seen.contains("s: `note` for `/notes.txt`, for the rest of this session"), "{seen}");
    assert_eq!(world.records()[1]["changes"]["approval"]["answer"], "session");
    // Of a fetch it is the host, and of an edit the file, named once though it is read and written.
    world.write("workspace/a.txt", "one\n");
    let edit = r#"{"path": "a.txt", "old_string": "one", "new_string": "two"}"#;
    for (args, scope) in [
        (
            ["run", "web_fetch", r#"{"url": "https://docs.example/a"}"#],
            "`web_fetch` for `docs.example`",
        ),
        (["run", "edit", edit], "`edit` for `/a.txt`"),
    ] {
        let mut person = Person::runs(&world, &args);
        person.sees(&format!("s: {scope}, for the rest of this session"));
        person.answers("q");
        assert_eq!(person.ends().0, 130);
    }
}

/// A5: a cloud hands out the keys of a machine at these addresses. Nobody is asked about them: they are
/// denied in every mode, whatever rules and settings open.
#[test]
fn metadata_services_are_denied_in_every_mode_whatever_is_open() {
    let world = World::with(
        "[commands]\nhosts = [\"169.254.169.254\"]\n[[rules]]\ndecision = \"allow\"\ndomain = \"*\"\n\
         [[rules]]\ndecision = \"allow\"\ncommand = \"curl\"\n",
    );
    let url = |url: &str| json!({ "url": url }).to_string();
    let curl = bash("curl -s http://169.254.169.254/latest/meta-data/");
    for mode in ["confirm-all", "confirm-sensitive", "auto-approve", "yolo"] {
        for (tool, args) in [("web_fetch", &url("http://169.254.169.254/a")), ("bash", &curl)] {
            let ran = world.eclusa(&["--mode", mode, "run", tool, args]);
            let told = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(ran.code, 3, "{mode}: {ran:?}");
            assert!(told.contains("metadata address, and nothing may talk to it"), "{told}");
        }
    }
    for (tool, args) in [
        ("web_fetch", url("http://0xA9FEA9FE/")),
        ("web_fetch", url("http://[fe80::1]/")),
        ("web_fetch", url("http://metadata.google.internal/computeMetadata/v1/")),
        ("bash", bash("echo a; curl 169.254.169.254/latest | head -3")),
        ("bash", bash("wget -qO- http://100.100.100.200/latest/")),
        ("bash", bash("sh -c 'curl -H x:y http://2852039166/'")),
    ] {
        let told = world.eclusa(&["check", tool, &args]).out;
        assert!(told.starts_with("deny"), "{args}: {told}");
    }
    // Others are judged as before.
    let told = World::new().eclusa(&["check", "web_fetch", &url("https://docs.example/a")]).out;
    assert!(told.starts_with("ask"), "{told}");
}
