//! What bash runs is among what the analysis lists.
//!
//! Random scripts are run by a real bash that finds no program at all: every command that it tries
//! to start is written down instead. Whatever the analysis lists without a doubt must cover it.
//! Scripts have no `/` in them and only names of programs that do not exist, so they can do nothing
//! but make files in a directory of their own.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use eclusa_shell::{Analysis, Part, Word, analyse};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// A few of the forms that parsers have been wrong about; the rest is made from the grammar.
const SEEDS: &[&str] = &[
    "aa 2>n -bb",
    "aa `bb x`",
    "aa \"${v:-`bb y`}\"",
    "aa <<E\n$(bb)\nE",
    "aa <<E | bb\n`ee`\nE\ngg",
    "aa <<'E'; bb\n$(ee)\nE",
    "aa <<A - <<B\n$(bb)\nA\n`ee`\nB",
    "aa <<-E\n\thi\n\tE\nbb",
    "aa\n\\bb x",
    "a\\\na b",
    "aa $((1+2)) $(( $(bb) ))",
    "aa $( (bb); (ee) )",
    "aa $((bb); (ee))",
    "aa $[ 1 + 2 ]",
    "coproc aa x",
    "time aa x",
    "! aa | bb",
    "if aa; then bb; elif ee; then gg; else hh; fi",
    "case x in (x) aa;; y|z) bb;& *) ee;; esac",
    "for v in a 'b b' $(bb); do aa \"$v\" $v; done",
    "while aa; do bb; break; done <n",
    "f() { aa; }; f; f 2>n",
    "function f { bb; }; f",
    "[[ -n $(aa) && x == $(bb) ]] && ee",
    "[ -n \"$(aa)\" ] || bb",
    "aa <(bb) >(ee)",
    "aa {b,e}{1..3} x{,y} {a,{b,e}}",
    "aa ~ ~+ v=~ *n [x] '' \"\" $'\\x61\\n' $\"x\"",
    "v=$(aa) bb $v; w=1 x=2; ee",
    "{ aa; bb; } >n 2>&1 & wait",
    "(aa; bb) | ee &>>n",
    "trap 'aa' EXIT",
    "aa # bb\nee",
    "aa \"$(bb \"$(ee \"x\")\")\"",
    "aa 'x'\\''y' a\"b\"'c'\\d",
    "aa && bb || ee; gg",
    "aa <<<\"$(bb)\" <<<x",
    "arr=(a $(aa) b); bb \"${arr[@]}\"",
    "declare v=$(aa); export w=`bb`",
    "aa ${v/$(bb)/x} ${v%`ee`} ${#v}",
    "aa >&2 2>&- <&0",
    "select v in $(aa); do bb; break; done <n",
    "until aa; do bb; break; done",
    "aa $'a\\'b' \"\\$(bb)\" \\$\\(ee",
    "`aa` b",
    "aa \"`bb \\\"x\\\"`\"",
    "aa `bb \\`ee\\``",
];

/// What a mutation puts in. No slash, and no letters of which programs could be made.
const SPICE: &[&str] = &[
    " ", "\n", "\t", ";", "&", "|", "<", ">", "(", ")", "{", "}", "$", "`", "\"", "'", "\\", "#",
    "!", "*", "~", "=", "-", ",", "[", "]", "$(", "$((", "))", "${", "<<", "<<E\n", "\nE\n",
    "\\\n", "&&", "||", ";;", "E", "1", "2>", ">&", "<(", "$'", "[[ ", " ]]", " in ", "if ",
    "; then ", "; fi", "aa", " bb ", "do ", "; done", "$v", "%", "@", "^", "?", ":", "+",
];

fn script() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => prop::sample::select(vec!["x", "-y", "'a b'", "\"b\"", "\\e", "x'y'z", "$v", "\"$v\"", "*n",
            "~", "{a,b}", "v=1", "''", "$'\\t'", "a\\\nb", "x#y", "[a]", "{1..3}", "$1", "\"${v:-x}\""]),
    ];
    let words = prop::collection::vec(word, 0..3).prop_map(|it| it.join(" "));
    let redirect =
        prop::sample::select(vec!["", "", "", ">n", "2>&1", "2>n", "<n", ">>n", "&>n", "<<<x"]);
    let name = prop::sample::select(vec![
        "aa", "bb", "ee", "gg", "a'a'", "\\bb", "v=1 aa", "! bb", "time aa",
    ]);
    let simple = (name, words.clone(), redirect.clone(), words)
        .prop_map(|(name, before, redirect, after)| format!("{name} {before} {redirect} {after}"));
    let grammar = simple.prop_recursive(4, 24, 3, move |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            (
                two.clone(),
                prop::sample::select(vec!["; ", " && ", " || ", " | ", "\n", " & ", " |& "])
            )
                .prop_map(|((a, b), op)| format!("{a}{op}{b}")),
            inner.clone().prop_map(|a| format!("aa $({a}) x")),
            inner.clone().prop_map(|a| format!("aa \"$({a})\"")),
            inner.clone().prop_map(|a| format!("aa `{a}`")),
            inner.clone().prop_map(|a| format!("aa <({a})")),
            inner.clone().prop_map(|a| format!("( {a} )")),
            inner.clone().prop_map(|a| format!("{{ {a}\n}} 2>n")),
            inner.clone().prop_map(|a| format!("aa <<E\n$({a})\nE\n")),
            inner.clone().prop_map(|a| format!("aa <<'E'\n$({a})\nE\n")),
            two.clone().prop_map(|(a, b)| format!("if {a}\nthen {b}\nfi")),
            two.clone().prop_map(|(a, b)| format!("case $({a}) in *) {b} ;; esac")),
            inner.clone().prop_map(|a| format!("for v in a b 'e f'; do {a}\ndone")),
            inner.clone().prop_map(|a| format!("while {a}\ndo aa; break; done")),
            inner.clone().prop_map(|a| format!("f() {{ {a}\n}}; f x")),
            inner.clone().prop_map(|a| format!("v=$({a}) bb")),
            inner.clone().prop_map(|a| format!("[[ -n $({a}) ]]")),
            inner.clone().prop_map(|a| format!("aa \"${{v:-$({a})}}\"")),
            inner.prop_map(|a| format!("arr=(a $({a}))")),
        ]
    });
    let seed = prop::sample::select(SEEDS).prop_map(str::to_owned);
    let base = prop_oneof![1 => grammar, 2 => seed];
    let mutation = (any::<prop::sample::Index>(), prop::sample::select(SPICE), any::<bool>());
    (base, prop::collection::vec(mutation, 0..4)).prop_map(|(mut text, mutations)| {
        for (index, spice, deletes) in mutations {
            let places: Vec<usize> =
                (0..=text.len()).filter(|it| text.is_char_boundary(*it)).collect();
            let at = *index.get(&places);
            match text.get(at..).and_then(|it| it.chars().next()) {
                Some(next) if deletes => text.replace_range(at..at + next.len_utf8(), ""),
                _ => text.insert_str(at, spice),
            }
        }
        text
    })
}

/// The commands that bash tried to start, each with its arguments.
#[expect(clippy::disallowed_methods, reason = "bash and its files are what is compared with")]
fn run(script: &str, room: &Path) -> Option<Vec<Vec<String>>> {
    // A directory for each script: what it leaves running may write to its log later.
    let room = tempfile::tempdir_in(room).unwrap();
    let room = room.path();
    let work = room.join("work");
    fs::create_dir_all(&work).unwrap();
    fs::write(work.join("n"), "line\n").unwrap();
    let log = room.join("log");
    fs::write(&log, "").unwrap();
    fs::write(room.join("script"), script).unwrap();
    let prelude = "command_not_found_handle() { printf '%s\\0' \"$#\" \"$@\" >>\"$DIFFERENTIAL_LOG\"; }\n\
         FUNCNEST=20; ulimit -t 1 -f 64; set -f +o history; set +f\n";
    fs::write(room.join("prelude"), prelude).unwrap();
    let mut process = Process::new("/bin/bash");
    process
        .args(["--norc", "--noprofile"])
        .arg(room.join("script"))
        .env_clear()
        .env("PATH", room.join("nothing"))
        .env("HOME", &work)
        .env("BASH_ENV", room.join("prelude"))
        .env("DIFFERENTIAL_LOG", &log)
        .current_dir(&work)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = process.spawn().expect("bash is needed for this test");
    let started = Instant::now();
    let group = rustix::process::Pid::from_child(&child);
    let ended = loop {
        if child.try_wait().unwrap().is_some() {
            break true;
        }
        if started.elapsed() > Duration::from_secs(5) {
            break false;
        }
        std::thread::sleep(Duration::from_micros(300));
    };
    let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    child.wait().unwrap();
    if !ended {
        return None;
    }
    let text = String::from_utf8_lossy(&fs::read(&log).unwrap()).into_owned();
    if text.len() > 60_000 {
        // An endless loop has come to the limit, and its last line was cut.
        return None;
    }
    let mut fields = text.split_terminator('\0');
    let mut commands = Vec::new();
    while let Some(count) = fields.next().and_then(|it| it.parse::<usize>().ok()) {
        let argv: Vec<String> = fields.by_ref().take(count).map(str::to_owned).collect();
        if argv.len() == count {
            commands.push(argv);
        }
    }
    Some(commands)
}

/// True when these words can become these arguments.
fn covers(words: &[Word], argv: &[String]) -> bool {
    match (words, argv) {
        ([], rest) => rest.is_empty(),
        ([first, rest @ ..], _) if first.may_split() => {
            (0..=argv.len()).any(|used| covers(rest, argv.get(used..).unwrap_or_default()))
        }
        ([_, ..], []) => false,
        ([first, rest @ ..], [argument, arguments @ ..]) => {
            fits(&first.parts, argument) && covers(rest, arguments)
        }
    }
}

fn fits(parts: &[Part], text: &str) -> bool {
    match parts {
        [] => text.is_empty(),
        [Part::Text(start), rest @ ..] => {
            text.strip_prefix(start.as_str()).is_some_and(|it| fits(rest, it))
        }
        [_, rest @ ..] => (0..=text.len())
            .filter(|it| text.is_char_boundary(*it))
            .any(|at| fits(rest, text.get(at..).unwrap_or_default())),
    }
}

fn is_certain(analysis: &Analysis) -> bool {
    let known = |it: &eclusa_shell::Command| it.words.first().is_none_or(|it| it.text().is_some());
    analysis.refused.is_none() && analysis.doubts.is_empty() && analysis.commands.iter().all(known)
}

/// How many scripts were certain, of how many.
fn check(mut runner: TestRunner) -> (u32, u32) {
    let room = tempfile::tempdir().unwrap();
    let certain = std::cell::Cell::new(0);
    let ran = std::cell::Cell::new(0);
    runner
        .run(&script(), |script| {
            ran.set(ran.get() + 1);
            let analysis = analyse(&script);
            if !is_certain(&analysis) {
                return Ok(());
            }
            certain.set(certain.get() + 1);
            let Some(commands) = run(&script, room.path()) else { return Ok(()) };
            for argv in commands {
                let listed = analysis.commands.iter().any(|it| covers(&it.words, &argv));
                let parts = analysis.commands.iter().flat_map(|it| &it.words).map(|it| &it.parts);
                prop_assert!(listed, "bash ran {argv:?}, listed: {:?}", parts.collect::<Vec<_>>());
            }
            Ok(())
        })
        .unwrap();
    (certain.get(), ran.get())
}

fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}

/// Issue 5, differential fuzzing: a modest number of scripts on every run of the tests, the same
/// each time: a change is not blamed for what bash was found to do since.
#[test]
fn bash_runs_nothing_that_is_not_listed() {
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let runner = match std::env::var("ECLUSA_TEST_CASES").ok().and_then(|it| it.parse().ok()) {
        // Others each time: 20,000 take an hour.
        Some(many) => TestRunner::new(config(many)),
        None => TestRunner::new_with_rng(config(400), random),
    };
    let (certain, ran) = check(runner);
    assert!(certain * 10 > ran, "only {certain} of {ran} scripts were read without a doubt");
}
