//! Which directories of the workspace stay on `PATH`, and where.

use std::{ffi::OsString, fs, path::Path};

use super::keep;

fn made(root: &Path, names: &[&str]) {
    for name in names {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
        fs::write(path, "").unwrap();
    }
}

/// The `PATH` and the names of variables that come of a given one over the cleaned `/usr/bin:/bin`.
fn kept(root: &Path, given: &[(&str, String)]) -> (String, Vec<String>) {
    let mut env = vec![("PATH".into(), OsString::from("/usr/bin:/bin"))];
    let given = given.iter().map(|(name, value)| (OsString::from(*name), value.into()));
    keep(&mut env, given, root);
    let path = env.remove(0).1.into_string().unwrap();
    (path, env.into_iter().map(|(name, _)| name.into_string().unwrap()).collect())
}

#[test]
fn directories_of_the_workspace_stay_where_they_were() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    made(&root, &[".venv/bin/python", "node_modules/.bin/tsc", "bin/git", ".git/x/evil"]);
    let at = |name: &str| root.join(name).display().to_string();
    let (venv, node, bin) = (at(".venv/bin"), at("node_modules/.bin"), at("bin"));
    let given = format!("{bin}:{venv}:/usr/bin:{node}:.:bin:{}:/tmp", at(".git/x"));
    let variables = [
        ("PATH", given),
        ("VIRTUAL_ENV", at(".venv")),
        ("CONDA_PREFIX", "/somewhere/else".to_owned()),
        ("LD_PRELOAD", at("bin/git")),
    ];
    let (path, others) = kept(&root, &variables);
    // What has a `git` comes last; relative ones, git's own and those of others do not come at all.
    assert_eq!(path, format!("{venv}:/usr/bin:{node}:/bin:{bin}"));
    assert_eq!(others, ["VIRTUAL_ENV"]);
}

#[test]
fn a_link_that_leads_out_of_the_workspace_is_not_of_it() {
    let directory = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    std::os::unix::fs::symlink(outside.path(), root.join("out")).unwrap();
    let given = [("PATH", format!("{}:/usr/bin", root.join("out").display()))];
    assert_eq!(kept(&root, &given).0, "/usr/bin:/bin");
}
