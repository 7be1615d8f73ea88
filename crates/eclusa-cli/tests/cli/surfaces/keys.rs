//! Every key of `eclusa.toml` has its row in the table, or a reason why it has none: a key that comes later fails here
//! until somebody has decided.

use serde_json::Value;

use super::Setting;

/// Where a key stands.
enum Row {
    Of(Setting),
    /// It has no row, because of this.
    None(&'static str),
}

fn row(key: &str) -> Option<Row> {
    use Row::{None as No, Of};
    let (table, _) = key.split_once('.').unwrap_or((key, ""));
    Some(match (table, key) {
        (_, "agents.ahead") => Of(Setting::Ahead),
        (_, "commands.job_processes") => Of(Setting::JobProcesses),
        (_, "effects.budget") => Of(Setting::Budget),
        (_, "reviewers.async") => Of(Setting::Observers),
        (_, "rules.times" | "rules.per") => Of(Setting::CountedRules),
        (_, "rules.effects") => Of(Setting::DenyByEffect),
        (_, "rules.tainted") => Of(Setting::Taint),
        ("mode" | "modes", _) => Of(Setting::Modes),
        ("on_no_approver" | "notifications" | "approvals", _) => Of(Setting::Queue),
        ("undo", _) => Of(Setting::UndoKeep),
        ("review" | "reviewers", _) => Of(Setting::Reviewers),
        ("redact", _) => Of(Setting::Redaction),
        ("limits", _) => Of(Setting::Limits),
        ("without", _) => Of(Setting::Trust),
        ("effects", _) => Of(Setting::DenyByEffect),
        ("tools", _) => Of(Setting::OwnTools),
        ("fleet", _) => Of(Setting::Fleet),
        ("rules", _) => No("a policy is one value, and every gate is made with it"),
        ("agents", _) => No("it is about other agents' commands alone"),
        ("audit", _) => No("there is one log, and every gate is made with it"),
        ("chat" | "models" | "personas", _) => No("it is about talking to a model"),
        ("commands", _) => No("sandboxes are made in one place, whoever asks for one"),
        ("files", _) => No("files are opened in one place, whoever asks for one"),
        ("web" | "diagnostics", _) => No("it is about one tool"),
        ("servers", _) => No("it is about other programs, whose tools are like any other"),
        ("checkpoint" | "reverse_thinker" | "order", _) => No("it is about tools that demand it"),
        ("language", _) => No("it is about words for people"),
        ("needs", _) => No("it is looked at before the rest of a file is read"),
        _ => return None,
    })
}

/// The keys of a table and of the tables in it.
fn keys(schema: &Value, before: &str, depth: usize) -> Vec<String> {
    let fields = schema["properties"].as_object().into_iter().flatten();
    let mut found = Vec::new();
    for (name, field) in fields {
        let key = format!("{before}{name}");
        if depth > 0 {
            let within = [field, &field["items"]].into_iter();
            let either = field["anyOf"].as_array().into_iter().flatten();
            let below = format!("{key}.");
            found.extend(within.chain(either).flat_map(|it| keys(it, &below, depth - 1)));
        }
        found.push(key);
    }
    found.sort();
    found.dedup();
    found
}

#[test]
fn every_key_has_a_row_or_a_reason() {
    let schema = eclusa_config::Config::schema();
    let keys = keys(&schema, "", 1);
    assert!(keys.len() > 100 && keys.iter().any(|it| it == "commands.job_processes"), "{keys:?}");
    let unplaced: Vec<&String> = keys.iter().filter(|it| row(it).is_none()).collect();
    assert!(unplaced.is_empty(), "play these at every surface, or say why not: {unplaced:?}");
    // What no key sets: people say it as they answer, or it comes with what they read.
    let other = [Setting::Allowances, Setting::AlwaysRules];
    for setting in Setting::ALL {
        let named = |it: &String| matches!(row(it), Some(Row::Of(found)) if found == *setting);
        assert!(other.contains(setting) || keys.iter().any(named), "{setting:?} has no key");
    }
    let reasons = keys.iter().filter_map(|it| row(it));
    assert!(reasons.into_iter().all(|it| !matches!(it, Row::None(""))));
}

#[test]
fn a_key_that_comes_later_is_noticed() {
    let schema = serde_json::json!({"properties": {
        "undo": {"properties": {"keep": {}}}, "new": {"items": {"properties": {"key": {}}}},
    }});
    let found = keys(&schema, "", 1);
    assert_eq!(found, ["new", "new.key", "undo", "undo.keep"]);
    let known: Vec<bool> = found.iter().map(|it| row(it).is_some()).collect();
    assert_eq!(known, [false, false, true, true]);
}
