//! Words: their final text, or why it is not known.

use crate::{analyse, check, doubted, spelt};

/// The arguments of `a …`.
#[track_caller]
fn words(text: &str, expected: &str) {
    let analysis = analyse(&format!("a {text}"));
    assert_eq!(analysis.doubts, [], "{text:?}");
    let words: Vec<String> =
        analysis.commands.first().unwrap().words.iter().skip(1).map(spelt).collect();
    assert_eq!(words.join(" "), expected, "{text:?}");
}

#[test]
fn quotes_and_escapes_are_removed() {
    words("x'y'\"z\"\\w", "xyzw");
    words("'' \"\"", "\"\" \"\"");
    words("a\\ b 'c d'", "\"a b\" \"c d\"");
    words("\"\\$x \\\\ \\n \\`\"", "\"$x \\\\ \\\\n `\"");
    words("'$(x) `y` $z'", "\"$(x) `y` $z\"");
    words("$'\\x74ouch' $'a\\tb' $'\\u00e9' $'\\''", "touch \"a\\tb\" é \"'\"");
    words("$\"x\"", "x");
    words("-de\\lete", "-delete");
    check("\\touch x; to''uch y; $'rm' z", "touch x\ntouch y\nrm z");
    check("grep \\\n  x", "grep x");
}

#[test]
fn what_only_the_run_decides() {
    words("$x \"$x\" ${x} \"${x%.*}\"", "<Variable…> <Variable> <Variable…> <Variable>");
    words("$((1+2)) $[3]", "<Arithmetic…> <Arithmetic…>");
    words("\"$@\" $* $1", "<Variable…> <Variable…> <Variable…>");
    words("$? $# ${#x}", "<Local…> <Local…> <Variable>");
    check("x=ab; a ${#x}", "x=ab\na <Local>");
    words("-exe$9c", "-exe<Variable…>c");
    words("a$ \"$\"", "a$ $");
}

#[test]
fn home_and_here() {
    words("~ ~/x ~root/y", "<Home> <Home>/x <Home>/y");
    words("$HOME \"$HOME/x\" ${HOME}", "<Home…> <Home>/x <Home…>");
    words("\"$PWD/x\" ~+", "<Here>/x <Here>");
    words("'~' \\~ a~ x=~/y --x=~", "~ ~ a~ x=<Home>/y --x=~");
    check("cd x; a $PWD", "cd x\na <Variable…>");
    doubted("HOME=/; rm -rf $HOME", &["rm -rf <Variable…>"]);
}

#[test]
fn patterns() {
    words("*.rs a?b [a-c]x '*' \\*", "<glob *>.rs a<glob ?>b <glob [a-c]>x * *");
    words("[ a] [x", "[ a] [x");
    words("-delet[e]", "-delet<glob [e]>");
}

#[test]
fn braces() {
    words("{a,b}{1,2} x{,y} {a,{b,c}d}", "a1 a2 b1 b2 x xy a bd cd");
    words("{1..3} {c..a} {01..03} {1..7..3} {3..1}", "1 2 3 c b a 01 02 03 1 4 7 3 2 1");
    words("{} {a} '{a,b}' {a,} {a\\,b}", "{} {a} {a,b} a {a,b}");
    words("--pre{=,=sh}", "--pre= --pre=sh");
    words("{1..100000} {a,b", "<Brace…> <Brace…>");
    words("{$x,b}", "<Variable…> b");
}

#[test]
fn assignments() {
    check("A=b C='d e' F=$(g) h", "A=b C=\"d e\" F=<Substitution> h\n<$(…)> g");
    check("A=*; B=~/x:~", "A=*\nB=<Home>/x:<Home>");
    check("export A=b", "export A=b");
    check("a[1]=x", "a[1]=x");
}
