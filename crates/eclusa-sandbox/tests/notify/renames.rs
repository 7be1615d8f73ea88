//! Directories of the workspace are renamed although an overlay refuses it.

use eclusa_sandbox::{
    notify::{DirRenames, help_renames},
    scan::{Effects, Kind},
};
use proptest::prelude::*;

use crate::{
    overlay::{Mounter, World, mounters, on, shell, words},
    supervised, tree,
};

const START: &str = "mkdir -p d/e/f g empty; echo a > a; echo x > d/x; echo y > d/e/y; echo z > d/e/f/z; \
    chmod 750 d/e; ln -s ../a d/l; ln -s d link; touch -d 2001-01-01 a d/x d/e/y d/e";

/// Runs a script over an overlay with its renames helped.
fn run(world: &World, script: &str) -> (Effects, DirRenames) {
    let (words, listener) = supervised::start(&world.stage(), script);
    let watching = std::thread::spawn({
        let staged = [world.merged()];
        move || help_renames(listener.join().unwrap(), staged).unwrap()
    });
    world.run(&words);
    let dir_renames = watching.join().unwrap().finish().unwrap();
    (world.scan(), dir_renames)
}

fn check(script: &str, expected: &[&str]) {
    for &mounter in mounters() {
        let world = World::new(mounter, START);
        let (effects, dir_renames) = run(&world, script);
        assert_eq!(words(&effects), expected, "{mounter:?}: {script}");
        assert_eq!(dir_renames.failed, 0);
    }
}

const MOVED: [&str; 10] = [
    "Deleted d",
    "Deleted d/e",
    "Deleted d/e/f",
    "Deleted d/e/f/z",
    "Deleted d/e/y",
    "Deleted d/l",
    "Deleted d/x",
    "Made new",
    "Made new/e",
    "Made new/e/f",
];

#[test]
fn without_help_an_overlay_refuses() {
    let Some(world) = World::with_any(START) else { return };
    let script = "python3 -c 'import os; os.rename(\"d\", \"new\")' 2>/dev/null && exit 1; true";
    assert!(world.run(script).scan().is_empty());
}

#[test]
fn python_perl_and_node_rename_a_directory() {
    let moved = [
        "Moved new/e/f/z from d/e/f/z",
        "Moved new/e/y from d/e/y",
        "Moved new/l from d/l",
        "Moved new/x from d/x",
    ];
    let expected: Vec<&str> = MOVED.iter().chain(&moved).copied().collect();
    check("python3 -c 'import os; os.rename(\"d\", \"new\")'", &expected);
    check("perl -e 'rename(\"d/\", \"new\") or die'", &expected);
    check("node -e 'require(\"fs\").renameSync(\"d\", \"new\")'", &expected);
    check("mv -T d new", &expected);
    check("python3 -c 'import os; os.rename(os.getcwd() + \"/link/../d\", \"./new\")'", &expected);
    check(
        "python3 -c 'import os; f = os.open(\"g\", 0); os.rename(\"../d\", \"../new\", src_dir_fd=f, dst_dir_fd=f)'",
        &expected,
    );
}

#[test]
fn git_moves_a_directory() {
    for &mounter in mounters() {
        let git = "git -c user.name=n -c user.email=e@example.org";
        let start = format!("{START}; git init -q; git add .; {git} commit -qm start");
        let world = World::new(mounter, &start);
        let script = format!(
            "git mv d moved; test -z \"$(git status --porcelain | grep -v '^R')\"; {git} commit -qm moved; test -z \"$(git status --porcelain)\""
        );
        let (effects, dir_renames) = run(&world, &script);
        assert_eq!(on(&effects, "moved/e/y").from.as_deref(), Some("d/e/y".as_ref()));
        assert_eq!(dir_renames.moved, 1);
    }
}

#[test]
fn modes_and_times_move_along() {
    let Some(world) = World::with_any(START) else { return };
    let (effects, _) = run(
        &world,
        "python3 -c 'import os; os.rename(\"d\", \"new\")'; test \"$(stat -c '%a %Y' new/e)\" = \"750 $(date -d 2001-01-01 +%s)\"",
    );
    assert_eq!(on(&effects, "new/e").kind(), Kind::Made);
}

#[test]
fn what_is_no_directory_of_an_overlay_goes_on_as_it_is() {
    for &mounter in mounters() {
        let world = World::new(mounter, START);
        let script = "mv a b; mkdir n; mv n m; cd \"$(mktemp -d)\"; mkdir p; mv p q; cd /; rmdir \"$OLDPWD/q\" \"$OLDPWD\"";
        let (effects, dir_renames) = run(&world, script);
        assert_eq!(words(&effects), ["Deleted a", "Moved b from a", "Made m"]);
        assert_eq!(dir_renames, DirRenames::default());
    }
}

#[test]
fn no_more_is_possible_than_for_the_command_itself() {
    if mounters().contains(&Mounter::Root) {
        // The superuser without capabilities may not write to what is not theirs.
        let start =
            format!("{START}; mkdir -p other/d; echo f > other/d/f; chown -R 1234:1234 other");
        let world = World::new(Mounter::Root, &start);
        let script = "python3 -c 'import os\ntry: os.rename(\"other/d\", \"other/n\")\nexcept PermissionError: raise SystemExit(0)\nraise SystemExit(1)'";
        let (effects, dir_renames) = run(&world, script);
        assert!(effects.is_empty(), "{effects:?}");
        assert_eq!(dir_renames, DirRenames::default());
    }
}

fn path() -> impl Strategy<Value = &'static str> {
    let paths = [
        "a",
        "d",
        "d/",
        "d/e",
        "d/e/f",
        "d/x",
        "empty",
        "g",
        "g/h",
        "link",
        "link/e",
        "n",
        "n/m",
        ".",
        "d/..",
        "missing/x",
        "",
    ];
    prop::sample::select(paths.to_vec())
}

/// One operation, as a line of Python.
fn operation() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => (path(), path()).prop_map(|(p, q)| format!("os.rename('{p}', '{q}')")),
        1 => path().prop_map(|p| format!("os.mkdir('{p}')")),
        1 => path().prop_map(|p| format!("os.rmdir('{p}')")),
        1 => path().prop_map(|p| format!("open('{p}', 'a').write('more')")),
        1 => path().prop_map(|p| format!("os.unlink('{p}')")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 25, failure_persistence: None, ..ProptestConfig::default() })]

    /// Error numbers are part of the tree, in the file `log`.
    #[test]
    fn a_mended_rename_cannot_be_told_from_the_kernels(lines in prop::collection::vec(operation(), 1..16)) {
        let mut python = "import os\nlog = []\n".to_owned();
        for line in &lines {
            python.push_str(&format!("try: {line}; log.append('ok')\nexcept OSError as e: log.append(str(e.errno))\n"));
        }
        python.push_str("open('log', 'w').write('\\n'.join(log))");
        let script = format!("python3 -c \"{python}\"");
        for &mounter in mounters() {
            let plain = World::new(mounter, START);
            shell(&plain.lower(), &script);
            let world = World::new(mounter, START);
            let before = tree::read(&world.lower());
            let (effects, dir_renames) = run(&world, &script);
            let expected = tree::differences(&before, &tree::read(&plain.lower()));
            let log = std::fs::read_to_string(plain.lower().join("log")).unwrap();
            prop_assert_eq!(tree::told(&effects), expected, "{}\n{}", python, log);
            prop_assert_eq!(dir_renames.failed, 0);
        }
    }
}
