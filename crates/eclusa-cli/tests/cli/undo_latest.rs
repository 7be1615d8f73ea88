//! A bare `undo` undoes the latest change or refuses: it never takes another one.

use crate::world::World;

fn change(world: &World, path: &str, content: &str) {
    let args = serde_json::json!({"path": path, "content": content}).to_string();
    let ran = world.eclusa(&["--mode", "auto-approve", "run", "write", &args]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

/// Shows H2: the latest was touched by hand, and the one before is not what was meant.
#[test]
fn a_bare_undo_refuses_what_was_edited_since_and_says_the_two_ways_on() {
    let world = World::new();
    change(&world, "a.txt", "agreed\n");
    change(&world, "b.txt", "agent\n");
    world.write("workspace/b.txt", "agent\nmine\n");
    let refused = world.eclusa(&["undo"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    for part in
        ["call 2 cannot be undone", "b.txt", "`eclusa undo 1`", "`eclusa undo 2 --keep-mine`"]
    {
        assert!(refused.err.contains(part), "{part}: {refused:?}");
    }
    let told = format!("{}{}", refused.out, refused.err);
    assert!(told.contains("edited since") && told.contains("+ mine"), "{told}");
    assert_eq!(world.read("workspace/a.txt"), "agreed\n");
    assert_eq!(world.eclusa(&["undo", "1"]).code, 0);
    assert!(!world.path("workspace/a.txt").exists());
}

#[test]
fn keep_mine_takes_back_the_rest_and_leaves_what_was_edited() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let made = world.eclusa(&["exec", "--apply", "--", "mkdir d; echo 1 > d/one; echo 2 > d/two"]);
    assert_eq!(made.code, 0, "{made:?}");
    world.write("workspace/d/two", "mine\n");
    let undone = world.eclusa(&["undo", "1", "--keep-mine"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    assert!(undone.out.contains("left alone: d/two"), "{undone:?}");
    assert!(!world.path("workspace/d/one").exists());
    assert_eq!(world.read("workspace/d/two"), "mine\n");
}

/// Shows H3: what a call did is shown for as long as it is listed, whatever was edited since.
#[test]
fn what_a_call_did_is_shown_after_edits_by_hand() {
    let world = World::new();
    world.write("workspace/a.txt", "before\n");
    change(&world, "a.txt", "agreed\n");
    let patch = world.eclusa(&["changes", "diff", "1"]).out;
    assert!(patch.contains("-before") && patch.contains("+agreed"), "{patch}");
    world.write("workspace/a.txt", "mine\n");
    assert_eq!(world.eclusa(&["changes", "diff", "1"]).out, patch);
    let shown = world.eclusa(&["changes", "show", "1"]).out;
    assert!(shown.contains("agreed"), "{shown}");
    world.write("workspace/a.txt", "");
    assert_eq!(world.eclusa(&["changes", "diff", "1"]).out, patch);
    change(&world, "a.txt", "later\n");
    assert_eq!(world.eclusa(&["changes", "diff", "1"]).out, patch);
}
