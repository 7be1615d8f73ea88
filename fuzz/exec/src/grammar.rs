//! Shell text around commands: the forms of bash, and the places in which it works out a text once
//! more than one expects.

use crate::lines::Lines;
use crate::random::Random;

/// Forms with commands in them. `C` is a command, `V` a variable, `P` a text that runs something if
/// it is worked out, `W` a word.
const FORMS: &[&str] = &[
    "C | C",
    "C | C | C",
    "C && C",
    "C || C",
    "C; C",
    "C\nC",
    "! C",
    "time C",
    "( C )",
    "{ C; }",
    "C 2>/dev/null",
    "C 2>&1",
    "C >/dev/null 2>&1",
    "C < a.txt",
    "C <<< W",
    "C <<E\nW\nE",
    "C <<'E'\nP\nE",
    "C <<E\nP\nE",
    "cat <(C)",
    "diff <(C) <(C)",
    "echo $(C)",
    "echo \"$(C)\"",
    "echo `C`",
    "C &",
    "for V in W W; do C; done",
    "for V in *.txt; do C \"$V\"; done",
    "for V in P; do C; done",
    "while read -r V; do C; done < a.txt",
    "C | while read V; do echo \"$V\"; done",
    "if C; then C; else C; fi",
    "case W in a*) C;; *) C;; esac",
    "case $V in P) C;; esac",
    "until C; do break; done",
    "select V in W; do break; done",
    "f() { C; }; f W",
    "f() { C \"$1\"; }; f P",
    "V=W; C \"$V\"",
    "V=P; C \"$V\"",
    "V=P C",
    "V=W C",
    "export V=P; C",
    "declare V=P; C",
    "local V=P",
    "readonly V=P",
    "typeset V=P",
    "declare -i V=P",
    "declare -n V=P; echo $V",
    "declare -a V=(P W)",
    "declare -A V=([P]=1)",
    "V=(P W); echo \"${V[@]}\"",
    "V[P]=1",
    "V+=P",
    "let V=P",
    "((V=P))",
    "((P))",
    "echo $((P))",
    "echo $((V+1))",
    "[[ P -eq 1 ]]",
    "[[ $V -gt P ]]",
    "[[ -v P ]]",
    "test -v P",
    "[ P -eq 1 ]",
    "[ -v P ]",
    "test P = W",
    "printf -v P W",
    "printf '%d' P",
    "printf W P",
    "printf %b P",
    "read V <<< P",
    "read -a V <<< P; echo ${V[0]}",
    "mapfile -t V < a.txt",
    "mapfile -C P -c 1 V < a.txt",
    "unset P",
    "unset 'V[P]'",
    "echo ${V:-P}",
    "echo ${V:=P}",
    "echo \"${V:P}\"",
    "echo ${V@P}",
    "echo ${!V}",
    "V=P; echo ${!V}",
    "echo ${V[P]}",
    "echo ${#V[P]}",
    "echo ${V/P/W}",
    "echo ${V%P}",
    "trap P EXIT",
    "shift P",
    "exit P",
    "return P",
    "ulimit -n P",
    "wait P",
    "cd W && C",
    "set -- P W; echo \"$@\"",
];

/// Further forms that take a name and do something with it.
const MORE: &[&str] = &[
    "getopts P V",
    "compgen -C P",
    "compgen -W P",
    "compgen -F P",
    "complete -C P V",
    "enable -f ./evil.so V",
    "hash -p ./evil.sh V; V",
    "alias V=P; V",
    "eval P",
    "exec C",
    "command C",
    "builtin C",
    "command -v W",
    "type W",
    "coproc C",
    "xargs C < list",
    "xargs -I{} C {} < list",
    "find . -name W -exec C {} \\;",
    "env C",
    "env V=P C",
    "timeout 1 C",
    "nice C",
    "bash -c 'C'",
    "sh -c 'C'",
];

/// Texts that run something where they are worked out.
const PAYLOADS: &[&str] = &[
    "'a[$(./evil.sh)]'",
    "'a[`./evil.sh`]'",
    "'$(./evil.sh)'",
    "'`./evil.sh`'",
    "\"a[\\$(./evil.sh)]\"",
    "'x[$(./evil.sh)]=1'",
    "'./evil.sh'",
    "'V[$(./evil.sh)0]'",
    "$'a[$(./evil.sh)]'",
    "'a[$(: >OUT)]'",
    "'${x:=$(./evil.sh)}'",
    "'@./evil.sh'",
    "'|./evil.sh'",
    "'!./evil.sh'",
    "'BASH_ENV=./x.sh'",
    "'() { :; }; ./evil.sh'",
];

/// Variables that shells and programs look at.
const VARIABLES: &[&str] = &[
    "x",
    "i",
    "f",
    "IFS",
    "PATH",
    "BASH_ENV",
    "ENV",
    "PS0",
    "PS1",
    "PS4",
    "PROMPT_COMMAND",
    "SECONDS",
    "RANDOM",
    "SRANDOM",
    "LINENO",
    "HISTCMD",
    "OPTIND",
    "BASHPID",
    "EPOCHSECONDS",
    "EPOCHREALTIME",
    "BASH_ARGV0",
    "BASH_SUBSHELL",
    "UID",
    "EUID",
    "PPID",
    "FUNCNEST",
    "SHELLOPTS",
    "BASHOPTS",
    "BASH_COMPAT",
    "COLUMNS",
    "LINES",
    "TIMEFORMAT",
    "GLOBIGNORE",
    "HISTFILE",
    "TMOUT",
    "MAILPATH",
    "CDPATH",
    "HOME",
    "PWD",
    "OLDPWD",
    "REPLY",
    "MAPFILE",
    "DIRSTACK",
    "GROUPS",
    "PIPESTATUS",
    "BASH_REMATCH",
    "COMPREPLY",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "PAGER",
    "MANPAGER",
    "LESSOPEN",
    "LESS",
    "EDITOR",
    "VISUAL",
    "BROWSER",
    "GIT_PAGER",
    "GIT_EXTERNAL_DIFF",
    "GIT_SSH_COMMAND",
    "GIT_SSH",
    "GIT_EXEC_PATH",
    "GIT_DIR",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_TRACE",
    "GIT_TRACE2",
    "GIT_TRACE2_EVENT",
    "GIT_TRACE_PACKET",
    "GIT_PROXY_COMMAND",
    "GIT_TEMPLATE_DIR",
    "GIT_EDITOR",
    "GIT_INDEX_FILE",
    "PERL5OPT",
    "PERL5LIB",
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "NODE_OPTIONS",
    "RIPGREP_CONFIG_PATH",
    "GREP_OPTIONS",
    "TAR_OPTIONS",
    "GZIP",
    "XZ_OPT",
    "XZ_DEFAULTS",
    "TMPDIR",
    "MAGIC",
    "TZ",
];

/// What a mutation puts in.
const SPICE: &[&str] = &[
    " ", "\n", "\t", ";", "&", "|", "<", ">", "(", ")", "{", "}", "$", "`", "\"", "'", "\\", "#",
    "!", "*", "~", "=", "-", ",", "[", "]", "$(", "$((", "))", "${", "<<<", "\\\n", "&&", "||",
    "$'", "[[ ", " ]]", "@", "%", ":",
];

/// One text: a command, often in a form of the shell, sometimes mutated.
pub(crate) fn text(lines: &Lines, random: &mut Random) -> String {
    let mut text = match random.below(100) {
        0..52 => lines.simple(random),
        52..82 => form(FORMS, lines, random),
        82..92 => form(MORE, lines, random),
        _ => {
            let outer = form(FORMS, lines, random);
            let inner = form(FORMS, lines, random);
            if random.chance(50) {
                format!("{outer}\n{inner}")
            } else {
                format!("{{ {outer}\n}} | cat")
            }
        }
    };
    while random.chance(12) {
        mutate(&mut text, random);
    }
    text
}

fn form(forms: &[&str], lines: &Lines, random: &mut Random) -> String {
    let form = random.word(forms);
    let variable = random.word(VARIABLES);
    let mut text = String::new();
    let mut rest = form.as_str();
    // A letter stands for something only by itself.
    while let Some(letter) = rest.chars().next() {
        let after = rest.get(letter.len_utf8()..).unwrap_or_default();
        let begins = !text.ends_with(|it: char| it.is_alphanumeric() || it == '-');
        let ends = !after.starts_with(|it: char| it.is_alphanumeric());
        match letter {
            'C' if begins && ends => text.push_str(&lines.simple(random)),
            'V' if begins && ends => text.push_str(&variable),
            'P' if begins && ends && !text.ends_with('@') => {
                let payload = random.word(PAYLOADS);
                text.push_str(&payload.replace('V', &variable));
            }
            'W' if begins && ends => text
                .push_str(&random.word(&["a.txt", "alpha", "1", "src", "'a b'", "%s", "data.csv"])),
            other => text.push(other),
        }
        rest = after;
    }
    text
}

fn mutate(text: &mut String, random: &mut Random) {
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let Some(&at) = random.pick(&places) else { return };
    let next = text.get(at..).and_then(|it| it.chars().next());
    match next {
        Some(next) if random.chance(40) => text.replace_range(at..at + next.len_utf8(), ""),
        _ => text.insert_str(at, &random.word(SPICE)),
    }
}
