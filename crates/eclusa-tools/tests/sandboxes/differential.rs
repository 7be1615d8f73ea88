//! Random scripts, run plainly on one copy of a tree and through the gate on another: committed it
//! is what the plain run made, discarded and undone it is what it was before.

use eclusa::{Answer, settings::RequiredEnforcement};
use proptest::{prelude::*, test_runner::TestRunner};

use crate::{
    scripts::{START, script},
    tree,
    world::{World, plainly},
};

/// A few, because each starts five shells; the ignored test runs hundreds.
const FEW: u32 = 20;
const MANY: u32 = 500;

fn hold(cases: u32) {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new(config).run(&script(), |script| check(&script)).unwrap();
}

fn check(script: &str) -> Result<(), TestCaseError> {
    let world = |answer| World::lenient(answer, |it| it.least = RequiredEnforcement::Partial);
    let (plain, yes) = (world(Answer::Once), world(Answer::Once));
    let no = world(Answer::No("no".to_owned()));
    for world in [&plain, &yes, &no] {
        plainly(&world.root(), START);
    }
    let before = tree::read(&yes.root());
    plainly(&plain.root(), script);
    let after = tree::read(&plain.root());

    let reply = no.bash(script);
    prop_assert_eq!(tree::read(&no.root()), before.clone(), "discarded: {}", script);
    let expected = if before == after { "ok" } else { "changes_discarded" };
    prop_assert_eq!(reply.code(), expected, "{}: {}", script, reply.content());

    let reply = yes.bash(script);
    prop_assert_eq!(reply.code(), "ok", "{}: {}", script, reply.content());
    prop_assert_eq!(tree::read(&yes.root()), after.clone(), "committed: {}", script);
    if before != after {
        yes.undo(&reply);
        prop_assert_eq!(tree::read(&yes.root()), before, "undone: {}", script);
    }
    Ok(())
}

#[test]
fn a_few_scripts_do_what_they_do_plainly_and_leave_nothing_else() {
    eclusa_testing::needs!(Namespaces);
    hold(FEW);
}

#[test]
#[ignore = "takes minutes: run it after a change to staging or to commits"]
fn many_scripts_do_what_they_do_plainly_and_leave_nothing_else() {
    hold(MANY);
}
