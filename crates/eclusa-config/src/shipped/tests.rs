//! Tests of what is read of the shipped configuration.

use super::*;

#[test]
fn only_comments_and_examples_are_left_out_and_every_line_is_where_it_was() {
    let (long, short) = (DEFAULTS, SHIPPED);
    assert_eq!(long.lines().count(), short.lines().count());
    assert!(short.len() < long.len() / 2, "{} of {} bytes", short.len(), long.len());
    for (long, short) in long.lines().zip(short.lines()) {
        assert!(short.is_empty() || short == long, "{long}");
    }
    let mut read: toml::Table = toml::from_str(long).unwrap();
    for rule in read["rules"].as_array_mut().unwrap() {
        let rule = rule.as_table_mut().unwrap();
        assert!(rule.remove("match").is_some() && rule.remove("not_match").is_some(), "{rule}");
    }
    assert_eq!(toml::from_str::<toml::Table>(short).unwrap(), read);
}
