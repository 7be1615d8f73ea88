//! Renames of staged directories, which an overlay refuses and the sandbox does.

use eclusa_sandbox::Hold;

use crate::world::{World, run};

#[test]
fn a_staged_directory_can_be_renamed() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    std::fs::create_dir_all(world.path("ws/old/deep")).unwrap();
    std::fs::write(world.path("ws/old/deep/file"), "text\n").unwrap();
    let text = "perl -e 'rename(\"old\", \"new\") or die $!'; cat new/deep/file; ls -d old 2>&1
        git init -q . && git add . && git mv new again && git ls-files; mv in.txt moved; cat moved";
    let exit = run(&world.staged(text));
    let said = exit.output.text();
    assert!(said.starts_with("text\n") && said.contains("again/deep/file\n"), "{said}");
    assert!(said.contains("No such file") && said.ends_with("inside\n"), "{said}");
    assert_eq!((exit.dir_renames.moved, exit.dir_renames.failed), (1, 0));
    assert!(world.has("ws/old/deep/file") && !world.has("ws/new"));
    assert!(world.has("state/upper/again/deep/file"));
}

#[test]
fn without_help_the_rename_fails_as_an_overlay_fails_it() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    std::fs::create_dir(world.path("ws/old")).unwrap();
    let mut plan = world.staged("perl -e 'rename(\"old\", \"new\") or die $!'");
    plan.hold = Hold::Nothing;
    let exit = run(&plan);
    assert!(exit.output.text().contains("cross-device"), "{}", exit.output.text());
    assert_eq!(exit.dir_renames.moved, 0);
}

#[test]
fn a_rename_does_not_show_what_is_hidden() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    std::fs::create_dir_all(world.path("ws/old/deep")).unwrap();
    std::fs::write(world.path("ws/old/deep/.env"), "secret\n").unwrap();
    std::fs::write(world.path("ws/old/deep/file"), "text\n").unwrap();
    let text =
        "perl -e 'rename(\"old\", \"new\") or print \"$!\\n\"'; cat old/deep/.env new/deep/.env
        mv old newer; cat newer/deep/.env; find . -type f | sort; grep -r secret . ../state && echo found
        ls ../state/upper ../state/work; cat ../state/upper/new/deep/.env; echo x > ../state/upper/y";
    let mut plan = world.staged(text);
    plan.hide.push(world.path("ws/old/deep/.env"));
    let exit = run(&plan);
    let said = exit.output.text();
    assert!(!said.contains("secret") && !said.contains("found"), "{said}");
    assert_eq!(world.read("ws/old/deep/.env"), "secret\n");
    // The directory was moved with what is hidden in it, which is still hidden in its new place.
    // The layer that it now is in can't be looked into either.
    assert_eq!(world.read("state/upper/new/deep/.env"), "secret\n");
    assert_eq!(exit.dir_renames.moved, 1);
}
