//! Processes: what a command lists or ends by its words, where that is all of them.

use std::borrow::Cow;

use crate::Word;

/// What listing processes with these words gives where it gives all of them.
pub(crate) fn lists_all(argv: &[Word]) -> bool {
    let Some((name, words)) = argv.split_first() else { return false };
    let name = name.text().unwrap_or_default();
    match name.rsplit('/').next() {
        Some("pgrep") => ends_all_that_fit("pgrep", argv),
        Some("ps") => {
            let texts: Vec<Cow<'_, str>> = words.iter().filter_map(Word::text).collect();
            let some = ["-C", "-p", "-q", "-t", "-g", "-s", "--pid", "--ppid", "--tty", "--sid"];
            let one = |it: &str| some.iter().any(|flag| it == *flag || it.starts_with("--p"));
            let all = |it: &str| match it.strip_prefix('-') {
                Some(flags) if !flags.starts_with('-') => flags.contains(['e', 'A', 'u', 'U', 'x']),
                Some(_) => it.starts_with("--user") || it == "--everyone",
                None => it.contains('x') && it.len() < 6,
            };
            // The first words are the flags; what follows `-o` names columns.
            texts.iter().any(|it| all(it)) && !texts.iter().any(|it| one(it))
        }
        _ => false,
    }
}

/// `pkill .`, `killall -r '.*'`, `pkill -u root`, and what is not like something: more than anybody
/// can name.
pub(crate) fn ends_all_that_fit(program: &str, argv: &[Word]) -> bool {
    let (mut any, mut sought, mut group, mut inverted) = (false, false, false, false);
    let mut words = argv.iter().skip(1);
    while let Some(word) = words.next() {
        let text = word.text();
        match text.as_deref() {
            Some("-u" | "-U" | "-G" | "--uid" | "--euid" | "--group" | "--user") => {
                group = true;
                words.next();
            }
            Some("-P" | "-g" | "-s" | "-t" | "-F" | "-d" | "-c" | "-r" | "--signal")
                if !(program == "killall" && text.as_deref() == Some("-r")) =>
            {
                sought = true;
                words.next();
            }
            Some("-v" | "--inverse") => inverted = program != "killall",
            Some(it) if it.starts_with("-u") || it.starts_with("--euid=") => group = true,
            Some(it) if it.starts_with('-') && it.len() > 1 => {}
            Some(it) => {
                let all = it.chars().all(|it| ".*^$+?()".contains(it));
                any |= all || matches!(it, "init" | "systemd" | "launchd");
                sought |= !all;
            }
            None => sought = true,
        }
    }
    any || inverted || (group && !sought)
}
