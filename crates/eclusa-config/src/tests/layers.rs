//! Layers on top of each other.

use std::time::Duration;

use eclusa::{
    Cut, Decision, Durability, OnNoApprover, PermissionClass, Registration, Registry, Rule,
    preflight::PreflightStep,
};
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::json;

use super::*;
use fake::{Fake, calls, read, verdict, write};

fn layered(layers: &[Layer]) -> Config {
    Config::load(layers).unwrap_or_else(|err| panic!("{err}"))
}

/// Later layers override single values and leave the others alone; rules add up.
#[test]
fn later_layers_override_and_rules_add_up() {
    let mine = "mode = 'confirm-all'\n[limits]\ntime = '1m'\n[[rules]]\ndecision = 'ask'";
    let other = "mode = 'yolo'\n[limits]\ndepth = 0\n[[rules]]\ndecision = 'deny'\ntool = 'x'";
    let layers = [Layer::of_person("mine", mine), Layer::of_person("other", other)];
    let config = layered(&layers);
    assert_eq!(config.mode, Mode::Yolo);
    assert_eq!((config.limits.time, config.limits.depth), (Duration::from_secs(60), 0));
    let shipped = load("").rules.len();
    let added: Vec<&str> = config.rules.iter().skip(shipped).map(|it| it.written_at()).collect();
    assert_eq!(added, ["mine:4", "other:4"]);
    let settings = config.settings();
    let origin = |key: &str| settings.iter().find(|it| it.key == key).unwrap().origin.clone();
    assert_eq!((origin("mode"), origin("limits.time")), ("other:1".into(), "mine:3".into()));
}

/// A person can leave out shipped rules, and the configuration shows it.
#[test]
fn shipped_rules_can_be_left_out_by_their_person() {
    let config = load("without = ['secret-files']");
    assert!(config.rules.iter().all(|it| it.name() != Some("secret-files")));
    let settings = config.settings();
    assert!(settings.iter().all(|it| !it.value.contains("secret-files") || it.key == "without"));
    let layers = ["a", "b"].map(|id| {
        let text =
            format!("without = ['{}']", if id == "a" { "secret-files" } else { "lock-files" });
        Layer::of_person(id, text)
    });
    let settings = layered(&layers).settings();
    let left_out: Vec<&str> =
        settings.iter().filter(|it| it.key == "without").map(|it| it.origin.as_str()).collect();
    assert_eq!(left_out, ["a:1", "b:1"]);
    let reads = Fake::new(PermissionClass::ReadOnly).touching([read(".env")]);
    let decision = |rules: &[Rule]| verdict(rules, &reads, json!({}), Mode::Yolo).decision;
    assert_eq!(decision(&load("").rules), Decision::Deny);
    assert_eq!(decision(&config.rules), Decision::Allow);
}

/// A project may say what everybody says already, and what is stricter.
#[test]
fn a_project_may_tighten() {
    let text = "mode = 'confirm-all'\non_no_approver = 'deny'
order = ['reverse-thinking', 'approval', 'checkpoint']
[limits]\ntime = '5s'\noutput = '1KB'\nconcurrent = 1\ncut = 'head-tail'
[redact]\non = true
[audit]\ndurability = 'power-loss'
[[rules]]\ndecision = 'deny'\ntool = 'x'
[[rules]]\ndecision = 'stage'
[[rules]]\ndecision = 'ask'\nclass = 'web'";
    let mine = "mode = 'yolo'\non_no_approver = 'allow-with-warning'\n[audit]\ndurability = 'crash'
[redact]\non = false";
    let layers = [Layer::of_person("mine", mine), Layer::of_project("eclusa.toml", text)];
    let config = layered(&layers);
    assert_eq!(config.mode, Mode::ConfirmAll);
    assert_eq!(config.on_no_approver, OnNoApprover::Deny);
    assert_eq!(config.durability, Durability::PowerLoss);
    assert!(config.redact.on);
    assert_eq!((config.limits.concurrent, config.limits.output), (1, 1024));
    // Whoever trusts the file on the command line can loosen again.
    let layers = [&layers[..], &[Layer::of_person("run", "mode = 'yolo'")]].concat();
    assert_eq!(layered(&layers).mode, Mode::Yolo);
}

/// `output = 0` is the default, and not a way to get more than a smaller limit below.
/// Shows S1.22.
#[test]
fn no_output_limit_means_the_default() {
    assert_eq!(load("[limits]\noutput = 0").limits.output_bytes(), 100 * 1024);
    let mine = Layer::of_person("mine", "[limits]\noutput = '1KB'");
    let theirs = Layer::of_project("eclusa.toml", "[limits]\noutput = 0");
    let config = layered(&[mine, theirs]);
    assert_eq!((config.left_out.len(), config.limits.output_bytes()), (1, 1024));
}

/// S1.17, S1.22, S1.23, S2.4, C1, C9, C14-C16: the seeds' options have their keys.
/// Shows C14.
#[test]
fn the_options_of_the_seeds_have_keys() {
    let config = load(
        "on_no_approver = 'queue'\norder = ['checkpoint', 'approval', 'reverse-thinking']
[limits]\ntime = '2m'\ntime_cap = '1h'\noutput = '30000B'\ncut = 'head'\nconcurrent = 1
approval = '500ms'\n[review]\ncache_time = '1d'\ncache_size = 5\n[audit]\nargs = 'digest'",
    );
    assert_eq!(config.on_no_approver, OnNoApprover::Queue);
    assert_eq!(
        config.order,
        [PreflightStep::Checkpoint, PreflightStep::Approval, PreflightStep::ReverseThinking]
    );
    let limits = &config.limits;
    assert_eq!((limits.time.as_secs(), limits.time_cap.as_secs()), (120, 3600));
    assert_eq!((limits.output, limits.cut, limits.concurrent), (30_000, Cut::Head, 1));
    assert_eq!(limits.approval, Duration::from_millis(500));
    assert_eq!(config.review_cache, Some((Duration::from_secs(86_400), 5)));
    assert_eq!(config.args_in_log, eclusa::audit::ArgsInLog::Digest);
}

/// S1.20, S1.24, S1.59, C5, facts F: what is shipped.
/// Shows S1.24.
#[test]
fn secret_files_are_denied_to_reads_and_writes() {
    let rules = load("").rules;
    let denied = [
        ".env",
        "config/.env",
        ".env.production",
        "server.pem",
        "private.key",
        ".ssh/id_rsa",
        "/home/me/ws/.ssh/id_rsa",
        "src/../.env",
        "../../etc/passwd",
        "/etc/shadow",
        "a/my-credentials.json",
        "ID_RSA",
        ".ssh",
    ];
    let fine =
        ["src/main.py", "environment.txt", "package.lock", "my_secret_santa.txt", ".env.example"];
    for (paths, want) in [(&denied[..], Decision::Deny), (&fine, Decision::Allow)] {
        for path in paths {
            let tool = Fake::new(PermissionClass::ReadOnly).touching([read(path)]);
            let told = verdict(&rules, &tool, json!({}), Mode::Yolo);
            assert_eq!(told.decision, want, "{path}: {told:?}");
        }
    }
    for path in denied {
        let tool = Fake::new(PermissionClass::File).touching([write(path)]);
        assert_eq!(
            verdict(&rules, &tool, json!({}), Mode::Yolo).decision,
            Decision::Deny,
            "{path}"
        );
    }
    let lock = Fake::new(PermissionClass::File).touching([write("package.lock")]);
    let told = verdict(&rules, &lock, json!({}), Mode::AutoApprove);
    assert_eq!(told.decision, Decision::Ask, "{told:?}");
}

/// C19: a name that nobody has is told when the tools are known.
/// Shows C19.
#[test]
fn tools_that_nobody_has_are_told() {
    let config = load(
        "[[rules]]\ndecision = 'deny'\ntool = ['write_fil', 'git_*', 'tool']
[[reviewers]]\nname = 'r'\ncommand = ['x']\ntools = ['nothing']",
    );
    let registry = Registry::new();
    registry.register(Registration::new(Fake::named("write_file"))).unwrap();
    registry.register(Registration::new(Fake::named("tool"))).unwrap();
    let told: Vec<String> =
        config.unknown_tools(&registry).iter().map(ToString::to_string).collect();
    let want = [
        "eclusa.toml:1: no tool is called `write_fil`; did you mean `write_file`?",
        "eclusa.toml:4: no tool is called `nothing`",
    ];
    assert_eq!(told, want);
}

/// Pieces of files, some of which a project may not have.
fn pieces() -> impl Strategy<Value = &'static str> {
    select(vec![
        "[[rules]]\ndecision = 'deny'\ntool = 'tool'\n",
        "[[rules]]\ndecision = 'deny'\npath = '*.pem'\n",
        "[[rules]]\ndecision = 'ask'\nclass = ['read-only', 'file']\n",
        "[[rules]]\ndecision = 'ask'\narg = { '/a' = { not = 'rm*' } }\n",
        "[[rules]]\ndecision = 'stage'\n",
        "[[rules]]\ndecision = 'stage'\ntool = 'old'\n",
        "[[rules]]\ndecision = 'allow'\ntool = '*'\n",
        "[[rules]]\ndecision = 'allow'\nclass = 'generic'\n",
    ])
}

fn heads() -> impl Strategy<Value = &'static str> {
    select(vec![
        "",
        "mode = 'confirm-all'\n",
        "mode = 'confirm-sensitive'\n",
        "mode = 'auto-approve'\n",
        "mode = 'yolo'\n",
        "without = ['secret-files']\n",
    ])
}

fn file() -> impl Strategy<Value = String> {
    (heads(), vec(pieces(), 0..4)).prop_map(|(head, pieces)| head.to_owned() + &pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Invariant 14: with any file of a project that loads, every verdict is at least as strict
    /// as without it.
    #[test]
    fn no_project_loosens(mine in file(), theirs in file(), (tool, args) in calls()) {
        let mine = Layer::of_person("mine", mine);
        let below = layered(std::slice::from_ref(&mine));
        // What loosens is left out, so it loads whatever a person's file may hold.
        let above = Config::load(&[mine, Layer::of_project("theirs", theirs)]);
        let Ok(above) = above else { return Ok(()) };
        let without = verdict(&below.rules, &tool, args.clone(), below.mode);
        let with = verdict(&above.rules, &tool, args, above.mode);
        prop_assert!(with.decision >= without.decision, "{:?} -> {:?}", without, with);
    }

    /// Total: whatever is in a file, it is read or refused with places.
    #[test]
    fn any_text_is_read_or_refused(text in "[a-z\\[\\]{}='\"\n .0-9-]{0,60}") {
        if let Err(errors) = Config::load(&[Layer::of_person("x", text)]) {
            prop_assert!(errors.0.iter().all(|it| it.line > 0 && it.column > 0));
            prop_assert!(!errors.0.is_empty());
        }
    }
}
