//! What may be read, what is hidden, what is written live.

use eclusa_sandbox::{Enforcement, OverlayHazard, SYSTEM_ROOTS, Sandbox, overlay_hazards, secrets};

use crate::world::{World, capabilities, is_root, run};

#[test]
fn live_directories_are_real_at_once_and_the_rest_is_staged() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    std::fs::create_dir(world.path("ws/target")).unwrap();
    std::fs::write(world.path("ws/target/old"), "old").unwrap();
    let mut plan = world.staged(
        "echo 1 > target/new; rm target/old; echo 2 > made/x; echo 3 > deep/er/y; echo 4 > z",
    );
    plan.stage[0].live = vec!["target".into(), "made".into(), "deep/er".into()];
    let exit = run(&plan);
    assert!(exit.success(), "{}", exit.output.text());
    assert_eq!(world.read("ws/target/new"), "1\n");
    assert!(!world.has("ws/target/old"));
    assert_eq!(
        (world.read("ws/made/x").as_str(), world.read("ws/deep/er/y").as_str()),
        ("2\n", "3\n")
    );
    assert!(!world.has("ws/z") && world.has("state/upper/z"));
    assert!(!world.has("state/upper/target") && !world.has("state/upper/made"));
}

/// In the options of an overlay these mean something, on one kernel more than on another.
#[test]
fn directories_are_staged_whatever_is_in_their_names() {
    eclusa_testing::needs!(Namespaces);
    for odd in ["a:b", "a,b", r"a\b", "x:/y"] {
        let world = World::new();
        let place = |name: &str| world.path(&format!("{odd} {name}"));
        for name in ["lower", "upper", "work"] {
            std::fs::create_dir_all(place(name)).unwrap();
        }
        let mut plan = world.staged("echo new > made");
        plan.cwd = place("lower");
        plan.stage[0].lower = place("lower");
        plan.stage[0].upper = place("upper");
        plan.stage[0].work = place("work");
        let exit = run(&plan);
        assert!(exit.success(), "{odd}: {}", exit.output.text());
        assert!(place("upper").join("made").exists(), "{odd}");
        assert!(!place("lower").join("made").exists(), "{odd}");
    }
}

#[test]
fn a_live_directory_that_is_a_link_is_refused() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let before = world.outside();
    for (link, live) in [("target", "target"), ("dir", "dir/target")] {
        std::os::unix::fs::symlink(world.path("outside"), world.path("ws").join(link)).unwrap();
        let mut plan = world.staged("touch target/x dir/target/x");
        plan.stage[0].live = vec![live.into()];
        let error = Sandbox::spawn(&plan, capabilities(), |_| {}).unwrap_err().to_string();
        assert!(error.contains(&format!("ws/{live}")), "{error}");
    }
    assert_eq!(world.outside(), before);
}

#[test]
fn with_roots_to_read_nothing_else_is_read() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let mut plan = world.staged("cat in.txt; cat ../outside/out.txt; ls ..; cat /proc/self/comm; echo x > /tmp/x; cat /tmp/x");
    plan.read = SYSTEM_ROOTS.iter().map(Into::into).collect();
    let said = run(&plan).output.text();
    assert!(said.starts_with("inside\n") && said.ends_with("cat\nx\n"), "{said}");
    assert_eq!(said.matches("Permission denied").count(), 2, "{said}");
    let world = World::new();
    let mut plan = world.staged("cat ../outside/out.txt");
    plan.read = SYSTEM_ROOTS.iter().map(Into::into).chain([world.path("outside")]).collect();
    assert_eq!(run(&plan).output.text(), "outside\n");
}

#[test]
fn shipped_secrets_are_neither_read_nor_listed() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let home = world.path("home");
    let files = [
        ".ssh/id_ed25519",
        ".aws/credentials",
        ".config/gcloud/x",
        ".netrc",
        ".codex/auth.json",
        ".mozilla/p/key4.db",
    ];
    for file in files {
        let path = home.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "secret\n").unwrap();
    }
    std::fs::write(home.join(".gitconfig"), "plain\n").unwrap();
    std::fs::create_dir_all(world.path("ws/a")).unwrap();
    std::fs::write(world.path("ws/a/.env"), "secret\n").unwrap();
    let mut plan = world.staged(
        "IFS=; grep -r secret . $HOME; cat $HOME/.gitconfig; ls $HOME/.ssh; cat a/.env $HOME/.netrc /etc/shadow",
    );
    plan.env.push(("HOME".into(), home.clone().into()));
    plan.hide = secrets(Some(&home), &[world.ws()]);
    let here = plan.hide.iter().filter(|path| path.starts_with(world.path(""))).count();
    assert_eq!(here, 7);
    // What only root could read isn't read by root's commands either.
    assert!(!is_root() || plan.hide.contains(&"/etc/shadow".into()));
    let exit = run(&plan);
    let said = exit.output.text();
    assert!(!said.contains(":secret") && !said.contains("id_ed25519"), "{said}");
    assert!(said.contains("plain\n"), "{said}");
    assert!(said.matches("Permission denied").count() >= 8, "{said}");
    assert_eq!(exit.enforcement, Enforcement::Full);
}

#[test]
fn what_is_hidden_through_a_link_is_hidden_where_it_is() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    std::fs::create_dir(world.path("outside/real")).unwrap();
    std::fs::write(world.path("outside/real/key"), "secret\n").unwrap();
    std::os::unix::fs::symlink(world.path("outside/real"), world.path("ws/.ssh")).unwrap();
    std::os::unix::fs::symlink("nowhere", world.path("ws/dangling")).unwrap();
    let mut plan = world.staged("cat .ssh/key ../outside/real/key");
    plan.hide = vec![world.path("ws/.ssh"), world.path("ws/dangling"), world.path("ws/none")];
    let said = run(&plan).output.text();
    assert_eq!(said.matches("Permission denied").count(), 2, "{said}");
}

#[test]
fn several_directories_are_staged_each_in_its_own_layer() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    for name in ["home", "home/sub", "u2", "w2"] {
        std::fs::create_dir(world.path(name)).unwrap();
    }
    let mut plan = world.staged("echo 1 > a; echo 2 > ../home/b; echo 3 > ../home/sub/c");
    plan.stage.push(eclusa_sandbox::Staging {
        covers: Vec::new(),
        lower: world.path("home"),
        upper: world.path("u2"),
        work: world.path("w2"),
        live: Vec::new(),
    });
    let exit = run(&plan);
    assert!(exit.success(), "{}", exit.output.text());
    assert_eq!(world.read("state/upper/a"), "1\n");
    assert_eq!((world.read("u2/b").as_str(), world.read("u2/sub/c").as_str()), ("2\n", "3\n"));
    assert!(!world.has("home/b"));
    let open = "chmod -R u+rwX w2 2>/dev/null; chmod -R u+rwX w2";
    let _ = std::process::Command::new("/bin/sh")
        .args(["-c", open])
        .current_dir(world.path(""))
        .status();
}

#[test]
fn paths_with_odd_characters_work() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    let odd = "od d:,\\ \u{e9}\"'";
    let place = world.path(odd);
    for name in ["ws", "up", "wo"] {
        std::fs::create_dir_all(place.join(name)).unwrap();
    }
    let mut plan = world.staged("echo x > new; pwd");
    plan.cwd = place.join("ws");
    plan.stage[0].lower = place.join("ws");
    plan.stage[0].upper = place.join("up");
    plan.stage[0].work = place.join("wo");
    let exit = run(&plan);
    assert!(exit.success(), "{}", exit.output.text());
    assert!(place.join("up/new").exists());
    let open = "chmod -R u+rwX . 2>/dev/null; chmod -R u+rwX .";
    let _ = std::process::Command::new("/bin/sh").args(["-c", open]).current_dir(place).status();
}

#[test]
fn what_gets_in_the_way_of_an_overlay_is_found_before() {
    eclusa_testing::needs!(Namespaces);
    let world = World::new();
    assert_eq!(overlay_hazards(&world.staging()).unwrap(), []);
    run(&world.staged("echo x > new"));
    assert_eq!(overlay_hazards(&world.staging()).unwrap(), [OverlayHazard::Used]);
    assert!(OverlayHazard::Used.is_fatal(capabilities()));
    // Everything is a directory with mounts inside, and on another filesystem than /dev/shm.
    let mut staging = World::new().staging();
    staging.lower = "/".into();
    staging.upper = world.path("outside");
    staging.work = world.path("outside");
    let found = overlay_hazards(&staging).unwrap();
    assert!(found.contains(&OverlayHazard::MountInside("/proc".into())), "{found:?}");
    assert_eq!(found.contains(&OverlayHazard::OwnedByOther), !is_root(), "{found:?}");
    staging.lower = "/proc".into();
    assert!(overlay_hazards(&staging).unwrap().contains(&OverlayHazard::Elsewhere));
    staging.lower = world.path("none");
    assert!(overlay_hazards(&staging).unwrap_err().to_string().contains("none`: No such file"));
}
