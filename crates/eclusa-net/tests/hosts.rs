//! Hosts and patterns in odd spellings: read in one way, or not at all.

use eclusa_net::{
    AddressError, ClosedHosts, Endpoint, Host, HostAccess, HostError, HostPattern, HostSet,
    judge_addresses, metadata_service, split_port,
};

#[test]
fn a_host_is_read_in_one_way_or_not_at_all() {
    for (text, read) in [
        ("example.com", "example.com"),
        ("EXAMPLE.com.", "example.com"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("_dmarc.example.com", "_dmarc.example.com"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "[::1]"),
        ("[::ffff:127.0.0.1]", "127.0.0.1"),
        ("localhost", "localhost"),
    ] {
        assert_eq!(Host::parse(text).unwrap().to_string(), read, "{text}");
    }
    for (text, why) in [
        ("", HostError::NoHost),
        (".", HostError::NoHost),
        ("a/b", HostError::NoHost),
        ("user@a.example", HostError::NoHost),
        ("*", HostError::NoHost),
        ("a..b", HostError::Label),
        ("a.example..", HostError::Label),
        ("bücher.example", HostError::Characters),
        ("a b", HostError::Characters),
        ("a%2eexample", HostError::Characters),
        ("::1", HostError::Characters),
        ("[::1", HostError::Brackets),
        ("[::1]x", HostError::Brackets),
        ("[fe80::1%eth0]", HostError::Brackets),
        ("0x7f.1", HostError::OddAddress),
        ("0x7f000001", HostError::OddAddress),
        ("2130706433", HostError::OddAddress),
        ("127.1", HostError::OddAddress),
        ("0177.0.0.1", HostError::OddAddress),
        ("1.2.3.4.", HostError::OddAddress),
    ] {
        assert_eq!(Host::parse(text), Err(why), "{text}");
    }
}

/// Where a cloud hands out the keys of a machine, in whichever spelling some program reads.
#[test]
fn metadata_services_are_known_in_every_spelling() {
    for host in [
        "169.254.169.254",
        "http://169.254.169.254/latest/meta-data/",
        "169.254.170.2:80",
        "http://me@169.254.169.254:80/x",
        "http://2852039166/",
        "http://0xA9FEA9FE/",
        "0xa9.0xfe.0xa9.0xfe",
        "0251.0376.0251.0376",
        "169.254.43518",
        "169.16689662",
        "http://169.254.169.254./",
        "http://[::ffff:169.254.169.254]/",
        "[64:ff9b::a9fe:a9fe]:80",
        "http://[fe80::1%25eth0]/",
        "fe80::1",
        "http://[fd00:ec2::254]/latest/",
        "100.100.100.200",
        "168.63.129.16",
        "http://Metadata.Google.Internal./computeMetadata/v1/",
    ] {
        assert!(metadata_service(host).is_some(), "{host}");
    }
    for host in [
        "",
        "example.com",
        "169.253.169.254",
        "http://example.com/169.254.169.254",
        "https://169.254.169.254.example.com/",
        "metadata",
        "127.0.0.1",
        "10.0.0.1:8080",
        "[::1]:80",
        "[fd00::1]",
        "4294967296",
        "1.2.3.4.5",
        "git@github.com:a/b.git",
    ] {
        assert_eq!(metadata_service(host), None, "{host}");
    }
}

#[test]
fn a_port_is_digits_from_1_to_65535() {
    assert_eq!(split_port("a:443"), Ok(("a", Some(443))));
    assert_eq!(split_port("[::1]:8080"), Ok(("[::1]", Some(8080))));
    assert_eq!(split_port("[::1]"), Ok(("[::1]", None)));
    for wrong in ["a:", "a:0", "a:+80", "a:-1", "a:65536", "a:80x", "a: 80", "[::1]:"] {
        assert_eq!(split_port(wrong), Err(HostError::Port), "{wrong}");
    }
}

#[test]
fn whoever_allows_reads_a_pattern_narrowly_and_whoever_denies_widely() {
    // The pattern, the endpoint, whether it is covered, whether it is concerned.
    for (pattern, endpoint, covers, concerns) in [
        ("a.example", "https://a.example/", true, true),
        ("a.example", "a.example", true, true),
        ("a.example", "https://a.example:8443/", false, true),
        ("a.example", "http://a.example:443/", false, true),
        ("a.example:443", "https://a.example/", true, true),
        ("a.example:443", "https://a.example:443/", true, true),
        ("a.example:443", "http://a.example/", false, false),
        ("a.example:443", "a.example", false, true),
        ("a.example:8443", "a.example", false, false),
        ("*", "https://anything.example:1/", true, true),
        ("*:8443", "https://x.example:8443/", true, true),
        ("*:8443", "https://x.example/", false, false),
        ("*.example", "https://a.b.example/", true, true),
        ("*.example", "https://example/", false, false),
        ("*.example", "https://notexample/", false, false),
        ("[::1]", "http://[0:0::1]/", true, true),
        ("127.0.0.1", "http://[::ffff:7f00:1]/", true, true),
    ] {
        let parsed = HostPattern::parse(pattern).unwrap();
        let endpoint_read = Endpoint::parse(endpoint).unwrap();
        let said = (parsed.covers(&endpoint_read), parsed.concerns(&endpoint_read));
        assert_eq!(said, (covers, concerns), "{pattern} {endpoint}");
    }
    for wrong in ["", "*.", "**", "a*.example", "*.1.2.3.4", "https://a.example", "a.example/x"] {
        assert!(HostPattern::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn this_machine_is_known_by_its_names() {
    let here = |it: &str| Endpoint::parse(it).is_ok_and(|it| it.is_loopback());
    for text in [
        "localhost:3000",
        "http://localhost",
        "127.0.0.1",
        "127.9.9.9:1",
        "[::1]:80",
        "a.localhost",
    ] {
        assert!(here(text), "{text}");
    }
    for text in
        ["localhost.evil.example", "http://localhost@evil.example", "128.0.0.1", "[::2]", "0.0.0.0"]
    {
        assert!(!here(text), "{text}");
    }
}

#[test]
fn one_bad_address_among_good_ones_is_a_no() {
    let ips = |texts: &[&str]| texts.iter().map(|it| it.parse().unwrap()).collect::<Vec<_>>();
    let judge = |texts: &[&str]| judge_addresses(ips(texts), 443, |_| false);
    assert_eq!(judge(&["93.184.216.34", "93.184.216.34"]).unwrap().len(), 1);
    assert!(matches!(judge(&["93.184.216.34", "10.0.0.1"]), Err(AddressError::Special(..))));
    assert!(matches!(judge(&["::ffff:127.0.0.1"]), Err(AddressError::Special(..))));
    assert_eq!(judge(&[]), Err(AddressError::None));
    let many = vec!["93.184.216.34".parse().unwrap(); 65];
    assert_eq!(judge_addresses(many, 443, |_| false), Err(AddressError::TooMany));
    let private = "127.0.0.1:80".parse().unwrap();
    assert!(judge_addresses(ips(&["127.0.0.1"]), 80, |it| it == private).is_ok());
}

/// What a rule denies is closed whoever opens it; a person's yes outweighs a rule that asks.
#[test]
fn what_rules_and_people_say_of_hosts_is_weighed() {
    let endpoint = |text: &str| Endpoint::parse(text).unwrap();
    let set = |patterns: &[&str]| HostSet::parse(patterns).unwrap();
    let closed = |patterns: &[&str]| ClosedHosts { hosts: set(patterns), unless: Vec::new() };
    let access = HostAccess {
        denied: vec![ClosedHosts {
            unless: vec![set(&["c.evil.test"])],
            ..closed(&["*.evil.test"])
        }],
        granted: ["a.evil.test", "asked.test"].map(|it| HostPattern::parse(it).unwrap()).into(),
        asked: vec![closed(&["asked.test", "other.test"])],
        opened: vec![set(&["open.test", "other.test"])],
    };
    for (host, allowed, permitted) in [
        ("https://a.evil.test/", true, false),
        ("https://b.evil.test:8443/", true, false),
        ("https://c.evil.test/", true, true),
        ("https://c.evil.test/", false, false),
        ("https://asked.test/", false, true),
        ("https://other.test/", true, false),
        ("https://open.test/", false, true),
        ("https://open.test:8443/", false, false),
        ("https://plain.test/", true, true),
        ("https://plain.test/", false, false),
    ] {
        assert_eq!(access.permits(&endpoint(host), allowed), permitted, "{host} {allowed}");
    }
    assert!(!HostAccess::nothing().permits(&endpoint("https://a.test:1/"), true));
}
