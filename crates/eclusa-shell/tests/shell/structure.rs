//! Every simple command, wherever in a script it stands.

use crate::{analyse, check, doubted};

#[test]
fn lists_and_pipes() {
    check("a x && b || c; d | e |& f", "a x\nb\nc\nd\ne\nf");
    check("a\nb\n\n# c\nd # e", "a\nb\nd");
    check("a & b", "a &\nb");
    check("a&&b;c|d", "a\nb\nc\nd");
    check("! a | b", "a\nb");
    check("time -p a x | b", "<time> a x\n<time> b");
    check("coproc a x", "<coproc> a x &");
}

#[test]
fn groups_loops_and_conditions() {
    check("(a; b); { c; }", "a\nb\nc");
    check("if a; then b; elif c; then d; else e; fi", "a\nb\nc\nd\ne");
    check("while a; do b; done; until c; do d; done", "a\nb\nc\nd");
    check("case $(a) in x|y) b;; *) c;; esac", "case <Substitution>\n<$(…)> a\nb\nc");
    check("[[ -f $(a) && x == y* ]] && b", "[[ -f <Substitution> && x == y* ]]\n<$(…)> a\nb");
    check("[ -f x ] || b", "[ -f x ]\nb");
    check("{ a; b & } &", "a &\nb &");
}

#[test]
fn functions_list_their_bodies() {
    check("f() { rm x; }; f y", "<f()> rm x\nf y");
    check("function f { a; }\nf", "<f()> a\nf");
    check("ls(){ touch x; }; ls", "<ls()> touch x\nls");
}

#[test]
fn substitutions() {
    check("a $(b $(c))", "a <Substitution…>\n<$(…)> b <Substitution…>\n<$(…) $(…)> c");
    check("a \"x$(b)y\"", "a x<Substitution>y\n<$(…)> b");
    check("a `b`", "a <Substitution…>\n<`…`> b");
    check("a <(b) >(c)", "a <Process> <Process>\n<<(…)> b\n<>(…)> c");
    check("x=$(a) b", "x=<Substitution> b\n<$(…)> a");
    check("a \"${x:-$(b)}\"", "a <Variable>\n<$(…)> b");
    check("a $(< f)", "a <Substitution…>\n<$(…)> Read:f");
    check("arr=(a $(b)); c", "arr=<Unclear>\n<$(…)> b\nc");
}

#[test]
fn redirections_are_listed() {
    check("a >x 2>&1 <y >>z", "a Write:x Descriptor:1 Read:y Append:z");
    check("a &>x; b &>>y; c >|z", "a Write:x\nb Append:y\nc Write:z");
    check("a >& x; b 2>&-; c >&2", "a Write:x\nb Descriptor:-\nc Descriptor:2");
    check("> x", "Write:x");
    check("{ a; b; } >x", "a\nb\nWrite:x");
    check("while read l; do a; done < x", "read l\na\nRead:x");
    check("a >$F", "a Write:<Variable…>");
    check("a 2>/dev/null -delete", "a -delete Write:/dev/null");
    check("a && b >x | c", "a\nb Write:x\nc");
}

#[test]
fn here_documents() {
    check("a <<E\n$(b) $x\nE\nc", "a Text:<Substitution> <Variable>\n<$(…)> b\nc");
    check("a <<'E'\n$(b)\nE\nc", "a Text:\"$(b)\\n\"\nc");
    check("a <<E | b\nx\nE", "a Text:\"x\\n\"\nb");
    check("a <<E >f\nx\nE", "a Write:f Text:\"x\\n\"");
    check("a <<-E\n\tx\n\tE\nb", "a Text:\"x\\n\"\nb");
    check("a <<<\"$(b)\"", "a Text:<Substitution>\n<$(…)> b");
    check("a - <<'E'\nx\nE", "a - Text:\"x\\n\"");
    check(
        "git commit -m \"$(cat <<'E'\nit's (x)\nE\n)\"",
        "git commit -m <Substitution>\n<$(…)> cat Text:\"it's (x)\\n\"",
    );
}

#[test]
fn loops_over_known_words_are_followed() {
    check("for f in a 'b c'; do wc \"$f\" x; done", "wc a x\nwc \"b c\" x");
    check("for f in *.rs; do wc \"$f\"; done", "wc <glob *>.rs");
    check("for f in *.rs; do wc $f; done", "wc <Local…>.rs");
    check("for f in $(a); do wc \"$f\"; done", "<$(…)> a\nwc <Local>");
    check("for a in 1 2; do for b in 3 4; do x $a$b; done; done", "x 13\nx 14\nx 23\nx 24");
    // What the loop does not decide alone stays unknown.
    check("for f in a; do f=/; rm $f; done", "f=/\nrm <Variable…>");
    check("for f in a; do read f; rm $f; done", "read f\nrm <Local…>");
    check("for f in $T; do echo \"$f\"; done", "echo <Variable>");
    check("for f in a; do x; done; echo $f", "x\necho <Variable…>");
    check("while read -r l; do echo \"$l\"; done", "read -r l\necho <Local>");
    check("while true || read t; do echo \"$t\"; done", "true\nread t\necho <Variable>");
}

#[test]
fn directories_that_were_entered() {
    let analysis = analyse("a; cd / && b; cd; c");
    let moved: Vec<usize> = analysis.commands.iter().map(|it| it.moved.len()).collect();
    assert_eq!(moved, [0, 0, 1, 1, 2]);
}

#[test]
fn fork_bombs_are_seen() {
    for script in
        [":(){ :|:& };:", ":(){ : | : & }\n:", "x(){ x & x & }; x", "f(){ g & }; g(){ f | f; }; f"]
    {
        assert!(analyse(script).fork_bomb.is_some(), "{script:?}");
    }
    for script in ["f(){ a & b | c; }; f", "f(){ f; }; f", "f(){ a; }; g(){ f & }; g"] {
        assert_eq!(analyse(script).fork_bomb, None, "{script:?}");
    }
}

#[test]
fn what_parsers_are_known_to_get_wrong_is_doubted_or_right() {
    doubted("r\\\nm x", &["rm x"]);
    doubted("echo `echo \\`rm x\\``", &[]);
    doubted("ls\n\\rm -rf b", &["rm -rf b"]);
    doubted("cat <<A - <<B\n$(a)\nA\n$(b)\nB", &[]);
    doubted("echo $((rm x); (id))", &[]);
    doubted("echo \"$\\\n(touch x)\"", &[]);
    doubted("a \"${x:-`rm y`}\"", &["rm y"]);
    check("a <(b)>(c)", "a <Process><Process>\n<<(…)> b\n<>(…)> c");
}
