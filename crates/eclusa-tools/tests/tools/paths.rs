//! The corpus of paths through the real tools, the gate and the shipped rules, races included.

use std::{
    path::Path,
    process::{Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
};

use eclusa::{Answer, Approver, GateBuilder, Mode, NotAsked, Question, Workspace};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world::{MAY_DELETE, Work};

const CASES: &str = include_str!("../../../../tests/corpus/paths.jsonl");

/// When somebody swaps links while a call is on its way.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Swap {
    /// After the call was judged, before it runs.
    Judged,
    /// After it ran, before its changes are real.
    Ran,
    /// Before the so-manieth step of making them real.
    Step(usize),
}

/// A way to do what a case says.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Route {
    Plain,
    Edit,
    Patch,
    Move,
}

struct Case<'a> {
    json: &'a Value,
    tmp: TempDir,
    path: String,
}

impl<'a> Case<'a> {
    /// Sets the case up. `None` where that takes more rights than there are.
    fn new(json: &'a Value) -> Option<Case<'a>> {
        let tmp = tempfile::tempdir().unwrap();
        let ready = sh(tmp.path(), &lines(&json["setup"]));
        assert!(ready || json["needs_root"] == true, "{}: not set up", json["id"]);
        let path = json["path"].as_str().unwrap();
        let path = path.replace("{TMP}", tmp.path().to_str().unwrap());
        ready.then_some(Case { json, tmp, path })
    }

    fn work(&self, swap: Option<Swap>) -> Work {
        let root = self.tmp.path().join(self.json["workspace"].as_str().unwrap());
        let state = self.tmp.path().join("state");
        let commands = lines(&self.json["race"]["swap"]);
        let (mode, place) = match swap {
            Some(Swap::Judged) => (Mode::ConfirmAll, self.tmp.path().to_owned()),
            Some(Swap::Ran) => (Mode::ConfirmSensitive, self.tmp.path().to_owned()),
            Some(Swap::Step(_)) | None => (Mode::Yolo, self.tmp.path().to_owned()),
        };
        Work::new(&root, &state, mode, MAY_DELETE, |setup: GateBuilder| match swap {
            Some(Swap::Step(step)) => {
                let count = AtomicUsize::new(0);
                let workspace = Workspace::attach(&root, &state).unwrap().watched(move |_| {
                    if count.fetch_add(1, Ordering::Relaxed) == step {
                        // It may come too late to have an effect.
                        sh(&place, &commands);
                    }
                });
                setup.workspace(workspace)
            }
            _ => setup.approver(Swapper { place, commands }),
        })
    }

    /// Does what the case says; what came out, if anything did.
    fn done(&self, route: Route, swap: Option<Swap>) -> Result<String, String> {
        let path = &self.path;
        let op = self.json["op"].as_str().unwrap();
        let patch =
            |what: &str| json!({"patch": format!("*** Begin Patch\n{what}\n*** End Patch\n")});
        let (tool, args) = match (op, route) {
            ("read", _) => ("read", json!({"path": path})),
            ("list", _) => ("list", json!({"path": path})),
            ("write", Route::Plain) => ("write", json!({"path": path, "content": "WRITTEN"})),
            ("write", Route::Edit) => {
                ("edit", json!({"path": path, "old_string": "", "new_string": "WRITTEN"}))
            }
            ("write", Route::Patch) => ("apply_patch", patch(&format!("*** Add File: {path}\n+W"))),
            ("write", Route::Move) => ("move", json!({"from": "a.txt", "to": path})),
            ("delete", Route::Patch) => ("apply_patch", patch(&format!("*** Delete File: {path}"))),
            ("delete", Route::Move) => ("move", json!({"from": path, "to": "moved"})),
            ("delete", _) => ("delete", json!({"path": path, "recursive": true})),
            (op, _) => panic!("no such operation: {op}"),
        };
        let reply = self.work(swap).call(tool, args);
        match reply.is_error() {
            true => Err(reply.content().into_owned()),
            false => Ok(reply.text().to_owned()),
        }
    }

    /// What is wrong with what came of it.
    fn fault(&self, route: Route, swap: Option<Swap>) -> Option<String> {
        let done = self.done(route, swap);
        let (Ok(text) | Err(text)) = &done;
        if self.json["never_content"].as_str().is_some_and(|it| text.contains(it)) {
            return Some(format!("gave away the content: {text}"));
        }
        if !sh(self.tmp.path(), &lines(&self.json["post"])) {
            return Some(format!("left things as they must not be: {done:?}"));
        }
        let either = self.json["accept_either"] == true;
        match (&done, self.json["must"].as_str().unwrap()) {
            (Ok(text), "ok") => {
                let expected = self.json["expect_content"].as_str()?;
                (format!("     1\t{expected}\n") != *text)
                    .then(|| format!("{text} instead of {expected}"))
            }
            (Err(_), "refuse") => None,
            _ if either => None,
            (done, must) => Some(format!("must {must}, but {done:?}")),
        }
    }
}

/// Whoever is asked swaps links first, and then says yes.
struct Swapper {
    place: std::path::PathBuf,
    commands: String,
}

impl Approver for Swapper {
    fn name(&self) -> &str {
        "swapper"
    }

    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        assert!(sh(&self.place, &self.commands));
        Box::pin(async { Ok(Answer::Once) })
    }
}

fn lines(commands: &Value) -> String {
    let commands = commands.as_array().into_iter().flatten();
    commands.map(|it| it.as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

fn sh(directory: &Path, commands: &str) -> bool {
    let script = format!("set -e\n{commands}");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(directory);
    shell.stdin(Stdio::null()).stderr(Stdio::null()).status().unwrap().success()
}

/// What is refused is refused on every route; what is allowed is tried plainly, and raced.
fn ways(json: &Value) -> Vec<(Route, Option<Swap>)> {
    let writes = json["op"] == "write" || json["op"] == "delete";
    if !json["race"].is_null() {
        let mut swaps = vec![Swap::Judged];
        if writes {
            swaps.push(Swap::Ran);
            swaps.extend((0..8).map(Swap::Step));
        }
        return swaps.into_iter().map(|it| (Route::Plain, Some(it))).collect();
    }
    match writes && json["must"] == "refuse" {
        true => [Route::Plain, Route::Edit, Route::Patch, Route::Move].map(|it| (it, None)).into(),
        false => vec![(Route::Plain, None)],
    }
}

/// S4.10 to S4.17, facts F: the corpus of paths with the real tools and the shipped rules.
#[test]
fn every_case_of_the_corpus_of_paths_through_the_gate() {
    let (mut faults, mut run, mut no_rights) = (Vec::new(), 0, 0);
    for json in CASES.lines().map(|it| serde_json::from_str::<Value>(it).unwrap()) {
        let id = json["id"].as_str().unwrap();
        run += 1;
        for (route, swap) in ways(&json) {
            match Case::new(&json) {
                Some(case) => faults.extend(
                    case.fault(route, swap)
                        .map(|it| format!("{id} ({route:?}, {swap:?}): {it}: {}", json["why"])),
                ),
                None => no_rights += 1,
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_eq!(run, 94);
    assert!(no_rights <= 1, "{no_rights} cases could not be set up");
}

/// Files that programs run by themselves, on every route, whether they are there or not.
#[test]
fn files_that_programs_trust_are_written_on_no_route() {
    let trusted = [
        ".git/hooks/pre-push",
        ".git/config",
        "sub/.git/config",
        ".git",
        "sub/.git",
        ".GIT/hooks/x",
        ".git/info/attributes",
        ".git/HEAD",
        ".gitconfig",
        ".gitmodules",
        ".husky/pre-commit",
        ".vscode/settings.json",
        ".VSCode/tasks.json",
        ".idea/workspace.xml",
        ".cursor/mcp.json",
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".Claude/Settings.json",
        ".claude/hooks/x.sh",
        ".claude/commands/x.md",
        ".claude/agents/x.md",
        ".mcp.json",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".eclusa/policy.toml",
        "eclusa.toml",
        ".bashrc",
        ".zshrc",
        ".profile",
        ".envrc",
        ".devcontainer/devcontainer.json",
    ];
    for path in trusted {
        for route in [Route::Plain, Route::Edit, Route::Patch, Route::Move] {
            let json = json!({
                "id": path, "op": "write", "path": path, "must": "refuse", "workspace": "ws",
                "setup": ["mkdir ws", "printf x > ws/a.txt"],
                "post": [format!("test ! -f 'ws/{path}'"), "test -f ws/a.txt"],
            });
            let case = Case::new(&json).unwrap();
            assert_eq!(case.fault(route, None), None, "{path} {route:?}");
        }
    }
}
