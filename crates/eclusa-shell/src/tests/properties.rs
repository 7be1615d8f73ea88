//! Properties of reading: nothing that is added to a command makes it look more harmless, and no
//! command makes the reader panic.

use proptest::prelude::*;

use super::split::argv;
use crate::catastrophe::of_words;
use crate::programs::{
    Class, CommandProfile, EXAMPLES, PROGRAMS, class_through, read, read_through,
};
use crate::{Part, Unknown, Word};

/// Commands of the examples, which cover every entry.
fn commands() -> Vec<&'static str> {
    EXAMPLES.iter().map(|(_, command, _)| *command).collect()
}

/// A8: a wrapper never lowers the class of what it wraps.
#[test]
fn a_wrapper_never_lowers_the_class() {
    let wrappers = [
        "env",
        "env LC_ALL=C",
        "timeout 5",
        "nice",
        "nice -n 5",
        "nohup",
        "setsid",
        "stdbuf -o0",
        "ionice -c3",
        "time",
        "command",
        "exec",
        "sudo",
        "doas",
        "busybox",
        "xargs",
        "xargs -0 -n 1",
        "watch",
        "parallel",
        "taskset 1",
    ];
    for command in commands() {
        let bare = class_through(&argv(command));
        for wrapper in wrappers {
            // Words that stand for an assignment or a flag belong to the wrapper.
            let wrapped = class_through(&argv(&format!("{wrapper} {command}")));
            let unknown = wrapper.starts_with("xargs") && wrapped.contains(Class::Unknown);
            assert!(
                unknown || wrapped.covers(bare),
                "`{wrapper} {command}`: {wrapped}, alone {bare}"
            );
        }
    }
}

/// A4: a flag that nobody knows never lowers the class, and makes the command unknown wherever
/// flags are looked at.
#[test]
fn an_unknown_flag_never_lowers_the_class() {
    for command in commands() {
        let words = argv(command);
        let before = class_through(&words);
        for flag in ["--unheard-of-flag", "-\u{e9}"] {
            let mut more = words.clone();
            more.insert(1, Word::literal(flag));
            let after = class_through(&more);
            let unknown = after.contains(Class::Unknown);
            assert!(
                unknown || after.covers(before),
                "`{command}` with `{flag}`: {after}, before {before}"
            );
        }
    }
}

/// A3: a word that only the run decides never lowers the class.
#[test]
fn an_unknown_word_never_lowers_the_class() {
    let unknown = Word {
        parts: vec![Part::Unknown { why: Unknown::Variable, splits: true }],
        source: "$x".to_owned(),
    };
    for command in commands() {
        let words = argv(command);
        let before = class_through(&words);
        let mut more = words.clone();
        more.push(unknown.clone());
        let after = class_through(&more);
        assert!(
            after.contains(Class::Unknown) || after.covers(before),
            "`{command} $x`: {after}, before {before}"
        );
    }
}

/// A bundle of short flags means what the flags mean apart.
#[test]
fn bundled_and_separate_flags_mean_the_same() {
    let pairs = [
        ("sort -nru a", "sort -n -r -u a"),
        ("sort -ro out in", "sort -r -o out in"),
        ("sort -oout in", "sort -o out in"),
        ("rm -rf x", "rm -r -f x"),
        ("ls -la", "ls -l -a"),
        ("sed -ni p x", "sed -n -i p x"),
        ("grep -rnA3 x y", "grep -r -n -A 3 x y"),
        ("git clean -fdx", "git clean -f -d -x"),
        ("tar xzf a.tgz", "tar -x -z -f a.tgz"),
        ("rg -iz a", "rg -i -z a"),
        ("sort --output=out in", "sort --output out in"),
        ("bash -ec ls", "bash -e -c ls"),
    ];
    for (bundled, apart) in pairs {
        let (left, right) = (read(&argv(bundled)), read(&argv(apart)));
        assert_eq!(left.class, right.class, "{bundled}");
        let paths = |it: &CommandProfile| {
            it.paths.iter().map(|it| (it.word.source.clone(), it.how)).collect::<Vec<_>>()
        };
        assert_eq!(paths(&left), paths(&right), "{bundled}");
    }
}

fn part() -> impl Strategy<Value = Part> {
    let texts = prop_oneof![
        Just("-"),
        Just("--"),
        Just("-o"),
        Just("--output="),
        Just("/"),
        Just("~"),
        Just("="),
        Just("e"),
        Just("s/a/b/"),
        Just("{}"),
        Just(";"),
        Just("+"),
        Just("é"),
        Just("a"),
        Just("-exec"),
        Just("w x"),
        Just("%G"),
        Just(":"),
        Just("/dev/sda"),
        Just(".."),
        Just("1"),
        Just("[")
    ];
    prop_oneof![
        texts.prop_map(|it| Part::Text(it.to_owned())),
        "\\PC{0,6}".prop_map(Part::Text),
        Just(Part::Glob("*".to_owned())),
        Just(Part::Glob("a?/[b]*".to_owned())),
        any::<bool>().prop_map(|splits| Part::Unknown { why: Unknown::Variable, splits }),
        any::<bool>().prop_map(|splits| Part::Unknown { why: Unknown::Home, splits }),
    ]
}

fn word() -> impl Strategy<Value = Word> {
    let parts = prop::collection::vec(part(), 0..4);
    (parts, "\\PC{0,8}").prop_map(|(parts, source)| Word { parts, source })
}

proptest! {
    /// Whatever the words are, reading them ends and does not panic.
    #[test]
    fn no_words_make_the_reader_panic(
        name in prop::sample::select(PROGRAMS.iter().map(|it| it.0).collect::<Vec<_>>()),
        words in prop::collection::vec(word(), 0..7),
    ) {
        let mut argv = vec![Word::literal(name)];
        argv.extend(words);
        for (words, profile) in read_through(&argv) {
            of_words(&words, &profile, &[]);
        }
    }

    /// A program or flag that is not in the table is unknown, however it is dressed.
    #[test]
    fn a_program_that_is_not_in_the_table_is_unknown(name in "[a-z]{3,12}q[a-z]{2}") {
        prop_assume!(PROGRAMS.iter().all(|it| it.0 != name));
        let profile = read(&[Word::literal(name.clone())]);
        prop_assert!(profile.unknown.is_some());
        let profile = read(&[Word::literal(format!("./{name}"))]);
        prop_assert!(profile.class.contains(Class::RunsCode));
    }

    /// Programs for sed and awk, however broken, are read to an end.
    #[test]
    fn no_program_makes_sed_or_awk_panic(text in "[sywrabe0-9/{};!$,\\\\\\[\\]|>\"()\n +-]{0,24}") {
        read(&[Word::literal("sed"), Word::literal(text.clone())]);
        read(&[Word::literal("awk"), Word::literal(text)]);
    }
}
