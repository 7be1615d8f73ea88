//! Keywords are found the same one by one and all at once.

use std::sync::{LazyLock, atomic::Ordering};

use proptest::prelude::*;

use super::{super::rules, FEW, Keywords};

fn shipped() -> Vec<String> {
    rules::keywords_in(include_str!("../secrets.toml"))
}

#[test]
fn the_shipped_keywords_are_those_of_the_rules() {
    let read = rules::own(include_str!("../secrets.toml")).unwrap();
    let none: Vec<&str> =
        read.iter().filter(|it| it.keywords().is_empty()).map(|it| it.id()).collect();
    assert!(none.is_empty(), "rules without a keyword would never run: {none:?}");
    let mut words: Vec<String> =
        read.iter().flat_map(|it| it.keywords()).map(|it| it.to_ascii_lowercase()).collect();
    words.sort_unstable();
    words.dedup();
    assert_eq!(shipped(), words);
}

static AT_ONCE: LazyLock<Keywords> = LazyLock::new(|| {
    let keywords = Keywords::new(shipped());
    keywords.searched.store(FEW, Ordering::Relaxed);
    keywords
});

proptest! {
    #[test]
    fn one_by_one_finds_what_all_at_once_finds(
        parts in prop::collection::vec(
            prop_oneof![
                prop::sample::select(shipped()),
                prop::sample::select(shipped()).prop_map(|it| it.to_ascii_uppercase()),
                "[a-z_ é]{0,6}",
            ],
            0..8,
        ),
    ) {
        let text = parts.concat();
        let one_by_one = Keywords::new(shipped());
        prop_assert_eq!(one_by_one.may_be_in(&text), AT_ONCE.may_be_in(&text));
        prop_assert_eq!(one_by_one.hits(&text), AT_ONCE.hits(&text));
        prop_assert!(AT_ONCE.automaton.get().is_some() && one_by_one.automaton.get().is_none());
    }
}
