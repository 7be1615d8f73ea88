//! The beginning of a command, word by word, as a rule writes it.

#[cfg(feature = "shell")]
use eclusa_shell::{Command, RedirectKind, Word, programs::CommandProfile};

/// How far a command is what a rule is about.
#[cfg(feature = "shell")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    /// It is not.
    No,
    /// Nobody can tell before it runs.
    Perhaps,
    /// It is.
    Yes,
}

/// The first words of a command. `*` stands for any one word, or for a part of one; `$` at the end
/// for its end. Where a rule tightens, flags count in any order and bundle, and options may stand
/// before a subcommand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prefix {
    words: Vec<String>,
    /// Whether these are all its words.
    whole: bool,
}

/// What no word of a prefix can hold, because it would mean something else in a shell.
const SPECIAL: [char; 11] = ['"', '\'', '\\', '$', '`', '|', ';', '&', '<', '>', '\n'];

impl Prefix {
    /// Words between blanks.
    pub(crate) fn new(text: &str) -> Result<Prefix, String> {
        let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let whole = words.len() > 1 && words.last().is_some_and(|it| it == "$");
        if whole {
            words.pop();
        }
        match words.first().map(String::as_str) {
            None => Err("a command has at least one word".to_owned()),
            Some("*") => Err("the first word names a program; `*` cannot stand for it".to_owned()),
            Some(name) if words.iter().any(|it| it.contains(SPECIAL)) => Err(format!(
                "`{name} …` is the beginning of one command, word by word, without quotes or \
                     operators"
            )),
            Some(_) => Ok(Prefix { words, whole }),
        }
    }

    /// The program.
    pub(crate) fn program(&self) -> &str {
        self.words.first().map(String::as_str).unwrap_or_default()
    }
}

#[cfg(feature = "shell")]
impl Prefix {
    /// What a rule would write for a command that is exactly these words, if it can be written.
    pub(crate) fn exactly(words: &[Word]) -> Option<String> {
        let text = |word: &Word| {
            let text = word.text()?.into_owned();
            let odd = |it: char| it.is_whitespace() || it.is_control() || SPECIAL.contains(&it);
            (!text.is_empty() && !text.contains('*') && !text.contains(odd)).then_some(text)
        };
        let words: Option<Vec<String>> = words.iter().map(text).collect();
        words.filter(|it| !it.is_empty()).map(|it| format!("{} $", it.join(" ")))
    }

    /// For a rule that tightens: whether a command may begin so, by whatever path its program is
    /// named and whatever stands between it and its subcommand.
    pub(crate) fn concerns(&self, command: &Command, reading: &CommandProfile) -> Fit {
        let mut fit = self.begins(&command.words, true);
        let called: Vec<Word> = reading.program.split(' ').map(Word::literal).collect();
        if called.len() > 1 {
            let rest = command.words.iter().skip(1).filter(|it| !is_among(it, &called));
            let words: Vec<Word> = called.iter().chain(rest).cloned().collect();
            fit = fit.max(self.begins(&words, true)).max(self.begins_loosely(&words, true));
        } else {
            fit = fit.max(self.begins_loosely(&command.words, false));
        }
        fit
    }

    /// Whether a command begins so when its flags stand in another order or bundle, or, where
    /// nobody knows its subcommand, when options stand before that.
    fn begins_loosely(&self, words: &[Word], known: bool) -> Fit {
        let is_flag = |it: &str| it.len() > 1 && it.starts_with('-');
        let texts: Option<Vec<_>> = words.iter().map(Word::text).collect();
        let (Some(texts), false) = (texts, self.whole) else { return Fit::No };
        let [program, texts @ ..] = texts.as_slice() else { return Fit::No };
        let (flags, wanted): (Vec<&str>, Vec<&str>) =
            self.words.iter().skip(1).map(String::as_str).partition(|it| is_flag(it));
        let has = |flag: &str| match flag.strip_prefix("--") {
            Some(_) => texts.iter().any(|it| {
                it.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
            }),
            None => flag.chars().skip(1).all(|letter| {
                texts.iter().any(|it| {
                    is_flag(it)
                        && !it.starts_with("--")
                        && it.chars().skip(1).any(|it| it == letter)
                })
            }),
        };
        let mut wanted = wanted.into_iter().peekable();
        let mut after_flag = false;
        for text in texts {
            let Some(next) = wanted.peek() else { break };
            if text.starts_with('+') && known_toolchain(program) {
                continue;
            } else if is_flag(text) {
                after_flag = !known && !text.contains('=');
            } else if fits_word(next, text, true) {
                wanted.next();
                after_flag = false;
            } else if after_flag {
                // It may be the value of the option before it.
                after_flag = false;
            } else {
                return Fit::No;
            }
        }
        match is_program(program, self.program()) {
            Fit::Yes if wanted.peek().is_none() && flags.into_iter().all(has) => Fit::Yes,
            _ => Fit::No,
        }
    }

    /// For a rule that allows: whether a command begins so and does nothing that its words do not
    /// say: no variable set for it, nothing redirected, no word that is only known when it runs.
    pub(crate) fn covers(&self, command: &Command) -> Fit {
        let plain = is_plain(command) && command.words.iter().all(|it| it.text().is_some());
        let named = command.words.first().and_then(Word::text);
        let exact = named.is_some_and(|it| self.words.first().is_some_and(|name| *name == it));
        if plain && exact && self.begins(&command.words, false) == Fit::Yes {
            Fit::Yes
        } else {
            Fit::No
        }
    }

    fn begins(&self, words: &[Word], tightens: bool) -> Fit {
        let mut fit = Fit::Yes;
        let mut words = words.iter();
        for (at, wanted) in self.words.iter().enumerate() {
            let Some(word) = words.next() else {
                return Fit::No;
            };
            let same = match word.text() {
                None => Fit::Perhaps,
                Some(_) if wanted == "*" => Fit::Yes,
                Some(text) if at == 0 => is_program(&text, wanted),
                Some(text) if fits_word(wanted, &text, tightens) => Fit::Yes,
                Some(_) => Fit::No,
            };
            fit = fit.min(same);
            // Whatever comes out of it may be any number of words.
            if same == Fit::Perhaps && word.may_split() {
                return Fit::Perhaps;
            }
        }
        match words.next() {
            Some(word) if self.whole && !word.may_split() => Fit::No,
            Some(_) if self.whole => fit.min(Fit::Perhaps),
            Some(_) | None => fit,
        }
    }
}

/// True when a command is nothing but its words.
#[cfg(feature = "shell")]
pub(crate) fn is_plain(command: &Command) -> bool {
    command.assignments.is_empty()
        && !command.background
        && command.redirects.iter().all(|it| it.kind == RedirectKind::Descriptor)
}

/// True for programs of a toolchain that takes `+nightly` for an option.
#[cfg(feature = "shell")]
fn known_toolchain(program: &str) -> bool {
    matches!(program.rsplit('/').next(), Some("cargo" | "rustc" | "rustup"))
}

/// Whether a word is the one that is wanted, where `*` stands for any part of it. A rule that allows
/// does not reach over a slash with it.
#[cfg(feature = "shell")]
fn fits_word(wanted: &str, text: &str, tightens: bool) -> bool {
    let Some((before, mut rest)) = wanted.split_once('*') else { return wanted == text };
    let Some(mut text) = text.strip_prefix(before) else { return false };
    let may_skip = |it: &str| tightens || !it.contains('/');
    while let Some((middle, behind)) = rest.split_once('*') {
        let Some(at) = text.find(middle) else { return false };
        let (skipped, left) = text.split_at(at);
        if !may_skip(skipped) {
            return false;
        }
        (text, rest) = (left.strip_prefix(middle).unwrap_or(left), behind);
    }
    text.strip_suffix(rest).is_some_and(may_skip)
}

/// A program by its name, wherever it lies.
#[cfg(feature = "shell")]
fn is_program(text: &str, wanted: &str) -> Fit {
    let base = text.rsplit('/').next().unwrap_or(text);
    match text == wanted || base.eq_ignore_ascii_case(wanted) {
        true => Fit::Yes,
        false => Fit::No,
    }
}

#[cfg(feature = "shell")]
fn is_among(word: &Word, called: &[Word]) -> bool {
    called.iter().skip(1).any(|it| it.text() == word.text())
}

#[cfg(test)]
mod tests;
