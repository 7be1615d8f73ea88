//! What holds for all rules and all calls.

use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::json;

use super::*;
use crate::{Access, PermissionClass::*, policy::ConditionError, policy::Matcher};

fn decisions() -> impl Strategy<Value = Decision> {
    select(vec![Allow, Stage, Ask, Deny])
}

pub(crate) fn rules() -> impl Strategy<Value = Rule> {
    let matchers = prop_oneof![
        select(vec!["*", "a*", "?", "rm*"]).prop_map(Matcher::glob),
        select(vec![1, 2]).prop_map(Matcher::equals),
        select(vec!["a", "^rm"]).prop_map(|it| Matcher::regex(it).unwrap()),
        select(vec!["src", "."]).prop_map(|it| Matcher::under(it).unwrap()),
        Just(!Matcher::contains("a").unwrap()),
    ];
    (
        decisions(),
        option::of(vec(select(vec!["tool", "old", "t*", "*", "other"]), 1..3)),
        option::of(vec(select(vec![Shell, File, Web, ReadOnly, Generic]), 1..3)),
        option::of(select(vec!["srv", "s*", "x"])),
        option::weighted(0.3, matchers.clone()),
        option::weighted(0.3, matchers),
        option::weighted(0.3, vec(select(vec!["*", "src/**", "*.pem", "!src/a", "docs/"]), 1..3)),
        option::weighted(0.2, select(vec![Access::Read, Access::Write])),
    )
        .prop_map(|(decision, tools, classes, server, arg, command, paths, access)| {
            let mut it = rule(decision);
            let or = |rule: &Rule, new: Result<Rule, ConditionError>| {
                new.unwrap_or_else(|_| rule.clone())
            };
            if let Some(tools) = tools {
                it = or(&it, it.clone().tool(tools));
            }
            if let Some(classes) = classes {
                it = or(&it, it.clone().class(classes));
            }
            if let Some(server) = server {
                it = or(&it, it.clone().server([server]));
            }
            if let Some(arg) = arg {
                it = or(&it, it.clone().arg("/a", arg));
            }
            if let Some(command) = command {
                it = or(&it, it.clone().command(command));
            }
            if let Some(paths) = paths {
                it = or(&it, it.clone().path(paths));
            }
            match access {
                Some(access) => it.access(access),
                None => it,
            }
        })
}

pub(crate) fn calls() -> impl Strategy<Value = (Fake, Value)> {
    let touches = prop_oneof![
        select(vec!["a", "src/a", "src/x.pem", "docs/b", "../x", "."]).prop_map(read),
        select(vec!["a", "src/a", "src/x.pem", "docs/b", "~/x"]).prop_map(write),
        select(vec!["ls", "rm a"]).prop_map(runs),
        Just(Touch::Fetch("x.example".to_owned())),
        Just(Touch::Unknown),
    ];
    let args = select(vec![
        json!({}),
        json!({"a": "rm a"}),
        json!({"a": "src/b"}),
        json!({"a": 1}),
        json!({"a": ["b"]}),
    ]);
    (
        option::of(select(vec![Shell, File, Web, ReadOnly, Generic])),
        vec(touches, 0..3),
        any::<(bool, bool, bool)>(),
        args,
    )
        .prop_map(|(class, touches, (sensitive, alias, foreign), args)| {
            let mut tool = Fake::new(class).touching(touches);
            tool.facts.sensitive = sensitive;
            let tool = if alias { tool.alias("old") } else { tool };
            (if foreign { tool.from("srv") } else { tool }, args)
        })
}

fn modes() -> impl Strategy<Value = Mode> {
    select(Mode::ALL.to_vec())
}

proptest! {
    /// Invariant 3: same call, same verdict, with the same reasons.
    #[test]
    fn judging_is_deterministic(rules in vec(rules(), 0..6), (tool, args) in calls()) {
        prop_assert_eq!(judged(&rules, &tool, args.clone()), judged(&rules, &tool, args));
    }

    /// A11: deny > ask > stage > allow from every source; nothing but an allow loosens.
    #[test]
    fn adding_a_rule_that_does_not_allow_never_loosens(
        rules in vec(rules(), 0..6), new in rules(), (tool, args) in calls(), mode in modes(),
    ) {
        prop_assume!(new.decision() != Allow);
        let before = verdict(&rules, &tool, args.clone(), mode);
        let more: Vec<Rule> = rules.into_iter().chain([new]).collect();
        let after = verdict(&more, &tool, args, mode);
        prop_assert!(after.decision >= before.decision, "{:?} -> {:?}", before, after);
    }

    #[test]
    fn the_order_of_rules_does_not_matter(
        rules in vec(rules(), 0..6), (tool, args) in calls(), turn in 0usize..6,
    ) {
        let mut other = rules.clone();
        other.reverse();
        other.rotate_left(turn.min(rules.len()));
        let (one, two) = (judged(&rules, &tool, args.clone()), judged(&other, &tool, args));
        prop_assert_eq!(one.decision, two.decision);
        prop_assert_eq!(one.because.len(), two.because.len());
    }

    /// Whatever the rules say, the floors hold.
    #[test]
    fn no_rules_loosen_the_floors(rules in vec(rules(), 0..8), (tool, args) in calls()) {
        let decision = decided(&rules, &tool, args);
        let has = |it: &Touch| tool.touches.contains(it);
        if has(&read("../x")) || has(&write("~/x")) {
            prop_assert_eq!(decision, Deny);
        }
        let runs = tool.touches.iter().any(|it| matches!(it, Touch::Run(_)));
        if runs || has(&Touch::Unknown) || tool.facts.class == Some(Shell) {
            prop_assert!(decision >= Ask);
        }
    }

    /// Every rule that applied is in the verdict, and the strictest of all decided.
    #[test]
    fn the_strictest_reason_decides(rules in vec(rules(), 0..6), (tool, args) in calls()) {
        let told = judged(&rules, &tool, args);
        prop_assert_eq!(told.because.first().map(|it| it.decision), Some(told.decision));
        prop_assert!(told.because.iter().all(|it| it.decision <= told.decision));
    }

    /// Total: no path and no pattern makes it panic, and what is inside has no `..` in it.
    #[test]
    fn any_path_has_a_place(path in "[a./~$\\\\\0 ]{0,12}", glob in "[a*?./!{},\\[\\]]{0,8}") {
        use crate::policy::{paths::Globs, Root};
        let root = Root::new("/a/b".as_ref());
        if let Some(inside) = root.inside(&path) {
            prop_assert!(!inside.split('/').any(|it| it == ".." || it.is_empty()));
            prop_assert!(!inside.starts_with('/'));
        }
        for tightens in [true, false] {
            if let Ok(globs) = Globs::new([&glob], tightens) {
                globs.fit(&path);
            }
        }
    }

    /// The glob matcher says what the obvious slow one says.
    #[test]
    fn globs_over_texts_are_right(pattern in "[ab*?]{0,8}", text in "[abc]{0,8}") {
        fn slow(p: &[char], t: &[char]) -> bool {
            match (p.split_first(), t.split_first()) {
                (None, None) => true,
                (Some(('*', rest)), _) => {
                    slow(rest, t) || t.split_first().is_some_and(|(_, t)| slow(p, t))
                }
                (Some(('?', p)), Some((_, t))) => slow(p, t),
                (Some((a, p)), Some((b, t))) => a == b && slow(p, t),
                _ => false,
            }
        }
        let chars = |it: &str| it.chars().collect::<Vec<char>>();
        let fast = crate::policy::names::fits(&pattern, &text);
        prop_assert_eq!(fast, slow(&chars(&pattern), &chars(&text)));
    }
}
