//! The public cases: what must be allowed is read without a doubt.

use eclusa_shell::analyse;
use serde_json::Value;

fn cases() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/shell.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

/// Issue 5: 95 % of the core cases and 70 % of the stretch ones; here all of both.
#[test]
fn benign_cases_are_read_without_a_doubt() {
    for case in cases().iter().filter(|it| it["must"] == "allow") {
        let analysis = analyse(case["command"].as_str().unwrap());
        assert_eq!(analysis.doubts, [], "{}", case["id"]);
        assert_eq!(analysis.refused, None, "{}", case["id"]);
    }
}

/// Issue 5: every case that must be denied is a catastrophe, wherever in the script it stands.
#[test]
fn catastrophic_cases_are_catastrophes() {
    for case in cases().iter().filter(|it| it["must"] == "deny") {
        let analysis = analyse(case["command"].as_str().unwrap());
        assert!(analysis.catastrophe.is_some(), "{}: {}", case["id"], case["command"]);
    }
}

/// No case that may be allowed is a catastrophe.
#[test]
fn benign_cases_are_no_catastrophes() {
    for case in cases().iter().filter(|it| it["must"] == "allow") {
        let analysis = analyse(case["command"].as_str().unwrap());
        assert_eq!(analysis.catastrophe, None, "{}: {}", case["id"], case["command"]);
    }
}

/// A wrapper that a script can be put into.
const WRAPPERS: &[&str] = &[
    "%",
    "( % )",
    "{ %\n}",
    "true && { %\n}",
    "x=$( % )",
    "echo \"$( % )\"",
    "if %\nthen true; fi",
    "for i in 1; do %\ndone",
    "case x in x) %\n;; esac",
    "f() { %\n}; f",
    "cat <( % )",
    "while %\ndo break; done",
    "cat <<E\n$( % )\nE",
    "true | { %\n}",
    "{ %\n} &",
];

/// Issue 5, metamorphic: wrapping a case never loosens it.
#[test]
fn wrapping_never_hides_a_catastrophe() {
    for case in cases().iter().filter(|it| it["must"] == "deny") {
        let command = case["command"].as_str().unwrap();
        for wrapper in WRAPPERS {
            let script = wrapper.replace("\\n", "\n").replace('%', command);
            let analysis = analyse(&script);
            let seen = analysis.catastrophe.is_some() || analysis.refused.is_some();
            assert!(seen, "{}: {script:?}", case["id"]);
        }
        let quoted = format!("'{}'", command.replace('\'', "'\\''"));
        for shell in [
            "bash -c",
            "sh -c",
            "eval",
            "sudo bash -c",
            "env X=1 sh -c",
            "timeout 5 bash -c",
            "nohup sh -c",
        ] {
            let script = format!("{shell} {quoted}");
            assert!(analyse(&script).catastrophe.is_some(), "{}: {script:?}", case["id"]);
        }
        for fed in [
            format!("bash <<'E'\n{command}\nE"),
            format!("bash <<< {quoted}"),
            format!("printf '%s' {quoted} | sh"),
        ] {
            assert!(analyse(&fed).catastrophe.is_some(), "{}: {fed:?}", case["id"]);
        }
    }
}
