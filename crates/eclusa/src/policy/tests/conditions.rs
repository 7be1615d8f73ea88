//! The conditions of rules, one by one.

use serde_json::json;

use super::*;
use crate::{
    Access,
    PermissionClass::{File, Generic, ReadOnly, Shell, Web},
    policy::Matcher,
};

/// A tool that would be allowed if nothing applied, so that what applies shows.
fn looks() -> Fake {
    Fake::new(ReadOnly)
}

#[track_caller]
fn check_arg(matcher: &Matcher, args: Value, deny: bool, allow: bool) {
    let denies = rule(Deny).arg("/a", matcher.clone()).unwrap();
    let allows = rule(Allow).arg("/a", matcher.clone()).unwrap();
    assert_eq!(decided(&[denies], &looks(), args.clone()) == Deny, deny, "deny {args}");
    let tool = Fake::new(Generic);
    assert_eq!(decided(&[allows], &tool, args.clone()) == Allow, allow, "allow {args}");
}

#[test]
fn tools_are_named_or_globbed() {
    for (name, applies) in [
        ("git_log", true),
        ("git_*", true),
        ("git_???", true),
        ("git", false),
        ("git_?", false),
        ("*", true),
    ] {
        let rules = [rule(Deny).tool([name]).unwrap()];
        let tool = Fake { facts: looks().facts, ..Fake::named("git_log") };
        assert_eq!(decided(&rules, &tool, json!({})) == Deny, applies, "{name}");
    }
}

/// S3.15, A11: no name of a tool leads around a rule, and the rule is matched once.
/// Shows S3.15.
#[test]
fn aliases_do_not_slip_past() {
    let tool = looks().alias("Old").alias("older");
    for name in ["tool", "Old", "older", "old*"] {
        let rules = [rule(Deny).tool([name]).unwrap()];
        assert_eq!(decided(&rules, &tool, json!({})), Deny, "{name}");
    }
    let rules = [rule(Deny).tool(["older", "tool", "Old"]).unwrap()];
    assert_eq!(judged(&rules, &tool, json!({})).because.len(), 1);
}

/// A foreign tool cannot take an alias to get at what a rule allows somebody else.
#[test]
fn an_alias_of_a_foreign_tool_earns_nothing() {
    let rules = [rule(Allow).tool(["read_file"]).unwrap()];
    let own = Fake::new(Generic).alias("read_file");
    assert_eq!(decided(&rules, &own, json!({})), Allow);
    assert_eq!(decided(&rules, &own.from("somewhere"), json!({})), Ask);
}

#[test]
fn classes_are_lists() {
    let rules = [rule(Deny).class([Web, File]).unwrap()];
    assert_eq!(decided(&rules, &Fake::new(Web), json!({})), Deny);
    assert_eq!(decided(&rules, &Fake::new(File), json!({})), Deny);
    assert_eq!(decided(&rules, &Fake::new(ReadOnly), json!({})), Allow);
}

#[test]
fn globs_over_arguments() {
    let glob = Matcher::glob("rm *");
    check_arg(&glob, json!({"a": "rm x"}), true, true);
    check_arg(&glob, json!({"a": "rm x\ny"}), true, true);
    check_arg(&glob, json!({"a": " rm x"}), false, false);
    check_arg(&glob, json!({"b": "rm x"}), false, false);
    check_arg(&Matcher::glob("1?"), json!({"a": 12}), true, true);
    check_arg(&Matcher::glob("tr*"), json!({"a": true}), true, true);
    check_arg(&Matcher::glob("*a*b*"), json!({"a": "xxaxxcxxb"}), true, true);
    check_arg(&Matcher::glob("é?"), json!({"a": "éß"}), true, true);
}

/// What cannot be evaluated counts against the call.
#[test]
fn doubts_go_against_the_call() {
    for matcher in [
        Matcher::glob("x"),
        !Matcher::glob("x"),
        Matcher::regex("x").unwrap(),
        Matcher::contains("x").unwrap(),
        Matcher::under("x").unwrap(),
    ] {
        check_arg(&matcher, json!({"a": ["y"]}), true, false);
        check_arg(&matcher, json!({"a": {"b": "y"}}), true, false);
    }
    check_arg(&Matcher::under("src").unwrap(), json!({"a": "~/src"}), true, false);
    check_arg(&Matcher::under("src").unwrap(), json!({"a": "$HOME/src"}), true, false);
    check_arg(&Matcher::under("src").unwrap(), json!({"a": ""}), true, false);
}

#[test]
fn values_are_compared() {
    check_arg(&Matcher::equals(1), json!({"a": 1}), true, true);
    check_arg(&Matcher::equals(1), json!({"a": 1.0}), true, true);
    check_arg(&Matcher::equals(1), json!({"a": "1"}), false, false);
    check_arg(&Matcher::equals(i64::MAX), json!({"a": i64::MAX - 1}), false, false);
    check_arg(&Matcher::equals(true), json!({"a": true}), true, true);
    check_arg(&Matcher::equals(json!(["x", 1])), json!({"a": ["x", 1.0]}), true, true);
    check_arg(&Matcher::equals(json!({"k": 1})), json!({"a": {"k": 1, "l": 2}}), false, false);
    check_arg(&!Matcher::equals(1), json!({"a": 2}), true, true);
}

#[test]
fn texts_are_searched() {
    let regex = Matcher::regex("^(git|cargo) ").unwrap();
    check_arg(&regex, json!({"a": "git x"}), true, true);
    check_arg(&regex, json!({"a": "agit x"}), false, false);
    let contains = Matcher::contains("--force").unwrap();
    check_arg(&contains, json!({"a": "push --force"}), true, true);
    check_arg(&contains, json!({"a": "push"}), false, false);
    let both = Matcher::all([regex, !contains]);
    check_arg(&both, json!({"a": "git push"}), true, true);
    check_arg(&both, json!({"a": "git push --force"}), false, false);
}

/// Attacks B: component boundaries, `..`, absolute paths.
#[test]
fn arguments_that_are_paths() {
    let under = Matcher::under("src").unwrap();
    for (path, inside) in [
        ("src", true),
        ("src/a", true),
        ("./src//a", true),
        ("/home/me/ws/src/a", true),
        ("lib/../src/a", true),
        ("srcs/a", false),
        ("src/../lib", false),
        ("/home/me/ws2/src/a", false),
        ("/src/a", false),
        ("../../x", false),
    ] {
        check_arg(&under, json!({"a": path}), inside, inside);
    }
}

#[test]
fn pointers_reach_into_arguments() {
    let rules = [rule(Deny).arg("/a~1b/1/c", Matcher::glob("x")).unwrap()];
    assert_eq!(decided(&rules, &looks(), json!({"a/b": [0, {"c": "x"}]})), Deny);
    assert_eq!(decided(&rules, &looks(), json!({"a/b": [{"c": "x"}]})), Allow);
    assert_eq!(decided(&rules, &looks(), json!({"a/b": "x"})), Allow);
}

/// C8: the blacklist of the seeds, as a layer that can only deny.
/// Shows C8.
#[test]
fn shell_text_can_be_denied_by_its_looks() {
    let rules = [rule(Deny).command(Matcher::contains("--no-verify").unwrap()).unwrap()];
    let shell = |text: &str| Fake::new(Shell).touching([runs(text)]);
    assert_eq!(decided(&rules, &shell("git commit --no-verify"), json!({})), Deny);
    assert_eq!(decided(&rules, &shell("git commit"), json!({})), Ask);
    assert_eq!(decided(&rules, &looks().touching([runs("x --no-verify")]), json!({})), Deny);
    assert_eq!(decided(&rules, &looks(), json!({"command": "x --no-verify"})), Allow);
    // A shell that does not say what it runs may run just that.
    assert_eq!(decided(&rules, &Fake::new(Shell), json!({})), Deny);
    assert!(rule(Allow).command(Matcher::glob("*")).is_err());
}

/// C5: path rules run for reads too. One path is enough to deny, all are needed to allow.
/// Shows C5.
#[test]
fn paths_of_a_call() {
    // S1.19
    let denies = |globs: &[&str]| [rule(Deny).path(globs).unwrap()];
    let reads = |paths: &[&str]| Fake::new(ReadOnly).touching(paths.iter().map(|it| read(it)));
    assert_eq!(decided(&denies(&["*.pem"]), &reads(&["a", "b/c.pem"]), json!({})), Deny);
    assert_eq!(decided(&denies(&["*.pem"]), &reads(&["a", "b/c.pen"]), json!({})), Allow);
    let allows = [rule(Allow).path(["docs/**", "!docs/secret/**"]).unwrap()];
    let writes = |paths: &[&str]| Fake::new(File).touching(paths.iter().map(|it| write(it)));
    assert_eq!(decided(&allows, &writes(&["docs/a", "docs/b/c"]), json!({})), Allow);
    assert_eq!(decided(&allows, &writes(&["docs/a", "src/b"]), json!({})), Ask);
    assert_eq!(decided(&allows, &writes(&["docs/secret/a"]), json!({})), Ask);
    assert_eq!(decided(&allows, &writes(&["docs/SECRET/a"]), json!({})), Ask);
    assert_eq!(decided(&allows, &writes(&["Docs/a"]), json!({})), Ask);
    assert_eq!(decided(&allows, &writes(&[]), json!({})), Ask);
    for other in [Touch::Unknown, runs("ls"), Touch::Fetch("x.example".into())] {
        let more = Fake::new(File).touching([write("docs/a"), other]);
        let told = judged(&allows, &more, json!({}));
        assert_eq!(told.decision, Ask);
        let by_rule = |it: &crate::Reason| it.decision == Allow && it.source == crate::Source::Rule;
        assert!(!told.because.iter().any(by_rule), "{told:?}");
    }
}

#[test]
fn reading_and_writing_differ() {
    let rules = [rule(Deny).path(["*.lock"]).unwrap().access(Access::Write)];
    assert_eq!(decided(&rules, &Fake::new(File).touching([read("a.lock")]), json!({})), Allow);
    assert_eq!(decided(&rules, &Fake::new(File).touching([write("a.lock")]), json!({})), Deny);
    let rules = [rule(Deny).access(Access::Write)];
    let tool = Fake::new(File).touching([read("a"), write("b")]);
    assert_eq!(decided(&rules, &tool, json!({})), Deny);
    let rules = [rule(Allow).access(Access::Read)];
    assert_eq!(decided(&rules, &Fake::new(Generic).touching([read("a")]), json!({})), Allow);
    assert_eq!(decided(&rules, &Fake::new(Generic).touching([write("a")]), json!({})), Ask);
}

/// A rule that allows needs a condition; one that denies is a lock-down.
#[test]
fn rules_without_conditions() {
    assert_eq!(decided(&[rule(Allow)], &Fake::new(Generic), json!({})), Ask);
    assert_eq!(decided(&[rule(Deny)], &looks(), json!({})), Deny);
}
