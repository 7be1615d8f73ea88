//! What programs write, and what is made of it (C7).

use std::sync::{Arc, Mutex};

use eclusa::{
    Decision, Gate, Job, Registry, Reply, Rule, Rules, ToolCall, settings::CheckSettings,
};
use futures::future::BoxFuture;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::world::World;

fn short(text: &str) -> Vec<String> {
    let line = |it: &Diagnostic| {
        format!(
            "{} {}:{}:{} {} {} ({})",
            it.severity.as_str(),
            it.path.as_deref().unwrap_or("-"),
            it.line.unwrap_or(0),
            it.column.unwrap_or(0),
            it.code.as_deref().unwrap_or("-"),
            it.message,
            it.source
        )
    };
    parse(text).found.iter().map(line).collect()
}

#[test]
fn cargo_and_rustc_json() {
    let message = json!({
        "message": "cannot find value `x`", "level": "error", "code": {"code": "E0425"},
        "spans": [
            {"file_name": "src/b.rs", "line_start": 1, "column_start": 1, "is_primary": false},
            {"file_name": "src/a.rs", "line_start": 2, "column_start": 5, "is_primary": true},
        ],
    });
    let clippy = json!({
        "message": "needless", "level": "warning", "code": {"code": "clippy::needless"},
        "spans": [{"file_name": "src/a.rs", "line_start": 9, "column_start": 1, "is_primary": true}],
    });
    let sum = json!({"message": "aborting due to 1 error", "level": "error", "spans": []});
    let text = format!(
        "   Compiling x v0.1.0\n{}\n{}\n{}\n{}\n{}\n",
        json!({"reason": "compiler-artifact"}),
        json!({"reason": "compiler-message", "message": message}),
        clippy,
        json!({"reason": "compiler-message", "message": sum}),
        json!({"reason": "build-finished", "success": false}),
    );
    assert_eq!(
        short(&text),
        [
            "error src/a.rs:2:5 E0425 cannot find value `x` (rustc)",
            "warning src/a.rs:9:1 clippy::needless needless (clippy)",
        ]
    );
}

#[test]
fn rustc_for_people() {
    let text = "error[E0425]: cannot find value `x` in this scope\n --> src/main.rs:2:5\n  |\n2 |     x\n\
                warning: unused variable: `y`\n  --> src/main.rs:3:9\n   |\nerror: linking failed\n\n\
                error: could not compile `x` (bin \"x\") due to 1 previous error\n";
    assert_eq!(
        short(text),
        [
            "error src/main.rs:2:5 E0425 cannot find value `x` in this scope (rustc)",
            "warning src/main.rs:3:9 - unused variable: `y` (rustc)",
            "error -:0:0 - linking failed (rustc)",
        ]
    );
}

#[test]
fn tsc_plain_and_pretty() {
    let text = "src/a (1).ts(12,5): error TS2304: Cannot find name 'x'.\n  detail\n\
                \u{1b}[96msrc/b.ts\u{1b}[0m:\u{1b}[93m3\u{1b}[0m:\u{1b}[93m7\u{1b}[0m - \u{1b}[91merror\u{1b}[0m \u{1b}[90mTS2322: \u{1b}[0mType 'a' (1,2): no.\r\n\
                error TS5058: The specified path does not exist: 'x'.\nFound 2 errors.\n";
    assert_eq!(
        short(text),
        [
            "error src/a (1).ts:12:5 TS2304 Cannot find name 'x'. (tsc)",
            "error src/b.ts:3:7 TS2322 Type 'a' (1,2): no. (tsc)",
            "error -:0:0 TS5058 The specified path does not exist: 'x'. (tsc)",
        ]
    );
}

#[test]
fn eslint_json_and_stylish() {
    let list = json!([
        {"filePath": "/w/a.js", "messages": [
            {"ruleId": "no-unused-vars", "severity": 2, "message": "'a' is unused.", "line": 1, "column": 7},
            {"ruleId": null, "fatal": true, "severity": 1, "message": "Parsing error", "line": 4},
        ]},
        {"filePath": "/w/b.js", "messages": []},
        {"filePath": "/w/c.js", "messages": [{"ruleId": "eqeqeq", "severity": 1, "message": "m", "line": 2, "column": 3}]},
    ]);
    let want = [
        "error /w/a.js:1:7 no-unused-vars 'a' is unused. (eslint)",
        "error /w/a.js:4:0 - Parsing error (eslint)",
        "warning /w/c.js:2:3 eqeqeq m (eslint)",
    ];
    assert_eq!(short(&format!("\n> lint\n> eslint -f json .\n\n{list}\n")), want);
    assert_eq!(short(&serde_json::to_string_pretty(&list).unwrap()), want);
    // The end of a long one may be missing.
    let whole = list.to_string();
    assert_eq!(short(whole.get(..whole.len() - 20).unwrap()), want[..2]);
    let stylish = "\n/w/a b.js\n  1:7   error    'a' is unused  no-unused-vars\n  \
                   12:1  warning  Two  blanks  eqeqeq\n  3:1  error  Parsing error: x\n\n/w/c.js\n  2:2  error  m  r\n\n✖ 4 problems\n";
    assert_eq!(
        short(stylish),
        [
            "error /w/a b.js:1:7 no-unused-vars 'a' is unused (eslint)",
            "warning /w/a b.js:12:1 eqeqeq Two  blanks (eslint)",
            "error /w/a b.js:3:1 - Parsing error: x (eslint)",
            "error /w/c.js:2:2 r m (eslint)",
        ]
    );
}

#[test]
fn ruff_json_and_text() {
    let item = json!({"code": "F401", "filename": "/w/a.py", "message": "`os` imported but unused",
        "location": {"row": 1, "column": 8}});
    let broken = json!({"code": null, "filename": "/w/b.py", "message": "SyntaxError: x",
        "location": {"row": 2, "column": 1}});
    let want = [
        "warning /w/a.py:1:8 F401 `os` imported but unused (ruff)",
        "error /w/b.py:2:1 - SyntaxError: x (ruff)",
    ];
    assert_eq!(short(&serde_json::to_string_pretty(&json!([item, broken])).unwrap()), want);
    assert_eq!(short(&format!("{item}\n{broken}\n")), want, "json-lines");
    let concise = "a.py:1:8: F401 [*] `os` imported but unused\nb.py:2:1: SyntaxError: Expected x\n\
                   c.py:3:1: E902 No such file\nFound 3 errors.\n";
    assert_eq!(
        short(concise),
        [
            "warning a.py:1:8 F401 `os` imported but unused (ruff)",
            "error b.py:2:1 invalid-syntax Expected x (ruff)",
            "error c.py:3:1 E902 No such file (ruff)",
        ]
    );
    let full = "F401 [*] `os` imported but unused\n --> a.py:1:8\n  |\n1 | import os\n";
    assert_eq!(short(full), ["warning a.py:1:8 F401 `os` imported but unused (ruff)"]);
}

#[test]
fn gcc_clang_and_those_who_write_like_them() {
    let text = "In file included from a.c:1:\na.c:3:5: warning: unused variable 'x' [-Wunused-variable]\n   3 |\n\
                a.c:4: error: expected ';'\nC:\\src\\b.c:9:2: fatal error: no.h: No such file\n\
                d.py:7: error: Item has no attribute \"x\"  [attr-defined]\na.c:3:5: note: declared here\n";
    assert_eq!(
        short(text),
        [
            "warning a.c:3:5 -Wunused-variable unused variable 'x' (gcc)",
            "error a.c:4:0 - expected ';' (gcc)",
            "error C:\\src\\b.c:9:2 - no.h: No such file (gcc)",
            "error d.py:7:0 attr-defined Item has no attribute \"x\" (gcc)",
            "note a.c:3:5 - declared here (gcc)",
        ]
    );
}

#[test]
fn what_is_too_much_is_bounded_and_told() {
    let many: String = (0..12_000).map(|at| format!("a.c:{at}:1: error: e\n")).collect();
    let parsed = parse(&many);
    assert_eq!((parsed.found.len(), parsed.more), (10_000, 2_000));
    let long = format!("a.c:1:1: error: {}", "é".repeat(1_000_000));
    assert!(parse(&long).found[0].message.len() < 2_100);
    // Nothing here is read more than a few times.
    for hostile in ["[{\n", "[\n", "[[", "{", "a:1", "[1,\n", "{\"a\":", "error: x\n", "\u{1b}["] {
        parse(&hostile.repeat(50_000));
    }
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(
        text in prop::collection::vec(
            prop_oneof![
                "\\PC{0,20}",
                Just("\n".to_owned()), Just("a.c:1:2: error: x [".to_owned()),
                Just("[{".to_owned()), Just("a(1,2): error TS1: ".to_owned()),
                Just("  1:2  error  ".to_owned()), Just(" --> ".to_owned()),
                Just("{\"spans\":[],\"level\":\"error\"".to_owned()),
            ], 0..40),
    ) {
        let text = text.concat();
        prop_assert_eq!(parse(&text), parse(&text));
    }
}

/// Writes down what it was to run, and says what the test tells it.
#[derive(Clone, Default)]
struct Says {
    ran: CheckRun,
    commands: Arc<Mutex<Vec<Vec<String>>>>,
}

impl Runner for Says {
    fn run<'a>(
        &'a self,
        check: &'a CheckSettings,
        _: &'a Job,
    ) -> BoxFuture<'a, Result<CheckRun, String>> {
        self.commands.lock().unwrap().push(check.command.clone());
        Box::pin(std::future::ready(Ok(self.ran.clone())))
    }
}

fn check(name: &str) -> CheckSettings {
    CheckSettings {
        name: name.to_owned(),
        command: vec![format!("run-{name}"), "--all".to_owned()],
        time: None,
        env: Vec::new(),
        origin: "eclusa.toml:1".to_owned(),
    }
}

fn pass(world: &World, says: &Says, rules: Vec<Rule>, args: Value) -> Reply {
    let checks = vec![check("rust"), check("lint")];
    let registry = Arc::new(Registry::new());
    registry.add(Diagnostics::new(checks, world.files(), says.clone())).unwrap();
    let rules = Rules::new(rules, &world.workspace());
    let gate = Gate::builder().registry(registry).policy(rules).build().unwrap();
    gate.pass_blocking(ToolCall::new("1", "diagnostics", args)).unwrap()
}

fn named_checks() -> Rule {
    Rule::new(Decision::Allow).tool(["diagnostics"]).unwrap()
}

/// Shows C7.
#[test]
fn the_model_chooses_a_name_and_never_a_command() {
    // S2.31
    let (world, says) = (World::new(), Says::default());
    let all = |args| pass(&world, &says, vec![named_checks()], args);
    assert!(!all(json!({})).is_error());
    assert!(!all(json!({"check": "lint"})).is_error());
    for args in [json!({"command": "rm -rf ."}), json!({"check": ["sh", "-c", "x"]})] {
        assert_eq!(all(args).code(), "invalid_args");
    }
    let reply = all(json!({"check": "rust; rm -rf ."}));
    assert!(reply.error().unwrap().contains("there is `rust`, `lint`"), "{}", reply.content());
    let ran = says.commands.lock().unwrap().clone();
    assert_eq!(ran, [["run-rust", "--all"], ["run-lint", "--all"], ["run-lint", "--all"]]);
    // Without a rule it is asked about: it runs a program, and nobody is there to be asked.
    assert_eq!(pass(&world, &says, Vec::new(), json!({})).code(), "no_approver");
}

#[test]
fn errors_come_first_and_what_may_not_be_seen_is_kept_back() {
    let world = World::new();
    let root = std::fs::canonicalize(world.workspace()).unwrap();
    let root = root.display();
    let out = format!(
        "b.c:2:1: warning: w\n{root}/src/a.c:1:1: error: e\n.env:1:1: error: KEY=1\n\
         private/x.c:1:1: error: secret\n./src/c.c:5: note: n\n"
    );
    let says =
        Says { ran: CheckRun { out, code: Some(1), ..CheckRun::default() }, ..Says::default() };
    let rules = || vec![named_checks(), Rule::new(Decision::Deny).path(["private/**"]).unwrap()];
    let reply = pass(&world, &says, rules(), json!({"check": "rust"}));
    insta::assert_snapshot!(reply.text(), @r"
    src/a.c:1:1: error: e (gcc)
    b.c:2:1: warning: w (gcc)
    src/c.c:5: note: n (gcc)
    [1 errors, 1 warnings, 3 in all; 2 about files kept back; `rust` ended with exit code 1]
    ");
    let first = &reply.data().unwrap()["diagnostics"][0];
    let want = json!({"path": "src/a.c", "line": 1, "column": 1, "severity": "error",
        "code": null, "message": "e", "source": "gcc"});
    assert_eq!(*first, want);
    let reply = pass(&world, &says, rules(), json!({"check": "rust", "path": "src", "limit": 1}));
    assert!(reply.text().contains("2 in all; for more: `offset: 1`"), "{}", reply.text());
}

#[test]
fn output_in_no_known_form_is_shown_and_text_beside_json_is_not_told_twice() {
    let world = World::new();
    let err = "make: *** No rule to make target\n".to_owned();
    let says =
        Says { ran: CheckRun { err, code: Some(2), ..CheckRun::default() }, ..Says::default() };
    let reply = pass(&world, &says, vec![named_checks()], json!({"check": "rust"}));
    assert!(reply.text().contains("in no form that is known:\nmake: ***"), "{}", reply.text());
    let out = json!({"level": "error", "message": "m", "code": null,
        "spans": [{"file_name": "a.rs", "line_start": 1, "column_start": 2, "is_primary": true}]});
    let err = "error: m\n --> a.rs:1:2\na.c:1:1: warning: other\n".to_owned();
    let ran = CheckRun { out: out.to_string(), err, code: Some(101) };
    let reply = pass(
        &world,
        &Says { ran, ..Says::default() },
        vec![named_checks()],
        json!({"check": "rust"}),
    );
    assert_eq!(reply.data().unwrap()["total"], 2, "{}", reply.text());
}
