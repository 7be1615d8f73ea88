//! Every `--json` that a program may read, one file for each.

use serde_json::Value;

use super::{plain_run, pretty, same};
use crate::world::World;

/// What is typed, in the order of a small working day, and under which name its answer is kept.
const DAY: &[(&str, &str)] = &[
    ("run", "--json run read path=a.txt"),
    ("run-changes", "--json --mode auto-approve run write path=b.txt content=hi"),
    ("run-refused", "--json run read path=.env"),
    ("run-discarded", "--json run write path=c.txt content=hi"),
    ("run-unknown-tool", "--json run raed path=a.txt"),
    ("run-invalid", "--json run read pth=a.txt"),
    ("run-failed", "--json run read path=not-there.txt"),
    ("run-dry", "--json --dry-run run write path=c.txt content=hi"),
    ("run-preview", "--json run --discard write path=c.txt content=hi"),
    ("run-parked", "--json --mode confirm-all run --park read path=a.txt"),
    ("exec", "--json exec --apply -- touch d.txt"),
    ("exec-discarded", "--json exec --discard -- touch e.txt"),
    ("exec-refused", "--json exec -- cat .env"),
    ("check", "--json check bash command=date"),
    ("check-denied", "--json check read path=.env"),
    ("check-asked", "--json check bash command=sudo"),
    ("approvals", "--json approvals"),
    ("approvals-show", "--json approvals show 1"),
    ("approvals-yes", "--json approvals yes 1"),
    ("resume", "--json resume 1"),
    ("allow", "--json allow ../allow.toml --times 2 --for 1h"),
    ("allow-list", "--json allow"),
    ("changes", "--json changes"),
    ("changes-show", "--json changes show 2"),
    ("changes-diff", "--json changes diff 2"),
    ("changes-discarded", "--json changes --discarded"),
    ("undo-dry", "--json --dry-run undo"),
    ("undo", "--json undo"),
    ("redo", "--json redo"),
    ("log", "--json log"),
    ("log-show", "--json log show 2"),
    ("log-verify", "--json log verify"),
    ("log-stats", "--json log stats"),
    ("config", "--json config"),
    ("config-check", "--json config check"),
    ("tools", "--json tools"),
    ("tools-show", "--json tools show read"),
    ("tools-search", "--json tools search patch"),
    ("status", "--json status"),
    ("policy-lint", "--json policy lint"),
    ("policy-test", "--json policy test"),
    ("policy-suggest", "--json policy suggest"),
    ("people", "--json people"),
    ("servers", "--json servers"),
    ("models", "--json models"),
    ("personas", "--json personas"),
    ("sessions", "--json sessions"),
    ("output-unknown", "--json output nothing"),
];

const CALLS: &str = r#"{"id": "1", "tool": "read", "args": {"path": "a.txt"}}
{"id": "2", "tool": "read", "args": {"path": ".env"}}
not a call
"#;

const FENCED: &str = "```tool\n{\"name\": \"read\", \"args\": {\"path\": \"a.txt\"}}\n```\n";

/// The names of the fields, and nothing of what is in them: what this machine has is in there.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            fields.iter().map(|(name, it)| (name.clone(), shape(it))).collect()
        }
        Value::Array(all) => all.iter().filter(|it| it.is_object()).take(1).map(shape).collect(),
        _ => Value::Null,
    }
}

#[test]
fn every_answer_for_programs_is_as_it_was() {
    let world = World::new();
    world.write("workspace/a.txt", "one\n");
    world.write("workspace/.env", "KEY=1\n");
    world.write(
        "allow.toml",
        "[[rules]]\nid = \"touching\"\ndecision = \"allow\"\ncommand = \"touch *\"\n",
    );
    let mut found: Vec<(String, String)> = Vec::new();
    for (name, line) in DAY {
        let args: Vec<&str> = line.split(' ').collect();
        let ran = plain_run(&world, &args, "");
        let mut text = format!("$ eclusa {line}\n{}", pretty(&world, &ran.out));
        if !ran.err.is_empty() {
            text.push_str(&format!("stderr:\n{}", pretty(&world, &ran.err)));
        }
        found.push(((*name).to_owned(), format!("{text}exit {}\n", ran.code)));
    }
    for (name, line, input) in
        [("check-jsonl", "check --jsonl", CALLS), ("feed", "--json feed", FENCED)]
    {
        let args: Vec<&str> = line.split(' ').collect();
        let ran = plain_run(&world, &args, input);
        assert_eq!(ran.err, "", "{line}");
        let text = format!("$ eclusa {line}\n{}exit {}\n", pretty(&world, &ran.out), ran.code);
        found.push((name.to_owned(), text));
    }
    let ran = plain_run(&world, &["--json", "doctor"], "");
    let told = serde_json::to_string_pretty(&shape(&ran.json())).unwrap();
    found.push(("doctor".to_owned(), format!("$ eclusa --json doctor\n{told}\n")));
    same("json", &found);
}
