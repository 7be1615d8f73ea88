//! The expressions of `test`, `[` and `[[`: tests of files, and the ones that evaluate names.

use crate::Word;

use super::class::Class;
use super::entry::Entry;
use super::profile::{CommandProfile, How, is_dynamic, splits};

/// Tests of one operand.
const UNARY: &str = "abcdefghknoprstuvwxzGLNORS";

/// Tests of two operands.
const BINARY: [&str; 17] = [
    "=", "==", "!=", "<", ">", "=~", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef",
    "-a", "-o",
];

/// Tests that compare numbers, which `[[` evaluates.
const NUMERIC: [&str; 6] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

/// Reads the words of `test` and `[`.
pub(crate) fn read(entry: &'static Entry, words: &[Word], profile: &mut CommandProfile) {
    profile.add_all(entry.class, |it| format!("`{it}`"));
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|it| words.get(it));
        if splits(word) && !word.is_glob() {
            profile.doubt(format!("`{}` can become several words of a test", word.source));
        } else if is_dynamic(word) && !is_operand(before, words.get(at + 1)) {
            profile.doubt(format!("`{}` can turn out to be a test", word.source));
        }
        tests(word, words.get(at + 1), profile);
    }
}

/// Reads the words of `[[`, which are taken apart before they are expanded.
pub(crate) fn condition(words: &[Word], profile: &mut CommandProfile) {
    for (at, word) in words.iter().enumerate() {
        let numeric = word.text().is_some_and(|it| NUMERIC.contains(&it.as_ref()));
        let sides = [at.checked_sub(1).and_then(|it| words.get(it)), words.get(at + 1)];
        for side in sides.into_iter().flatten().filter(|_| numeric) {
            if side.text().is_none_or(|it| it.parse::<i64>().is_err()) {
                profile.doubt(format!("`{}` is evaluated as arithmetic", side.source));
            }
        }
        tests(word, words.get(at + 1), profile);
    }
}

/// A test and the operand behind it.
fn tests(word: &Word, behind: Option<&Word>, profile: &mut CommandProfile) {
    let Some(text) = word.text() else { return };
    let Some(operand) = behind else { return };
    match text.as_ref() {
        "-v" | "-R" => {
            let plain = |it: char| it == '_' || it.is_ascii_alphanumeric();
            if !operand.text().is_some_and(|it| it.chars().all(plain)) {
                profile.add(Class::RunsCode, format!("`{text}` evaluates its operand"));
            }
        }
        "-n" | "-z" | "-o" | "-t" | "-a" => {}
        it if is_unary(it) => profile.path(operand.clone(), How::Listed),
        _ => {}
    }
}

fn is_unary(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next() == Some('-')
        && letters.next().is_some_and(|it| UNARY.contains(it))
        && letters.next().is_none()
}

/// True when a word between these two can only be an operand.
fn is_operand(before: Option<&Word>, behind: Option<&Word>) -> bool {
    let text = |word: Option<&Word>| word.and_then(Word::text).map(|it| it.into_owned());
    let after_test = text(before).is_some_and(|it| {
        is_unary(&it) || (BINARY.contains(&it.as_str()) && it != "-a" && it != "-o")
    });
    let before_test =
        text(behind).is_some_and(|it| BINARY.contains(&it.as_str()) && it != "-a" && it != "-o");
    let alone = before.is_none() && text(behind).is_none_or(|it| it == "]");
    after_test || before_test || alone
}
