//! Domain rules through the gate (S3.20, C6): which hosts a call may talk to, and where it may be
//! sent on to.

use eclusa::{Decision, Gate, Mode, Registry, Reply, Rule, Rules, Run, ToolCall};
use serde_json::{Value, json};

use super::corpus::{Replay, strings, world};
use crate::web::{Fetcher, HostRules, Limits, WebFetch};

/// Also after something was fetched, which marks the session.
fn allow(hosts: &[&str]) -> Rule {
    Rule::new(Decision::Allow).tool(["web_fetch"]).unwrap().domain(hosts).unwrap().tainted()
}

fn deny(hosts: &[&str]) -> Rule {
    Rule::new(Decision::Deny).domain(hosts).unwrap()
}

/// A gate with these rules before a web that answers as the case says.
fn gate(case: &Value, rules: Vec<Rule>) -> (Gate, Replay) {
    let (names, replay) = world(case);
    let mut hosts = HostRules::every_host();
    for place in strings(&case["policy"]["allow_private"]) {
        hosts = hosts.with_private(place.parse().unwrap());
    }
    let fetcher = Fetcher::new(hosts, Limits::default());
    let tool = WebFetch::new(fetcher.with_resolver(names).with_transport(replay.clone()));
    let registry = Registry::new();
    registry.add(tool).unwrap();
    let rules = Rules::new(rules, "/workspace".as_ref());
    (Gate::builder().registry(registry).policy(rules).build().unwrap(), replay)
}

async fn fetch(gate: &Gate, url: &str) -> Reply {
    gate.pass(ToolCall::new("1", "WebFetch", json!({ "url": url }))).await
}

/// Shows S3.20, C6.
#[tokio::test]
async fn every_case_of_the_corpus_is_judged_by_the_gate_as_it_must_be() {
    let corpus = include_str!("../../../../../tests/corpus/urls.jsonl");
    let (mut wrong, mut count) = (Vec::new(), 0);
    for line in corpus.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let policy = &case["policy"];
        let mut rules = Vec::new();
        for (key, decision) in
            [("allow_domains", Decision::Allow), ("deny_domains", Decision::Deny)]
        {
            let hosts = strings(&policy[key]);
            if !hosts.is_empty() {
                rules.push(Rule::new(decision).domain(hosts).unwrap());
            }
        }
        let (gate, replay) = gate(&case, rules);
        let reply = fetch(&gate, case["url"].as_str().unwrap()).await;
        let places = replay.places.lock().unwrap().clone();
        let only = case["connect_must_be"].as_str();
        let strayed = only.is_some_and(|only| places.iter().any(|place| place != only));
        if reply.is_error() != (case["must"] == "refuse") || strayed {
            wrong.push(format!("{}: {} {places:?}", case["id"], reply.content()));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 77, "the corpus has shrunk to {count} cases");
}

fn web() -> Value {
    let public = json!([["93.184.216.34"]]);
    json!({
        "dns": {"good.example": public, "also.example": public, "bad.example": public,
                "inside.example": [["10.0.0.1"]]},
        "redirects": [
            ["https://good.example/also", "https://also.example/"],
            ["https://good.example/bad", "https://bad.example/"],
            ["https://good.example/port", "https://also.example:8443/"],
            ["https://good.example/inside", "https://inside.example/"],
            ["https://good.example/on", "/on2"],
        ],
    })
}

/// Shows C6.
#[tokio::test]
async fn an_allowed_domain_is_no_question_an_unknown_one_is_and_a_denied_one_is_denied() {
    let (gate, _) = gate(&web(), vec![allow(&["good.example"]), deny(&["bad.example"])]);
    assert!(!fetch(&gate, "https://good.example/").await.is_error());
    assert_eq!(fetch(&gate, "https://bad.example/").await.code(), "denied_by_policy");
    // Nobody is there to be asked.
    assert_eq!(fetch(&gate, "https://also.example/").await.code(), "no_approver");
    assert_eq!(fetch(&gate, "https://good.example:8443/").await.code(), "no_approver");
    assert_eq!(fetch(&gate, "https://bad.example:8443/").await.code(), "denied_by_policy");
}

/// Shows S3.20.
#[tokio::test]
async fn a_redirect_is_judged_and_nobody_connects_to_what_is_not_permitted() {
    let rules = || vec![allow(&["good.example"]), deny(&["bad.example"])];
    for (url, why) in [
        ("https://good.example/also", "it talks to a host"),
        ("https://good.example/bad", "a rule denies it"),
    ] {
        let (gate, replay) = gate(&web(), rules());
        let reply = fetch(&gate, url).await;
        let said = reply.error().unwrap();
        assert!(said.contains("redirects to another host") && said.contains(why), "{said}");
        assert_eq!(replay.places.lock().unwrap().len(), 1, "only the first host was asked");
    }
    let (gate, _) = gate(&web(), [rules(), vec![allow(&["also.example"])]].concat());
    assert!(!fetch(&gate, "https://good.example/also").await.is_error());
    assert!(fetch(&gate, "https://good.example/port").await.is_error(), "another port is another");
    assert!(!fetch(&gate, "https://good.example/on").await.is_error());
    // A rule that restores the question-free tool of the second seed.
    let all = Rule::new(Decision::Allow).tool(["web_fetch"]).unwrap().tainted();
    let (gate, _) = self::gate(&web(), vec![all, deny(&["bad.example"])]);
    assert!(!fetch(&gate, "https://good.example/also").await.is_error());
    assert!(fetch(&gate, "https://good.example/bad").await.is_error());
    let inside = fetch(&gate, "https://good.example/inside").await;
    assert!(inside.error().unwrap().contains("10.0.0.1"), "{}", inside.content());
}

/// A rule about the argument was written for the address in it, not for where that leads.
#[tokio::test]
async fn a_rule_over_the_argument_does_not_allow_a_redirect() {
    let by_url = Rule::new(Decision::Allow).tool(["web_fetch"]).unwrap();
    let by_url = by_url
        .arg("/url", eclusa::policy::Matcher::glob("https://good.example/*"))
        .unwrap()
        .tainted();
    let (gate, _) = gate(&web(), vec![by_url]);
    assert!(!fetch(&gate, "https://good.example/on").await.is_error());
    assert!(fetch(&gate, "https://good.example/also").await.is_error());
}

/// What one call was permitted is not handed to another that is not, by way of the cache.
#[tokio::test]
async fn what_is_known_is_judged_again() {
    let (gate, replay) = gate(&web(), vec![allow(&["good.example"])]);
    let yolo = gate.for_run(Run { mode: Mode::Yolo, ..Run::default() });
    assert!(!fetch(&yolo, "https://good.example/also").await.is_error());
    let again = fetch(&yolo, "https://good.example/also").await;
    assert_eq!(again.data().unwrap()["cached"], true);
    assert_eq!(replay.places.lock().unwrap().len(), 2);
    let reply = fetch(&gate, "https://good.example/also").await;
    assert!(reply.error().unwrap().contains("redirects to another host"), "{}", reply.content());
}
