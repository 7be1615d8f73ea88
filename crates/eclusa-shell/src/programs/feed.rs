//! Pipes between known programs: what is printed for sure, and what becomes of it further on.
//!
//! `echo / | xargs rm -rf` and `echo 'rm -rf /' | sh` say in full what they do. Nothing here makes
//! a command more harmless; it lets rules that deny see through the pipe.

use crate::{Inner, Word};

use super::{How, read};

/// The text that a command certainly prints, if its words say so.
pub fn printed(argv: &[Word]) -> Option<String> {
    let (name, words) = argv.split_first()?;
    let texts: Vec<String> =
        words.iter().map(|it| it.text().map(|it| it.into_owned())).collect::<Option<_>>()?;
    match name.text()?.as_ref() {
        "echo" => {
            let flag = |it: &&String| matches!(it.as_str(), "-n" | "-e" | "-E" | "-ne" | "-en");
            let flags = texts.iter().take_while(flag).count();
            let text = texts.get(flags..)?.join(" ");
            Some(text.replace("\\n", "\n").replace("\\t", "\t"))
        }
        "printf" => {
            let (format, rest) = texts.split_first()?;
            let format = format.replace("\\n", "\n").replace("\\t", "\t");
            if rest.is_empty() {
                return (!format.contains('%')).then_some(format);
            }
            let plain = format.replace("%s", "");
            (!plain.contains('%')).then(|| rest.join("\n"))
        }
        _ => None,
    }
}

/// What a command runs when it is handed this text: a shell runs it, `xargs` makes arguments of
/// its words.
pub fn fed(argv: &[Word], text: &str) -> Inner {
    let reading = read(argv);
    if reading.reads_script {
        return Inner { scripts: vec![Word::literal(text)], ..Inner::default() };
    }
    if reading.entry != Some("xargs") {
        return Inner::default();
    }
    let words: Vec<Word> = text.split_whitespace().map(Word::literal).collect();
    let with_words = |inner: &Vec<Word>| {
        let known = inner.iter().filter(|it| it.text().is_some()).cloned();
        known.chain(words.iter().cloned()).collect()
    };
    Inner { runs: reading.runs.iter().map(with_words).collect(), ..Inner::default() }
}

/// The places in which a command looks for files by itself, as text for those it is piped to:
/// `find / | xargs rm` removes what is below `/`.
pub fn found(argv: &[Word]) -> Vec<Word> {
    let reading = read(argv);
    if reading.entry != Some("find") || reading.narrowed {
        return Vec::new();
    }
    reading.paths.into_iter().filter(|it| it.how == How::Listed).map(|it| it.word).collect()
}
