//! Random scripts, run plainly on one copy of a tree and staged over another: what is read back is
//! exactly what differs.

use proptest::prelude::*;

use crate::{
    overlay::{World, mounters, shell},
    tree,
};

const START: &str = "mkdir -p d/e g; for f in a b d/a d/b d/e/c; do echo $f > $f; done; \
    chmod 755 b; ln -s a l; ln -s ../a d/l; : > empty; find . -type f -exec touch -d 2001-01-01 {} +";

fn path() -> impl Strategy<Value = &'static str> {
    let paths = [
        "a", "b", "c", "d", "d/a", "d/b", "d/e", "d/e/c", "d/l", "f", "g", "g/a", "g/h", "l",
        "empty",
    ];
    prop::sample::select(paths.to_vec())
}

/// One line of a script. What fails does so on both sides.
fn line() -> impl Strategy<Value = String> {
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

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 10, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_read_back_is_what_a_plain_run_would_change(lines in prop::collection::vec(line(), 1..14)) {
        let script = format!("set +e; exec 2>/dev/null; {}; true", lines.join("\n"));
        for &mounter in mounters() {
            let plain = World::new(mounter, START);
            shell(&plain.lower(), &script);
            let world = World::new(mounter, START);
            let before = tree::read(&world.lower());
            let effects = world.run(&script).scan();
            prop_assert_eq!(&tree::read(&world.lower()), &before, "the workspace is untouched");
            let expected = tree::differences(&before, &tree::read(&plain.lower()));
            prop_assert_eq!(tree::told(&effects), expected, "{}", script);
            prop_assert_eq!(world.layer().conflicts(&effects).unwrap(), []);
        }
    }
}
