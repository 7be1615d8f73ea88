//! Metamorphic tests: cases wrapped in each other and in wrappers, two and three deep.
//!
//! `wrapping.rs` takes every case through every wrapper; here wrappers stand in wrappers, and
//! cases stand beside cases of other families inside them.

use eclusa::Decision;

use crate::{corpus::cases, world::World};

/// Ways to run a text. `{}` is where it goes as it stands, on lines of its own, `{q}` in single
/// quotes, `{d}` in double ones.
const AROUND: [&str; 62] = [
    "bash -c {q}",
    "bash -c {d}",
    "sh -c {q}",
    "bash -lc {q}",
    "/bin/bash -c {q}",
    "dash -ec {q}",
    "eval {q}",
    "eval {d}",
    "builtin eval {q}",
    "{ {}\n}",
    "( {}\n)",
    "if true; then {}\nfi",
    "if false; then ls; else {}\nfi",
    "if {}\nthen ls; fi",
    "while true; do {}\ndone",
    "until false; do {}\ndone",
    "for i in 1 2; do {}\ndone",
    "case x in x) {}\n;; esac",
    "f() { {}\n}; f",
    "function g { {}\n}\ng",
    "true && { {}\n}",
    "false || { {}\n}",
    "ls; {}",
    "git status\n{}",
    "# a remark\n{}",
    "set -e; {}",
    "Y7=1; {}",
    "ls | { {}\n}",
    "{ {}\n} | cat",
    "{ {}\n} &",
    "{ {}\n} 2>/dev/null",
    "cd src && { {}\n}",
    "echo $({}\n)",
    "echo \"$({}\n)\"",
    "x=$({}\n)",
    "export X=\"$({}\n)\"",
    "cat <({}\n)",
    "[ -n \"$({}\n)\" ]",
    "[[ -n $({}\n) ]]",
    "echo \"${x:-$({}\n)}\"",
    "bash <<< {q}",
    "bash <<'E{n}'\n{}\nE{n}",
    "cat <<'E{n}' | sh\n{}\nE{n}",
    "printf '%s' {q} | sh",
    "echo {q} | bash",
    "eval \"$(echo {q})\"",
    "source <(echo {q})",
    "bash <(echo {q})",
    "trap {q} EXIT",
    "sudo bash -c {q}",
    "sudo -u root env A=b nohup bash -c {q}",
    "timeout 5 bash -c {q}",
    "nice -n 5 sh -c {q}",
    "ionice -c 3 sh -c {q}",
    "xargs -I@@ bash -c {q} <<< x",
    "find . -maxdepth 0 -exec bash -c {q} ';'",
    "su -c {q}",
    "script -q /dev/null -c {q}",
    "flock lock -c {q}",
    "git -c alias.x='!sh' x; bash -c {q}",
    "git submodule foreach {q}",
    "docker exec web sh -c {q}",
];

/// The text in a wrapper; `nest` tells here-documents in each other apart.
fn wrapped(around: &str, text: &str, nest: usize) -> String {
    let single = format!("'{}'", text.replace('\'', r#"'"'"'"#));
    let mut double = text.replace('\\', "\\\\").replace('"', "\\\"");
    double = double.replace('$', "\\$").replace('`', "\\`");
    let around = around.replace("{n}", &nest.to_string());
    let around = around.replace("{q}", "\u{1}").replace("{d}", "\u{2}").replace("{}", "\u{3}");
    let around = around.replace('\u{1}', &single).replace('\u{2}', &format!("\"{double}\""));
    around.replace('\u{3}', text)
}

/// Numbers without an end, the same on every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        usize::try_from(self.0 >> 33).unwrap() % count
    }
}

/// Texts with these demands that are whole, so that a wrapper wraps all of them.
fn texts(must: &[&str]) -> Vec<String> {
    let all = cases("shell.jsonl").into_iter().chain(cases("shell-more.jsonl"));
    let whole = |it: &str| {
        let count = |c: char| it.matches(c).count();
        let ends = it.trim_end().ends_with(['\\', '&', ';', '|']);
        !it.trim().is_empty()
            && !it.contains(['\0', '#'])
            && !it.contains("<<")
            && !ends
            && count('(') == count(')')
            && count('{') == count('}')
            && count('\'') % 2 == 0
            && count('"') % 2 == 0
            && count('`') % 2 == 0
    };
    all.filter(|it| must.contains(&it["must"].as_str().unwrap()))
        .map(|it| it["command"].as_str().unwrap().to_owned())
        .filter(|it| whole(it))
        .collect()
}

/// Checks that a text with this demand keeps it, in every wrapper and in `more` nests of two or
/// three.
fn hold(must: &[&str], more: usize, kept: impl Fn(Decision) -> bool) {
    let world = World::shipped();
    let texts = texts(must);
    assert!(texts.len() > 40, "{} texts", texts.len());
    let mut dice = Dice(5);
    let mut wrong = Vec::new();
    let holds: Vec<bool> = texts.iter().map(|it| kept(world.judge(it).decision)).collect();
    for round in 0..more {
        let at = dice.below(texts.len());
        let text = &texts[at];
        if !holds[at] {
            continue;
        }
        let mut new = text.clone();
        for nest in 0..2 + round % 2 {
            new = wrapped(AROUND[dice.below(AROUND.len())], &new, nest);
        }
        // Beside one of another family every now and then.
        if round % 3 == 0 {
            let beside = &texts[dice.below(texts.len())];
            new = format!("{beside}\n{new}");
        }
        let verdict = world.judge(&new);
        if !kept(verdict.decision) {
            wrong.push(format!("{text:?} as {new:?} is {}: {}", verdict.decision, verdict.why()));
        }
    }
    let count = wrong.len();
    wrong.truncate(20);
    assert!(wrong.is_empty(), "{count}: {wrong:#?}");
}

/// Issue 5: a catastrophe stays denied, however deep it is wrapped.
#[test]
fn a_catastrophe_in_wrappers_in_wrappers_is_denied() {
    hold(&["deny"], 4000, |it| it == Decision::Deny);
}

/// Issue 5: what is not allowed is not allowed by wrapping it.
#[test]
fn nothing_becomes_allowed_by_wrappers_in_wrappers() {
    hold(&["deny", "not_allow"], 6000, |it| it != Decision::Allow);
}

/// What only reads still does, in wrappers that change nothing about that.
#[test]
fn what_is_allowed_stays_so_in_harmless_wrappers() {
    let world = World::shipped();
    let harmless = [
        "bash -c {q}",
        "sh -c {q}",
        "{ {}\n}",
        "( {}\n)",
        "if true; then {}\nfi",
        "for i in 1 2; do {}\ndone",
        "true && { {}\n}",
        "ls; {}",
        "git status\n{}",
        "{ {}\n} | cat",
        "{ {}\n} 2>/dev/null",
        "timeout 5 bash -c {q}",
        "nice -n 5 sh -c {q}",
    ];
    let texts = texts(&["allow"]);
    let (mut asked, mut all) = (Vec::new(), 0);
    for (at, text) in texts.iter().enumerate() {
        if world.judge(text).decision != Decision::Allow {
            continue;
        }
        for nest in 0..3 {
            let around = harmless[(at + nest * 5) % harmless.len()];
            let new = wrapped(around, text, nest);
            let verdict = world.judge(&new);
            all += 1;
            if verdict.decision != Decision::Allow {
                asked.push(format!("{new:?}: {}", verdict.why()));
            }
        }
    }
    assert!(asked.len() * 50 < all, "{} of {all}: {asked:#?}", asked.len());
}
