//! What somebody else did to the workspace while a command ran, or after it.

use eclusa_sandbox::scan::Clash::{self, *};

use crate::overlay::{World, mounters, shell};

const START: &str = "echo a > a; echo b > b; mkdir d; echo x > d/x; ln -s a l";

/// The host runs one script before the effects are read, and one after.
fn check(script: &str, during: &str, after: &str, expected: &[(&str, Clash)]) {
    for &mounter in mounters() {
        let world = World::new(mounter, START);
        // The clock of a filesystem stands still for some milliseconds.
        while eclusa_sandbox::scan::Moment::on(std::fs::File::open(world.stage()).unwrap()).unwrap()
            <= world.began
        {}
        world.run(script);
        shell(&world.lower(), during);
        let layer = world.layer();
        let effects = layer.scan().unwrap();
        shell(&world.lower(), after);
        let found = layer.conflicts(&effects).unwrap();
        let found: Vec<_> = found.iter().map(|it| (it.path.to_str().unwrap(), it.clash)).collect();
        assert_eq!(found, expected, "{script} | {during} | {after}");
    }
}

#[test]
fn nobody_else_no_conflict() {
    check("echo more >> a; rm -r d; echo n > n; rm l", "", "", &[]);
}

#[test]
fn what_the_command_did_not_change_is_no_conflict() {
    check("echo more >> a", "echo host >> b; echo host > host", "rm d/x", &[]);
}

#[test]
fn changes_while_the_command_ran_are_conflicts() {
    check("echo more >> a; rm b", "echo host >> a", "", &[("a", Meanwhile)]);
    check("rm -r d", "echo host > d/new", "", &[("d/new", Meanwhile)]);
    check("echo n > n", "echo host > n", "", &[("n", Meanwhile)]);
}

#[test]
fn changes_after_the_look_are_conflicts() {
    check(
        "echo more >> a; rm b",
        "",
        "echo host >> a; chmod 600 b",
        &[("a", Altered), ("b", Altered)],
    );
    check(
        "echo more >> a; echo n > n",
        "",
        "rm a; echo host > n",
        &[("a", Deleted), ("n", Appeared)],
    );
    check(
        "ln -sfn b l; echo >> d/x",
        "",
        "ln -sfn c l; rm -r d; ln -s / d",
        &[("d/x", Deleted), ("l", Altered)],
    );
    check("echo more >> a", "", "rm a; mkdir a", &[("a", Replaced)]);
    check("chmod 700 d", "", "chmod 711 d", &[("d", Altered)]);
}
