//! What holds for all changes, rules and limits.

use proptest::{collection::vec, option, prelude::*, sample::select};

use super::*;
use crate::policy::tests::properties::rules;

fn paths() -> impl Strategy<Value = &'static str> {
    select(vec!["a", "src/a", "src/x.pem", "docs/b", "docs", ".git/config", ".github", "../x"])
}

fn nodes() -> impl Strategy<Value = Option<Node>> {
    prop_oneof![
        Just(None),
        (select(vec!["", "x\n", "y"]), select(vec![0o644, 0o755, 0o4755]))
            .prop_map(|(text, mode)| file(text, mode)),
        select(vec!["a", "../../x", "/etc"]).prop_map(link),
        Just(directory()),
    ]
}

/// A change of its own, or both ends of a move.
fn units() -> impl Strategy<Value = Vec<Change>> {
    prop_oneof![
        3 => (paths(), nodes(), nodes()).prop_map(|(path, old, new)| vec![change(path, old, new)]),
        1 => (paths(), paths(), nodes(), nodes()).prop_map(|(from, to, old, node)| {
            let to = Change { from: Some(from.into()), ..change(to, old, node.clone()) };
            vec![change(from, node, None), to]
        }),
    ]
}

fn limits() -> impl Strategy<Value = EffectLimits> {
    let most = || option::of(0u64..4);
    (most(), most(), most(), any::<bool>(), select(vec![Allow, Ask, Deny])).prop_map(
        |(max_files, max_lines, max_bytes, allow_delete, executable)| EffectLimits {
            max_files,
            max_lines,
            max_bytes,
            delete: if allow_delete { Allow } else { Deny },
            executable,
            budget: Budget::default(),
        },
    )
}

fn judge(rules: &[Rule], limits: &EffectLimits, changes: &Changes, unruled: Decision) -> Verdict {
    let rules = Rules::new(rules.to_vec(), "/ws".as_ref()).with_effects(limits.clone());
    let args = json!({});
    let author = Author {
        name: "tool",
        aliases: &[],
        class: File,
        server: None,
        args: &args,
        touches: &[],
        call: None,
    };
    let lines = Some(changes.len() as u64);
    rules.judge_effects(&Effects {
        author,
        changes,
        lines,
        facts: RepositoryFacts::unknown(),
        moment: JudgeContext::unknown(),
        unruled,
    })
}

/// Units of which none touches a path of another: they can be put together in any order.
fn apart(units: Vec<Vec<Change>>) -> Vec<Vec<Change>> {
    let mut taken = std::collections::BTreeSet::new();
    let free = |unit: &Vec<Change>| {
        let paths: Vec<std::path::PathBuf> = unit.iter().map(|it| it.path.clone()).collect();
        let free = !paths.iter().any(|it| taken.contains(it));
        taken.extend(paths.into_iter().filter(|_| free));
        free
    };
    units.into_iter().filter(free).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// However the changes were put together, the verdict and its reasons are the same.
    #[test]
    fn the_order_of_changes_does_not_matter(
        units in vec(units(), 0..5), rules in vec(rules(), 0..4), limits in limits(),
        unruled in select(vec![Allow, Ask]),
    ) {
        let units = apart(units);
        let one = Changes::of(units.concat());
        let two = Changes::of(units.into_iter().rev().flatten());
        let told = judge(&rules, &limits, &one, unruled);
        prop_assert_eq!(&told, &judge(&rules, &limits, &two, unruled));
        prop_assert_eq!(told.because.first().map(|it| it.decision), Some(told.decision));
    }

    /// Who does more is never judged more mildly.
    #[test]
    fn adding_a_change_never_loosens(
        units in vec(units(), 1..5), rules in vec(rules(), 0..4), limits in limits(),
        unruled in select(vec![Allow, Ask]),
    ) {
        let units = apart(units);
        let all = judge(&rules, &limits, &Changes::of(units.concat()), unruled);
        let fewer = units.get(1..).unwrap_or_default().concat();
        let some = judge(&rules, &limits, &Changes::of(fewer), unruled);
        prop_assert!(some.decision <= all.decision, "{some:?} -> {all:?}");
    }

    /// Whatever the rules say, the floors hold.
    #[test]
    fn no_rule_loosens_the_floors(units in vec(units(), 1..5), rules in vec(rules(), 0..6)) {
        let changes = Changes::of(apart(units).concat());
        let limits = EffectLimits::default();
        let bare = judge(&[], &limits, &changes, Allow).decision;
        prop_assert!(judge(&rules, &limits, &changes, Allow).decision >= bare);
    }

    /// Tighter limits are never looser.
    #[test]
    fn a_tighter_limit_never_loosens(
        units in vec(units(), 0..5), one in limits(), other in limits(),
    ) {
        let least = |a: Option<u64>, b: Option<u64>| [a, b].into_iter().flatten().min();
        let both = EffectLimits {
            max_files: least(one.max_files, other.max_files),
            max_lines: least(one.max_lines, other.max_lines),
            max_bytes: least(one.max_bytes, other.max_bytes),
            delete: one.delete.max(other.delete),
            executable: one.executable.max(other.executable),
            budget: Budget::default(),
        };
        let changes = Changes::of(apart(units).concat());
        let (one, both) = (judge(&[], &one, &changes, Allow), judge(&[], &both, &changes, Allow));
        prop_assert!(one.decision <= both.decision);
    }
}
