//! Rules over hosts (S3.20, C6).

use super::*;
use crate::policy::{domains::Domains, matcher::Holds};

/// The rows are (pattern, host, fits a rule that tightens, fits a rule that allows).
/// Shows S3.20.
#[test]
fn patterns_over_hosts() {
    use Holds::{Doubt, No, Yes};
    for (pattern, host, tight, loose) in [
        ("example.com", "example.com", Yes, Yes),
        ("example.com", "EXAMPLE.com.", Yes, Yes),
        ("Example.COM.", "example.com", Yes, Yes),
        ("example.com", "a.example.com", No, No),
        ("example.com", "notexample.com", No, No),
        ("example.com", "example.com.evil.example", No, No),
        ("example.com", "example.com:8080", Yes, No),
        ("example.com:8080", "example.com:8080", Yes, Yes),
        ("example.com:8080", "example.com", No, No),
        ("*.example.com", "a.b.example.com", Yes, Yes),
        ("*.example.com", "example.com", No, No),
        ("*.example.com", "badexample.com", No, No),
        ("*", "anything.example:81", Yes, Yes),
        ("example.com", "https://example.com/x?y#z", Yes, Yes),
        ("example.com", "https://example.com:443/", Yes, Yes),
        ("example.com", "http://example.com:443/", Yes, No),
        ("example.com:443", "https://example.com/", Yes, Yes),
        ("example.com:443", "http://example.com/", No, No),
        ("example.com:443", "example.com", Yes, No),
        ("example.com", "https://example.com@evil.example/", Doubt, Doubt),
        ("example.com", "exa mple.com", Doubt, Doubt),
        ("example.com", "bücher.example", Doubt, Doubt),
        ("example.com", "", Doubt, Doubt),
        ("example.com", "example.com:0", Doubt, Doubt),
        ("127.0.0.1", "127.0.0.1", Yes, Yes),
        ("127.0.0.1", "[::ffff:127.0.0.1]", Yes, Yes),
        ("127.0.0.1", "0x7f.1", Doubt, Doubt),
        ("127.0.0.1", "2130706433", Doubt, Doubt),
        ("*.1", "127.0.0.1", No, No),
        ("[::1]:8080", "[0:0:0:0:0:0:0:1]:8080", Yes, Yes),
    ] {
        if pattern == "*.1" {
            assert!(Domains::new([pattern], true).is_err());
            continue;
        }
        let fits = |tightens| Domains::new([pattern], tightens).unwrap().fit(host);
        assert_eq!((fits(true), fits(false)), (tight, loose), "{pattern} {host}");
    }
    for wrong in ["", "https://a.example", "a.example/x", "*a.example", "a..example", "a:+80", "ü"]
    {
        assert!(Domains::new([wrong], true).is_err(), "{wrong}");
    }
    assert!(Domains::new(["!a.example"], true).is_err());
}

#[test]
fn exceptions_are_read_the_other_way() {
    let tight = Domains::new(["*", "!good.example"], true).unwrap();
    assert_eq!(tight.fit("good.example"), Holds::No);
    assert_eq!(tight.fit("good.example:81"), Holds::Yes);
    let loose = Domains::new(["*", "!bad.example"], false).unwrap();
    assert_eq!(loose.fit("bad.example:81"), Holds::No);
    assert_eq!(loose.fit("good.example"), Holds::Yes);
}

fn fetches(hosts: &[&str]) -> Fake {
    let touches = hosts.iter().map(|it| Touch::Fetch((*it).to_owned()));
    Fake::new(PermissionClass::Web).touching(touches)
}

/// Shows S3.20, C6.
#[test]
fn allowed_domains_are_no_question_others_are_and_denied_ones_are_denied() {
    let rules = [
        rule(Allow).domain(["good.example", "*.good.example"]).unwrap(),
        rule(Deny).domain(["bad.good.example"]).unwrap(),
    ];
    let decided = |tool: &Fake| decided(&rules, tool, json!({}));
    assert_eq!(decided(&fetches(&["good.example"])), Allow);
    assert_eq!(decided(&fetches(&["a.good.example"])), Allow);
    assert_eq!(decided(&fetches(&["other.example"])), Ask);
    assert_eq!(decided(&fetches(&["bad.good.example:8080"])), Deny);
    // All hosts must be allowed, and one that is denied is enough.
    assert_eq!(decided(&fetches(&["good.example", "other.example"])), Ask);
    assert_eq!(decided(&fetches(&["good.example", "bad.good.example"])), Deny);
    // A rule about hosts allows nothing else, and a web tool that hides its host is in doubt.
    let more = [Touch::Fetch("good.example".to_owned()), read("a")];
    assert_eq!(decided(&Fake::new(PermissionClass::Web).touching(more)), Ask);
    assert_eq!(decided(&fetches(&[])), Deny);
    assert_eq!(decided(&Fake::new(PermissionClass::Web).touching([Touch::Unknown])), Deny);
    assert_eq!(decided(&Fake::new(PermissionClass::Generic)), Ask);
}

#[test]
fn a_rule_over_paths_and_hosts_covers_both() {
    let both = rule(Allow).path(["data/**"]).unwrap().domain(["good.example"]).unwrap();
    let call = |paths: &[&str], hosts: &[&str]| {
        let reads = paths.iter().map(|it| read(it));
        let hosts = hosts.iter().map(|it| Touch::Fetch((*it).to_owned()));
        let tool = Fake::new(PermissionClass::Generic).touching(reads.chain(hosts));
        decided(std::slice::from_ref(&both), &tool, json!({}))
    };
    assert_eq!(call(&["data/a"], &["good.example"]), Allow);
    assert_eq!(call(&["data/a"], &[]), Ask);
    assert_eq!(call(&[], &["good.example"]), Ask);
    assert_eq!(call(&["data/a", "b"], &["good.example"]), Ask);
    assert_eq!(call(&["data/a"], &["good.example", "other.example"]), Ask);
}

/// Rules over hosts hold for shell commands: the text says which hosts they talk to.
/// Shows S3.20.
#[test]
fn a_denied_host_is_denied_to_commands() {
    let rules = [
        rule(Deny).domain(["bad.example", "*.bad.example"]).unwrap(),
        rule(Ask).domain(["slow.example"]).unwrap(),
    ];
    let decided = |text: &str| {
        let mut tool = Fake::new(PermissionClass::Shell).touching([runs(text)]);
        tool.facts.stages = true;
        decided(&rules, &tool, json!({}))
    };
    for text in [
        "curl https://bad.example/x",
        "ls; (curl -sS http://a.bad.example:8080/x | head)",
        "wget https://BAD.example./x",
        "git clone https://bad.example/r.git",
        "git clone git@bad.example:r.git",
        "scp a me@bad.example:b",
    ] {
        assert_eq!(decided(text), Deny, "{text}");
    }
    assert_ne!(decided("curl https://good.example/x"), Deny);
    assert_eq!(decided("echo bad.example"), Allow);
}
