//! The sections of a file, one by one.

use std::{collections::BTreeMap, time::Duration};

use eclusa::{PermissionClass, Touch, settings::Endpoint};

use super::*;
use crate::ReviewsOn;

/// S3.7, S3.9: a tool from a file, with everything that can be said about it.
/// Shows S3.7.
#[test]
fn a_tool_is_declared_in_a_file() {
    let config = load(
        r#"
[tools.count]
description = "counts lines"
command = ["wc", "-l", "--", "{path}", "{more}", "{ not a place }"]
args = { path = { type = "string", description = "the file" }, more = { type = "integer" } }
required = ["path"]
class = "file"
concurrent = true
read_only = true
aliases = ["wc"]
search_hint = "count lines of a file"
operation = "read"
checkpoint = true
reverse_thinking = true
sensitive = true
timeout = "5s"
env = ["LANG"]
reads = ["/path"]
reviewers = ["guard"]

[reverse_thinker]
command = ["think"]

[[reviewers]]
name = "guard"
tools = "other"
command = ["guard"]
"#,
    );
    assert!(config.reviewers[0].covers("count") && !config.reviewers[0].covers("third"));
    let tool = &config.tools[0];
    assert_eq!((tool.name.as_str(), tool.origin.as_str()), ("count", "eclusa.toml:2"));
    assert_eq!(tool.schema["properties"]["path"]["description"], "the file");
    assert_eq!(tool.schema["required"], json!(["path"]));
    assert_eq!(tool.schema["additionalProperties"], false);
    assert_eq!(tool.time, Some(Duration::from_secs(5)));
    assert_eq!(tool.env, ["LANG"]);
    let facts = &tool.facts;
    assert_eq!(facts.class, Some(PermissionClass::File));
    assert_eq!((facts.aliases[0].as_str(), facts.audit_operation.as_str()), ("wc", "read"));
    assert!(facts.concurrent && facts.read_only && !facts.destructive && facts.sensitive);
    assert!(facts.needs_checkpoint && facts.needs_reverse_thinking);
    let argv = tool.argv(&json!({"path": "a b; rm -rf /", "more": 3})).unwrap();
    assert_eq!(argv, ["wc", "-l", "--", "a b; rm -rf /", "3", "{ not a place }"]);
    let argv = tool.argv(&json!({"path": "{more}", "more": null})).unwrap();
    assert_eq!(argv, ["wc", "-l", "--", "{more}", "{ not a place }"]);
    assert!(tool.argv(&json!({"path": "a\0b"})).is_err());
    assert_eq!(tool.touches(&json!({"path": "x"})), [Touch::Read("x".into())]);
}

/// S3.11, C3: what is not said is the worst; an empty list says something.
/// Shows S3.11.
#[test]
fn what_is_not_declared_is_the_worst() {
    let text = "[tools.x]\ndescription = 'x'\ncommand = ['x']\n";
    let tool = &load(text).tools[0];
    // In the sandbox, what it changes is a value first.
    assert_eq!(tool.facts, eclusa::Facts { stages: true, ..eclusa::Facts::default() });
    assert_eq!(tool.held(&json!({})), crate::Held::default());
    let outside = &load(&format!("{text}sandbox = false")).tools[0];
    assert_eq!(outside.facts, eclusa::Facts::default());
    assert_eq!(tool.touches(&json!({})), [Touch::Unknown]);
    let tool = &load(&format!("{text}reads = []")).tools[0];
    assert_eq!(tool.touches(&json!({})), []);
    let nothing = || Some(Vec::new());
    let held = crate::Held { reads: nothing(), writes: nothing(), hosts: nothing() };
    assert_eq!(tool.held(&json!({})), held);
}

/// What is declared is what a call is held to; who runs shell text is held like a command.
#[test]
fn a_call_is_held_to_what_its_tool_declares() {
    let head = "[tools.x]\ndescription = 'x'\ncommand = ['x']\n\
                args = { to = { type = 'string' }, cmd = { type = 'string' } }\n";
    let held = |more: &str| {
        let args = json!({"to": "a.txt", "cmd": "ls"});
        load(&format!("{head}{more}")).tools[0].held(&args)
    };
    let some = |names: &[&str]| Some(names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
    let written = held("writes = ['/to', 'dist']");
    assert_eq!((written.reads, written.writes), (None, some(&["a.txt", "dist"])));
    let read = held("reads = ['.']\nhosts = ['api.example']");
    assert_eq!((read.reads, read.writes), (some(&["."]), some(&[])));
    assert_eq!(read.hosts, some(&["api.example"]));
    let shell = held("shell = '/cmd'");
    assert_eq!(shell, crate::Held::default());
}

#[test]
fn touches_follow_the_arguments() {
    let config = load(
        r#"
[tools.x]
description = "x"
command = ["x"]
schema = { type = "object", properties = { from = {}, to = {}, url = {}, cmd = {} } }
reads = ["/from"]
writes = ["/to"]
hosts = ["api.example", "/url"]
shell = "/cmd"
"#,
    );
    let touches = |args| config.tools[0].touches(&args);
    assert_eq!(touches(json!({})), [Touch::Fetch("api.example".into())]);
    let all = touches(json!({"from": ["a", "b"], "to": "c", "url": "h", "cmd": "ls"}));
    let want = [
        Touch::Read("a".into()),
        Touch::Read("b".into()),
        Touch::Write("c".into()),
        Touch::Fetch("api.example".into()),
        Touch::Fetch("h".into()),
        Touch::Run("ls".into()),
    ];
    assert_eq!(all, want);
    assert!(touches(json!({"to": {"path": "c"}})).contains(&Touch::Unknown));
    assert!(touches(json!({"from": [1]})).contains(&Touch::Unknown));
}

/// A later layer of the person takes the place of a tool whole.
#[test]
fn a_tool_is_replaced_whole() {
    let tool = |command: &str| format!("[tools.x]\ndescription = 'x'\ncommand = ['{command}']\n");
    let layers = [
        Layer::of_person("a", tool("one") + "sensitive = true"),
        Layer::of_person("b", tool("two")),
    ];
    let config = Config::load(&layers).unwrap();
    assert_eq!(config.tools.len(), 1);
    assert_eq!(config.tools[0].command, ["two"]);
    assert!(!config.tools[0].facts.sensitive);
    let settings = config.settings();
    let found: Vec<_> = settings.iter().filter(|it| it.key == "tools.x").collect();
    assert_eq!((found.len(), found[0].origin.as_str()), (1, "b:1"));
}

/// C29: reviewers fail closed unless somebody says otherwise.
/// Shows C29.
#[test]
fn reviewers_deny_when_they_fail() {
    let config = load(
        r#"
[[reviewers]]
name = "lint"
command = ["lint", "--json"]

[[reviewers]]
name = "remote"
tools = ["write_*", "bash"]
on = "input"
url = "https://review.example/v1"
headers = { Authorization = "REVIEW_TOKEN" }
time = "2s"
on_error = "allow"
"#,
    );
    let [lint, remote] = &config.reviewers[..] else { panic!("two reviewers") };
    assert!(!lint.allow_on_error && lint.on == ReviewsOn::Both && lint.time.is_none());
    assert!(lint.covers("anything") && lint.on.input() && lint.on.output());
    assert_eq!(lint.reach, Endpoint::Command(vec!["lint".into(), "--json".into()]));
    assert!(remote.allow_on_error && remote.on.input() && !remote.on.output());
    assert!(remote.covers("bash") && remote.covers("write_file") && !remote.covers("read"));
    assert_eq!(remote.time, Some(Duration::from_secs(2)));
    let headers = BTreeMap::from([("Authorization".to_owned(), "REVIEW_TOKEN".to_owned())]);
    assert_eq!(remote.reach, Endpoint::Url { url: "https://review.example/v1".into(), headers });
}

#[test]
fn further_kinds_of_secrets() {
    let config = load(
        "[redact]\nfiles = ['more.toml']\n[[redact.rules]]\nname = 'badge'\nregex = 'B-[0-9]{6}'",
    );
    assert!(config.redact.on);
    assert_eq!(config.redact.files, ["more.toml"]);
    assert_eq!(config.redact.rules[0].name, "badge");
    assert_eq!(config.redact.rules[0].origin, "eclusa.toml:3");
    assert!(wrong("[[redact.rules]]\nname = 'x'\nregex = '('").contains("regular expression"));
}

#[test]
fn what_is_kept_for_undo_is_the_persons_business() {
    let config = load("[undo]\nkeep = '2MB'\nrecent = 3\ndurability = 'power-loss'");
    assert_eq!(config.keep, eclusa::workspace::Retention { recent: 3, bytes: 2 << 20 });
    assert_eq!(config.commit_durability, eclusa::Durability::PowerLoss);
    // A project may want more safety, and no less space to go back in.
    let project = |text: &str| Config::load(&[Layer::of_project("eclusa.toml", text)]);
    assert!(project("[undo]\ndurability = 'power-loss'").unwrap().left_out.is_empty());
    for less in ["keep = '1KB'", "recent = 0"] {
        let config = project(&format!("[undo]\n{less}")).unwrap();
        assert_eq!(config.left_out.len(), 1, "{less}");
        assert_eq!(config.keep, Config::load(&[]).unwrap().keep, "{less}");
    }
    assert!(wrong("[undo]\nkeep = 'much'").contains("is not a size"));
}

/// There is one list of secret names, and the shipped configuration shows it.
#[test]
fn the_shipped_list_of_secret_names_is_the_one_that_everything_uses() {
    let config = crate::Config::load(&[]).unwrap();
    assert_eq!(config.blocked_patterns, eclusa::workspace::files::SECRET_NAMES);
}

#[test]
fn keys_of_the_first_version_are_still_read() {
    let old = "[servers.git]\ncommand = ['git-server']\ncell = false";
    let config = Config::load(&[Layer::of_person("eclusa.toml", old)]).unwrap();
    assert!(!config.servers[0].sandbox);
}

/// A tool that could never run is an error, and so is one whose reviewer is not there.
#[test]
fn what_a_tool_demands_must_be_there() {
    let tool = "[tools.t]\ndescription = \"t\"\ncommand = [\"t\"]\n";
    let wrong = |more: &str| {
        let layer = Layer::of_person("eclusa.toml", format!("{tool}{more}"));
        Config::load(&[layer]).unwrap_err().to_string()
    };
    let told = wrong("reverse_thinking = true\n");
    assert!(told.starts_with("eclusa.toml:1:1: `t` needs reverse thinking"), "{told}");
    let told = wrong("reviewers = [\"guard\"]\n");
    assert!(told.contains("names the reviewer `guard`"), "{told}");
    let told =
        wrong("reviewers = [\"gard\"]\n[[reviewers]]\nname = \"guard\"\ncommand = [\"g\"]\n");
    assert!(told.contains("there is none; did you mean `guard`?"), "{told}");
    let told = wrong("[reverse_thinker]\ntime = \"1s\"\n");
    assert!(told.contains("a reverse thinker needs a `command` or a `url`"), "{told}");
    let told = wrong("[reverse_thinker]\nmodel = \"pro\"\n");
    assert!(told.contains("the reverse thinker is the model `pro`, and there is none"), "{told}");
    let told = wrong("[reverse_thinker]\nmodel = \"pro\"\ncommand = [\"think\"]\n");
    assert!(told.contains("not several"), "{told}");
}

/// S2.4: a mode for some clients or sessions; the most careful of those that fit holds.
/// Shows S2.4.
#[test]
fn a_mode_for_clients_and_conversations() {
    let text = r#"
mode = "auto-approve"
[[modes]]
mode = "yolo"
client = ["robot*", "other"]
[[modes]]
mode = "confirm-all"
conversation = "release"
"#;
    let config = crate::Config::load(&[crate::Layer::of_person("eclusa.toml", text)]).unwrap();
    let mode = |client: Option<&str>, session: &str| {
        let (client, session) = (client.map(Into::into), session.into());
        let run = eclusa::Run { client, session, mode: config.mode, ..Default::default() };
        eclusa::ModeRule::mode_of(&config.modes, &run)
    };
    assert_eq!(mode(None, "a"), eclusa::Mode::AutoApprove);
    assert_eq!(mode(Some("robot 1.0"), "a"), eclusa::Mode::Yolo);
    assert_eq!(mode(Some("robot 1.0"), "release"), eclusa::Mode::ConfirmAll);
    assert_eq!(mode(Some("person"), "release"), eclusa::Mode::ConfirmAll);
    // Nobody is asked less than an administrator says, and a project brings none.
    let top = crate::Layer {
        trust: crate::Trust::Administrator,
        ..crate::Layer::of_person("top", "mode = \"confirm-sensitive\"")
    };
    let config = crate::Config::load(&[crate::Layer::of_person("eclusa.toml", text), top]).unwrap();
    assert_eq!(config.modes.len(), 1);
    let project = crate::Layer {
        trust: crate::Trust::Project,
        ..crate::Layer::of_person("eclusa.toml", text)
    };
    let config = crate::Config::load(&[project]).unwrap();
    assert!(config.modes.is_empty() && !config.left_out.is_empty());
}
