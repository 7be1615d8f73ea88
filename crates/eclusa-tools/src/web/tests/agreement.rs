//! Rules, commands and the web have one reader of hosts: they agree on every line of the corpus, and
//! on odd spellings.

use std::collections::BTreeSet;

use eclusa::{Decision, Rule};
use eclusa_net::{Endpoint, HostPattern};
use eclusa_sandbox::proxy::{Hosts, Way};
use serde_json::Value;

use super::corpus::strings;
use crate::web::{Address, HostRules};

const ODD: [&str; 24] = [
    "a.example:443",
    "a.example:80",
    "a.example:+80",
    "a.example:080",
    "a.example:0",
    "a.example:",
    "[::1]",
    "[::1]:443",
    "[::1",
    "::1",
    "a.example.",
    "A.EXAMPLE",
    "a..example",
    ".a.example",
    "bücher.example",
    "xn--bcher-kva.example",
    "*.bücher.example",
    "0x7f.1",
    "127.1",
    "*.127.0.0.1",
    "user@a.example",
    "a.example/x",
    "https://a.example",
    " a.example",
];

#[test]
fn every_reader_of_hosts_accepts_the_same_patterns_and_means_the_same_by_them() {
    let corpus = include_str!("../../../../../tests/corpus/urls.jsonl");
    let mut patterns: BTreeSet<String> = ODD.iter().map(|it| (*it).to_owned()).collect();
    let mut addresses = Vec::new();
    for line in corpus.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        for key in ["allow_domains", "deny_domains"] {
            patterns.extend(strings(&case["policy"][key]));
        }
        addresses.extend(Address::parse(case["url"].as_str().unwrap()).ok());
    }
    assert!(addresses.len() > 20 && patterns.len() > ODD.len());
    for pattern in &patterns {
        let read = HostPattern::parse(pattern);
        let rule = Rule::new(Decision::Deny).domain([pattern]).is_ok();
        let hosts = Hosts::new(&[pattern]);
        let web = HostRules::new(&[pattern], &[]);
        assert_eq!(
            (rule, hosts.is_ok(), web.is_ok()),
            (read.is_ok(), read.is_ok(), read.is_ok()),
            "{pattern:?}"
        );
        let (Ok(read), Ok(hosts), Ok(web)) = (read, hosts, web) else { continue };
        let denies = HostRules::new(&["*"], &[pattern.as_str()]).unwrap();
        for address in &addresses {
            let way = if address.encrypted() { Way::Tunnel } else { Way::Plain };
            let endpoint = Endpoint::parse(address.url().as_str()).unwrap();
            let covers = read.covers(&endpoint);
            assert_eq!(web.judge(address).is_ok(), covers, "{pattern} {address}");
            assert_eq!(
                hosts.allow(address.host(), address.port(), way),
                covers,
                "{pattern} {address}"
            );
            assert_eq!(
                denies.judge(address).is_err(),
                read.concerns(&endpoint),
                "{pattern} {address}"
            );
        }
    }
}
