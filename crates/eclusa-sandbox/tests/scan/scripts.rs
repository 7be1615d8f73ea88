//! Random scripts that make, change, move and delete what is in a small tree.

use proptest::prelude::*;

/// Makes the tree.
pub(crate) const START: &str = "mkdir -p d/e g; for f in a b d/a d/b d/e/c; do echo $f > $f; done; \
    chmod 755 b; ln -s a l; ln -s ../a d/l; : > empty; find . -type f -exec touch -d 2001-01-01 {} +";

fn path() -> impl Strategy<Value = &'static str> {
    let paths = [
        "a", "b", "c", "d", "d/a", "d/b", "d/e", "d/e/c", "d/l", "f", "g", "g/a", "g/h", "l",
        "empty",
    ];
    prop::sample::select(paths.to_vec())
}

/// One line of a script. What fails does so on both sides.
pub(crate) fn line() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec!["one", "two", "d/a"]);
    let mode = prop::sample::select(vec!["600", "644", "755", "700"]);
    prop_oneof![
        (path(), words.clone()).prop_map(|(p, w)| format!("rm -f {p}; echo {w} > {p}")),
        (path(), words).prop_map(|(p, w)| format!("echo {w} >> {p}")),
        path().prop_map(|p| format!("[ -f {p} ] && : > {p}")),
        path().prop_map(|p| format!("rm -f {p}")),
        path().prop_map(|p| format!("rm -rf {p}")),
        path().prop_map(|p| format!("mkdir {p}")),
        path().prop_map(|p| format!("rm -rf {p}; mkdir {p}")),
        (path(), path()).prop_map(|(p, q)| format!("mv {p} {q} </dev/null")),
        (path(), path()).prop_map(|(p, q)| format!("mv -T {p} {q} </dev/null")),
        (path(), path()).prop_map(|(p, q)| format!("[ -d {p} ] || cp -a {p} {q}")),
        (path(), mode).prop_map(|(p, m)| format!(
            "[ -L {p} ] || chmod {m} {p}; [ -d {p} ] && chmod u+rwx {p}"
        )),
        (path(), path()).prop_map(|(p, q)| format!("ln -s {q} {p}")),
        (path(), path()).prop_map(|(p, q)| format!("rm -rf {p}; ln -s {q} {p}")),
        (path(), path()).prop_map(|(p, q)| format!("[ -f {p} ] && ln {p} {q}")),
        path().prop_map(|p| format!("touch -h {p}")),
    ]
}
