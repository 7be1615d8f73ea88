//! Scripts and the table of programs together: what commands run in turn.

use eclusa_shell::analyse;

/// The commands of a script, each as its words.
fn commands(script: &str) -> Vec<String> {
    let analysis = analyse(script);
    let words = |it: &eclusa_shell::Command| {
        let words = it
            .words
            .iter()
            .map(|it| it.text().map_or_else(|| "?".to_owned(), |it| it.into_owned()));
        words.collect::<Vec<_>>().join(" ")
    };
    analysis.commands.iter().map(words).collect()
}

#[track_caller]
fn runs(script: &str, command: &str) {
    let listed = commands(script);
    assert!(listed.iter().any(|it| it == command), "{command:?} is not in {listed:?}");
}

#[test]
fn wrappers_and_shells_are_looked_through() {
    runs("sudo env X=1 timeout 5 rm x", "rm x");
    runs("bash -c 'cd y && rm x'", "rm x");
    runs("bash -c \"bash -c 'rm x'\"", "rm x");
    runs("eval 'rm x'", "rm x");
    runs("eval rm \"x y\"", "rm x y");
    runs("trap 'rm x' EXIT", "rm x");
    runs("find . -exec rm {} +", "rm ?");
    runs("xargs rm", "rm ?");
    runs("nohup nice -n 5 rm x &", "rm x");
    runs("git -c alias.q='!rm x' q", "rm x");
    runs("busybox sh -c 'rm x'", "rm x");
    runs("sh <<'E'\nrm x\nE", "rm x");
    runs("bash <<< 'rm x'", "rm x");
    runs("echo 'rm x' | sh", "rm x");
    runs("echo 'rm x' | sudo bash", "rm x");
    runs("for c in 'rm x' ls; do bash -c \"$c\"; done", "rm x");
}

#[test]
fn shell_text_that_is_not_known_is_a_doubt() {
    for script in ["eval \"$x\"", "bash -c \"$(cat y)\"", "trap \"$x\" EXIT"] {
        assert!(!analyse(script).doubts.is_empty(), "{script:?}");
    }
}

#[test]
fn nesting_ends() {
    let mut script = "rm x".to_owned();
    for _ in 0..20 {
        script = format!("sudo {script}");
    }
    assert!(analyse(&script).refused.is_some());
}

#[test]
fn a_command_says_how_it_is_reached() {
    let analysis = analyse("echo $(sudo rm x) &");
    let rm =
        analysis.commands.iter().find(|it| it.words[0].text().as_deref() == Some("rm")).unwrap();
    assert_eq!(rm.via, ["$(…)", "sudo"]);
    assert!(rm.background);
}
