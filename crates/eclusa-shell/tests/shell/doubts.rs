//! What raises a doubt, and what does not.

use crate::{analyse, check, doubted};

#[test]
fn characters_that_are_not_seen() {
    for script in [
        "ls\u{b}-la",
        "ca\u{200b}t x",
        "git\u{2028}status",
        "cat \u{202e}x",
        "ls\r",
        "ls\r\nrm x",
        "echo \u{1b}[2J",
        "ls\u{a0}x",
        "ls\u{3000}-la",
        "echo \u{e0041}",
        "echo \u{feff}x",
        "a\u{3164}b",
        "ls\u{7f}",
        "echo \u{85}",
    ] {
        doubted(script, &[]);
    }
    check("echo \"日本語 ação naïve 🚀\"", "echo \"日本語 ação naïve 🚀\"");
    assert_eq!(analyse("echo \"Bonjour\u{a0}!\"").doubts, []);
    check("ls файл.txt", "ls файл.txt");
    check("echo ❤️", "echo ❤️");
}

#[test]
fn text_that_is_not_read_is_refused() {
    assert!(analyse("ls\0rm x").refused.is_some());
    let long = format!("echo {}; rm x", "x ".repeat(40_000));
    assert!(analyse(&long).refused.is_some());
    let many = "a;".repeat(eclusa_shell::limits::MAX_COMMANDS + 1);
    assert!(analyse(&many).refused.is_some());
}

#[test]
fn text_without_a_command() {
    for script in ["", "   ", "# x", "\n\n"] {
        doubted(script, &[]);
    }
}

#[test]
fn broken_text_is_doubted_and_read_as_far_as_it_goes() {
    doubted("ls ;; pwd", &["ls"]);
    doubted("git log &&& rm -rf /", &["rm -rf /"]);
    doubted("rm x\nif", &["rm x"]);
    doubted("rm x\necho \"", &["rm x"]);
    for script in ["ls )", "echo ${", "(ls |)", "echo >", "git log @(x)", "ls \\", "ls *(+cmd)"] {
        doubted(script, &[]);
    }
}

#[test]
fn expansions_that_run_what_values_hold() {
    for script in [
        "echo ${x@P}",
        "echo \"${x@P}\"",
        "echo ${!x}",
        "echo ${x[$(y)]}",
        "echo ${x[y]}",
        "echo ${x:y}",
        "echo ${x:0:y}",
        "echo $((x))",
        "echo $((a[$(touch x)]))",
        "echo $[x]",
        "((x))",
        "for ((i=0;i<3;i++)); do a; done",
        "cat <<E\n${x@P}\nE",
        "case ${x@P} in *) a;; esac",
        "for f in ${x@P}; do a; done",
        "a=${x@P}",
        "[[ -v 'a[$(touch x)]' ]]",
        "[[ x -eq 1 ]]",
        "test -v 'a[$(touch x)]'",
        "printf -v 'a[$(touch x)]' hi",
        "read 'a[$(touch x)]'",
        "declare 'a[$(touch x)]=1'",
        "unset 'a[$(touch x)]'",
        "let x=1",
        "echo =ls",
    ] {
        doubted(script, &[]);
    }
    check(
        "echo $((1 + 2)) ${x:0:1} ${x[0]} ${x[@]}",
        "echo <Arithmetic…> <Variable…> <Variable…> <Variable…>",
    );
    check("[[ -n $x ]]", "[[ -n <Variable> ]]");
    check("[ \"$n\" -eq 3 ]", "[ <Variable> -eq 3 ]");
}

#[test]
fn variables_that_decide_what_runs() {
    for script in [
        "PATH=.:$PATH ls",
        "LD_PRELOAD=./x ls",
        "LD_AUDIT=./x cat y",
        "IFS=';'; ls",
        "BASH_ENV=x bash -c ls",
        "ENV=./x sh -c ls",
        "PROMPT_COMMAND=x",
        "export PAGER='sh -c id'",
        "GIT_SSH_COMMAND=x git fetch",
        "GIT_EXTERNAL_DIFF=x git diff",
        "NODE_OPTIONS=x node --version",
        "read -r PATH <<< /tmp/evil; ls",
        "declare PATH=x",
        "printf -v PATH x",
        "PS4='$(x)'; set -x",
        "HTTPS_PROXY=x curl y",
        "PATH[0]=x",
    ] {
        doubted(script, &[]);
    }
    check("LC_ALL=C sort x", "LC_ALL=C sort x");
    check("FOO=1 a", "FOO=1 a");
    check("while IFS= read -r l; do a; done", "IFS=\"\" read -r l\na");
}

#[test]
fn what_changes_the_language() {
    doubted("alias ls='rm x'\nls", &["ls"]);
    doubted("shopt -s extglob\nls !(x)", &[]);
    doubted("shopt -s expand_aliases", &[]);
}

/// What the differential runs found: both parsers see `if` as a word here, bash as a part of the
/// assignment.
#[test]
fn found_a_word_right_behind_a_list() {
    for script in ["v=(aa)if bb $v", "v=(aa)b c", "v=(aa)'b' c"] {
        doubted(script, &[]);
    }
    assert_eq!(analyse("v=(aa) bb").doubts, []);
    assert_eq!(analyse("v=$(aa); bb").doubts, []);
}

/// In a here-document even a line that goes on in quotes is joined first.
#[test]
fn found_a_line_that_goes_on_in_a_substitution_of_a_here_document() {
    doubted("aa <<E\n$(aa '\\\na b' x)\nE\n", &[]);
    assert_eq!(analyse("aa <<'E'\n$(aa '\\\na b' x)\nE\n").doubts, []);
}

/// Where the quotes end depends on who reads `$$(`.
#[test]
fn found_a_parenthesis_behind_the_number_of_the_shell() {
    doubted("aa \"$$(aa 'a b' \"b\")\"", &[]);
    assert_eq!(analyse("aa $$ '$$(x)'").doubts, []);
}

/// What stands behind `>&` is worked out twice, so that not even single quotes keep it from running.
#[test]
fn found_a_command_in_quotes_behind_a_redirection() {
    for script in ["aa >& '$(bb)'", "aa>& \"\\$(bb)\" x", "aa >&\\`bb\\`", "aa <& '`bb`'"] {
        doubted(script, &[]);
    }
    assert!(eclusa_shell::analyse("aa >& '$(rm -rf /)'").catastrophe.is_some());
    assert_eq!(analyse("aa >&2 2>&1 3>&- &>n").doubts, []);
}

/// Braces are worked out before variables.
#[test]
fn found_a_dollar_sign_that_braces_make_a_variable() {
    for script in ["aa {b$,e}{1..3}", "echo {$,x}SECRET", "echo {a,b$}"] {
        doubted(script, &[]);
    }
    assert_eq!(analyse("aa a$ '{$,x}' \"{$,x}\"").doubts, []);
}

/// What is run to find a value runs before the variable has it.
#[test]
fn found_a_value_in_the_command_that_finds_it() {
    let analysis = analyse("v=src/$(aa \"$v\" x)");
    let command = analysis.commands.iter().find(|it| it.words.len() == 3).unwrap();
    assert_eq!(command.words[1].parts.len(), 1, "{command:#?}");
    assert_eq!(command.words[1].text(), None);
}

/// A loop over what a variable holds is not the loop around it with the same name.
#[test]
fn found_a_here_document_whose_substitution_goes_on() {
    for script in [
        "echo $(cat <<E\nx\nE\necho a; rm b)",
        "[[ -n $(while aa <<'E'\nx\nE\ndo aa; break; done) ]]",
        "cat <(aa <<E; aa 1; aa 2\nx\nE\n)",
        "x=${y:-$(aa <<E && aa 1; aa 2\nx\nE\n)}",
    ] {
        assert!(!analyse(script).doubts.is_empty(), "{script}");
    }
    // Alone in it, it is what everybody writes.
    let message = "git log --grep \"$(cat <<'E'\nx\nE\n)\"";
    assert_eq!(analyse(message).doubts, [], "{message}");
}

#[test]
fn found_a_loop_in_a_loop_of_the_same_name() {
    let analysis = analyse("for i in 1 2; do for i in $SECRET; do echo $i; done; done");
    let unknown = |it: &eclusa_shell::Command| it.words.iter().any(|it| it.text().is_none());
    assert!(analysis.commands.iter().all(unknown), "{analysis:#?}");
}

/// Variables that get their values where no assignment is to be seen.
#[test]
fn a_loop_or_a_list_that_steers_is_doubted() {
    for script in [
        "for PATH in x; do ls; done",
        "declare -a 'x=($(touch y))'",
        "set -a; : ${LD_PRELOAD:=./x}; ls",
        "echo ${BASH_ENV=./x}",
    ] {
        doubted(script, &[]);
    }
}

/// A variable is only known where nothing else can set it.
#[test]
fn a_value_is_known_only_where_nothing_else_sets_it() {
    let last = |script: &str| {
        let commands = analyse(script).commands;
        let found = commands
            .iter()
            .rev()
            .find(|it| it.words.iter().any(|it| it.text().as_deref() == Some("aa")));
        found.and_then(|it| it.words.last()).and_then(|it| it.text()).map(|it| it.into_owned())
    };
    for script in ["x=1; aa $x", "x=1; aa \"$x\"", "x=1 && aa $x", "y=2; x=1; bb; aa ${x}"] {
        assert_eq!(last(script).as_deref(), Some("1"), "{script}");
    }
    for script in [
        "x=1; x=2; aa $x",
        "(x=1); aa $x",
        "x=1 | bb; aa $x",
        "x=1 & aa $x",
        "bb && x=1; aa $x",
        "if bb; then x=1; fi; aa $x",
        "f() { x=1; }; aa $x",
        "aa $x; x=1",
        "x=1; read x; aa $x",
        "x=1; command read x; aa $x",
        "x=1; builtin 'read' x; aa $x",
        "x=1; unset x; aa $x",
        "x=1; export x=2; aa $x",
        "x=1; for x in 2 3; do bb; done; aa $x",
        "x=1; for x in $y; do bb; done; aa $x",
        "x=1; trap 'x=2' DEBUG; aa $x",
        "x=1; eval x=2; aa $x",
        "x=1; printf -v x 2; aa $x",
        "x=1; bb ${x:=2}; aa $x",
        "x=1; bb $((x=2)); aa $x",
        "x=1 bb; aa $x",
        "x+=1; aa $x",
        "x[0]=1; aa $x",
        "x=$y; aa $x",
        "RANDOM=1; aa $RANDOM",
        "IFS=1; aa $IFS",
    ] {
        assert_eq!(last(script), None, "{script}");
    }
}
