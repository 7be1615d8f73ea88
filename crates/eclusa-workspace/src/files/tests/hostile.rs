//! No path whatever opens a file outside the workspace.

use std::{
    os::unix::{ffi::OsStringExt, fs::MetadataExt},
    path::Component,
};

use proptest::prelude::*;

use super::*;

/// Links in, out, round and through.
const SETUP: &str = r#"
mkdir -p ws/src/deep ws/.ssh outside/sub ws-evil
printf INSIDE > ws/src/b.txt; printf INSIDE > ws/src/deep/c.txt
printf SECRET > outside/sub/a.txt; printf SECRET > ws-evil/a.txt; printf SECRET > a.txt
printf SECRET > ws/.env; printf SECRET > ws/.ssh/id; printf SECRET > ws/src/.env.local
ln -s ../outside ws/out; ln -s ../outside/secret.txt ws/leak; ln -s / ws/top
ln -s "$PWD/outside" ws/absout; ln -s "$PWD/ws/src" ws/absin; ln -s src/deep ws/in
ln -s .. ws/up; ln -s ../.. ws/src/upup; ln -s . ws/here; ln -s loop ws/loop
ln -s /proc/self/cwd ws/cwd; ln -s /proc/self/root ws/procroot; ln -s .env ws/env
ln -s ../ws ws/again; ln -s "$PWD/ws" wslink; ln -s absout/../ws/a.txt ws/zigzag
ln -s ../wslink/.ssh ws/keys; ln -s missing ws/dangling; ln -s ../outside/new ws/danglingout
"#;

/// One name of a hostile path.
fn name() -> impl Strategy<Value = String> {
    let known = [
        "..",
        ".",
        "",
        "...",
        "~",
        "a.txt",
        "src",
        "deep",
        "b.txt",
        "c.txt",
        "out",
        "leak",
        "top",
        "absout",
        "absin",
        "in",
        "up",
        "upup",
        "here",
        "loop",
        "cwd",
        "procroot",
        "env",
        "again",
        "zigzag",
        "keys",
        ".ssh",
        "id",
        ".env",
        ".ENV",
        "secret.txt",
        "sub",
        "outside",
        "ws",
        "wslink",
        "ws-evil",
        "etc",
        "passwd",
        "proc",
        "self",
        "root",
        "fd",
        "0",
        "tmp",
        "dangling",
        "danglingout",
        "\0",
        "\u{ff0e}\u{ff0e}",
        "..\\",
        "%2e%2e",
        "C:",
        "new",
    ];
    prop_oneof![20 => proptest::sample::select(known.to_vec()).prop_map(str::to_owned), 1 => ".{0,6}"]
}

/// A path of such names, perhaps absolute.
fn path() -> impl Strategy<Value = String> {
    let start = prop_oneof![
        6 => Just(String::new()), 1 => Just("/".to_owned()), 1 => Just("{TMP}/".to_owned()),
        2 => Just("{TMP}/ws/".to_owned()), 1 => Just("{TMP}/wslink/".to_owned()),
        1 => Just("//{TMP}/ws//".to_owned()), 1 => Just("/proc/self/cwd/".to_owned()),
    ];
    (start, proptest::collection::vec(name(), 0..9)).prop_map(|(start, it)| start + &it.join("/"))
}

fn cases() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) }
}

/// What a file of this path that could be opened is: inside, not blocked, and by its own name.
fn check_file(world: &World, asked: &str) {
    let Ok(text) = world.read(asked) else { return };
    assert_eq!(text, "INSIDE");
    let own = world.files.root().join(world.files.file(asked).unwrap().path);
    assert_eq!(own.canonicalize().unwrap(), own);
}

fn check_directory(world: &World, asked: &str) {
    let Ok(opened) = world.files.directory(asked) else { return };
    let own = world.files.root().join(&opened.path);
    assert_eq!(own.canonicalize().unwrap(), own.components().collect::<PathBuf>());
    for entry in opened {
        assert_ne!(entry.unwrap().name, "secret.txt");
    }
}

/// The place of a change is named plainly, and its parent is the directory of that name.
fn check_place(world: &World, found: Result<PathState, FileError>) {
    let Ok(found) = found else { return };
    assert!(found.path != Path::new(""));
    assert!(found.path.components().all(|it| matches!(it, Component::Normal(_))));
    assert_eq!(world.files.is_blocked(&found.path), None);
    if let Ok((parent, _)) = world.files.parent(&found.path) {
        let above = world.files.root().join(found.path.parent().unwrap());
        assert_eq!(fstat(&parent).unwrap().st_ino, above.metadata().unwrap().ino());
        assert!(above.canonicalize().unwrap().starts_with(world.files.root()));
    }
}

/// S4.11 to S4.16: whatever is asked for, nothing outside is opened and nothing that is blocked.
#[test]
fn no_path_reaches_outside() {
    let worlds = World::both(SETUP);
    proptest!(cases(), |(path in path())| {
        for world in &worlds {
            let asked = path.replace("{TMP}", world.tmp.path().to_str().unwrap());
            check_file(world, &asked);
            check_directory(world, &asked);
            check_place(world, world.files.node(&asked, HOLD));
            check_place(world, world.files.entry(&asked, HOLD));
        }
    });
    assert_eq!(worlds[0].read("zigzag").as_deref(), Ok("INSIDE"), "the links are not as meant");
}

/// What the kernel does in one step and what is done by hand come to the same, and so does what is
/// done where the disk might know other spellings of a name.
#[test]
fn all_ways_answer_alike() {
    let [kernel, walked] = World::both(SETUP);
    let mut spelled = World::new(SETUP, Beneath::Kernel);
    let mut workspace = Arc::into_inner(spelled.files.0).unwrap();
    workspace.any_case = true;
    spelled.files = Files(Arc::new(workspace));
    let worlds = [kernel, walked, spelled];
    proptest!(cases(), |(path in path())| {
        let answers = worlds.each_ref().map(|world| {
            let tmp = world.tmp.path().to_str().unwrap();
            let answer = world.files.file(&path.replace("{TMP}", tmp)).map(|it| it.path);
            answer.map_err(|err| err.to_string().replace(tmp, "{TMP}"))
        });
        prop_assert_eq!(&answers[0], &answers[1]);
        prop_assert_eq!(&answers[0], &answers[2]);
    });
}

/// No bytes make it panic, or find anything.
#[test]
fn no_bytes_reach_outside() {
    let worlds = World::both(SETUP);
    proptest!(cases(), |(bytes in proptest::collection::vec(any::<u8>(), 0..40))| {
        for world in &worlds {
            let path = PathBuf::from(OsString::from_vec(bytes.clone()));
            prop_assert!(world.files.reach(&path).is_err());
        }
    });
}
