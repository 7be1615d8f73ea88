//! The searching tools, through a gate, over workspaces full of traps.

use std::{fs, os::unix::ffi::OsStrExt, path::Path, sync::Arc};

use eclusa::{
    Blocked, Decision, Files, Gate, GateBuilder, Limits, MemoryLog, Registry, Reply, Rule, Rules,
    Run, Scene, Tool, ToolCall, Touch, policy::HiddenPaths,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Glob, Grep, List};

mod find;
mod hostile;
mod many;
mod ruled;

/// A workspace with a gate before it.
struct Place {
    outer: TempDir,
    log: Arc<MemoryLog>,
    gate: Gate,
}

impl Place {
    fn new() -> Place {
        Place::with(Vec::new())
    }

    fn with(rules: Vec<Rule>) -> Place {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("work");
        fs::create_dir(&root).unwrap();
        let log = Arc::new(MemoryLog::default());
        let gate = Place::setup(&root, rules, log.clone()).build().unwrap();
        Place { outer, log, gate }
    }

    /// A gate to the same place, where somebody says yes to everything.
    fn approving(&self, rules: Vec<Rule>) -> Gate {
        let setup = Place::setup(&self.root(), rules, self.log.clone())
            .on_no_approver(eclusa::OnNoApprover::AllowWithWarning);
        setup.build().unwrap()
    }

    fn setup(root: &Path, rules: Vec<Rule>, log: Arc<MemoryLog>) -> GateBuilder {
        let files = Files::open(root, Blocked::default()).unwrap();
        let registry = Registry::new();
        registry.add(List::new(files.clone())).unwrap();
        registry.add(Glob::new(files.clone())).unwrap();
        registry.add(Grep::new(files)).unwrap();
        Gate::builder()
            .registry(registry)
            .policy(Rules::new(rules, root))
            .log(log)
            .limits(Limits { output: 10 << 20, ..Limits::default() })
    }

    fn root(&self) -> std::path::PathBuf {
        self.outer.path().join("work")
    }

    fn file(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> &Place {
        write(&self.root().join(path), content.as_ref());
        self
    }

    fn call(&self, tool: &str, args: Value) -> Reply {
        self.gate.pass_blocking(ToolCall::new("1", tool, args)).unwrap()
    }

    /// What the tool said; it must have worked.
    fn says(&self, tool: &str, args: Value) -> String {
        let reply = self.call(tool, args);
        assert!(!reply.is_error(), "{}", reply.content());
        reply.text().to_owned()
    }

    /// Why it did not work.
    fn fails(&self, tool: &str, args: Value) -> String {
        let reply = self.call(tool, args);
        reply.error().unwrap_or_else(|| panic!("it worked: {}", reply.text())).to_owned()
    }

    fn data(&self, tool: &str, args: Value) -> Value {
        let reply = self.call(tool, args);
        assert!(!reply.is_error(), "{}", reply.content());
        reply.data().unwrap().clone()
    }
}

#[expect(clippy::disallowed_methods, reason = "a test makes its files as it likes")]
fn write(path: &Path, content: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// The lines before the sentence at the end.
fn lines(text: &str) -> Vec<&str> {
    text.lines().filter(|it| !it.starts_with('[')).collect()
}

fn last(text: &str) -> &str {
    text.lines().last().unwrap()
}

/// Shows S1.13, S4.9, C18.
#[test]
fn the_tools_have_the_names_of_the_seeds_and_never_ask() {
    let place = Place::new();
    place.file("a.txt", "x\n");
    for (tool, args) in [
        ("list", json!({})),
        ("list_files", json!({})),
        ("ListDir", json!({})),
        ("glob", json!({"pattern": "*"})),
        ("Glob", json!({"pattern": "*"})),
        ("grep", json!({"pattern": "x"})),
        ("search", json!({"pattern": "x"})),
        ("Grep", json!({"pattern": "x"})),
    ] {
        assert!(place.says(tool, args).contains("a.txt"), "{tool}");
    }
    let records = place.log.records();
    assert!(records.iter().any(|it| it.body.contains("\"read\"")), "{:?}", records[0].body);
}

/// Shows S1.54.
#[test]
fn search_takes_pattern_path_and_type() {
    let place = Place::new();
    place.file("src/a.c", "a.b\naxb\n").file("b.c", "a.b\n");
    let found = |kind: &str| {
        let args = json!({"pattern": "a.b", "path": "src", "type": kind});
        place.says("search", args)
    };
    assert_eq!(lines(&found("regex")), ["src/a.c:1:a.b", "src/a.c:2:axb"]);
    assert_eq!(lines(&found("literal")), ["src/a.c:1:a.b"]);
    let both = json!({"pattern": "a", "literal": true, "type": "regex"});
    assert!(place.fails("grep", both).contains("contradict"));
}

#[test]
fn facts_and_touches_are_those_of_something_that_only_looks() {
    let place = Place::new();
    let files = Files::open(&place.root(), Blocked::default()).unwrap();
    let tools: [Box<dyn Tool>; 3] = [
        Box::new(List::new(files.clone())),
        Box::new(Glob::new(files.clone())),
        Box::new(Grep::new(files)),
    ];
    for tool in tools {
        let facts = tool.facts();
        assert!(facts.concurrent && facts.read_only && !facts.destructive && !facts.sensitive);
        assert_eq!(facts.class.unwrap().as_str(), "read-only");
        assert_eq!(facts.audit_operation, "read");
        assert!((3..=10).contains(&facts.search_hint.split_whitespace().count()));
        let here = tool.touches(&json!({"pattern": "x", "path": "src"}));
        let touches =
            if tool.name() == "list" { tool.touches(&json!({"path": "src"})) } else { here };
        assert_eq!(touches, [Touch::Read("src".to_owned())]);
        let text = tool.description(&Scene::default());
        assert!(text.contains("Example: {") && text.len() < 300, "{text}");
        let example = text.split_once("Example: ").unwrap().1;
        let example: Value = serde_json::from_str(example).unwrap();
        assert!(tool.touches(&example).iter().all(|it| matches!(it, Touch::Read(_))));
    }
}

/// Shows C5.
#[test]
fn a_rule_about_paths_stops_a_search_there() {
    let deny = Rule::new(Decision::Deny).path(["private/**", "private"]).unwrap();
    let place = Place::with(vec![deny]);
    place.file("private/a.txt", "x\n");
    for (tool, args) in [
        ("list", json!({"path": "private"})),
        ("glob", json!({"pattern": "*", "path": "private"})),
        ("grep", json!({"pattern": "x", "path": "private/a.txt"})),
    ] {
        let reply = place.call(tool, args);
        assert_eq!(reply.code(), "denied_by_policy", "{}", reply.content());
    }
}

#[test]
fn unknown_arguments_are_named() {
    let place = Place::new();
    let reply = place.call("grep", json!({"pattern": "x", "context": 21}));
    assert_eq!(reply.code(), "invalid_args", "{}", reply.content());
    assert_eq!(place.call("glob", json!({})).code(), "invalid_args");
    assert_eq!(place.call("grep", json!({"pattern": "x", "output": "all"})).code(), "invalid_args");
}

#[test]
fn data_says_the_same_as_the_text() {
    let place = Place::new();
    place.file("a.txt", "one\ntwo\n").file("d/b.txt", "two\n");
    let data = place.data("grep", json!({"pattern": "two", "limit": 1}));
    let found = json!([{"path": "a.txt", "line": 2, "text": "two", "match": true}]);
    assert_eq!((&data["matches"], &data["next_offset"]), (&found, &json!(1)));
    let data = place.data("grep", json!({"pattern": "two", "output": "count"}));
    let counts = json!([{"path": "a.txt", "count": 1}, {"path": "d/b.txt", "count": 1}]);
    assert_eq!(data["counts"], counts);
    let data = place.data("list", json!({}));
    let entries = json!([
        {"path": "a.txt", "kind": "file", "size": 8},
        {"path": "d", "kind": "directory"},
    ]);
    assert_eq!((&data["entries"], &data["total"]), (&entries, &json!(2)));
    let reply = place.call("glob", json!({"pattern": "b.*"}));
    assert_eq!(reply.data().unwrap()["files"], json!(["d/b.txt"]));
}
