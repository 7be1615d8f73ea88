//! Random scripts over a small tree: create, append, truncate, delete, move, change modes, link,
//! and turn files into directories and back.

use proptest::prelude::*;

/// Makes the tree.
pub(crate) const START: &str = "umask 022; mkdir -p src/deep docs; for f in one two src/lib \
    src/deep/leaf docs/page; do printf '%s\\n' $f > $f; done; chmod 755 two; ln -s one link; \
    ln -s ../one src/up; : > empty";

fn name() -> impl Strategy<Value = &'static str> {
    let names = [
        "one",
        "two",
        "new",
        "src",
        "src/lib",
        "src/new",
        "src/deep",
        "src/deep/leaf",
        "src/up",
        "docs",
        "docs/page",
        "docs/sub",
        "docs/sub/x",
        "link",
        "empty",
    ];
    prop::sample::select(names.to_vec())
}

/// One line. What fails does so on both sides.
fn line() -> impl Strategy<Value = String> {
    let mode = prop::sample::select(vec!["600", "644", "755", "700", "640"]);
    prop_oneof![
        (name(), 0..9u8).prop_map(|(it, n)| format!("rm -f {it}; echo made-{n} > {it}")),
        (name(), 0..9u8).prop_map(|(it, n)| format!("[ -d {it} ] || echo more-{n} >> {it}")),
        name().prop_map(|it| format!("[ -f {it} ] && truncate -s 3 {it}")),
        name().prop_map(|it| format!("[ -f {it} ] && : > {it}")),
        name().prop_map(|it| format!("rm -f {it}")),
        name().prop_map(|it| format!("rm -rf {it}")),
        name().prop_map(|it| format!("mkdir -p {it}")),
        name().prop_map(|it| format!("rm -rf {it}; mkdir {it}; echo in > {it}/inside")),
        name().prop_map(|it| format!("[ -d {it} ] && rm -rf {it} && echo file > {it}")),
        (name(), name()).prop_map(|(it, to)| format!("mv {it} {to} </dev/null")),
        (name(), name()).prop_map(|(it, to)| format!("mv -T {it} {to} </dev/null")),
        (name(), mode).prop_map(|(it, mode)| format!(
            "[ -L {it} ] || chmod {mode} {it}; [ -d {it} ] && chmod u+rwx {it}"
        )),
        (name(), name()).prop_map(|(it, to)| format!("rm -rf {it}; ln -s {to} {it}")),
        (name(), name()).prop_map(|(it, to)| format!("[ -d {it} ] || cp -a {it} {to}")),
        name().prop_map(|it| format!("[ -f {it} ] && sed -i s/e/E/ {it}")),
    ]
}

/// A whole script. It says nothing, and always ends well.
pub(crate) fn script() -> impl Strategy<Value = String> {
    let lines = prop::collection::vec(line(), 1..16);
    lines.prop_map(|it| format!("umask 022; exec 2>/dev/null\n{}\ntrue", it.join("\n")))
}
