//! What the tools that look may see: files, hosts, checks.

use std::{path::Path, time::Duration};

use eclusa::{Blocked, Decision, PermissionClass, Registry, Touch, settings::RequiredEnforcement};

use super::*;
use fake::{Fake, read, verdict};

fn decided(config: &Config, touch: Touch) -> Decision {
    let tool = Fake::new(PermissionClass::Web).touching([touch]);
    verdict(&config.rules, &tool, json!({}), Mode::default()).decision
}

/// There is one list of files that nobody may see, and the shipped rule is about it.
/// Shows S1.24.
#[test]
fn the_library_and_the_program_block_the_same_files() {
    let shipped = load("");
    assert_eq!(Blocked::default().patterns(), shipped.blocked.patterns());
    assert!(shipped.blocked.patterns().contains(&".env".to_owned()));
    let own = load("[files]\nblocked = ['*.sqlite', '!fixtures/*.pem']");
    assert!(own.blocked.by(Path::new("a/b.SQLITE")).is_some());
    assert!(own.blocked.by(Path::new(".env")).is_some(), "it adds to what is below");
    assert!(own.blocked.by(Path::new("fixtures/a.pem")).is_none());
    assert!(own.blocked.by(Path::new("a.pem")).is_some());
    for (path, decision) in [("x.sqlite", Decision::Deny), ("fixtures/a.pem", Decision::Ask)] {
        assert_eq!(decided(&own, read(path)), decision, "{path}");
    }
    let settings = own.settings();
    let origins = settings.iter().filter(|it| it.key == "files.blocked");
    assert_eq!(
        origins.map(|it| it.origin.as_str()).collect::<Vec<_>>(),
        ["defaults", "eclusa.toml:2"]
    );
}

#[test]
fn a_project_can_block_more_and_unblock_nothing() {
    let project = |text: &str| Config::load(&[Layer::of_project("eclusa.toml", text)]);
    let more = project("[files]\nblocked = ['notes/']").unwrap();
    assert!(more.blocked.by(Path::new("a/notes/x")).is_some());
    let less = project("[files]\nblocked = ['!.env', 'mine/']").unwrap();
    assert!(less.left_out[0].message.contains("unblock nothing"), "{:?}", less.left_out);
    assert!(less.blocked.by(Path::new(".env")).is_some(), "it stays blocked");
    assert!(less.blocked.by(Path::new("a/mine/x")).is_some(), "what tightens holds");
    let broken = project("[files]\nblocked = ['a/[']").unwrap_err().to_string();
    assert!(broken.contains("eclusa.toml:2:12"), "{broken}");
    for text in [
        "[diagnostics]\ncommand = ['make']",
        "[diagnostics.checks.x]\ncommand = ['make']",
        "[web]\nredirects = 6",
        "[web]\ntime = '31s'",
        "[web]\nmost_bytes = '11MB'",
        "[[rules]]\ndecision = 'allow'\ndomain = 'example.com'",
    ] {
        assert_eq!(project(text).unwrap().left_out.len(), 1, "{text}");
    }
    let tighter = project("[web]\nredirects = 0\nkeep = '0s'\nbytes = 1000").unwrap().web;
    assert_eq!((tighter.redirects, tighter.bytes, tighter.keep), (0, 1000, Duration::ZERO));
}

/// C7: a check is a fixed command that a person has named.
/// Shows C7.
#[test]
fn checks_are_named_by_their_person() {
    let config = load(
        "[diagnostics]\ncommand = ['cargo', 'check']\ntimeout = '2m'
[diagnostics.checks.lint]\ncommand = ['eslint', '-f', 'json', '.']\nenv = ['NODE_PATH']",
    );
    let names: Vec<&str> = config.checks.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["check", "lint"]);
    assert_eq!(config.checks[0].command, ["cargo", "check"]);
    assert_eq!(config.checks[0].time, Some(Duration::from_secs(120)));
    assert_eq!(config.checks[1].env, ["NODE_PATH"]);
    let named = Fake::named("diagnostics").touching([read(".")]);
    let decided =
        |config: &Config| verdict(&config.rules, &named, json!({}), Mode::default()).decision;
    assert_eq!(decided(&config), Decision::Allow);
    assert_eq!(decided(&load("without = ['named-checks']")), Decision::Ask);
    for text in [
        "[diagnostics]\ncommand = []",
        "[diagnostics]\ncommand = ['']",
        "[diagnostics]\ntimeout = '1m'",
        "[diagnostics.checks.'a b']\ncommand = ['x']",
        "[diagnostics.checks.a]\ncommand = 'make check'",
    ] {
        let layer = Layer::of_person("eclusa.toml", text);
        assert!(Config::load(&[layer]).is_err(), "{text}");
    }
    // A shipped rule may be about a tool that is not there.
    assert!(load("").unknown_tools(&Registry::new()).is_empty());
}

/// Shows S3.20.
#[test]
fn domains_are_written_in_rules() {
    let config = load(
        "[[rules]]\ndecision = 'allow'\ntool = 'web_fetch'\ndomain = ['docs.example', '*.rs']
match = [{ fetches = ['docs.example'] }, { fetches = ['docs.rs'] }]
not_match = [{ fetches = ['rs'] }, { fetches = ['docs.example', 'other.example'] }]
[[rules]]\ndecision = 'deny'\ndomain = 'evil.example'\nmatch = [{ fetches = ['evil.example:81'] }]",
    );
    assert_eq!(decided(&config, Touch::Fetch("evil.example".to_owned())), Decision::Deny);
    for (domain, hint) in [
        ("['https://a.example/']", "neither scheme nor path"),
        ("['bücher.example']", "xn--"),
        ("['a.example:+80']", "a port from 1 to 65535"),
        ("['!a.example']", "no host here"),
    ] {
        let text = format!("[[rules]]\ndecision = 'deny'\ndomain = {domain}");
        let wrong = Config::load(&[Layer::of_person("eclusa.toml", text)]).unwrap_err();
        assert!(wrong.to_string().contains(hint), "{wrong}");
    }
    for rule in
        ["decision = 'allow'\nblocked = true", "decision = 'deny'\nblocked = true\npath = 'a'"]
    {
        let text = format!("[[rules]]\n{rule}");
        assert!(Config::load(&[Layer::of_person("eclusa.toml", text)]).is_err(), "{rule}");
    }
}

/// Issue 4: what commands may use and reach is their person's to say; a project only tightens.
#[test]
fn commands_are_loosened_by_their_person_and_tightened_by_projects() {
    let own =
        "[commands]\nhosts = ['packages.example', '*.example.org']\nlive = ['target/**', 'web/dist/']
memory = 'none'\nprocesses = 64\njob_processes = 100\ndisk = '1GB'\ntime = '3m'\nleast = 'partial'
identity = 'Ada <ada@example.org>'";
    let commands = load(own).commands;
    assert_eq!(commands.hosts, ["packages.example", "*.example.org"]);
    assert_eq!(commands.live, [Path::new("target"), Path::new("web/dist")]);
    assert_eq!(
        (commands.memory, commands.processes, commands.job_processes, commands.disk),
        (None, Some(64), Some(100), Some(1 << 30))
    );
    assert_eq!(
        (commands.time, commands.least),
        (Duration::from_secs(180), RequiredEnforcement::Partial)
    );
    assert_eq!(commands.identity.unwrap(), ("Ada".to_owned(), "ada@example.org".to_owned()));
    let both = |text: &str| {
        let project = Layer::of_project("eclusa.toml", format!("[commands]\n{text}"));
        Config::load(&[Layer::of_person("own.toml", own), project]).unwrap()
    };
    for looser in [
        "hosts = ['evil.example']",
        "live = ['src']",
        "writable = ['~/bin']",
        "processes = 65",
        "processes = 'none'",
        "job_processes = 101",
        "job_processes = 'none'",
        "disk = '2GB'",
        "time = '4m'",
        "identity = 'Eve <eve@example.org>'",
    ] {
        let config = both(looser);
        assert!(config.left_out[0].message.contains("can only make rules stricter"), "{looser}");
        assert_eq!(format!("{:?}", config.commands), format!("{:?}", load(own).commands));
    }
    let tighter =
        both("hosts = ['packages.example']\nlive = []\nmemory = '1GB'\nleast = 'full'").commands;
    assert_eq!((tighter.hosts, tighter.live), (vec!["packages.example".to_owned()], Vec::new()));
    assert_eq!((tighter.memory, tighter.least), (Some(1 << 30), RequiredEnforcement::Full));
    for wrong_live in ["/etc", "..", "a/../b", "*", "src/*.rs", "", ".git", "sub/.git/hooks"] {
        let told = wrong(&format!("[commands]\nlive = ['{wrong_live}']"));
        assert!(told.contains("eclusa.toml:2:9"), "{wrong_live}: {told}");
    }
    assert_eq!(
        load("[commands]\nwritable = ['~/.local/bin/']").commands.writable,
        ["~/.local/bin"]
    );
    for place in ["~", "~/", "/", "", "src", "~/../x", "/a/*"] {
        let told = wrong(&format!("[commands]\nwritable = ['{place}']"));
        assert!(told.contains("is not a directory outside the workspace"), "{place}: {told}");
    }
    assert!(wrong("[commands]\nidentity = 'Ada'").contains("is not an identity"));
}
