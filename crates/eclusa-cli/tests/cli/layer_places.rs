//! A workspace and a state on filesystems that cannot carry layers: they lie elsewhere, and everything
//! holds all the same.

use std::{path::Path, process::Command};

use crate::world::{Ran, World, run};

/// Mounts an overlay, as a container's own disk is one, with the workspace, the home and the state on it;
/// with `NOTHING_ELSE` also `/var/tmp`. `program` is the binary with its arguments.
const MOUNTED: &str = r#"
    mkdir -p lower disk upper work && cp -a workspace config state home lower &&
    mount -t overlay overlay -o "userxattr,lowerdir=$PWD/lower,upperdir=$PWD/upper,workdir=$PWD/work" disk &&
    { test -z "$NOTHING_ELSE" || { mkdir disk/tmp && mount --bind disk/tmp /var/tmp; }; } &&
    cd disk/workspace && HOME=$PWD/../home XDG_CONFIG_HOME=$PWD/../config XDG_STATE_HOME=$PWD/../state exec "$@""#;

/// Runs the binary where everything of the world lies on an overlay, in namespaces of its own.
fn on_an_overlay(world: &World, nothing_else: &str, args: &[&str]) -> Ran {
    let program = world.command(args);
    #[expect(clippy::disallowed_methods, reason = "the test makes namespaces")]
    let mut command = Command::new("unshare");
    command.args(["-Urm", "sh", "-c", MOUNTED, "sh"]).arg(program.get_program()).args(args);
    command.current_dir(world.path("")).env_clear();
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("NOTHING_ELSE", nothing_else);
    let ran = run(command, "");
    // What the mount was made of, so that it can be made again. What was written is in `upper`.
    #[expect(clippy::disallowed_methods, reason = "the test clears up")]
    std::fs::remove_dir_all(world.path("lower")).unwrap();
    ran
}

#[test]
fn layers_lie_where_they_can_when_everything_is_on_an_overlay() {
    eclusa_testing::needs!(Namespaces);
    for (nothing_else, place) in [("", "/var/tmp/eclusa-0"), ("1", "/dev/shm/eclusa-0")] {
        let world = World::new();
        world.write("workspace/a.txt", "one\n");
        world.write("workspace/b.txt", "gone\n");
        let ran = on_an_overlay(&world, nothing_else, &["doctor"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        let layers = format!("layers: {place}, on another filesystem than the workspace");
        assert!(ran.out.contains("level: full") && ran.out.contains(&layers), "{ran:?}");

        let world = World::new();
        world.write("workspace/a.txt", "one\n");
        world.write("workspace/b.txt", "gone\n");
        // Directories are replaced, which needs attributes of the place.
        let script = "echo two > a.txt; rm b.txt; mkdir -p d/e; echo new > d/e/f; rm -r d; mkdir d";
        let ran = on_an_overlay(&world, nothing_else, &["exec", "--apply", "--", script]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(world.read("upper/workspace/a.txt"), "two\n", "it was committed");
        assert!(Path::new(&world.path("upper/workspace/d")).is_dir());
    }
}
