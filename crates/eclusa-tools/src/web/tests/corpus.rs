//! Every case of `urls.jsonl`, over a transport that answers with the redirects of the case.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use serde_json::Value;

use super::Names;
use crate::web::{
    Address, Checked, Elsewhere, Fetcher, HostRules, Limits, Transport, WebAnswer, WebError,
};

/// Answers with redirects, and writes down where it was sent.
#[derive(Clone, Default)]
pub(super) struct Replay {
    redirects: Vec<(String, String)>,
    pub(super) places: Arc<Mutex<Vec<String>>>,
}

impl Transport for Replay {
    fn get<'a>(&'a self, to: &'a Checked, _: usize) -> BoxFuture<'a, Result<WebAnswer, WebError>> {
        let places = to.places().iter().map(|place| place.ip().to_string());
        self.places.lock().unwrap().extend(places);
        let here = to.address().to_string();
        let location = self.redirects.iter().find(|(from, _)| *from == here);
        let location = location.map(|(_, to)| to.clone());
        let status = if location.is_some() { 302 } else { 200 };
        let answer = WebAnswer { status, location, ..WebAnswer::default() };
        Box::pin(async move { Ok(answer) })
    }
}

pub(super) fn strings(value: &Value) -> Vec<String> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// The names and servers of a case.
pub(super) fn world(case: &Value) -> (Names, Replay) {
    let mut names = Names::default();
    for (name, answers) in case["dns"].as_object().into_iter().flatten() {
        let answers: Vec<Vec<String>> = answers.as_array().unwrap().iter().map(strings).collect();
        let answers: Vec<Vec<&str>> =
            answers.iter().map(|ips| ips.iter().map(String::as_str).collect()).collect();
        let answers: Vec<&[&str]> = answers.iter().map(Vec::as_slice).collect();
        names = names.with(name, &answers);
    }
    let redirects = case["redirects"].as_array().into_iter().flatten().map(strings);
    let normal = |url: &str| Address::parse(url).map_or(url.to_owned(), |url| url.to_string());
    let redirects = redirects.map(|hop| (normal(&hop[0]), hop[1].clone())).collect();
    (names, Replay { redirects, ..Replay::default() })
}

/// Runs one case; says what happened where it is not what must happen.
async fn run(case: &Value) -> Result<(), String> {
    let policy = &case["policy"];
    let (names, replay) = world(case);
    assert_eq!(policy["block_private"], true, "there is no switch that lets private addresses in");
    let mut rules =
        HostRules::new(&strings(&policy["allow_domains"]), &strings(&policy["deny_domains"]))
            .unwrap();
    for place in strings(&policy["allow_private"]) {
        rules = rules.with_private(place.parse().unwrap());
    }
    let fetcher = Fetcher::new(rules, Limits::default())
        .with_resolver(names)
        .with_transport(replay.clone())
        .with_elsewhere(Elsewhere::Allowed);
    let result = match Address::parse(case["url"].as_str().unwrap()) {
        Ok(address) => fetcher.fetch(address, None).await.map(|_| ()),
        Err(err) => Err(err),
    };
    let places = replay.places.lock().unwrap().clone();
    if let Some(only) = case["connect_must_be"].as_str()
        && places.iter().any(|place| place != only)
    {
        return Err(format!("connected to {places:?}"));
    }
    match (case["must"].as_str().unwrap(), result) {
        ("ok", Ok(())) | ("refuse", Err(_)) => Ok(()),
        ("ok", Err(err)) => Err(format!("refused: {err}")),
        (must, Ok(())) => Err(format!("fetched, and must be `{must}`")),
        (must, Err(_)) => Err(format!("`{must}` is not known")),
    }
}

#[tokio::test]
async fn every_case_of_the_corpus_is_judged_as_it_must_be() {
    let corpus = include_str!("../../../../../tests/corpus/urls.jsonl");
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in corpus.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        count += 1;
        if let Err(why) = run(&case).await {
            wrong.push(format!("{} ({}): {why}", case["id"], case["why"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 77, "the corpus has shrunk to {count} cases");
}

#[tokio::test]
async fn cases_like_those_of_the_corpus_are_judged_alike() {
    let case = |url: &str, allow: &[&str], deny: &[&str], dns: &str, must: &str| {
        let dns: Value = serde_json::from_str(dns).unwrap();
        serde_json::json!({
            "url": url, "must": must, "dns": dns,
            "policy": {"allow_domains": allow, "deny_domains": deny, "block_private": true},
        })
    };
    let public = r#"{"example.com": [["93.184.216.34"]], "a.example.com": [["93.184.216.34"]]}"#;
    let rebinding = r#"{"example.com": [["93.184.216.34"], ["127.0.0.1"]]}"#;
    let mixed = r#"{"example.com": [["93.184.216.34", "10.0.0.1"]]}"#;
    let mapped = r#"{"example.com": [["::ffff:169.254.169.254"]]}"#;
    let cases = [
        case("https://example.com./", &["example.com"], &[], public, "ok"),
        case("https://example.com/", &["EXAMPLE.com."], &[], public, "ok"),
        case("https://a.example.com/", &["*.example.com"], &[], public, "ok"),
        case("https://example.com/", &["*.example.com"], &[], public, "refuse"),
        case("https://example.com:8443/", &["example.com:8443"], &[], public, "ok"),
        case("https://example.com/", &["example.com:8443"], &[], public, "refuse"),
        case("https://example.com/", &[], &[], public, "refuse"),
        case("https://EXAMPLE.com.:8443/", &["*"], &["example.com"], public, "refuse"),
        case("https://example.com/", &["*"], &["*.example.com"], public, "ok"),
        case("https://8.8.8.8/", &["8.8.8.8"], &[], "{}", "ok"),
        case("https://[::ffff:808:808]/", &["*"], &["8.8.8.8"], "{}", "refuse"),
        case("https://example.com/", &["*"], &[], rebinding, "ok"),
        case("https://example.com/", &["*"], &[], mixed, "refuse"),
        case("https://example.com/", &["*"], &[], mapped, "refuse"),
    ];
    for mut case in cases {
        if case["must"] == "ok" && case["dns"].to_string().contains("93.184.216.34") {
            case["connect_must_be"] = "93.184.216.34".into();
        }
        assert_eq!(run(&case).await, Ok(()), "{case}");
    }
}
