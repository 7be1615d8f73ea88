//! Layers go away whole, whatever a command left in them.

use eclusa_sandbox::scan::discard;

use crate::overlay::{World, mounters, shell};

#[test]
fn discard_removes_what_has_no_permissions_and_the_kernels_own_work_directory() {
    for &mounter in mounters() {
        let world = World::new(mounter, "echo a > a; mkdir d; echo x > d/x");
        world.run("rm a; mkdir -p s/t; echo > s/t/f; chmod 0 s/t s; mkfifo p; ln -s / root; rm -r d; mkdir d");
        discard(&world.stage()).unwrap();
        assert!(!world.stage().exists());
        assert!(world.lower().join("a").exists());
    }
}

#[test]
fn discard_removes_trees_that_are_deeper_than_any_path() {
    let Some(world) = World::with_any("echo a > a") else { return };
    world.run("n=0; while [ $n -lt 600 ]; do mkdir dddddddd; cd -P dddddddd; n=$((n+1)); done");
    discard(&world.stage()).unwrap();
    assert!(!world.stage().exists());
}

#[test]
fn discard_follows_no_link_and_minds_no_absence() {
    let Some(world) = World::with_any("mkdir keep; echo a > keep/a") else { return };
    world.run("ln -s ../../lower/keep link");
    discard(&world.upper()).unwrap();
    discard(&world.upper()).unwrap();
    assert!(world.lower().join("keep/a").exists());
    shell(&world.stage(), "ln -s ../lower upper");
    assert!(discard(&world.upper()).is_err(), "a link is not a layer");
    assert!(world.lower().join("keep/a").exists());
}
