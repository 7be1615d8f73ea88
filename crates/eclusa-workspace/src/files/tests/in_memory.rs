//! What counts as being in memory. A filesystem that cannot tell says no, so a yes is asserted of none.

use super::*;

#[test]
fn only_small_files_beneath_the_workspace_are_said_to_be_in_memory() {
    let world = World::new(
        "mkfifo ws/pipe; ln -s a.txt ws/link; ln -s ../outside ws/away; ln -s src ws/dir; \
         printf 12345 > ws/src/five; mkdir ws/src/deep; printf x > ws/src/deep/one",
        Beneath::Kernel,
    );
    let root = world.files.root().to_str().unwrap().to_owned();
    let absolute = format!("{root}/src/five");
    for asked in ["a.txt", "src/five", "src/deep/one", &absolute] {
        // Read first, so that it is there.
        world.read(asked).unwrap();
        let known = world.files.is_in_memory(asked, 64);
        eprintln!("{asked}: {known}");
    }
    let outside = format!("{root}/../outside/secret.txt");
    for asked in [
        "pipe",
        "link",
        "away/secret.txt",
        "dir/five",
        "src",
        ".",
        "",
        "nothing",
        "/etc/hostname",
        "../outside/secret.txt",
        "src/../../outside/secret.txt",
        &outside,
        "a.txt/",
        "a.txt/x",
    ] {
        assert!(!world.files.is_in_memory(asked, 64), "{asked}");
    }
    assert!(!world.files.is_in_memory("src/five", 4), "it is too large");
    assert!(!World::new("true", Beneath::Walked).files.is_in_memory("a.txt", 64));
}
