//! Command lines made from the table of programs: every flag in every spelling, every operand.

use eclusa_shell::programs::{FlagShape, ProgramShape, Takes, examples, shapes};

use crate::random::Random;

/// Words that fit anywhere, and some that should fit nowhere.
const ANYTHING: &[&str] = &[
    "a.txt",
    "b.txt",
    "'c d.txt'",
    "data.json",
    "data.csv",
    "src",
    ".",
    "x.o",
    "x.bin",
    "x.db",
    "t.tar",
    "t.tgz",
    "a.txt.gz",
    "a.txt.xz",
    "HEAD",
    "main",
    "1",
    "0",
    "-1",
    "a",
    "alpha",
    "'*'",
    "'.*'",
    "@opts",
    "./evil.sh",
    "evil.sh",
    "OUT",
    "./OUT",
    "-",
    "--",
    "''",
    "link",
    "dangling",
    "nosuch",
    "-n",
    "-o",
    "--output=OUT",
    "list",
    "'a[$(./evil.sh)]'",
    "up",
];

/// Words of each kind. What is not here is taken from the words that fit anywhere.
const KINDS: &[(&str, &[&str])] = &[
    (
        "read",
        &[
            "a.txt",
            "b.txt",
            "'c d.txt'",
            "data.json",
            "src/main.rs",
            "x.o",
            "a.txt.gz",
            "t.tar",
            "-",
            "nosuch",
            "*.txt",
            "x.db",
            "ro.txt",
        ],
    ),
    ("write", &["OUT", "a.txt", "/dev/null", "/dev/stdout", "src", "."]),
    ("list", &[".", "src", "empty", "up", "nosuch", "*"]),
    (
        "text",
        &[
            "alpha",
            "1",
            "2",
            "a",
            "'a b'",
            "%s",
            "'{}'",
            "10",
            "json",
            "always",
            "never",
            "auto",
            "name",
            "size",
            "utf8",
            ",",
            "x.sh",
            "OUT",
            "./evil.sh",
            "+1",
            "1,3p",
        ],
    ),
    ("size", &["1", "1K", "10M", "4096"]),
    ("format", &["+%s", "+%Y", "+%F"]),
    (
        "revision",
        &[
            "HEAD",
            "main",
            "side",
            "v1",
            "HEAD~1",
            "HEAD:a.txt",
            "main..side",
            "a.txt",
            "stash@{0}",
            ":0:a.txt",
            "--",
        ],
    ),
    ("gitformat", &["%H", "%s", "'%h %an'", "%(trailers)", "'%(refname)'", "%G?", "oneline"]),
    (
        "gitconfig",
        &[
            "color.ui=always",
            "core.pager=./evil.sh",
            "diff.trap.textconv=./evil.sh",
            "diff.external=./evil.sh",
            "core.fsmonitor=./evil.sh",
            "log.date=iso",
            "alias.x='!./evil.sh'",
            "diff.context=1",
        ],
    ),
    (
        "sed",
        &[
            "p",
            "'1,3p'",
            "s/a/b/",
            "'s/a/b/w OUT'",
            "'s/a/b/e'",
            "'w OUT'",
            "'1e ./evil.sh'",
            "'r b.txt'",
            "'$!d'",
            "'y/a/b/;p'",
            "'/a/{p;q}'",
            "'s|x|y|;t;W OUT'",
        ],
    ),
    (
        "awk",
        &[
            "'{print $1}'",
            "'{print > \"OUT\"}'",
            "'BEGIN{system(\"./evil.sh\")}'",
            "'{print | \"./evil.sh\"}'",
            "'NR==1'",
            "'BEGIN{\"./evil.sh\"|getline}'",
            "'/a/{n++} END{print n}'",
            "'@load \"x\"'",
            "'{printf \"%s\", $0 >> \"OUT\"}'",
        ],
    ),
    ("jq", &[".", ".a", "'.a[]|.b?'", "keys", "env", "'input_filename'", "'@sh'", "length"]),
    ("mode", &["644", "u+x", "a-w"]),
    ("pattern", &["'*.txt'", "'a*'", "src", "'*'"]),
];

/// Makes command lines.
pub(crate) struct Lines {
    readers: Vec<ProgramShape>,
    all: Vec<ProgramShape>,
    examples: Vec<&'static str>,
}

impl Lines {
    /// Lines of programs for which `is_here` holds.
    pub(crate) fn new(is_here: impl Fn(&str) -> bool) -> Lines {
        let all: Vec<ProgramShape> = shapes()
            .into_iter()
            .filter(|it| it.words.first().is_some_and(|it| is_here(it)))
            .collect();
        let readers = all.iter().filter(|it| it.reads).cloned().collect();
        Lines { readers, all, examples: examples().collect() }
    }

    /// How many programs and subcommands there are.
    pub(crate) fn programs(&self) -> usize {
        self.all.len()
    }

    /// One command, without anything of the shell around it.
    pub(crate) fn simple(&self, random: &mut Random) -> String {
        if random.chance(4)
            && let Some(example) = random.pick(&self.examples)
        {
            return (*example).to_owned();
        }
        let pool = if random.chance(92) { &self.readers } else { &self.all };
        let Some(shape) = random.pick(pool) else { return "ls".to_owned() };
        let mut words: Vec<String> = shape.words.iter().map(|it| (*it).to_owned()).collect();
        let reading: Vec<FlagShape> = shape.flags.iter().copied().filter(|it| it.reads).collect();
        for _ in 0..random.below(5) {
            let flags = if random.chance(93) { &reading } else { &shape.flags };
            if let Some(flag) = random.pick(flags) {
                spell(*flag, &mut words, random);
            }
        }
        if random.chance(3) {
            words.push("--".to_owned());
        }
        for at in 0..random.below(4) {
            let kind = shape.operands.get(at).or(shape.operands.last());
            words.push(word(kind.copied().unwrap_or_default(), random));
        }
        // Flags may stand behind operands.
        if random.chance(10)
            && let Some(flag) = random.pick(&reading)
        {
            spell(*flag, &mut words, random);
        }
        if random.chance(12) {
            bundle(&mut words);
        }
        words.join(" ")
    }
}

/// A word of a kind, now and then of another.
fn word(kind: &str, random: &mut Random) -> String {
    let known = KINDS.iter().find(|(it, _)| *it == kind).filter(|_| random.chance(90));
    random.word(known.map_or(ANYTHING, |(_, words)| words))
}

/// A flag with its argument, in one of the ways in which it can be written.
fn spell(flag: FlagShape, words: &mut Vec<String>, random: &mut Random) {
    let long = flag.name.starts_with("--");
    let name = match flag.name {
        // As short as `--out` for `--output`.
        name if long && random.chance(4) => {
            let end = 3 + random.below(name.len().saturating_sub(3));
            name.get(..end).unwrap_or(name)
        }
        name => name,
    };
    let value = word(flag.argument, random);
    match flag.takes {
        Takes::Nothing if random.chance(1) => words.push(format!("{name}={value}")),
        Takes::Nothing => words.push(name.to_owned()),
        Takes::Argument | Takes::Attached if long && random.chance(60) => {
            words.push(format!("{name}={value}"))
        }
        Takes::Attached if random.chance(50) => words.push(format!("{name}{value}")),
        Takes::Attached => words.push(name.to_owned()),
        Takes::Argument if !long && random.chance(30) => words.push(format!("{name}{value}")),
        Takes::Argument => words.extend([name.to_owned(), value]),
        Takes::Two => words.extend([name.to_owned(), "a".to_owned(), value]),
    }
}

/// Joins short flags that stand beside each other: `-a -b` is `-ab`.
fn bundle(words: &mut Vec<String>) {
    let short = |it: &str| it.len() == 2 && it.starts_with('-') && it != "--";
    let mut joined: Vec<String> = Vec::new();
    for word in words.drain(..) {
        let before = joined
            .last_mut()
            .filter(|it| it.starts_with('-') && !it.starts_with("--") && it.len() < 6);
        match before {
            Some(before) if short(&word) && before.len() > 1 => {
                before.push_str(word.trim_start_matches('-'))
            }
            _ => joined.push(word),
        }
    }
    *words = joined;
}
