//! One call, one question: a yes before the run covers the ordinary review of what it changes, and an
//! edit is an answer.

use crate::{
    pending::{park, yes},
    world::World,
};

const ASK: &str = "on_no_approver = \"queue\"\n\
                   [[rules]]\ndecision = \"ask\"\ncommand = \"touch\"\n";

#[test]
fn a_rule_that_asks_about_a_command_that_edits_asks_once() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(ASK);
    let parked = park(&world, "touch a.txt");
    let shown = world.eclusa(&["approvals", "show", "1"]);
    assert!(shown.out.contains("its changes are then applied"), "{shown:?}");
    assert!(!shown.out.contains("hard to take back"), "{shown:?}");
    assert_eq!(yes(&world, &parked["approval"]).out, "approval 1: yes\n");
    assert_eq!(world.eclusa(&["resume", "1"]).code, 0);
    assert!(world.path("workspace/a.txt").exists());
    assert_eq!(world.eclusa(&["approvals"]).out, "no pending approvals\n");
}

/// A rule over what is changed speaks for itself: the yes to running the command does not answer it.
#[test]
fn a_yes_to_running_does_not_answer_rules_over_effects() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(ASK);
    let rule = "[[rules]]\ndecision = \"ask\"\npath = \"a.txt\"\nreason = \"look first\"\n";
    world.write("workspace/eclusa.toml", rule);
    let parked = park(&world, "f=a.txt; touch $f");
    assert_eq!(yes(&world, &parked["approval"]).code, 0);
    let again = world.eclusa(&["resume", "1"]);
    assert_eq!(again.code, 4, "{again:?}");
    assert!(!world.path("workspace/a.txt").exists());
    let said = yes(&world, &2.into());
    assert!(said.out.contains("applied as call"), "{said:?}");
    assert!(world.path("workspace/a.txt").exists());
}

/// Whoever writes other arguments has said yes to them: nobody is asked again, and the model is told.
#[test]
fn an_edit_is_an_answer_and_the_model_is_told() {
    eclusa_testing::needs!(Namespaces);
    let world = World::with(ASK);
    park(&world, "touch a.txt");
    let edited = world.eclusa(&["approvals", "edit", "1", "command=touch b.txt"]);
    assert_eq!(edited.code, 0, "{edited:?}");
    // The first call, made again, takes them.
    let ran = world.eclusa(&["run", "--park", "bash", "command=touch a.txt"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.out.contains("a person changed the arguments") && ran.out.contains("b.txt"),
        "{ran:?}"
    );
    assert!(world.path("workspace/b.txt").exists() && !world.path("workspace/a.txt").exists());
    assert_eq!(world.eclusa(&["approvals"]).out, "no pending approvals\n");
    // What a rule denies stays denied, whoever wrote it.
    let rule = "[[rules]]\ndecision = \"deny\"\ncommand = \"touch c.txt\"\n";
    world.write("workspace/eclusa.toml", rule);
    park(&world, "touch d.txt");
    let edited = world.eclusa(&["approvals", "edit", "2", "command=touch c.txt"]);
    assert_eq!(edited.code, 0, "{edited:?}");
    assert_eq!(world.eclusa(&["resume", "2"]).code, 3);
    assert!(!world.path("workspace/c.txt").exists());
}
