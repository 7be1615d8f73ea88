//! What holds for each class, in each mode, with and without rules.

use serde_json::json;

use super::*;
use crate::{PermissionClass::*, Source};

/// Decisions in the modes confirm-all, confirm-sensitive, auto-approve and yolo.
fn in_all_modes(rules: &[Rule], tool: &Fake) -> [Decision; 4] {
    Mode::ALL.map(|mode| verdict(rules, tool, json!({}), mode).decision)
}

const LOOKED_AT: [Decision; 4] = [Ask, Allow, Allow, Allow];
const ASKED: [Decision; 4] = [Ask, Ask, Allow, Allow];
const DENIED: [Decision; 4] = [Deny; 4];

/// S1.14, S2.1-S2.3, S2.9, S2.10, S2.19, S3.17-S3.23, S4.38-S4.40, S4.44, C2-C5, C27: every
/// class in every mode, where nobody has written a rule.
/// Shows S3.17.
#[test]
fn every_class_in_every_mode_without_rules() {
    let table = [
        (Fake::new(ReadOnly), LOOKED_AT),
        (Fake::new(ReadOnly).touching([read("a"), read("b/c")]), LOOKED_AT),
        (Fake::new(ReadOnly).sensitive(), ASKED),
        (Fake::new(ReadOnly).touching([Touch::Unknown]), ASKED),
        (Fake::new(ReadOnly).touching([write("a")]), ASKED),
        (Fake::new(ReadOnly).touching([runs("ls")]), ASKED),
        (Fake::new(ReadOnly).touching([Touch::Fetch("x.example".into())]), ASKED),
        (Fake::new(Shell), ASKED),
        (Fake::new(Shell).touching([runs("ls")]), ASKED),
        (Fake::new(File), ASKED),
        (Fake::new(File).touching([read("a")]), LOOKED_AT),
        (Fake::new(File).touching([read("a")]).sensitive(), ASKED),
        (Fake::new(File).touching([read("a"), write("b")]), ASKED),
        (Fake::new(File).touching([read("a"), read("../b")]), DENIED),
        (Fake::new(Web), ASKED),
        (Fake::new(Web).touching([Touch::Fetch("x.example".into())]), ASKED),
        (Fake::new(Generic), ASKED),
        (Fake::new(Generic).touching([read("a")]), ASKED),
        (Fake::new(None), ASKED),
        (Fake::new(None).touching([write("/etc/passwd")]), DENIED),
    ];
    for (tool, want) in table {
        assert_eq!(in_all_modes(&[], &tool), want, "{:?} {:?}", tool.facts, tool.touches);
    }
}

/// C2: a rule that says `ask` holds in unattended runs; a denial holds everywhere.
/// Shows C2.
#[test]
fn rules_of_each_decision_in_every_mode() {
    let look = Fake::new(ReadOnly);
    let touch = Fake::new(Generic);
    let table = [
        (Allow, &look, LOOKED_AT),
        (Allow, &touch, LOOKED_AT),
        (Stage, &look, [Ask, Ask, Allow, Allow]),
        (Ask, &look, [Ask, Ask, Ask, Allow]),
        (Ask, &touch, [Ask, Ask, Ask, Allow]),
        (Deny, &look, DENIED),
        (Deny, &touch, DENIED),
    ];
    for (decision, tool, want) in table {
        let rule = rule(decision).tool(["tool"]).unwrap();
        assert_eq!(in_all_modes(&[rule], tool), want, "{decision} {:?}", tool.facts.class);
    }
}

/// C4: a shell call is asked about, whatever allows it.
/// Shows C4.
#[test]
fn no_rule_allows_a_shell_call() {
    let rules = [rule(Allow).tool(["*"]).unwrap()];
    let by_class = Fake::new(Shell);
    let by_touch = Fake::new(ReadOnly).touching([runs("ls")]);
    for tool in [by_class, by_touch] {
        let told = judged(&rules, &tool, json!({}));
        assert_eq!(told.decision, Ask);
        assert_eq!(told.because[0].source, Source::Floor);
    }
}

/// Nor one that nobody can tell anything about.
#[test]
fn no_rule_allows_what_nobody_knows() {
    let rules = [rule(Allow).tool(["*"]).unwrap()];
    let tool = Fake::new(ReadOnly).touching([read("a"), Touch::Unknown]);
    assert_eq!(decided(&rules, &tool, json!({})), Ask);
}

/// S4.40, S4.44, C3: sensitive tools are asked about, until somebody allows them.
/// Shows S4.40.
#[test]
fn a_sensitive_tool_is_asked_about_unless_a_rule_allows_it() {
    let tool = Fake::new(ReadOnly).sensitive();
    assert_eq!(decided(&[], &tool, json!({})), Ask);
    let other = rule(Allow).tool(["other"]).unwrap();
    assert_eq!(decided(&[other], &tool, json!({})), Ask);
    let stage = rule(Stage).tool(["tool"]).unwrap();
    assert_eq!(decided(&[stage], &tool, json!({})), Ask);
    let this = rule(Allow).tool(["tool"]).unwrap();
    assert_eq!(decided(&[this], &tool, json!({})), Allow);
}

/// S3.10, S3.13, S3.14, C27: labels never decide.
/// Shows S3.13.
#[test]
fn labels_never_decide() {
    for class in [Some(Shell), Some(File), Some(Web), Some(ReadOnly), Some(Generic), None] {
        for touches in [vec![], vec![read("a")], vec![write("a")], vec![Touch::Unknown]] {
            let plain = Fake::new(class).touching(touches);
            for (read_only, destructive) in [(true, false), (false, true), (true, true)] {
                let mut labelled = plain.clone();
                labelled.facts.read_only = read_only;
                labelled.facts.destructive = destructive;
                assert_eq!(judged(&[], &labelled, json!({})), judged(&[], &plain, json!({})));
            }
        }
    }
}

/// S3.44, C21: what somebody else's tool says of itself cannot lower what is demanded of it.
/// Shows S3.44.
#[test]
fn a_foreign_tool_cannot_call_itself_harmless() {
    let tool = Fake::new(ReadOnly).from("somewhere");
    assert_eq!(decided(&[], &tool, json!({})), Ask);
    let read_only = rule(Allow).class([ReadOnly]).unwrap();
    assert_eq!(decided(&[read_only], &tool, json!({})), Ask);
    let by_server = rule(Allow).server(["some*"]).unwrap();
    assert_eq!(decided(&[by_server], &tool, json!({})), Allow);
    assert_eq!(decided(&[rule(Allow).server(["*"]).unwrap()], &Fake::new(Generic), json!({})), Ask);
}

/// S3.45: a class that nobody knows is asked about.
/// Shows S3.45.
#[test]
fn an_unknown_class_is_generic() {
    let tool = Fake::new(PermissionClass::lenient("readonlyish"));
    assert_eq!(decided(&[], &tool, json!({})), Ask);
}
