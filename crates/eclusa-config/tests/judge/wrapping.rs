//! Metamorphic tests: whatever a command is wrapped in, the verdict gets no looser.

use eclusa::{Decision, Rule};
use proptest::prelude::*;

use crate::{corpus::cases, world::World};

/// Ways to run a command that is itself a whole text. `{}` is where it goes as it stands, `{q}`
/// in single quotes.
const AROUND: [&str; 34] = [
    "{}; true",
    "true; {}",
    "true && {}",
    "false || {}",
    "( {} )",
    "{ {}; }",
    "( ( {} ) )",
    "if true; then {}; fi",
    "if {}; then true; fi",
    "while {}; do break; done",
    "for x in a b; do {}; done",
    "case x in x) {} ;; esac",
    "f() { {}; }; f",
    "! {}",
    "echo \"$( {} )\"",
    "echo $( {} )",
    "x=$( {} ); echo done",
    "cat <( {} )",
    "true | {}",
    "{} | cat",
    "{} &\nwait",
    "sh -c {q}",
    "bash -c {q}",
    "bash -lc {q}",
    "sh -c \"sh -c {qq}\"",
    "eval {q}",
    "env sh -c {q}",
    "env -i A=1 sh -c {q}",
    "timeout 5 sh -c {q}",
    "nohup sh -c {q}",
    "nice -n 5 bash -c {q}",
    "echo x | xargs -I% sh -c {q}",
    "find . -name x -exec sh -c {q} ';'",
    "bash <<'END'\n{}\nEND",
];

/// Words that may stand before a simple command without changing what it does.
const BEFORE: [&str; 10] = [
    "env",
    "command",
    "nohup",
    "nice -n 3",
    "timeout 5",
    "timeout -k 1 5 nice",
    "stdbuf -oL",
    "setsid",
    "time",
    "env -u X command",
];

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn wrapped(around: &str, text: &str) -> String {
    let twice = quoted(text).replace('\\', "\\\\").replace('"', "\\\"");
    let twice = twice.replace('$', "\\$").replace('`', "\\`");
    around.replace("{qq}", &twice).replace("{q}", &quoted(text)).replace("{}", text)
}

/// Texts that can stand anywhere: on one line, without a comment, a here-document, an operator at
/// the end, a piece that is not whole, or what `find` would put a name in.
fn fits_anywhere(text: &str) -> bool {
    let ends = text.trim_end().ends_with(['\\', '&', ';', '|']);
    let count = |it: char| text.matches(it).count();
    !text.contains(['\n', '\r', '#', '\0'])
        && !text.contains("<<")
        && !ends
        && !text.trim().is_empty()
        && count('(') == count(')')
        && !text.contains("{}")
}

/// A text of a single command that begins with a plain word.
fn is_simple(text: &str) -> bool {
    let plain = |it: char| it.is_ascii_alphanumeric() || " ./-_=:,@+".contains(it);
    let words = ["if", "for", "while", "case", "time", "function", "coproc", "until", "select"];
    let first = text.split(' ').next().unwrap_or_default();
    text.chars().all(plain) && !first.contains('=') && !words.contains(&first) && !first.is_empty()
        // Some shells look for a program there, unless it is quoted.
        && !text.contains(" =")
}

fn told(at: Decision, was: Decision, text: &str, new: &str, why: &str) -> String {
    format!("{text:?} is {was}, but {new:?} is {at}: {why}")
}

/// Every case in every wrapper: a verdict of ask or deny is no looser for it, and what is not
/// allowed is not allowed. What is denied for what it does to the machine stays denied.
#[test]
fn no_wrapper_loosens_a_case() {
    let world = World::shipped();
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for case in cases("shell.jsonl") {
        let text = case["command"].as_str().unwrap();
        if !fits_anywhere(text) {
            continue;
        }
        checked += 1;
        let was = world.judge(text).decision;
        let simple = BEFORE.iter().filter(|_| is_simple(text)).map(|it| format!("{it} {text}"));
        // And a few in two of them, other ones for every case.
        let twice = (0..4).map(|it| {
            let outer = AROUND[(checked * 7 + it * 11) % AROUND.len()];
            let inner = AROUND[(checked * 5 + it * 13 + 3) % AROUND.len()];
            wrapped(outer, &wrapped(inner, text))
        });
        let once = AROUND.iter().map(|it| wrapped(it, text));
        for new in once.chain(twice).chain(simple) {
            let now = world.judge(&new);
            if now.decision < was {
                wrong.push(told(now.decision, was, text, &new, &now.why()));
            }
        }
    }
    assert!(checked > 200, "{checked} cases");
    let count = wrong.len();
    wrong.truncate(40);
    assert!(wrong.is_empty(), "{count}: {wrong:#?}");
}

/// Quoting a word is no way around a rule.
#[test]
fn no_quoting_loosens_a_case() {
    let world = World::shipped();
    let mut wrong = Vec::new();
    for case in cases("shell.jsonl") {
        let text = case["command"].as_str().unwrap();
        if !is_simple(text) {
            continue;
        }
        let was = world.judge(text).decision;
        let each = |spell: &dyn Fn(&str) -> String| {
            let words = text.split(' ').filter(|it| !it.is_empty());
            words.map(spell).collect::<Vec<_>>().join(" ")
        };
        let halves = |it: &str| {
            let (a, b) = it.split_at(it.len() / 2);
            format!("{a}\"\"{b}")
        };
        let spellings = [
            each(&|it| format!("'{it}'")),
            each(&|it| format!("\"{it}\"")),
            each(&|it| format!("$'{it}'")),
            each(&halves),
            each(&|it| it.chars().map(|it| format!("\\{it}")).collect()),
            format!("  {}  ", text.replace(' ', " \\\n ")),
        ];
        for new in spellings {
            let now = world.judge(&new);
            if now.decision < was {
                wrong.push(told(now.decision, was, text, &new, &now.why()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Two cases in a list are as strict as the stricter.
#[test]
fn a_list_is_as_strict_as_its_strictest_part() {
    let world = World::shipped();
    let texts: Vec<String> = cases("shell.jsonl")
        .iter()
        .map(|it| it["command"].as_str().unwrap().to_owned())
        .filter(|it| fits_anywhere(it))
        .collect();
    let verdicts: Vec<Decision> = texts.iter().map(|it| world.judge(it).decision).collect();
    let mut wrong = Vec::new();
    for (at, one) in texts.iter().enumerate() {
        // Each with one that is far from it in the file: another family.
        let with = (at * 31 + 17) % texts.len();
        for between in ["; ", " && ", " || ", " | "] {
            let new = format!("{one}{between}{}", texts[with]);
            let was = verdicts[at].max(verdicts[with]);
            let now = world.judge(&new);
            if now.decision < was {
                wrong.push(told(now.decision, was, one, &new, &now.why()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn decision() -> impl Strategy<Value = Decision> {
    prop::sample::select(vec![Decision::Allow, Decision::Stage, Decision::Ask, Decision::Deny])
}

/// Rules over commands and paths, without exceptions.
fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let beginnings = vec!["git", "git push", "cat", "rm", "echo *", "curl", "cargo test $", "env"];
    let about = (decision(), prop::sample::select(beginnings), 0..3u8);
    let rule = about.prop_map(|(decision, beginning, kind)| {
        let rule = Rule::new(decision);
        match kind {
            0 => rule.commands([beginning]).unwrap(),
            1 => rule.tool(["bash"]).unwrap().commands([beginning]).unwrap(),
            _ => rule.path(["src/**", "*.md"]).unwrap(),
        }
    });
    prop::collection::vec(rule, 0..5)
}

fn texts() -> impl Strategy<Value = String> {
    let pieces = vec![
        "git push origin main",
        "git log",
        "cat src/a.rs",
        "rm -r src",
        "echo $X",
        "curl https://a.example",
        "cargo test",
        "env FOO=1 git push",
        "$CMD push",
        "sh -c 'rm x'",
    ];
    let list = prop::collection::vec(prop::sample::select(pieces), 1..4);
    (list, prop::sample::select(vec!["; ", " && ", " | "])).prop_map(|(all, by)| all.join(by))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Adding a rule that does not allow never loosens anything, and one that allows loosens
    /// nothing that a rule decided.
    #[test]
    fn adding_a_rule_never_loosens_a_stricter_one(
        all in rules(), more in rules(), text in texts(),
    ) {
        let before = World::with(all.clone()).judge(&text);
        let by_rule = before.because.iter().filter(|it| it.source == eclusa::Source::Rule);
        let ruled = by_rule.map(|it| it.decision).max().unwrap_or(Decision::Allow);
        let allows = more.iter().any(|it| it.decision() == Decision::Allow);
        let after = World::with(all.into_iter().chain(more).collect()).judge(&text);
        prop_assert!(after.decision >= ruled, "{}", after.why());
        prop_assert!(allows || after.decision >= before.decision, "{}", after.why());
    }

    #[test]
    fn the_order_of_rules_never_matters(all in rules().prop_shuffle(), text in texts()) {
        let one = World::with(all.clone()).judge(&text);
        let other = World::with(all.into_iter().rev().collect()).judge(&text);
        prop_assert_eq!(one.decision, other.decision);
    }

    /// Total: any text has a verdict, and the same one again.
    #[test]
    fn any_text_has_a_verdict_and_keeps_it(text in ".{0,80}", shell in "[a-z$(){}'\"|;&<>` \n\\\\]{0,60}") {
        let world = World::shipped();
        for text in [text, shell] {
            let one = world.judge(&text);
            prop_assert_eq!(one, world.judge(&text));
        }
    }
}
