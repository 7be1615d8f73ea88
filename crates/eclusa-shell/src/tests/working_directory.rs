//! Where a script stands, followed step by step.

use crate::{WorkingDirectories, analyse};

/// Where the last command of a script stands: where it is meant to, and where else it may.
fn stands(script: &str) -> Option<(String, Vec<String>)> {
    let last = analyse(script).commands.pop().and_then(|it| it.working_directories);
    last.map(|WorkingDirectories { reached, otherwise }| (reached, otherwise))
}

#[test]
fn plain_lists_are_followed_and_a_failure_is_thought_of() {
    for (script, reached, otherwise) in [
        ("cd a && ls", "a", &[][..]),
        ("cd a && cd b/c && ls", "a/b/c", &[]),
        ("cd a && ls && cd .. && ls", "", &[]),
        ("cd a/b && cd ../../.. && ls", "..", &[]),
        ("cd a && cd - && ls", "", &[]),
        ("cd /x/y && cd ../z && ls", "/x/z", &[]),
        ("cd 'a b' >/dev/null && ls | head", "a b", &[]),
        ("cd a &&\n  ls", "a", &[]),
        ("cd a && echo $(date) && ls", "a", &[]),
        ("cd a; ls", "a", &[""]),
        ("cd a\nls", "a", &[""]),
        ("cd a && make; ls", "a", &[""]),
        ("cd a; cd ..; ls", "", &["a", ".."]),
        ("make && cd a; ls", "a", &[""]),
    ] {
        let mut stands = stands(script).unwrap_or_else(|| panic!("{script} is not followed"));
        stands.1.sort();
        let mut otherwise: Vec<String> = otherwise.iter().map(|it| (*it).to_owned()).collect();
        otherwise.sort();
        assert_eq!(stands, (reached.to_owned(), otherwise), "{script}");
    }
}

/// Without `cd` there is nothing to follow, and nothing else to think of.
#[test]
fn a_script_that_stays_has_no_directories_to_think_of() {
    for script in ["ls", "make && ls | head", "rm -r build; make"] {
        for command in analyse(script).commands {
            assert_eq!((command.moved, command.working_directories), (vec![], None), "{script}");
        }
    }
}

/// What is not plain is not followed: whoever judges then thinks of every directory.
#[test]
fn whatever_is_not_plain_is_not_followed() {
    for script in [
        "(cd a) && ls",
        "{ cd a; }; ls",
        "! cd a; ls",
        "cd a || ls",
        "cd a & ls",
        "cd a | ls",
        "if cd a; then ls; fi",
        "for x in a b; do cd $x; ls; done",
        "f() { cd a; }; f; ls",
        "cd $x && ls",
        "cd a* && ls",
        "cd && ls",
        "cd ~ && ls",
        "cd -P a && ls",
        "cd a b && ls",
        "cd - && ls",
        "pushd a && ls",
        "eval 'cd /' && ls",
        ". ./go && ls",
        "command cd a && ls",
        "trap 'cd /' DEBUG; ls",
        "set -P && cd a && ls",
        "CDPATH=/ cd a && ls",
        "X=1; cd a && ls",
        "export X && cd a && ls",
        "printf -v X y && cd a && ls",
        "time cd a && ls",
    ] {
        assert_eq!(stands(script), None, "{script}");
    }
    let many: String = (0..20).map(|it| format!("cd d{it}; ")).collect();
    assert_eq!(stands(&format!("{many}ls")), None);
}

/// Where the shell is left may be guessed where nothing may be judged by it.
#[test]
fn where_a_script_leaves_its_shell_is_guessed() {
    let left = |script: &str| analyse(script).left_in;
    for (script, there) in [
        ("cd a", "a"),
        ("cd a && pwd", "a"),
        ("cd 'a b' && make 2>&1 | tail -n 3", "a b"),
        ("cd a; ls;", "a"),
        ("cd /x/y && . .venv/bin/activate && pytest", "/x/y"),
        ("export X=1 && cd a && make", "a"),
        ("X=1; cd a\nls", "a"),
        ("mkdir -p a/b && cd a/b && git init", "a/b"),
        ("cd a && make && cd ..", ""),
        ("cd a && echo $(date)", "a"),
        ("bash -c 'cd a'", ""),
    ] {
        assert_eq!(left(script).as_deref(), Some(there), "{script}");
    }
    for script in [
        "ls",
        "(cd a && ls)",
        "(cd a)",
        "{ cd a; }",
        "cd a || ls",
        "cd a & ls",
        "cd a | ls",
        "cd a &",
        "cd $x",
        "cd a; exit 0",
        "cd a && exec ls",
        "cd a && eval 'cd b'",
        "pushd a && ls",
        "cd -",
        "if cd a; then ls; fi",
        "for x in a b; do cd $x; done",
        "cat <<E\ncd a\nE",
        "cd a && ls || true",
        "f() { cd a; }; f",
    ] {
        assert_eq!(left(script), None, "{script}");
    }
}
