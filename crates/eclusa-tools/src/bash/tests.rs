//! Commands through the whole gate, in real sandboxes.

use std::{
    fs,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use eclusa::{
    Answer, Approver, Blocked, Durability, Files, Gate, MemoryLog, Mode, NotAsked, Question,
    Registry, Reply, Rules, Run, ToolCall, Workspace, approve::QuestionAbout, policy::EffectLimits,
    spool::MemorySpool,
};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::Bash;
use crate::{SandboxSettings, Sandboxes};

mod bound;
mod jobs;
mod places;

/// A workspace, and a gate with `bash` and `jobs` around it.
struct World {
    dir: TempDir,
    gate: Gate,
    sandboxes: Sandboxes,
    log: Arc<MemoryLog>,
    asked: Arc<Mutex<Vec<Question>>>,
    spool: Arc<MemorySpool>,
}

/// Always gives the same answer.
struct Person(Answer, Arc<Mutex<Vec<Question>>>);

impl Approver for Person {
    fn name(&self) -> &str {
        "person"
    }
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        self.1.lock().unwrap().push(question.clone());
        Box::pin(async { Ok(self.0.clone()) })
    }
}

impl World {
    fn new(answer: Answer, settle: impl FnOnce(&mut SandboxSettings)) -> World {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("workspace");
        fs::create_dir(&root).unwrap();
        let (workspace, _) = Workspace::open(&root, dir.path().join("state")).unwrap();
        let mut settings = SandboxSettings::new(workspace.root(), workspace.state());
        settle(&mut settings);
        let files = Files::open(&root, Blocked::default()).unwrap();
        let sandboxes = Sandboxes::new(settings).unwrap();
        let bash = Bash::new(sandboxes.clone(), files);
        let registry = Registry::new();
        registry.add(bash.jobs()).unwrap();
        registry.add(bash).unwrap();
        let effects = EffectLimits { delete: eclusa::Decision::Allow, ..EffectLimits::default() };
        let rules = Rules::new(Vec::new(), &root).with_effects(effects);
        let log = Arc::new(MemoryLog::default());
        let mut setup = Gate::builder()
            .registry(registry)
            .policy(rules)
            .log(log.clone())
            .workspace(workspace)
            .durability(Durability::Crash);
        let asked = Arc::new(Mutex::new(Vec::new()));
        setup = setup.approver(Person(answer, asked.clone()));
        let spool = Arc::new(MemorySpool::default());
        setup = setup.spool(spool.clone());
        World { dir, gate: setup.build().unwrap(), sandboxes, log, asked, spool }
    }

    fn yes() -> World {
        World::new(Answer::Once, |_| {})
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("workspace").join(name)
    }

    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    async fn pass(&self, tool: &str, args: Value) -> Reply {
        self.gate.pass(ToolCall::new("c1", tool, args)).await
    }

    async fn bash(&self, command: &str) -> Reply {
        self.pass("bash", json!({"command": command})).await
    }

    fn previews(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter_map(|it| Some(it.preview()?.diff.clone())).collect()
    }

    /// Layers that are in use, or that something was left in.
    fn layers(&self) -> usize {
        self.sandboxes.settle();
        let is_used = |layer: &PathBuf| {
            let parts = ["upper", "work"].map(|part| fs::read_dir(layer.join(part)));
            parts.into_iter().flatten().flatten().next().is_some()
        };
        let stages = fs::read_dir(self.dir.path().join("state/stages"));
        stages.into_iter().flatten().flatten().map(|it| it.path()).filter(is_used).count()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_without_effects_asks_nobody() {
    eclusa_testing::needs!(Namespaces);
    let world = World::yes();
    let reply = world.bash("echo out; echo err >&2").await;
    assert_eq!((reply.code(), reply.text()), ("ok", "out\nerr\n"));
    assert_eq!(world.asked.lock().unwrap().len(), 0);
    assert_eq!(reply.data().unwrap()["enforcement"], "full", "this kernel has all of it");
    assert_eq!(world.layers(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_it_changes_is_shown_and_then_real_and_can_be_undone() {
    eclusa_testing::needs!(Namespaces);
    let world = World::yes();
    fs::create_dir(world.path("d")).unwrap();
    for (name, text) in [("a", "one\n"), ("d/b", "two\n"), ("gone", "x")] {
        fs::File::create(world.path(name)).unwrap();
        fs::OpenOptions::new()
            .write(true)
            .open(world.path(name))
            .and_then(|mut it| std::io::Write::write_all(&mut it, text.as_bytes()))
            .unwrap();
    }
    let script =
        "echo more >> a; mv d/b d/c; rm gone; mkdir -p new/deep; echo n > new/deep/f; ln -s a link";
    let reply = world.bash(script).await;
    assert_eq!(reply.code(), "ok", "{}", reply.content());
    let previews = world.previews();
    let [shown] = previews.as_slice() else { panic!("{previews:?}") };
    for line in ["altered a", "+ more", "moved d/b -> d/c", "deleted gone", "made new/deep/f"] {
        assert!(shown.contains(line), "`{line}` is not in\n{shown}");
    }
    assert_eq!(world.read("a").as_deref(), Some("one\nmore\n"));
    assert_eq!((world.read("d/b"), world.read("d/c").as_deref()), (None, Some("two\n")));
    assert_eq!(world.read("new/deep/f").as_deref(), Some("n\n"));
    assert!(world.path("link").is_symlink() && world.read("gone").is_none());
    assert_eq!(world.layers(), 0, "nothing is left in the layer");
    let workspace = world.gate.workspace().cloned().unwrap();
    workspace.undo(900, &[reply.number().unwrap()], Durability::Crash).unwrap();
    assert_eq!(world.read("a").as_deref(), Some("one\n"));
    assert_eq!(world.read("d/b").as_deref(), Some("two\n"));
    assert_eq!(world.read("gone").as_deref(), Some("x"));
    assert!(!world.path("new").exists() && !world.path("link").is_symlink());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_no_leaves_nothing() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new(Answer::No("leave it".to_owned()), |_| {});
    let reply = world.bash("echo x > a; mkdir d").await;
    assert_eq!(reply.code(), "changes_discarded");
    assert!(!world.path("a").exists() && !world.path("d").exists());
    assert_eq!(world.layers(), 0);
}

/// Shows E8.
#[tokio::test(flavor = "multi_thread")]
async fn exit_codes_and_signals_are_told_and_the_output_is_kept() {
    let world = World::yes();
    let reply = world.bash("echo partly; exit 3").await;
    assert_eq!(
        (reply.code(), reply.error(), reply.text()),
        ("tool_failed", Some("exit code 3"), "partly\n")
    );
    assert_eq!(reply.data().unwrap()["exit_code"], 3);
    let reply = world.bash("kill -9 $$").await;
    assert_eq!(reply.code(), "tool_failed");
    assert_eq!(reply.data().unwrap()["signal"], 9, "{}", reply.content());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_fails_is_judged_by_what_it_did() {
    eclusa_testing::needs!(Namespaces);
    let world = World::yes();
    let reply = world.bash("echo x > a; false").await;
    assert_eq!((reply.error(), world.read("a").as_deref()), (Some("exit code 1"), Some("x\n")));
    assert!(reply.undo().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_takes_too_long_ends_with_everything_it_started() {
    let world = World::yes();
    // A busy machine may need more time to begin.
    for time in [300, 3_000, 30_000] {
        let command = "echo begun; (setsid sleep 1000 &) ; sleep 1000";
        let reply = world.pass("bash", json!({"command": command, "timeout_ms": time})).await;
        assert_eq!(reply.code(), "tool_failed", "{}", reply.content());
        assert_eq!(reply.data().unwrap()["timed_out"], true);
        if reply.text() == "begun\n" {
            let said = reply.error().unwrap();
            let limit =
                if time < 1_000 { format!("{time} ms") } else { format!("{} s", time / 1_000) };
            assert!(said.contains(&format!("timed out after {limit} and was ended")), "{said}");
            return;
        }
        assert_eq!(reply.text(), "");
    }
    panic!("it never began");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_nobody_waits_for_ends() {
    eclusa_testing::needs!(Namespaces);
    let world = World::yes();
    let run = Run { mode: Mode::Yolo, ..Run::default() };
    let cancel = run.cancel.clone();
    let gate = world.gate.for_run(run);
    let call = ToolCall::new("c1", "bash", json!({"command": "echo x > a; sleep 1000"}));
    let passing = tokio::spawn(async move { gate.pass(call).await });
    while world.layers() == 0 && !passing.is_finished() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    cancel.cancel();
    assert_eq!(passing.await.unwrap().code(), "cancelled");
    assert!(!world.path("a").exists());
    // The thread that watches it gives the layer back once everything in the sandbox is gone.
    for _ in 0..6000 {
        if world.layers() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the layer is still in use");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_a_conversation_works_is_remembered() {
    let world = World::yes();
    fs::create_dir(world.path("sub")).unwrap();
    let reply = world.pass("bash", json!({"command": "pwd", "cwd": "sub"})).await;
    assert!(reply.text().ends_with("/workspace/sub\n"), "{}", reply.content());
    let reply = world.bash("pwd; cd /").await;
    assert!(reply.text().ends_with("/workspace/sub\n"), "{}", reply.content());
    let other = world.gate.for_run(Run { session: "other".into(), ..Run::default() });
    let reply = other.pass(ToolCall::new("c1", "bash", json!({"command": "pwd"}))).await;
    assert!(reply.text().ends_with("/workspace\n"), "{}", reply.content());
    let reply = world.pass("bash", json!({"command": "pwd", "cwd": "../.."})).await;
    assert_eq!(reply.code(), "tool_failed");
    assert!(reply.content().contains("leads out of the workspace"), "{}", reply.content());
}

#[tokio::test(flavor = "multi_thread")]
async fn pipes_are_told_and_left_out() {
    eclusa_testing::needs!(Namespaces);
    let world = World::yes();
    let reply = world.bash("mkfifo pipe; echo x > a").await;
    assert!(reply.text().contains("`pipe` is left out"), "{}", reply.content());
    assert!(!world.path("pipe").exists());
    assert_eq!(world.read("a").as_deref(), Some("x\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn live_directories_are_written_at_once() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new(Answer::No(String::new()), |it| it.live = vec!["target".into()]);
    fs::create_dir(world.path("target")).unwrap();
    let reply = world.bash("echo x > target/a").await;
    assert_eq!(reply.code(), "ok", "{}", reply.content());
    assert_eq!(world.read("target/a").as_deref(), Some("x\n"));
    assert_eq!(reply.data().unwrap()["live"], json!(["target"]));
    let end: Value = serde_json::from_str(&world.log.records().last().unwrap().body).unwrap();
    assert_eq!(end["sandbox"], "full; written at once and not undoable: `target`");
}

#[tokio::test(flavor = "multi_thread")]
async fn whom_it_tried_to_reach_is_told() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new(Answer::Once, |it| it.hosts = vec!["allowed.example".to_owned()]);
    let script = "curl -sS https://$(printf other).example 2>&1; echo x > a";
    let reply = world.bash(script).await;
    assert_eq!(reply.code(), "ok", "{}", reply.content());
    assert!(
        reply.text().contains("adding `other.example` to `commands.hosts`"),
        "{}",
        reply.text()
    );
    assert_eq!(reply.data().unwrap()["network"][0]["allowed"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn there_is_no_network_and_nothing_outside_can_be_written() {
    let world = World::yes();
    let outside = world.dir.path().join("outside");
    let script = format!("echo x > {}; exec 3<>/dev/tcp/127.0.0.1/1", outside.display());
    let reply = world.bash(&script).await;
    assert_eq!(reply.code(), "tool_failed", "{}", reply.content());
    assert!(!outside.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_refused_is_told_with_what_would_allow_it() {
    eclusa_testing::needs!(Namespaces);
    let world = World::yes();
    let reply = world.bash("touch /etc/eclusa; echo x > a").await;
    let text = reply.text();
    assert!(
        text.contains("[refused: writing `/etc/eclusa` was refused; commands write to"),
        "{text}"
    );
    let reply = world.bash("echo 'curl: (6) Could not resolve host: example.org'; exit 6").await;
    let text = reply.text();
    assert!(text.contains("adding `example.org` to `commands.hosts`"), "{text}");
    assert_eq!(reply.data().unwrap()["refused"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn layers_of_a_process_that_died_are_swept_and_others_are_not() {
    let world = World::yes();
    let stages = world.dir.path().join("state/stages");
    fs::create_dir_all(stages.join("1-0/upper/some/where")).unwrap();
    fs::create_dir_all(stages.join("1-0/work")).unwrap();
    fs::create_dir_all(stages.join("2-0/upper")).unwrap();
    let held = fs::File::open(stages.join("2-0")).unwrap();
    held.lock().unwrap();
    let settings = SandboxSettings::new(world.path(""), world.dir.path().join("state"));
    let sandboxes = Sandboxes::new(settings).unwrap();
    assert_eq!(sandboxes.sweep().unwrap(), 1);
    assert!(!stages.join("1-0").exists() && stages.join("2-0").exists());
    drop(held);
    assert_eq!(sandboxes.sweep().unwrap(), 1);
}

/// Shows C26.
#[tokio::test(flavor = "multi_thread")]
async fn binary_output_is_described() {
    let world = World::yes();
    let reply = world.bash("head -c 100 /dev/zero").await;
    assert!(reply.text().contains("100 bytes that are not text"), "{}", reply.content());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_record_says_what_became_of_the_changes() {
    eclusa_testing::needs!(Namespaces);
    let world = World::yes();
    world.bash("echo x > a").await;
    let records = world.log.records();
    let end: Value = serde_json::from_str(&records.last().unwrap().body).unwrap();
    assert_eq!(end["changes"]["outcome"], "committed");
    assert_eq!(end["changes"]["paths"], json!(["a"]));
}

/// Ruling 13: text from outside changes what the one question says, and closes what the settings open.
#[tokio::test]
async fn a_fetch_beside_text_from_outside_is_one_question_that_names_the_host() {
    eclusa_testing::needs!(Namespaces);
    for open in [false, true] {
        let hosts = |it: &mut SandboxSettings| {
            it.hosts = if open { vec!["192.0.2.8".to_owned()] } else { Vec::new() };
        };
        let world = World::new(Answer::No("not now".to_owned()), hosts);
        world.gate.mark_tainted("came from a page").unwrap();
        let reply = world.bash("curl -sS --max-time 20 http://192.0.2.8/").await;
        assert!(reply.content().contains("not among the hosts"), "{}", reply.content());
        let asked = world.asked.lock().unwrap();
        let [question] = &asked[..] else { panic!("{} questions", asked.len()) };
        assert_eq!(question.about, QuestionAbout::Hosts(vec!["192.0.2.8".to_owned()]));
        let why = question.verdict.why();
        assert!(why.contains("tried to reach `192.0.2.8`"), "{why}");
        let told = |it: &eclusa::Reason| {
            it.text.contains("text in this conversation that came from a page")
        };
        assert!(question.verdict.because.iter().any(told), "{:?}", question.verdict.because);
    }
}
