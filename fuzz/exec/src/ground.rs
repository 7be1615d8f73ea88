//! The tree in which commands are run, full of traps: whatever in it is run leaves a mark.

#![expect(clippy::disallowed_methods, reason = "a throw-away tree of its own")]

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program that leaves a mark beside itself.
const TRAP: &str = "#!/bin/sh\n: > /w/MARK\n";

/// Names of programs that lie in the tree; `PATH` does not lead there.
const PROGRAMS: &[&str] = &[
    "evil.sh",
    "ls",
    "cat",
    "git",
    "sort",
    "less",
    "more",
    "pager",
    "vi",
    "sh",
    "gpg",
    "ssh",
    "tc/bin/cargo",
    "tc/bin/rustc",
    "node_modules/.bin/tsc",
    "bin/ls",
    "gzip",
    "xz",
    "diff",
    "ld",
    "as",
    "cpp",
    "cc1",
    "objdump",
];

/// Modules that lie where an interpreter may look first.
const MODULES: &[&str] = &[
    "json",
    "ast",
    "site",
    "sitecustomize",
    "usercustomize",
    "tokenize",
    "calendar",
    "http",
    "sqlite3",
    "zipfile",
    "tarfile",
    "pip",
    "platform",
    "timeit",
];

/// Text files and what is in them.
const FILES: &[(&str, &str)] = &[
    ("a.txt", "alpha\nbeta\ngamma 1 2 3\n"),
    ("b.txt", "alpha\ndelta\nbeta,7,x\n"),
    ("c d.txt", "a name with a blank\n"),
    ("-n", "a name like a flag\n"),
    ("-o", "another\n"),
    ("--output=OUT", "another\n"),
    ("data.csv", "id,name\n1,one\n2,two\n"),
    ("data.json", "{\"a\": [1, 2, {\"b\": \"c\"}], \"version\": \"1.0\"}\n"),
    ("data.yml", "a:\n  - 1\n  - b: c\n"),
    ("data.toml", "[a]\nb = 1\n"),
    (
        "data.xml",
        "<?xml version=\"1.0\"?>\n<!DOCTYPE a [<!ENTITY e SYSTEM \"file:///w/a.txt\">]>\n<a>&e;<b/></a>\n",
    ),
    ("opts", "--output=OUT\n-o OUT\n--plugin ./evil.so\n"),
    ("list", "a.txt\nb.txt\n"),
    ("list0", "a.txt\0b.txt\0"),
    ("x.sed", "w OUT\n"),
    ("x.awk", "BEGIN { print > \"OUT\" }\n"),
    ("x.jq", ".\n"),
    ("x.sh", "#!/bin/sh\n: > /w/MARK\n"),
    ("x.mk", "all:\n\t: > /w/MARK\n"),
    ("Makefile", "V := $(shell : > /w/MARK)\nall:\n\t: > /w/MARK\n"),
    ("x.c", "int main(void) { return 0; }\n"),
    ("src/main.rs", "fn main() {}\n"),
    ("src/lib.py", "print('x')\n"),
    ("src/sub/deep.txt", "deep alpha\n"),
    (
        "package.json",
        "{\"name\": \"x\", \"version\": \"1.0.0\", \"scripts\": {\"test\": \": > /w/MARK\"}}\n",
    ),
    (
        "Cargo.toml",
        "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\nbuild = \"build.rs\"\n",
    ),
    ("rust-toolchain.toml", "[toolchain]\npath = \"/w/tc\"\n"),
    (".npmrc", "script-shell=/w/evil.sh\nnode-options=--require /w/evil.js\n"),
    (".yarnrc", "yarn-path \"/w/evil.js\"\n"),
    (".yarnrc.yml", "yarnPath: /w/evil.js\n"),
    (".gdbinit", "shell : > /w/MARK\n"),
    (".wgetrc", "output_document = /w/MARK\n"),
    ("evil.js", "require('fs').writeFileSync('/w/MARK', '')\n"),
    (".gitattributes", "*.txt diff=trap filter=trap merge=trap\n"),
];

/// What is made of the files above by programs that not every machine has.
const MADE: &str = r"
gzip -kn a.txt; bzip2 -k a.txt; xz -k a.txt; zstd -q -k a.txt; lz4 -q a.txt a.txt.lz4
tar cf t.tar a.txt src; tar czf t.tgz a.txt src; zip -q t.zip a.txt
gcc -c x.c -o x.o; gcc x.c -o x.bin; ar rc x.a x.o
sqlite3 x.db 'create table t(a); insert into t values(1);'
ln -s a.txt link; ln -s nowhere dangling; ln -s .. up; mkdir -p empty
cp a.txt ro.txt; chmod 444 ro.txt; cp a.txt old.txt; touch -d 2001-01-01 old.txt
";

/// A repository with two commits, a branch, a tag, a stash and a change.
const REPOSITORY: &str = r"
git init -q -b main; git add -A; git commit -qm one; git tag v1
git switch -qc side; echo side >> b.txt; git commit -qam side; git switch -q main
echo main >> data.csv; git commit -qam two; echo stashed >> a.txt; git stash -q
echo changed >> b.txt; echo staged >> a.txt; git add a.txt; git update-index -q --refresh; true
";

/// Makes the tree at `root`. What a machine has no program for is left out.
pub(crate) fn make(root: &Path) -> io::Result<()> {
    for (name, text) in FILES {
        file(&root.join(name), text, 0o644)?;
    }
    for name in PROGRAMS {
        file(&root.join(name), TRAP, 0o755)?;
    }
    for name in MODULES {
        file(&root.join(name).with_extension("py"), "open('/w/MARK', 'w')\n", 0o644)?;
    }
    for script in [MADE, REPOSITORY] {
        let mut shell = Command::new("bash");
        shell.args(["-c", script]).current_dir(root).stdin(Stdio::null());
        shell.stdout(Stdio::null()).stderr(Stdio::null());
        for name in ["AUTHOR", "COMMITTER"] {
            shell
                .env(format!("GIT_{name}_NAME"), "n")
                .env(format!("GIT_{name}_EMAIL"), "n@example.org");
            shell.env(format!("GIT_{name}_DATE"), "2024-01-01T00:00:00Z");
        }
        shell.env("HOME", root).env("GIT_CONFIG_NOSYSTEM", "1").status()?;
    }
    Ok(())
}

/// A file with its directories.
pub(crate) fn file(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, text)?;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

/// What can be seen of a node from outside; the time of its last change tells every other change.
type Stamp = (u64, u64, i64, i64, u32);

/// Everything beneath some directories.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Snapshot(BTreeMap<PathBuf, Stamp>);

impl Snapshot {
    /// What there is now beneath `deep`, and directly in `shallow`.
    pub(crate) fn take(deep: &[&Path], shallow: &Path) -> Snapshot {
        let mut found = BTreeMap::new();
        let mut open: Vec<PathBuf> = deep.iter().map(|it| it.to_path_buf()).collect();
        for path in fs::read_dir(shallow).into_iter().flatten().flatten().map(|it| it.path()) {
            found.insert(path, Stamp::default());
        }
        while let Some(path) = open.pop() {
            let Ok(meta) = fs::symlink_metadata(&path) else { continue };
            if meta.is_dir() {
                open.extend(
                    fs::read_dir(&path).into_iter().flatten().flatten().map(|it| it.path()),
                );
            }
            let stamp = (meta.ino(), meta.size(), meta.ctime(), meta.ctime_nsec(), meta.mode());
            found.insert(path, stamp);
        }
        Snapshot(found)
    }

    /// What is different in `later`.
    pub(crate) fn differences(&self, later: &Snapshot) -> Vec<String> {
        let gone = self.0.keys().filter(|it| !later.0.contains_key(*it)).map(|it| ("deleted", it));
        let made = later.0.keys().filter(|it| !self.0.contains_key(*it)).map(|it| ("made", it));
        let altered =
            self.0.iter().filter(|(path, stamp)| later.0.get(*path).is_some_and(|it| it != *stamp));
        let altered = altered.map(|(path, _)| ("changed", path));
        let told = gone
            .chain(made)
            .chain(altered)
            .map(|(what, path)| format!("{what} {}", path.display()));
        told.take(6).collect()
    }
}
