//! An agent that is watched and not held: its person's own doing, and nobody else's.

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf};

use serde_json::{Value, json};

use crate::{
    hook::{before, claude, decision},
    prompt::Person,
    world::{Ran, World},
};

/// Where the person's word is kept.
const KEPT_WORD: &str = "home/.local/state/eclusa/agents/watched/claude-code.json";

fn observe(world: &World, answer: &str) -> (i32, String) {
    let mut person = Person::runs(world, &["install", "claude-code", "--observe"]);
    person.sees("stop nothing?");
    person.types(answer);
    person.ends()
}

/// What the hook says to an agent that is on its own.
fn is_silent(ran: &Ran) -> bool {
    (ran.code, ran.out.as_str()) == (0, "")
}

fn outcomes(world: &World) -> Vec<(String, Value, Value)> {
    let ended = world.records().into_iter().filter(|it| it["event"] == "ended");
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    ended.map(|it| (text(&it["tool"]), it["decision"].clone(), it["code"].clone())).collect()
}

#[test]
fn every_call_is_judged_and_recorded_and_none_is_stopped() {
    let world = World::new();
    world.write("workspace/.env", "TOKEN=x\n");
    let (code, seen) = observe(&world, "y");
    assert!(code == 0 && seen.contains("nothing is stopped"), "{seen}");
    let settings = fs::read_to_string(world.path("home/.claude/settings.json")).unwrap();
    assert!(
        settings.contains("hook claude-code") && !settings.contains("mcp__eclusa"),
        "{settings}"
    );
    assert!(!world.path("home/.claude.json").exists(), "no server is connected");
    let secret = world.path("workspace/.env");
    for (tool, input) in [
        ("Bash", json!({"command": "rm -rf /"})),
        ("Bash", json!({"command": "echo a > b.txt"})),
        ("Read", json!({"file_path": secret})),
        ("WebFetch", json!({"url": "https://docs.example/", "prompt": "x"})),
        ("NeverHeardOf", json!({"x": 1})),
        ("mcp__github__create_issue", json!({"title": "x"})),
    ] {
        let ran = claude(&world, &before(&world, tool, input));
        assert!(is_silent(&ran), "{tool}: {ran:?}");
    }
    assert!(!world.path("workspace/b.txt").exists(), "the hook runs nothing");
    let after =
        crate::hook::event(&world, "PostToolUse", "Bash", json!({"command": "echo a > b.txt"}));
    assert!(is_silent(&claude(&world, &after)));
    let found = outcomes(&world);
    assert_eq!(found.len(), 6, "{found:?}");
    assert_eq!(found[0], ("bash".to_owned(), "deny".into(), "watched_denied".into()));
    assert_eq!(found[1], ("bash".to_owned(), "stage".into(), "watched".into()));
    assert_eq!((found[2].0.as_str(), &found[2].2), ("read", &"watched_denied".into()));
    assert_eq!((&found[3].1, &found[3].2), (&"ask".into(), &"watched".into()));
    // It is said as such wherever somebody looks.
    let status = world.eclusa(&["status", "claude-code"]);
    assert!(status.code == 1 && status.out.starts_with("claude-code  watched"), "{status:?}");
    assert!(status.out.contains("nothing stops them (by tester,"), "{status:?}");
    assert!(world.eclusa(&[]).out.contains("watched  claude-code:"));
    assert!(world.eclusa(&["doctor"]).out.contains("watched, not enforced: claude-code"));
    assert!(world.eclusa(&["log"]).out.contains("watched_denied"));
    // A rule is proposed from what was seen, and says that nobody said yes.
    let told = world.eclusa(&["policy", "suggest"]).out;
    assert!(told.contains("only watched, not approved"), "{told}");
    assert!(!told.contains("rm -rf"), "{told}");
}

#[test]
fn an_install_without_it_and_an_uninstall_end_it() {
    let world = World::new();
    let deny = before(&world, "Bash", json!({"command": "rm -rf /"}));
    observe(&world, "y");
    assert!(is_silent(&claude(&world, &deny)));
    let ran = world.eclusa(&["install", "claude-code"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(decision(&claude(&world, &deny)).0, "deny");
    // What holds is taken out first: its servers and rules would go on holding.
    let mut person = Person::runs(&world, &["install", "claude-code", "--observe"]);
    person.sees("stop nothing?");
    person.types("y");
    let (code, seen) = person.ends();
    assert!(code == 3 && seen.contains("connected and enforced already"), "{seen}");
    assert_eq!(decision(&claude(&world, &deny)).0, "deny");
    world.eclusa(&["uninstall", "claude-code"]);
    observe(&world, "y");
    assert!(is_silent(&claude(&world, &deny)));
    world.eclusa(&["uninstall", "claude-code"]);
    assert!(!world.path(KEPT_WORD).exists());
    assert_eq!(decision(&claude(&world, &deny)).0, "deny");
}

#[test]
fn only_a_person_at_a_terminal_turns_it_on() {
    let world = World::new();
    let deny = before(&world, "Bash", json!({"command": "rm -rf /"}));
    let ran = world.eclusa(&["install", "claude-code", "--observe"]);
    assert!(ran.code == 3 && ran.err.contains("only a person at a terminal"), "{ran:?}");
    let (code, seen) = observe(&world, "n");
    assert!(code == 3 && seen.contains("nothing was written"), "{seen}");
    assert!(!world.path("home/.claude/settings.json").exists() && !world.path(KEPT_WORD).exists());
    for scope in ["--project", "--managed"] {
        assert_eq!(world.eclusa(&["install", "claude-code", "--observe", scope]).code, 2);
    }
    let ran = world.eclusa(&["install", "cursor", "--observe"]);
    assert!(ran.code == 3 && ran.err.contains("needs an answer to each call"), "{ran:?}");
    assert_eq!(decision(&claude(&world, &deny)).0, "deny");
}

/// No project file, variable or setting of an agent turns it on.
#[test]
fn nothing_that_a_project_brings_turns_it_on() {
    let world = World::new();
    let deny = before(&world, "Bash", json!({"command": "rm -rf /"}));
    observe(&world, "y");
    let word = fs::read_to_string(world.path(KEPT_WORD)).unwrap();
    world.eclusa(&["uninstall", "claude-code"]);
    let denied = |ran: &Ran| ran.out.contains("\"deny\"") || ran.code == 2;
    let planted = |root: &str| {
        let file = PathBuf::from(root).join(KEPT_WORD.strip_prefix("home/").unwrap());
        let directory = world.path(file.parent().unwrap().to_str().unwrap());
        fs::create_dir_all(&directory).unwrap();
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
        world.write(file.to_str().unwrap(), &word);
        fs::set_permissions(world.path(file.to_str().unwrap()), fs::Permissions::from_mode(0o600))
            .unwrap();
    };
    // A state of the project's own, and one where XDG_STATE_HOME leads.
    planted("workspace/fake");
    planted("state");
    fs::create_dir_all(world.path("state/eclusa/agents/watched")).unwrap();
    world.write("state/eclusa/agents/watched/claude-code.json", &word);
    assert!(denied(&claude(&world, &deny)));
    let sent = |name: &str, value: PathBuf| {
        let mut command = world.command(&["hook", "claude-code"]);
        command.env(name, value);
        crate::world::run(command, &deny.to_string())
    };
    for name in ["HOME", "XDG_STATE_HOME", "ECLUSA_OBSERVE", "ECLUSA_WATCHED"] {
        let ran = sent(name, world.path("workspace/fake"));
        assert!(denied(&ran), "{name}: {ran:?}");
    }
    // The configuration has no word for it, and the agent's settings of the project lead nowhere else.
    world.write("workspace/eclusa.toml", "[agents]\nobserve = true\n");
    assert!(denied(&claude(&world, &deny)));
    world.remove("workspace/eclusa.toml");
    let fake = world.path("workspace/fake");
    fs::create_dir(world.path("workspace/.claude")).unwrap();
    world.write("workspace/.claude/settings.json", &json!({"env": {"HOME": fake}}).to_string());
    assert!(denied(&sent("HOME", fake)));
    world.remove("workspace/.claude/settings.json");
    // What others may write is nobody's word.
    planted("home");
    assert!(is_silent(&claude(&world, &deny)), "the word counts where it belongs");
    fs::set_permissions(world.path(KEPT_WORD), fs::Permissions::from_mode(0o666)).unwrap();
    assert!(denied(&claude(&world, &deny)));
    fs::set_permissions(world.path(KEPT_WORD), fs::Permissions::from_mode(0o600)).unwrap();
    // A project that holds its agents goes on doing so.
    world.eclusa(&["install", "claude-code", "--project"]);
    assert!(denied(&claude(&world, &deny)));
    let told = world.eclusa(&["status", "claude-code"]).out;
    assert!(
        told.contains("the rules are enforced: this project's settings enforce them"),
        "{told}"
    );
}

/// Where an administrator has rules, a person's word to watch only does not count.
#[test]
fn an_administrators_machine_holds_it() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    observe(&world, "y");
    let deny = before(&world, "Bash", json!({"command": "rm -rf /"}));
    world.write("administrator.toml", "mode = \"confirm-sensitive\"\n");
    let rules = world.path("administrator.toml");
    let hook = world.administered(&rules, &["hook", "claude-code"]);
    let ran = crate::world::run(hook, &deny.to_string());
    assert_eq!(decision(&ran).0, "deny", "{ran:?}");
}

/// What cannot be judged or recorded is told to nobody's harm: the agent goes on.
#[test]
fn what_fails_while_watching_stops_nothing() {
    let world = World::with("[rules]\n");
    let look = before(&world, "Bash", json!({"command": "ls"}));
    assert_ne!(decision(&claude(&world, &look)).0, "allow");
    let planted = world.path("home/.local/state/eclusa/agents/watched");
    fs::create_dir_all(&planted).unwrap();
    fs::set_permissions(&planted, fs::Permissions::from_mode(0o700)).unwrap();
    world.write(KEPT_WORD, r#"{"by": "tester", "since": 1}"#);
    fs::set_permissions(world.path(KEPT_WORD), fs::Permissions::from_mode(0o600)).unwrap();
    let ran = claude(&world, &look);
    assert!(is_silent(&ran) && ran.err.contains("was not recorded"), "{ran:?}");
}
