//! Pipes between known programs: what is printed for sure, and what becomes of it further on.
//!
//! `echo / | xargs rm -rf` and `echo 'rm -rf /' | sh` say in full what they do. Nothing here makes
//! a command more harmless; it lets rules that deny see through the pipe.

use crate::{NestedCommands, Part, Unknown, Word};

use super::processes::lists_all;
use super::{How, read};

/// Stands for every process there is where processes are listed: to `kill`, that is what it means.
const EVERY: &str = " -- -1 \n";

/// The text that a command certainly prints, if its words say so.
pub(crate) fn printed(argv: &[Word]) -> Option<String> {
    let (name, words) = argv.split_first()?;
    let name = name.text()?;
    match &*name {
        "echo" | "printf" => {}
        "dirname" | "basename" | "realpath" | "readlink" => return path_printed(&name, words),
        "awk" | "gawk" | "mawk" | "nawk" => return awk_printed(words),
        _ => return None,
    }
    let texts: Vec<String> = words.iter().map(known_text).collect::<Option<_>>()?;
    if name == "echo" {
        let flag = |it: &&String| matches!(it.as_str(), "-n" | "-e" | "-E" | "-ne" | "-en");
        let flags = texts.iter().take_while(flag).count();
        return Some(unescaped(&texts.get(flags..)?.join(" ")));
    }
    let texts = if texts.first().is_some_and(|it| it == "--") { texts.get(1..)? } else { &texts };
    let (format, rest) = texts.split_first()?;
    formatted(&unescaped(format), rest)
}

/// What programs that take a path apart print.
fn path_printed(program: &str, words: &[Word]) -> Option<String> {
    let mut paths = words.iter().filter(|it| !it.prefix().starts_with('-'));
    let path = known_text(paths.next()?)?;
    let trimmed = path.trim_end_matches('/');
    match program {
        "dirname" => Some(match trimmed.rsplit_once('/') {
            Some(("", _)) => "/".to_owned(),
            Some((before, _)) => before.to_owned(),
            None if trimmed.is_empty() => "/".to_owned(),
            None => ".".to_owned(),
        }),
        "basename" => Some(match trimmed.rsplit('/').next() {
            Some("") | None => "/".to_owned(),
            Some(name) => name.to_owned(),
        }),
        _ => Some(path),
    }
}

/// What a program of awk prints that does nothing but print: `BEGIN{printf "%c", 114}`.
fn awk_printed(words: &[Word]) -> Option<String> {
    let program = words.iter().filter_map(Word::text).find(|it| it.contains("BEGIN"))?;
    let body = program.split_once('{')?.1.rsplit_once('}')?.0;
    let mut text = String::new();
    for statement in body.split(';').map(str::trim).filter(|it| !it.is_empty()) {
        let (formats, rest) = match statement.strip_prefix("printf") {
            Some(rest) => (true, rest),
            None => (false, statement.strip_prefix("print")?),
        };
        let rest = rest.trim().trim_start_matches('(').trim_end_matches(')');
        let values: Vec<String> = awk_values(rest)?;
        match values.split_first() {
            Some((format, values)) if formats => {
                let mut values = values.iter();
                let mut format = unescaped(format);
                while let Some(at) = format.find('%') {
                    let kind = format.get(at + 1..at + 2)?.to_owned();
                    let value = match &*kind {
                        "c" => {
                            let value = values.next()?;
                            let code = value.parse::<u8>().ok().map(char::from);
                            code.or_else(|| value.chars().next())?.to_string()
                        }
                        "s" | "d" | "i" => values.next()?.clone(),
                        _ => return None,
                    };
                    format.replace_range(at..at + 2, &value.replace('%', ""));
                }
                text.push_str(&format);
            }
            Some(_) => {
                text.push_str(&unescaped(&values.join(" ")));
                text.push('\n');
            }
            None => return None,
        }
    }
    Some(text)
}

/// Strings and numbers between commas; strings that stand beside each other are one.
fn awk_values(text: &str) -> Option<Vec<String>> {
    let mut values = vec![String::new()];
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first == '"' {
            let (string, after) = rest.get(1..)?.split_once('"')?;
            values.last_mut()?.push_str(string);
            rest = after;
        } else {
            match first {
                ',' => values.push(String::new()),
                it if it.is_ascii_digit() => values.last_mut()?.push(it),
                it if it.is_whitespace() => {}
                _ => return None,
            }
            rest = rest.get(first.len_utf8()..)?;
        }
    }
    Some(values)
}

/// The text of a word, or a pattern or a home as it is written: for those who look for catastrophes
/// what a pattern fits is as good as the pattern.
pub(crate) fn known_text(word: &Word) -> Option<String> {
    let known = |it: &Part| match it {
        Part::Text(_) | Part::Glob(_) => true,
        Part::Unknown { why, .. } => matches!(why, Unknown::Home | Unknown::Here),
    };
    match word.text() {
        Some(text) => Some(text.into_owned()),
        None => word.parts.iter().all(known).then(|| word.source.clone()),
    }
}

/// What `printf` makes of a format with `%s` and `%b` in it, which it uses again and again.
fn formatted(format: &str, words: &[String]) -> Option<String> {
    let pieces: Vec<&str> = format.split("%s").flat_map(|it| it.split("%b")).collect();
    if pieces.iter().any(|it| it.contains('%')) {
        return None;
    }
    let holes = pieces.len() - 1;
    if holes == 0 {
        return Some(format.to_owned());
    }
    let mut text = String::new();
    let mut words = words.iter();
    loop {
        for (at, piece) in pieces.iter().enumerate() {
            text.push_str(piece);
            if at < holes {
                text.push_str(&words.next().map(|it| unescaped(it)).unwrap_or_default());
            }
        }
        if words.len() == 0 {
            return Some(text);
        }
    }
}

/// The text with `\n`, `\t`, `\xHH` and `\NNN` worked out.
fn unescaped(text: &str) -> String {
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        done.push_str(before);
        let number = |from: usize, most: usize, radix: u32| {
            let digits: String =
                after.chars().skip(from).take(most).take_while(|it| it.is_digit(radix)).collect();
            let code = u8::from_str_radix(&digits, radix).ok()?;
            Some((char::from(code), from + digits.len()))
        };
        let worked_out = match after.chars().next() {
            Some('n') => Some(('\n', 1)),
            Some('t') => Some(('\t', 1)),
            Some('x') => number(1, 2, 16),
            Some('0') => number(0, 4, 8),
            Some('1'..='7') => number(0, 3, 8),
            _ => None,
        };
        let (used, it) = worked_out.map_or((0, '\\'), |(it, used)| (used, it));
        done.push(it);
        rest = after.get(used..).unwrap_or_default();
    }
    done.push_str(rest);
    done
}

/// True for `seq` and nothing but numbers.
pub(crate) fn counts(argv: &[Word]) -> bool {
    let Some((name, words)) = argv.split_first() else { return false };
    let counted = |it: &str| it == "-w" || it.bytes().all(|it| it.is_ascii_digit());
    name.text().as_deref() == Some("seq") && !words.is_empty() && all_texts(words, counted)
}

/// True for what hands on lines as they are, perhaps not all, or in another order.
pub(crate) fn picks_lines(argv: &[Word]) -> bool {
    let Some((name, words)) = argv.split_first() else { return false };
    let flag = |it: &str| matches!(it, "-n" | "-r" | "-rn" | "-nr" | "-R" | "-u");
    let counted =
        |it: &str| it.trim_start_matches(['-', 'n']).bytes().all(|it| it.is_ascii_digit());
    matches!(name.text().as_deref(), Some("sort" | "head" | "tail" | "shuf" | "tac"))
        && all_texts(words, |it| flag(it) || counted(it))
}

fn all_texts(words: &[Word], fits: impl Fn(&str) -> bool) -> bool {
    words.iter().all(|it| it.text().is_some_and(|it| fits(&it)))
}

/// What stands for the processes that a command lists, where these are all of them.
pub(crate) fn all_processes(argv: &[Word]) -> Option<String> {
    lists_all(argv).then(|| EVERY.to_owned())
}

/// True for what cuts numbers out of a list of processes, and does not choose among them.
fn keeps_every(argv: &[Word]) -> bool {
    let mut texts = argv.iter().filter_map(Word::text);
    let name = texts.next().unwrap_or_default();
    match &*name {
        "awk" | "gawk" | "mawk" => !texts.any(|it| it.contains(['/', '~']) || it.contains("==")),
        "sed" => !texts.any(|it| it == "-n"),
        "grep" => texts.any(|it| it.starts_with("-v") || it == "--invert-match"),
        "tail" => texts.any(|it| it.contains('+')),
        "cut" | "tr" | "sort" | "uniq" | "cat" | "tac" | "column" => true,
        _ => false,
    }
}

/// What a command that is handed this text certainly hands on.
pub(crate) fn passed_through(argv: &[Word], text: &str) -> Option<String> {
    if text == EVERY {
        return keeps_every(argv).then(|| EVERY.to_owned());
    }
    let (name, words) = argv.split_first()?;
    let flags: Vec<_> = words.iter().map(Word::text).collect::<Option<_>>()?;
    let has = |names: &[&str]| flags.iter().any(|it| names.contains(&&**it));
    match &*name.text()? {
        "cat" if flags.iter().all(|it| it == "-" || it.starts_with('-')) => Some(text.to_owned()),
        "tee" | "head" | "tail" | "sort" | "uniq" | "grep" => Some(text.to_owned()),
        "rev" => Some(text.lines().map(|it| it.chars().rev().collect::<String>() + "\n").collect()),
        "tr" => translated(&flags, text),
        "openssl" if has(&["base64", "-base64", "-a"]) && has(&["-d"]) => decoded(text),
        "base64" if has(&["-d", "-D", "--decode", "-di", "-id", "--d", "--dec"]) => decoded(text),
        "xxd" if has(&["-r", "-r -p", "-rp", "-pr", "-revert"]) => unhexed(text),
        _ => None,
    }
}

/// What `tr` makes of a text.
fn translated(flags: &[std::borrow::Cow<'_, str>], text: &str) -> Option<String> {
    match flags {
        [flag, set] if flag == "-d" => {
            let set = set_of(set);
            Some(text.chars().filter(|it| !set.contains(it)).collect())
        }
        [from, to] => {
            let (from, to) = (set_of(from), set_of(to));
            let put = |it: char| {
                let at = from.iter().position(|from| *from == it);
                at.and_then(|at| to.get(at).or(to.last())).copied().unwrap_or(it)
            };
            Some(text.chars().map(put).collect())
        }
        _ => None,
    }
}

/// The characters of a set of `tr`, ranges worked out.
fn set_of(set: &str) -> Vec<char> {
    let set: Vec<char> = unescaped(set).chars().collect();
    let mut all = Vec::new();
    let mut rest = set.as_slice();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match after {
            ['-', last, after @ ..] if first <= last && last.is_ascii() => {
                all.extend(*first..=*last);
                rest = after;
            }
            _ => all.push(*first),
        }
    }
    all
}

fn decoded(text: &str) -> Option<String> {
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut held, mut bits) = (0_u32, 0_u32);
    for it in text.chars().filter(|it| !it.is_whitespace() && *it != '=') {
        held = (held << 6) | u32::try_from(alphabet.find(it)?).ok()?;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from((held >> bits) & 0xff).ok()?);
            held &= (1 << bits) - 1;
        }
    }
    String::from_utf8(bytes).ok()
}

fn unhexed(text: &str) -> Option<String> {
    let digits: Vec<u8> = text
        .chars()
        .filter_map(|it| it.to_digit(16))
        .map(u8::try_from)
        .collect::<Result<_, _>>()
        .ok()?;
    let pairs = digits.chunks_exact(2);
    let bytes = pairs.map(|it| it.iter().fold(0, |sum, digit| sum * 16 + digit)).collect();
    String::from_utf8(bytes).ok()
}

/// What a command runs when it is handed this text: a shell runs it, `xargs` makes arguments of
/// its words.
pub(crate) fn run_with_input(argv: &[Word], text: &str) -> NestedCommands {
    let profile = read(argv);
    if profile.reads_script {
        return NestedCommands { scripts: vec![Word::literal(text)], ..NestedCommands::default() };
    }
    if !matches!(profile.entry, Some("xargs" | "parallel")) {
        return NestedCommands::default();
    }
    let words: Vec<Word> = text
        .split(|it: char| it.is_whitespace() || it == '\0')
        .filter(|it| !it.is_empty())
        .map(input_word)
        .collect();
    let with_words = |inner: &Vec<Word>| {
        let known = inner.iter().filter(|it| it.text().is_some()).cloned();
        known.chain(words.iter().cloned()).collect()
    };
    NestedCommands {
        runs: profile.runs.iter().map(with_words).collect(),
        ..NestedCommands::default()
    }
}

/// A word of what is handed on; a pattern stays one, because it may have been worked out before.
pub(crate) fn input_word(text: &str) -> Word {
    let bare = text.trim_matches('"');
    let homes = ["~", "$HOME", "${HOME}"];
    let behind = homes.iter().find_map(|it| bare.strip_prefix(it));
    let rest = behind.unwrap_or(text);
    let part = match rest.contains(['*', '?', '[']) {
        true => Part::Glob(rest.to_owned()),
        false => Part::Text(rest.to_owned()),
    };
    let home = behind.map(|_| Part::Unknown { why: Unknown::Home, splits: false });
    Word { parts: home.into_iter().chain([part]).collect(), source: text.to_owned() }
}

/// The places in which a command looks for files by itself, as text for those it is piped to:
/// `find / | xargs rm` removes what is below `/`.
pub(crate) fn searched_places(argv: &[Word]) -> Vec<Word> {
    let name = argv.first().and_then(Word::text).unwrap_or_default();
    if !matches!(name.rsplit('/').next(), Some("find" | "gfind" | "ls" | "gls" | "dir")) {
        return Vec::new();
    }
    let profile = read(argv);
    if !matches!(profile.entry, Some("find" | "ls")) || profile.narrowed {
        return Vec::new();
    }
    profile.paths.into_iter().filter(|it| it.how == How::Listed).map(|it| it.word).collect()
}
