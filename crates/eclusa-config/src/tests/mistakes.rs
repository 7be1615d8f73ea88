//! What is wrong with a file, where, and how to fix it.

use insta::assert_snapshot;

use super::{left_out, wrong};
use crate::{Config, Layer};

#[test]
fn unknown_keys_are_refused() {
    assert_snapshot!(wrong("mdoe = 'yolo'\n[limit]\ntime = '1s'\n[limits]\nxyzzy = 1"), @r#"
    eclusa.toml:1:1: unknown key `mdoe`; did you mean `mode`?
    eclusa.toml:2:2: unknown key `limit`; did you mean `limits`?
    eclusa.toml:5:1: unknown key `xyzzy`
    "#);
    assert_snapshot!(wrong("[[rules]]\ndecision = 'deny'\n  tools = 'bash'"), @"eclusa.toml:3:3: unknown key `tools`; did you mean `tool`?");
    assert_snapshot!(wrong("[[rules]]\ndecision = 'deny'\narg = { '/n' = { equal = 1 } }"), @"eclusa.toml:3:18: unknown key `equal`; did you mean `equals`?");
    assert_snapshot!(wrong("[tools.x]\ndescription = 'x'\ncommand = ['x']\nclas = 'web'"), @"eclusa.toml:4:1: unknown key `clas`; did you mean `class`?");
}

/// What follows a mistake on its line follows from it, and is not told.
#[test]
fn a_line_that_is_no_toml_is_told_once() {
    let told = wrong("[limits]\ntime = 'a\\'b' c 'd'\noutput = {]");
    let lines: Vec<&str> = told.lines().filter_map(|it| it.get(..14)).collect();
    assert!(
        lines.iter().all(|it| lines.iter().filter(|other| *other == it).count() == 1),
        "{told}"
    );
    assert!(lines.contains(&"eclusa.toml:2:"), "{told}");
}

/// S4.45: a mode that nobody knows is refused.
/// Shows S4.45.
#[test]
fn unknown_words_are_refused() {
    assert_snapshot!(wrong("mode = 'yollo'"), @"eclusa.toml:1:8: `mode` cannot be `yollo`; did you mean `yolo`?");
    assert_snapshot!(wrong("mode = 'whatever'"), @"eclusa.toml:1:8: `mode` cannot be `whatever`; use one of confirm-all, confirm-sensitive, auto-approve, yolo");
    assert_snapshot!(wrong("on_no_approver = 'allow_with_warning'"), @"eclusa.toml:1:18: `on_no_approver` cannot be `allow_with_warning`; did you mean `allow-with-warning`?");
    assert_snapshot!(wrong("[[rules]]\ndecision = 'alow'\ntool = 'x'"), @"eclusa.toml:2:12: `rules.decision` cannot be `alow`; did you mean `allow`?");
    assert_snapshot!(wrong("[[rules]]\ndecision = 'deny'\nclass = ['shel', 'web']"), @"eclusa.toml:3:10: `rules.class` cannot be `shel`; did you mean `shell`?");
}

#[test]
fn values_of_the_wrong_kind_are_refused() {
    assert_snapshot!(wrong("mode = 3\n[limits]\ntime = 30\ndepth = 'deep'"), @r#"
    eclusa.toml:1:8: `mode` must be text, not a whole number
    eclusa.toml:3:8: `limits.time` must be text, not a whole number; write `"30s"`
    eclusa.toml:4:9: `limits.depth` must be a whole number, not text
    "#);
    assert_snapshot!(wrong("[limits]\nconcurrent = 1.5\noutput = true"), @r#"
    eclusa.toml:2:14: `limits.concurrent` must be a whole number, not a number with a fraction
    eclusa.toml:3:10: `limits.output` must be a whole number or text, not true or false
    "#);
    assert_snapshot!(wrong("rules = 'none'\n[redact]\non = 'yes'"), @r#"
    eclusa.toml:1:9: `rules` must be a list, not text
    eclusa.toml:3:6: `redact.on` must be true or false, not text
    "#);
    assert_snapshot!(wrong("[[rules]]\ndecision = 'deny'\narg = { '/n' = { equals = 2026-01-01 } }"), @"eclusa.toml:3:27: `rules.arg./n.equals` is a date, and JSON has none; write it in quotes");
    assert_snapshot!(wrong("[[rules]]\ndecision = 'deny'\narg = { '/n' = nan }"), @"eclusa.toml:3:16: `rules.arg./n` must be a finite number");
    assert_snapshot!(wrong("[[rules]]\ntool = 'x'"), @"eclusa.toml:1:1: `rules` needs `decision`");
}

#[test]
fn numbers_have_bounds() {
    assert_snapshot!(wrong("[limits]\ndepth = -1\nconcurrent = 0\noutput = -5"), @r#"
    eclusa.toml:2:9: `limits.depth` cannot be -1; it cannot be negative
    eclusa.toml:3:14: `limits.concurrent` cannot be 0; it is at least 1
    eclusa.toml:4:10: `limits.output` cannot be -5; it cannot be negative
    "#);
    assert_snapshot!(wrong("[limits]\ndepth = 99999999999999999999"), @"eclusa.toml:2:9: `limits.depth` is a number too large to be meant");
}

#[test]
fn times_and_sizes_have_units() {
    assert_snapshot!(wrong("[limits]\ntime = '30'\ntime_cap = '10 fortnights'\noutput = '10QB'"), @r#"
    eclusa.toml:2:8: `30` is not a time; write a whole number and ms, s, m, h or d, like `30s`
    eclusa.toml:3:12: `10 fortnights` is not a time; write a whole number and ms, s, m, h or d, like `30s`
    eclusa.toml:4:10: `10QB` is not a size; write a whole number and B, KB, MB or GB, like `100KB`
    "#);
    assert_snapshot!(wrong("[limits]\ntime = '0s'\napproval = '99999999999d'\nreview = '-1s'"), @r#"
    eclusa.toml:2:8: no time at all would refuse every call; write how long it may take
    eclusa.toml:3:12: `99999999999d` is more than a year
    eclusa.toml:4:10: `-1s` is not a time; write a whole number and ms, s, m, h or d, like `30s`
    "#);
}

#[test]
fn broken_toml_is_told_with_its_place() {
    assert_snapshot!(wrong("mode = 'yolo\n"), @"eclusa.toml:1:13: invalid literal string, expected `'`");
    assert_snapshot!(wrong("mode = 'yolo'\nmode = 'yolo'\n"), @"eclusa.toml:2:1: duplicate key");
    assert_snapshot!(wrong("[limits\ntime = '1s'"), @"eclusa.toml:1:8: unclosed table, expected `]`");
}

#[test]
fn rules_that_cannot_be_meant_are_refused() {
    assert_snapshot!(wrong("[[rules]]\ndecision = 'allow'"), @"eclusa.toml:1:1: a rule that allows needs a condition; say which `tool`, `class`, `server`, `arg`, `command`, `path` or `domain` it is for");
    assert_snapshot!(wrong("[[rules]]\ndecision = 'allow'\ntool = []"), @"eclusa.toml:3:8: an empty list matches nothing; leave the key out to match all");
    assert_snapshot!(wrong("[[rules]]\ndecision = 'deny'\nclass = []"), @"eclusa.toml:3:9: an empty list matches nothing; leave the key out to match all");
    assert_snapshot!(wrong("[[rules]]\ndecision = 'deny'\narg = { command = '*' }"), @"eclusa.toml:3:19: `command` does not say where the argument is; write `/command`");
    assert_snapshot!(wrong("[[rules]]\ndecision = 'deny'\narg = { '/c' = { regex = 'a(b' } }"), @"eclusa.toml:3:16: `a(b` is not a regular expression: unclosed group");
    assert_snapshot!(wrong("[[rules]]\ndecision = 'deny'\narg = { '/c' = {} }"), @"eclusa.toml:3:16: an empty table says nothing; use equals, regex, contains, under or not");
    assert_snapshot!(wrong("[[rules]]\ndecision = 'deny'\narg = { '/c' = { contains = '' } }"), @"eclusa.toml:3:16: every text contains the empty text; say what it should contain");
    assert_snapshot!(wrong("[[rules]]\ndecision = 'deny'\narg = { '/c' = { under = '../x' } }"), @"eclusa.toml:3:16: `../x` is not a directory of the workspace; write it relative to the workspace");
    assert_snapshot!(wrong("[[rules]]\ndecision = 'deny'\npath = ['~/.ssh', 'a/../../b']"), @"eclusa.toml:3:8: `~/.ssh` leaves the workspace; paths outside are always denied, so write it relative to the workspace");
    assert_snapshot!(wrong("[[rules]]\ndecision = 'deny'\npath = ['src/[a']"), @"eclusa.toml:3:8: `src/[a` is not a glob: unclosed character class; missing ']'");
    assert_snapshot!(wrong("[[rules]]\ndecision = 'deny'\npath = ['!src/**']"), @"eclusa.toml:3:8: there is no path here to match; write `*` for all paths");
    assert_snapshot!(wrong("[[rules]]\ndecision = 'allow'\ncommand = { contains = 'git' }"), @"eclusa.toml:3:11: shell text cannot be allowed by its looks; allow single commands by their first words, like `command = \"git log\"`");
    assert_snapshot!(wrong("[[rules]]\ndecision = 'deny'\ncommand = 'a | b'"), @"eclusa.toml:3:11: `a …` is the beginning of one command, word by word, without quotes or operators");
    assert_snapshot!(wrong("[[rules]]\ndecision = 'allow'\ncommand = 'a'\npath = 'b'"), @"eclusa.toml:3:11: a rule that allows commands says nothing of paths; leave out `path` and `access`, or use `effects`");
    assert_snapshot!(wrong("[[rules]]\ndecision = 'allow'\ntool = 'a'\ntimes = 2"), @"eclusa.toml:4:9: `times` needs an `id`, by which uses are counted");
    assert_snapshot!(wrong("[[rules]]\ndecision = 'allow'\ntool = 'a'\nuntil = 'soon'"), @"eclusa.toml:4:9: `soon` is not a time; write it like `2026-12-01T18:00:00Z`, or a date alone");
    assert_snapshot!(wrong("[[rules]]\ndecision = 'allow'\ntool = 'a'\nexcept = 'secret-file'"), @"eclusa.toml:4:10: no rule of this file or below is called `secret-file`; did you mean `secret-files`?");
    assert_snapshot!(wrong("[[rules]]\ndecision = 'ask'\neffects = { deleted = '5' }"), @"eclusa.toml:3:11: `5` compares nothing; write `> 5` or `<= 5`");
    assert_snapshot!(wrong("[[rules]]\nid = 'secret-files'\ndecision = 'ask'"), @"eclusa.toml:2:6: a rule is called `secret-files` already, at defaults:218");
    assert_snapshot!(wrong("without = ['secret-file']"), @"eclusa.toml:1:12: no rule below is called `secret-file`; did you mean `secret-files`?");
}

/// A rule that does not do what its author says is found when the file is read.
#[test]
fn examples_are_checked_when_the_file_is_read() {
    let text = "[[rules]]
decision = 'deny'
tool = 'bash'
arg = { '/command' = 'rm *' }
match = [
  { args = { command = 'rm x' } },
  { args = { command = ' rm x' } },
]
not_match = [
  { tool = 'other', args = { command = 'rm x' } },
  { args = { command = 'rm y' } },
]";
    assert_snapshot!(wrong(text), @r#"
    eclusa.toml:7:3: the rule does not apply to this example of `match`; fix the rule or the example
    eclusa.toml:11:3: the rule applies to this example of `not_match`; fix the rule or the example
    "#);
}

#[test]
fn tools_that_cannot_be_meant_are_refused() {
    assert_snapshot!(wrong("[tools.x]\ncommand = ['x']"), @"eclusa.toml:1:1: `tools.x` needs `description`");
    assert_snapshot!(wrong("[tools.'x y']\ndescription = 'x'\ncommand = []"), @r#"
    eclusa.toml:1:1: `x y` is not a tool name: use 1 to 128 letters, digits, `_`, `-` or `.`
    eclusa.toml:3:11: `command` needs a program
    "#);
    let text = "[tools.x]
description = 'x'
command = ['{path}', 'run', '{pth}', '--file={path}', '{ literal }']
args = { path = { type = 'string' } }
required = ['paht']
reads = ['path']
writes = ['/file']
env = ['TOKEN=secret']
timeout = '1 parsec'";
    assert_snapshot!(wrong(text), @r#"
    eclusa.toml:3:12: the program cannot be left to the model; write its name or path
    eclusa.toml:3:29: `{pth}` is not an argument of the tool; did you mean `path`?
    eclusa.toml:3:38: `{path}` must be a word of its own; an argument is passed as one whole word, never pasted into another
    eclusa.toml:5:13: `paht` is required, but `args` does not have it; did you mean `path`?
    eclusa.toml:6:10: `path` does not say where the argument is; write `/path`, or `./path` for the file of that name
    eclusa.toml:7:11: `/file` is not an argument of the tool
    eclusa.toml:8:8: `TOKEN=secret` is not the name of an environment variable; values are never written here
    eclusa.toml:9:11: `1 parsec` is not a time; write a whole number and ms, s, m, h or d, like `30s`
    "#);
    let text = "[tools.x]
description = 'x'
command = ['x']
args = { path = { type = 'strin' } }";
    assert_snapshot!(wrong(text), @r#"eclusa.toml:4:8: the schema of the arguments cannot be used: "strin" is not valid under any of the schemas listed in the 'anyOf' keyword"#);
    let text = "[tools.x]
description = 'x'
command = ['x']
args = { path = { type = 'string' } }
schema = { type = 'object' }";
    assert_snapshot!(wrong(text), @"eclusa.toml:5:10: `schema` takes the place of `args` and `required`; keep one of the two forms");
    let text = "[tools.x]
description = 'x'
command = ['x']
sandbx = false";
    assert_snapshot!(wrong(text), @"eclusa.toml:4:1: unknown key `sandbx`; did you mean `sandbox`?");
    let text = "[tools.x]
description = 'x'
command = ['x']
args = { name = { type = 'string' } }
writes = ['../elsewhere']
undo = ['x', '{nam}']";
    assert_snapshot!(wrong(text), @r#"
    eclusa.toml:5:11: `../elsewhere` is not a path of the workspace
    eclusa.toml:6:14: `{nam}` is not an argument of the tool; did you mean `name`?
    "#);
    let text = "[tools.x]
description = 'x'
command = ['x']
class = 'read-only'
args = { path = { type = 'string' } }
writes = ['/path']";
    assert_snapshot!(wrong(text), @"eclusa.toml:4:9: a tool that writes, runs shell text or talks to hosts is not read-only; use file, shell, web or generic");
}

#[test]
fn reviewers_that_cannot_be_meant_are_refused() {
    assert_snapshot!(wrong("[[reviewers]]\nname = 'a'"), @"eclusa.toml:1:1: a reviewer needs a `command` or a `url`");
    assert_snapshot!(wrong("[[reviewers]]\nname = ''\ncommand = ['x']\nurl = 'https://x.example'"), @r#"
    eclusa.toml:2:8: a reviewer needs a name
    eclusa.toml:4:7: a reviewer has a `command` or a `url`, not both
    "#);
    assert_snapshot!(wrong("[[reviewers]]\nname = 'a'\nurl = 'http://x.example/review'"), @"eclusa.toml:3:7: `http://x.example/review` is not an address that calls can be sent to; use https, or http to this machine");
    assert_snapshot!(wrong("[[reviewers]]\nname = 'a'\nurl = 'http://localhost.evil.example/'"), @"eclusa.toml:3:7: `http://localhost.evil.example/` is not an address that calls can be sent to; use https, or http to this machine");
    assert_snapshot!(wrong("[[reviewers]]\nname = 'a'\ncommand = ['x']\non_error = 'ignore'"), @"eclusa.toml:4:12: `reviewers.on_error` cannot be `ignore`; use one of deny, allow");
    assert_snapshot!(wrong("[[reviewers]]\nname = 'a'\ncommand = []\ntools = []"), @"eclusa.toml:3:11: `command` needs a program");
}

#[test]
fn passes_come_once_each() {
    assert_snapshot!(wrong("order = ['approval', 'approval', 'checkpoint']"), @"eclusa.toml:1:9: `order` must name approval, and reverse-thinking or checkpoint or both; each once; one that is left out is stood for by the other");
    assert_snapshot!(wrong("order = ['approval']"), @"eclusa.toml:1:9: `order` must name approval, and reverse-thinking or checkpoint or both; each once; one that is left out is stood for by the other");
}

/// All mistakes of all layers at once.
#[test]
fn all_layers_are_reported() {
    let layers =
        [Layer::of_person("mine.toml", "mode = 1"), Layer::of_project("eclusa.toml", "mode = 2")];
    assert_snapshot!(Config::load(&layers).unwrap_err(), @r#"
    mine.toml:1:8: `mode` must be text, not a whole number
    eclusa.toml:1:8: `mode` must be text, not a whole number
    "#);
}

/// Invariant 14, attacks E: a file that was found in the workspace cannot loosen, start
/// programs, or send anything anywhere.
#[test]
fn a_project_can_only_tighten() {
    let wrong = |text: &str| left_out(&[Layer::of_project("eclusa.toml", text)]);
    assert_snapshot!(wrong("mode = 'yolo'"), @"eclusa.toml:1:8: an untrusted project file can only make rules stricter, and this makes them looser; read it, and trust it with `eclusa config trust`, or with `--config` for one run");
    assert_snapshot!(wrong("on_no_approver = 'allow-with-warning'\nwithout = ['secret-files']"), @r#"
    eclusa.toml:1:18: an untrusted project file can only make rules stricter, and this makes them looser; read it, and trust it with `eclusa config trust`, or with `--config` for one run
    eclusa.toml:2:12: a project's file cannot bring exceptions to other files; read it, and trust it with `eclusa config trust`, or with `--config` for one run
    "#);
    assert_snapshot!(wrong("order = ['approval', 'reverse-thinking', 'checkpoint']"), @"eclusa.toml:1:9: a project's file cannot change this; read it, and trust it with `eclusa config trust`, or with `--config` for one run");
    assert_snapshot!(wrong("[limits]\ntime = '31s'\noutput = '101KB'\nconcurrent = 11\ncut = 'head'"), @r#"
    eclusa.toml:2:8: an untrusted project file can only make rules stricter, and this makes them looser; read it, and trust it with `eclusa config trust`, or with `--config` for one run
    eclusa.toml:3:10: an untrusted project file can only make rules stricter, and this makes them looser; read it, and trust it with `eclusa config trust`, or with `--config` for one run
    eclusa.toml:4:14: an untrusted project file can only make rules stricter, and this makes them looser; read it, and trust it with `eclusa config trust`, or with `--config` for one run
    eclusa.toml:5:7: a project's file cannot change this; read it, and trust it with `eclusa config trust`, or with `--config` for one run
    "#);
    assert_snapshot!(wrong("[[rules]]\ndecision = 'allow'\ntool = 'x'"), @"eclusa.toml:1:1: a project's file cannot bring a rule that allows; read it, and trust it with `eclusa config trust`, or with `--config` for one run");
    assert_snapshot!(wrong("[tools.x]\ndescription = 'x'\ncommand = ['x']"), @"eclusa.toml:1:1: a project's file cannot bring a tool; read it, and trust it with `eclusa config trust`, or with `--config` for one run");
    assert_snapshot!(wrong("[[reviewers]]\nname = 'x'\ncommand = ['x']"), @"eclusa.toml:1:1: a project's file cannot bring a reviewer; read it, and trust it with `eclusa config trust`, or with `--config` for one run");
    assert_snapshot!(wrong("[redact]\non = false\nfiles = ['x']"), @r#"
    eclusa.toml:2:6: an untrusted project file can only make rules stricter, and this makes them looser; read it, and trust it with `eclusa config trust`, or with `--config` for one run
    eclusa.toml:3:9: a project's file cannot change this; read it, and trust it with `eclusa config trust`, or with `--config` for one run
    "#);
    assert_snapshot!(wrong("[audit]\nargs = 'full'\ndurability = 'crash'\n[review]\ncache_time = '1h'"), @r#"
    eclusa.toml:2:8: a project's file cannot change this; read it, and trust it with `eclusa config trust`, or with `--config` for one run
    eclusa.toml:3:14: an untrusted project file can only make rules stricter, and this makes them looser; read it, and trust it with `eclusa config trust`, or with `--config` for one run
    eclusa.toml:5:14: an untrusted project file can only make rules stricter, and this makes them looser; read it, and trust it with `eclusa config trust`, or with `--config` for one run
    "#);
}
