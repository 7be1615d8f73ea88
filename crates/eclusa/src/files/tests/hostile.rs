//! No path whatever opens a file outside the workspace.

use std::{os::unix::ffi::OsStringExt, sync::LazyLock};

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

static WORLDS: LazyLock<[World; 2]> = LazyLock::new(|| World::both(SETUP));

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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// S4.11 to S4.16: whatever is asked for, what is opened is inside and not blocked; and the
    /// name that is said to be reached is the file's own.
    #[test]
    fn no_path_reaches_outside(path in path()) {
        for world in &*WORLDS {
            let tmp = world.tmp.path().to_str().unwrap();
            let asked = path.replace("{TMP}", tmp);
            if let Ok(text) = world.read(&asked) {
                prop_assert_eq!(text, "INSIDE");
                let opened = world.files.file(&asked).unwrap();
                let own = world.files.root().join(&opened.path);
                prop_assert_eq!(own.canonicalize().unwrap(), own);
            }
            if let Ok(opened) = world.files.directory(&asked) {
                let own = world.files.root().join(&opened.path);
                prop_assert_eq!(own.canonicalize().unwrap(), own.components().collect::<PathBuf>());
                for entry in opened {
                    prop_assert_ne!(entry.unwrap().name, "secret.txt");
                }
            }
            for found in [world.files.node(&asked, HOLD), world.files.entry(&asked, HOLD)] {
                let Ok(found) = found else { continue };
                prop_assert!(found.path.is_relative() && found.path != Path::new(""));
                let plain = |it: std::path::Component<'_>| matches!(it, std::path::Component::Normal(_));
                prop_assert!(found.path.components().all(plain));
                prop_assert_eq!(world.files.is_blocked(&found.path), None);
                if let Ok((parent, _)) = world.files.parent(&found.path) {
                    let stat = fstat(&parent).unwrap();
                    let above = world.files.root().join(found.path.parent().unwrap());
                    let inode = std::os::unix::fs::MetadataExt::ino(&above.metadata().unwrap());
                    prop_assert_eq!(stat.st_ino as u64, inode);
                }
            }
        }
    }

    /// Whatever bytes a walker finds, `reach` answers, and both ways of opening answer alike.
    #[test]
    fn both_ways_answer_alike(path in path()) {
        let answers = WORLDS.each_ref().map(|world| {
            let asked = path.replace("{TMP}", world.tmp.path().to_str().unwrap());
            let answer = world.files.file(&asked).map(|it| it.path);
            answer.map_err(|err| err.to_string().replace(world.tmp.path().to_str().unwrap(), "{TMP}"))
        });
        prop_assert_eq!(&answers[0], &answers[1]);
    }

    /// No bytes make it panic, or escape.
    #[test]
    fn no_bytes_reach_outside(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        for world in &*WORLDS {
            prop_assert!(world.files.reach(Path::new(&OsString::from_vec(bytes.clone()))).is_err());
        }
    }
}
