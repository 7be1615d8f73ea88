//! Addresses as they are written, and rules over their hosts (S3.20, C6).

use proptest::prelude::*;

use crate::web::{Address, HostRules};

#[test]
fn what_is_shown_and_judged_is_the_normal_form() {
    for (text, shown, authority) in [
        ("HTTPS://Example.COM:443/a?b#c", "https://example.com/a?b", "example.com"),
        ("http://example.com.:80", "http://example.com/", "example.com"),
        ("http://example.com:443/", "http://example.com:443/", "example.com:443"),
        (
            "https://münchen.example/ü",
            "https://xn--mnchen-3ya.example/%C3%BC",
            "xn--mnchen-3ya.example",
        ),
        ("https://[2606:4700:0:0::1111]/", "https://[2606:4700::1111]/", "[2606:4700::1111]"),
        ("https://[::ffff:8.8.8.8]/", "https://8.8.8.8/", "8.8.8.8"),
    ] {
        let address = Address::parse(text).unwrap();
        assert_eq!(
            (address.to_string().as_str(), address.authority().as_str()),
            (shown, authority)
        );
    }
}

#[test]
fn what_programs_read_in_two_ways_is_refused() {
    for text in [
        "https://@example.com/",
        "https://:@example.com/",
        "https://a:b@example.com/",
        "https:/example.com/",
        "https:\\\\example.com/",
        "https://example.com\\a",
        "//example.com/",
        "https://example.com/\r\nHost: x",
        "https://example.com /",
        "https://example.com/ ",
        "https://exam\u{ad}ple.com/",
        "https://exam\u{200b}ple.com/",
        "https://exam\u{202e}ple.com/",
        "https://exam\u{fe0f}ple.com/",
        "https://example%2ecom/",
        "https://ex%00ample.com/",
        "https://example..com/",
        "https://example.com../",
        "https://.example.com/",
        "https://./",
        "https://*.example.com/",
        "https://exa!mple.com/",
        "https://example.com:0/",
        "https://example.com:99999/",
        "https://example.com:x/",
        "http://0x8.8.8.8/",
        "http://8.8.8.8./",
        "http://134744072/",
        "http://８.8.8.8/",
        "https://[fe80::1%25eth0]/",
        "https://[::1/",
        "https://?x",
        "view-source:https://example.com/",
        "ftp://example.com/",
        "data:text/plain,x",
        "about:blank",
    ] {
        assert!(Address::parse(text).is_err(), "{text:?} was accepted");
    }
    assert!(Address::parse(&format!("https://{}.com/", "a".repeat(64))).is_err());
    assert!(Address::parse(&format!("https://example.com/{}", "a".repeat(9000))).is_err());
}

#[test]
fn a_refusal_says_what_is_wrong_and_shows_what_cannot_be_seen() {
    let err = Address::parse("https://exam\tple.com/").unwrap_err().to_string();
    assert_eq!(
        err,
        r"`https://exam\u{9}ple.com/` cannot be fetched: it has a character that cannot be seen (U+0009); leave it out"
    );
    let err = HostRules::new(&["https://example.com"], &[]).unwrap_err().to_string();
    assert!(err.starts_with("`https://example.com` is not a host rule: "), "{err}");
}

#[test]
fn a_redirect_is_read_from_where_it_stands_and_never_gives_up_encryption() {
    let here = Address::parse("https://example.com/a/b").unwrap();
    assert_eq!(here.redirect("../c?d").unwrap().to_string(), "https://example.com/c?d");
    assert_eq!(here.redirect("//other.example/").unwrap().authority(), "other.example");
    for location in ["http://example.com/", "//a@b.example/", "\\\\b.example/", "/\tx", "file:///x"]
    {
        assert!(here.redirect(location).is_err(), "{location:?} was followed");
    }
}

/// Shows S3.20.
#[test]
fn entries_that_are_no_hosts_are_errors() {
    for entry in [
        "",
        "*.",
        "a*.example",
        "*x.example",
        "**.example",
        "x/y",
        "a@b",
        "x:0",
        "x:y",
        "*.8.8.8.8",
        "a b",
    ] {
        assert!(HostRules::new(&[entry], &[]).is_err(), "`{entry}` was accepted");
        assert!(HostRules::new(&[], &[entry]).is_err(), "`{entry}` was accepted");
    }
}

proptest! {
    /// Whatever the text, reading it gives an error or a form that reads as itself.
    #[test]
    fn an_address_reads_as_itself(text in "(https?://)?[a-zA-Z0-9.@:%\\\\/?#\\[\\] é。-]{0,40}|.{0,40}") {
        if let Ok(address) = Address::parse(&text) {
            prop_assert_eq!(&Address::parse(address.url().as_str()).unwrap(), &address);
            prop_assert!(!address.to_string().contains(['@', '\\', ' ']) || address.url().path().contains('@')
                || address.url().query().is_some_and(|query| query.contains('@')));
        }
    }

    /// S3.20: `*.x` is all that is below x and nothing else, and deny wins.
    /// Shows S3.20.
    #[test]
    fn a_wildcard_is_what_is_below(host in "[a-c]{1,2}(\\.[a-c]{1,2}){0,3}") {
        let address = Address::parse(&format!("https://{host}/")).unwrap();
        let rules = HostRules::new(&["*.a.b"], &[]).unwrap();
        prop_assert_eq!(rules.judge(&address).is_ok(), host.ends_with(".a.b"));
        let rules = HostRules::new(&["*", host.as_str()], &["*.a.b"]).unwrap();
        prop_assert_eq!(rules.judge(&address).is_ok(), !host.ends_with(".a.b"));
    }
}
