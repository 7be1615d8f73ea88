//! Every case of the corpus of paths: the way to a file, and the shipped rules over what changes.

use std::{ffi::OsString, io::Read};

use eclusa::{
    Blocked, Change, Changes, Decision, FileNode, Files, Node, PermissionClass, Rules,
    policy::{Author, Effects, JudgeContext, RepositoryFacts},
    workspace::{Beneath, files::PathState},
};
use eclusa_config::Config;
use serde_json::Value;
use tempfile::TempDir;

use super::disk::{delete, put, sh};

const CASES: &str = include_str!("../../../../../tests/corpus/paths.jsonl");
const BOTH: [Beneath; 2] = [Beneath::Kernel, Beneath::Walked];
const HOLD: u64 = 1 << 20;

/// When the links of a race are swapped.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Swap {
    /// After the name was judged, before anything is opened.
    Judged,
    /// After what is there was looked at.
    Looked,
    /// With the handle in hand.
    Opened,
}

struct Case {
    json: Value,
    tmp: TempDir,
    files: Files,
    path: String,
    swap: Option<Swap>,
}

impl Case {
    /// Sets the case up. `None` where that takes more rights than there are.
    fn new(json: &Value, how: Beneath, swap: Option<Swap>) -> Option<Case> {
        let tmp = tempfile::tempdir().unwrap();
        let ready = sh(tmp.path(), &lines(&json["setup"]));
        assert!(ready || json["needs_root"] == true, "{}: not set up", json["id"]);
        let workspace = json["workspace"].as_str().unwrap();
        let root = tmp.path().join(workspace);
        let files = Files::open_with(&root, Blocked::default(), how).unwrap();
        assert_eq!(files.beneath(), how);
        let path = json["path"].as_str().unwrap();
        let path = path.replace("{TMP}", tmp.path().to_str().unwrap());
        ready.then(|| Case { json: json.clone(), tmp, files, path, swap })
    }

    fn swap(&self, now: Swap) {
        if self.swap == Some(now) {
            assert!(sh(self.tmp.path(), &lines(&self.json["race"]["swap"])));
        }
    }

    /// Does what the case says, as a tool would; what came out, if anything did.
    fn done(&self) -> Result<String, String> {
        self.files.name(&self.path).map_err(|err| err.to_string())?;
        self.swap(Swap::Judged);
        match self.json["op"].as_str().unwrap() {
            "read" => {
                if self.swap == Some(Swap::Looked) {
                    self.files.node(&self.path, HOLD).map_err(|err| err.to_string())?;
                    self.swap(Swap::Looked);
                }
                let mut opened = self.files.file(&self.path).map_err(|err| err.to_string())?;
                self.swap(Swap::Opened);
                let mut text = String::new();
                opened.file.read_to_string(&mut text).unwrap();
                Ok(text)
            }
            "list" => {
                let opened = self.files.directory(&self.path).map_err(|err| err.to_string())?;
                self.swap(Swap::Looked);
                self.swap(Swap::Opened);
                let names: Vec<OsString> = opened.map(|it| it.unwrap().name).collect();
                assert!(!names.contains(&"secret.txt".into()), "an outside name was listed");
                Ok(format!("{names:?}"))
            }
            "write" => {
                let found = self.files.node(&self.path, HOLD).map_err(|err| err.to_string())?;
                if matches!(found.node, Some(Node::Directory { .. })) {
                    return Err("a directory".to_owned());
                }
                self.judged(&found, Some(Node::File(FileNode::new(*b"WRITTEN", 0o644))))?;
                self.swap(Swap::Looked);
                put(&self.files, &found.path, || self.swap(Swap::Opened))?;
                Ok(String::new())
            }
            "delete" => {
                let found = self.files.entry(&self.path, HOLD).map_err(|err| err.to_string())?;
                self.judged(&found, None)?;
                delete(&self.files, found).map(|()| String::new())
            }
            op => panic!("no such operation: {op}"),
        }
    }

    /// An error when the shipped rules deny a change, however its path was spelt.
    fn judged(&self, found: &PathState, after: Option<Node>) -> Result<(), String> {
        let config = Config::load(&[]).unwrap();
        let limits = eclusa::policy::EffectLimits { delete: Decision::Allow, ..config.effects };
        let rules = Rules::new(config.rules, self.files.root()).with_effects(limits);
        let mut all = vec![Change {
            path: found.path.clone(),
            from: None,
            before: found.node.clone(),
            after,
        }];
        if let Some(Node::Directory { .. }) = found.node {
            for entry in self.files.directory(&found.path).map_err(|err| err.to_string())? {
                let path = found.path.join(entry.map_err(|err| err.to_string())?.name);
                let before = self.files.entry(&path, HOLD).map_err(|err| err.to_string())?.node;
                all.push(Change { path, from: None, before, after: None });
            }
        }
        let (changes, args) = (Changes::of(all), Value::Null);
        let author = Author {
            name: "test",
            aliases: &[],
            class: PermissionClass::File,
            server: None,
            args: &args,
            touches: &[],
            call: None,
        };
        let unruled = Decision::Allow;
        let effects = Effects {
            author,
            changes: &changes,
            lines: None,
            facts: RepositoryFacts::unknown(),
            moment: JudgeContext::unknown(),
            unruled,
        };
        let verdict = rules.judge_effects(&effects);
        match verdict.decision {
            Decision::Deny => Err(verdict.why().into_owned()),
            _ => Ok(()),
        }
    }

    /// What is wrong with what came of it.
    fn fault(&self) -> Option<String> {
        let done = self.done();
        let text = done.as_deref().unwrap_or_default();
        if self.json["never_content"].as_str().is_some_and(|it| text.contains(it)) {
            return Some("gave away the content".to_owned());
        }
        if !sh(self.tmp.path(), &lines(&self.json["post"])) {
            return Some(format!("left things as they must not be: {done:?}"));
        }
        let either = self.json["accept_either"] == true;
        match (&done, self.json["must"].as_str().unwrap()) {
            (Ok(text), "ok") => {
                let expected = self.json["expect_content"].as_str()?;
                (expected != text).then(|| format!("{text} instead of {expected}"))
            }
            (Err(_), "refuse") => None,
            _ if either => None,
            (done, must) => Some(format!("must {must}, but {done:?}")),
        }
    }
}

fn lines(commands: &Value) -> String {
    let commands = commands.as_array().into_iter().flatten();
    commands.map(|it| it.as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

fn swaps(json: &Value) -> Vec<Option<Swap>> {
    match json["race"].is_null() {
        true => vec![None],
        false => [Swap::Judged, Swap::Looked, Swap::Opened].map(Some).to_vec(),
    }
}

/// S4.10 to S4.17, facts F: the corpus of paths, races included, in both ways of opening beneath.
#[test]
fn every_case_of_the_corpus_of_paths() {
    // S4.15
    let (mut faults, mut run, mut no_rights) = (Vec::new(), 0, 0);
    for json in CASES.lines().map(|it| serde_json::from_str::<Value>(it).unwrap()) {
        let id = json["id"].as_str().unwrap();
        run += 1;
        for (how, swap) in BOTH.iter().flat_map(|how| swaps(&json).into_iter().map(|it| (*how, it)))
        {
            match Case::new(&json, how, swap) {
                Some(case) => faults.extend(
                    case.fault()
                        .map(|it| format!("{id} ({how:?}, {swap:?}): {it}: {}", json["why"])),
                ),
                None => no_rights += 1,
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_eq!(run, 94);
    assert!(no_rights <= 2, "{no_rights} cases could not be set up");
}
