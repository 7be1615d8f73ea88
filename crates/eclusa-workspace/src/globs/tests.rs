//! Glob by glob and all together are the same.

use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::files::SECRET_NAMES;

fn glob() -> impl Strategy<Value = String> {
    let name = "[aAbB._*-]{1,4}";
    let between = prop::sample::select(vec!["/", "/", "/**/"]);
    let middle = (prop::collection::vec(name, 1..4), between).prop_map(|(it, by)| it.join(by));
    let behind = prop::sample::select(vec!["", "", "/**", "/**/**"]);
    (prop::bool::ANY, middle, behind).prop_map(|(before, middle, behind)| {
        format!("{}{middle}{behind}", if before { "**/" } else { "" })
    })
}

fn path() -> impl Strategy<Value = String> {
    prop::collection::vec("[aAbB._é\n-]{0,4}", 1..5).prop_map(|it| it.join("/"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_simple_glob_fits_what_the_glob_fits(
        glob in glob(), path in path(), any_case in prop::bool::ANY,
    ) {
        if let Some(simple) = SimpleGlob::new(&glob, any_case) {
            // As one of several too, where globs are sorted by their kinds.
            let alone = compiled(&glob, any_case).unwrap();
            let set = GlobSet::builder().add(alone.clone()).build().unwrap();
            let fits = simple.fits(path.as_bytes());
            prop_assert_eq!(fits, alone.compile_matcher().is_match(&path), "{} {:?}", glob, path);
            prop_assert_eq!(fits, set.is_match(&path), "{} {:?}", glob, path);
        }
    }
}

#[test]
fn what_is_not_simple_is_left_to_globs() {
    for glob in [
        "a?",
        "[ab]",
        "{a,b}",
        "a\\*",
        "a**",
        "**",
        "**/**",
        "a/**/b/**/c",
        "é",
        "a.",
        "a//b",
        "/a",
    ] {
        assert!(SimpleGlob::new(glob, false).is_none(), "{glob}");
    }
    for glob in ["a", "**/a/**", "**/.git/modules/**/hooks/**", "a/**/**", "a/**/b"] {
        assert!(SimpleGlob::new(glob, false).is_some(), "{glob}");
    }
}

#[test]
fn a_set_answers_the_same_before_and_after_it_is_put_together() {
    let globs = || {
        let names = SECRET_NAMES.iter().filter(|it| !it.starts_with('!'));
        names.map(|it| PathGlob::new(&format!("**/{it}"), true).unwrap()).collect()
    };
    let (one_by_one, together) = (LazyGlobs::new(globs()), LazyGlobs::new(globs()));
    together.0.asked.store(FEW, Ordering::Relaxed);
    for path in [".env", "a/.ENV", "a/.ssh/id", "x.pem", "a/credentials.rs", "src/main.rs", ""] {
        let path = Path::new(path);
        assert_eq!(one_by_one.is_match(path), together.is_match(path), "{path:?}");
        assert_eq!(one_by_one.matches(path), together.matches(path), "{path:?}");
    }
    assert!(one_by_one.0.set.get().is_none() && together.0.set.get().is_some());
}

#[test]
fn one_that_is_not_simple_is_built_alone_when_it_is_asked_and_many_at_once() {
    let glob = |it: &str| PathGlob::new(it, false).unwrap();
    let set = LazyGlobs::checked(vec![glob("c"), glob("[ab]"), glob("{b,d}")]).unwrap();
    let fits = |path: &str| (set.is_match(Path::new(path)), set.matches(Path::new(path)));
    assert_eq!(fits("b"), (Some(true), Some(vec![1, 2])));
    assert_eq!(fits("c"), (Some(true), Some(vec![0])));
    assert_eq!(fits("e"), (Some(false), Some(Vec::new())));
    assert!(set.0.set.get().is_none());
    let long = PathGlob::new(&"a".repeat(ALWAYS + 1), false).unwrap();
    assert!(LazyGlobs::checked(vec![long]).unwrap().0.set.get().is_some());
    assert!(PathGlob::new("[", false).is_err());
}
