//! Patches that git made do what `git apply` does with them.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Stdio},
};

use eclusa_tools::patch::{apply_all, parse};
use proptest::prelude::*;

/// Files by path: content, and whether it is executable.
type Tree = BTreeMap<String, (String, bool)>;

fn git(dir: &Path, args: &[&str]) -> Vec<u8> {
    let output = Command::new("git")
        .args([
            "-c",
            "core.autocrlf=false",
            "-c",
            "core.fileMode=true",
            "-c",
            "core.safecrlf=false",
        ])
        .args(args)
        .current_dir(dir)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", dir)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {args:?}: {error}");
    output.stdout
}

fn write(dir: &Path, tree: &Tree) {
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let path = entry.path();
        match entry.file_type().unwrap().is_dir() {
            true if entry.file_name() == ".git" => {}
            true => fs::remove_dir_all(path).unwrap(),
            false => fs::remove_file(path).unwrap(),
        }
    }
    for (name, (content, executable)) in tree {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        let mode = if *executable { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
}

fn read(dir: &Path, below: &str, tree: &mut Tree) {
    for entry in fs::read_dir(dir.join(below)).unwrap().map(Result::unwrap) {
        let name = format!("{below}{}", entry.file_name().into_string().unwrap());
        if entry.file_type().unwrap().is_dir() {
            if name != ".git" {
                read(dir, &format!("{name}/"), tree);
            }
            continue;
        }
        let content = fs::read_to_string(entry.path()).unwrap();
        let executable = entry.metadata().unwrap().permissions().mode() & 0o100 != 0;
        tree.insert(name, (content, executable));
    }
}

/// The tree after the patch, by the library.
fn ours(before: &Tree, patch: &str, unsure: bool) -> Result<Tree, String> {
    let files = parse(patch).map_err(|err| err.to_string())?;
    let known = |path: &str| Ok(before.get(path).map(|it| it.0.clone().into_bytes()));
    let outcomes = apply_all(&files, known).map_err(|err| err.to_string())?;
    let mut after = before.clone();
    for outcome in outcomes {
        assert!(unsure || outcome.notes.is_empty(), "git's own patch fits exactly");
        let origin = outcome.from.as_ref().unwrap_or(&outcome.path);
        let inherited = before.get(origin).is_some_and(|it| it.1);
        let executable = outcome.new_mode.map_or(inherited, |it| it & 0o100 != 0);
        match outcome.content {
            Some(bytes) => {
                after.insert(outcome.path, (String::from_utf8(bytes).unwrap(), executable));
            }
            None => {
                after.remove(&outcome.path);
            }
        }
    }
    Ok(after)
}

/// Makes a patch with git, applies it with git and with the library, and compares.
fn check(before: &Tree, after: &Tree, flags: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    git(dir, &["init", "-q", "."]);
    let tree = |tree: &Tree| {
        write(dir, tree);
        git(dir, &["add", "-A", "-f"]);
        String::from_utf8(git(dir, &["write-tree"])).unwrap().trim().to_owned()
    };
    let (old, new) = (tree(before), tree(after));
    let mut args = vec!["-c", "core.quotePath=true", "diff"];
    if flags.contains(&"plain-names") {
        args = vec!["-c", "core.quotePath=false", "diff"];
    }
    args.extend(flags.iter().filter(|it| **it != "plain-names"));
    let patch = String::from_utf8(git(dir, &[&args[..], &[&old, &new]].concat())).unwrap();
    if patch.is_empty() {
        return;
    }
    write(dir, before);
    let stored = tempfile::NamedTempFile::new().unwrap();
    fs::write(stored.path(), &patch).unwrap();
    let strip = if flags.contains(&"--no-prefix") { "-p0" } else { "-p1" };
    let stored = stored.path().to_str().unwrap();
    git(dir, &["apply", "--unidiff-zero", "--whitespace=nowarn", strip, stored]);
    let mut theirs = Tree::new();
    read(dir, "", &mut theirs);
    assert_eq!(&theirs, after, "git itself\n{patch}");
    let unsure = flags.contains(&"-U0");
    assert_eq!(ours(before, &patch, unsure).as_ref(), Ok(&theirs), "{patch}");
}

fn tree(files: &[(&str, &str, bool)]) -> Tree {
    files.iter().map(|(name, text, x)| ((*name).to_owned(), ((*text).to_owned(), *x))).collect()
}

const FLAGS: [&[&str]; 7] = [
    &[],
    &["-M"],
    &["--no-prefix"],
    &["-M", "-C", "--find-copies-harder"],
    &["-U1"],
    &["plain-names"],
    &["-U0"],
];

fn check_all(before: &Tree, after: &Tree) {
    FLAGS.iter().for_each(|flags| check(before, after, flags));
}

#[test]
fn content_modes_and_names() {
    let long = (0..40).map(|it| format!("line {it}\n")).collect::<String>();
    let changed = long.replace("line 7\n", "line seven\n").replace("line 30\n", "");
    let before = tree(&[
        ("a/b.txt", &long, false),
        ("b/only.txt", "x\n", false),
        ("empty", "", false),
        ("grün ☃.txt", "one\ntwo\n", false),
        ("mode.sh", "#!/bin/sh\n", false),
        ("moved.txt", &long.to_uppercase(), true),
        ("no end", "a\nb", false),
        ("tab\tand \"quote\\", "q\n", false),
        ("windows.txt", "a\r\nb\r\nc\r\n", false),
    ]);
    let after = tree(&[
        ("a/b.txt", &changed, false),
        ("b/new.txt", "fresh\n", true),
        ("grün ☃.txt", "one\n2\n", false),
        ("mode.sh", "#!/bin/sh\n", true),
        ("new/place of it.txt", &long.to_uppercase().replace("LINE 3\n", "3\n"), false),
        ("new empty", "", false),
        ("no end", "a\nb\nc", false),
        ("tab\tand \"quote\\", "q", false),
        ("windows.txt", "a\r\nB\r\nc\r\n", false),
    ]);
    check_all(&before, &after);
    check_all(&after, &before);
}

#[test]
fn ends_of_files() {
    let texts = ["a", "a\n", "a\nb", "a\nb\n", "", "b\na\n", "\n", "a\n\n"];
    for old in texts {
        for new in texts {
            let (old, new) = (tree(&[("f", old, false)]), tree(&[("f", new, false)]));
            check(&old, &new, &[]);
        }
    }
}

#[test]
fn line_ends_change_as_the_patch_says() {
    let lines: String = (0..9).map(|it| format!("{it}\n")).collect();
    let windows = lines.replace('\n', "\r\n");
    let mixed = lines.replace("4\n", "4\r\n");
    for old in [&lines, &windows, &mixed] {
        for new in [&lines, &windows, &mixed] {
            check(&tree(&[("f", old, false)]), &tree(&[("f", new, false)]), &[]);
        }
    }
}

fn content() -> impl Strategy<Value = String> {
    let line = ("[ab-]{0,2}", prop_oneof![8 => Just("\n"), 1 => Just("\r\n")]);
    (proptest::collection::vec(line, 0..14), any::<bool>()).prop_map(|(lines, cut)| {
        let text: String = lines.into_iter().map(|(line, end)| line + end).collect();
        if cut { text.trim_end_matches(['\r', '\n']).to_owned() } else { text }
    })
}

fn a_tree() -> impl Strategy<Value = Tree> {
    let name = prop_oneof![Just("a"), Just("b/c d"), Just("a b"), Just("é"), Just("b/a/x")];
    proptest::collection::btree_map(name.prop_map(str::to_owned), (content(), any::<bool>()), 0..4)
        .prop_map(|mut tree| {
            // A name cannot be a file and a directory at once; these cannot be.
            tree.retain(|_, (text, _)| !text.contains("\r\r"));
            tree
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_trees(before in a_tree(), after in a_tree(), flags in 0_usize..6) {
        check(&before, &after, FLAGS[flags]);
    }
}
