//! Flags: the words of a command, taken apart as the program takes them apart.

use crate::{Part, Word};

use super::entry::{Arity, Entry, Flag, Order, Reader};
use super::operands::{self, ArgPosition};
use super::profile::{CommandProfile, behind, is_dynamic, may_be_flag, splits, splits_at_blanks};
use super::{find, readers, test};

/// Names of the standard input.
const INPUT: [&str; 4] = ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// Reads the words behind the name of a program.
pub(crate) fn read(entry: &'static Entry, words: &[Word], profile: &mut CommandProfile) {
    let ends = |it: &Word| {
        let text = it.text().unwrap_or_default();
        // One that is listed as harmless, and that no other word can take away.
        let helps = matches!(&*text, "--help" | "--version") && words.len() == 1;
        let flag = entry.flag(&text).filter(|it| helps && it.class.is_read_only());
        entry.alone.contains(&&*text) || flag.is_some()
    };
    if !words.is_empty() && words.iter().all(ends) {
        return;
    }
    match entry.reader {
        Reader::Plain => plain(entry, words, profile),
        Reader::Find => find::read(entry, words, profile),
        Reader::Fd => find::fd(entry, words, profile),
        Reader::Test => test::read(entry, words, profile),
        Reader::Condition => test::condition(words, profile),
        Reader::Tar => readers::tar(entry, words, profile),
        Reader::Dd => readers::dd(entry, words, profile),
        Reader::Xargs => readers::xargs(entry, words, profile),
        Reader::Ps => readers::ps(entry, words, profile),
        Reader::Eval => readers::eval(words, profile),
        Reader::Set => readers::set(words, profile),
        Reader::Kill => readers::kill(entry, words, profile),
        Reader::Rsync => readers::rsync(entry, words, profile),
        Reader::Ln => readers::ln(entry, words, profile),
    }
}

/// Reads flags and operands as the entry has them.
pub(crate) fn plain(entry: &'static Entry, words: &[Word], profile: &mut CommandProfile) {
    profile.add_all(entry.class, |it| format!("`{it}`"));
    let responds = |it: &&Word| entry.response_files && it.prefix().starts_with('@');
    if let Some(word) = words.iter().find(responds) {
        profile.doubt_of(format!("`{}` stands for further words", word.source));
    }
    if !entry.needs.is_empty() {
        profile.needs.push(entry.needs);
    }
    let mut walk = ArgWalk { entry, profile, rest: words, flags: Vec::new(), operands: Vec::new() };
    if let Some(sub) = walk.flags_and_operands() {
        let words = walk.rest;
        read(sub, words, walk.profile);
        return;
    }
    let ArgWalk { flags, operands, .. } = walk;
    let (spared, class) = entry.unless;
    let (modes, others) = entry.modes;
    let has = |names: &[&str]| names.iter().any(|it| flags.contains(it));
    let spares = has(spared) || (has(modes) && !has(others));
    if !spares {
        profile.add_all(class, |it| format!("`{it}` without {}", spared.join(" or ")));
    }
    // `yarn --version` is not `yarn`.
    let tells = operands.is_empty() && flags.contains(&"--version");
    if operands.iter().all(|it| may_vanish(it)) && !tells {
        profile.add_all(entry.bare, |it| format!("`{it}` without operands"));
        profile.reads_script |= entry.reads_script;
    }
    let input = |it: &&&Word| it.text().is_some_and(|it| INPUT.contains(&&*it));
    let from_input = flags.contains(&"-s") || operands.first().filter(input).is_some();
    profile.reads_script |= entry.reads_script && from_input;
    operands::read(entry, &flags, &operands, profile);
}

/// True for a word that can turn out to be none.
fn may_vanish(word: &Word) -> bool {
    splits(word) && word.parts.iter().all(|it| matches!(it, Part::Unknown { .. }))
}

/// The state of taking a command apart.
struct ArgWalk<'w, 'r> {
    entry: &'static Entry,
    profile: &'r mut CommandProfile,
    rest: &'w [Word],
    flags: Vec<&'static str>,
    operands: Vec<&'w Word>,
}

impl<'w> ArgWalk<'w, '_> {
    /// Sorts the words into flags and operands, up to a subcommand if there is one.
    fn flags_and_operands(&mut self) -> Option<&'static Entry> {
        let mut open = self.entry.order != Order::Never;
        while let Some(word) = self.next() {
            if open && word.text().as_deref() == Some("--") {
                open = false;
            } else if open && self.is_flag(word) {
                self.flag(word);
            } else {
                if open {
                    self.suspect_operand(word);
                }
                if self.operands.is_empty() && !self.entry.subs.is_empty() {
                    match self.subcommand(word) {
                        Some(sub) => return Some(sub),
                        None if !self.entry.subs_optional => return None,
                        None => {}
                    }
                }
                self.operands.push(word);
                open &= self.entry.order == Order::Permute;
            }
        }
        None
    }

    fn next(&mut self) -> Option<&'w Word> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn is_flag(&self, word: &Word) -> bool {
        let lead = word.prefix();
        let dashed = lead.starts_with('-') && (lead.len() > 1 || is_dynamic(word));
        let plussed = lead.starts_with('+')
            && (self.entry.flag(lead).is_some() || self.entry.flag("+#").is_some());
        dashed || plussed
    }

    /// An operand that can turn out to be a flag, or to become several words of which one is. All
    /// that a pattern matches begins as the pattern does.
    fn suspect_operand(&mut self, word: &Word) {
        if may_be_flag(word) && is_dynamic(word) {
            self.suspect(word, "can turn out to be a flag");
        } else if self.entry.order == Order::Permute && splits_at_blanks(word) {
            self.suspect(word, "can become several words, and one a flag");
        }
    }

    /// A word that nobody knows: harmless only where no flag is harmful.
    fn suspect(&mut self, word: &Word, what: &str) {
        if !self.entry.harmless && !self.entry.any_flags {
            let what = format!("`{}` {what} of `{}`", word.source, self.profile.program);
            self.profile.doubt(what);
        }
    }

    fn subcommand(&mut self, word: &Word) -> Option<&'static Entry> {
        let found = word.text().and_then(|it| self.entry.sub(&it));
        let program = &mut self.profile.program;
        if found.is_some() {
            program.push(' ');
            program.push_str(&word.source);
        } else if !self.entry.subs_optional {
            let what = format!("`{}` is not a known subcommand of `{program}`", word.source);
            self.profile.doubt(what);
        }
        found
    }

    fn flag(&mut self, word: &'w Word) {
        let lead = word.prefix();
        let name = lead.split('=').next().unwrap_or(lead);
        let value = (name.len() < lead.len()).then(|| behind(word, name.len() + 1));
        let cut = value.is_none() && is_dynamic(word);
        let exact = if cut { None } else { self.entry.flag(name) };
        match exact {
            Some(flag) if name.len() > 2 || value.is_none() => self.take(flag, value, word),
            // Where any flag is accepted, only those that are listed say something.
            _ if self.entry.any_flags => {}
            _ if lead.starts_with("--") => self.abbreviated(name, value.as_ref(), word, cut),
            _ if lead.starts_with('+') => {}
            _ => self.bundle(word),
        }
    }

    /// A long flag that is not in the entry: what it can be short for is taken at its worst.
    fn abbreviated(&mut self, name: &str, value: Option<&Word>, word: &Word, cut: bool) {
        let mut matched = self.entry.abbreviated(name).peekable();
        if cut {
            self.suspect(word, "is not known in full and can be another flag");
        } else if matched.peek().is_some() {
            self.profile.doubt_of(format!("`{name}` is an abbreviated flag"));
        } else {
            self.profile.doubt_of(format!("`{name}` is not a known flag"));
        }
        let mut next = None;
        for flag in matched {
            if value.is_none() && flag.arity == Arity::Required {
                next = next.or_else(|| self.next());
            }
            self.apply(flag, value.or(next));
        }
    }

    /// Short flags, each a letter, the last perhaps with its argument.
    fn bundle(&mut self, word: &'w Word) {
        let lead = word.prefix();
        for (at, letter) in lead.char_indices().skip(1) {
            let end = at + letter.len_utf8();
            let mut name = [0; 5];
            let name = short(letter, &mut name);
            match self.entry.flag(name) {
                Some(flag) if flag.arity == Arity::None => self.apply(flag, None),
                Some(flag) => {
                    let rest = behind(word, end);
                    let value = (!rest.parts.is_empty()).then_some(rest);
                    return self.take(flag, value, word);
                }
                None if self.entry.numbers && letter.is_ascii_digit() => {}
                None => self.profile.doubt_of(format!("`-{letter}` is not a known flag")),
            }
        }
        if is_dynamic(word) {
            self.suspect(word, "is not known in full and can be another flag");
        }
    }

    /// A flag, with its argument if that is attached.
    fn take(&mut self, flag: &'static Flag, attached: Option<Word>, word: &Word) {
        if attached.is_some() && splits_at_blanks(word) {
            self.suspect(word, "can become several words, and one a flag");
        }
        if flag.arity == Arity::None && attached.is_some() {
            self.profile.doubt(format!("`{}` takes no argument", flag.name.as_str()));
        }
        if flag.arity == Arity::Two && attached.is_none() {
            self.separate(word);
        }
        let separate = match (flag.arity, &attached) {
            (Arity::Required | Arity::Two, None) => self.separate(word),
            _ => None,
        };
        self.apply(flag, attached.as_ref().or(separate));
    }

    /// The argument of a flag, which is the next word.
    fn separate(&mut self, flag: &Word) -> Option<&'w Word> {
        let next = self.next()?;
        // Programs differ in whether a word with a dash is still the argument.
        let mut lead = next.prefix().chars();
        let dashed = lead.next() == Some('-') && lead.next().is_some_and(|it| !it.is_ascii_digit());
        if splits(next) || dashed {
            self.suspect(flag, "may take another argument than it seems to, as a flag");
        }
        Some(next)
    }

    fn apply(&mut self, flag: &'static Flag, value: Option<&Word>) {
        let name = flag.name.as_str();
        self.flags.push(name);
        self.profile.add_all(flag.class, |it| format!("`{name}` of `{it}`"));
        if let Some(value) = value.filter(|_| flag.arity != Arity::None) {
            operands::one(flag.role, value, ArgPosition::Flag(name), self.profile);
        }
    }
}

/// The name of a short flag.
fn short(letter: char, buffer: &mut [u8; 5]) -> &str {
    if let Some((dash, rest)) = buffer.split_first_mut() {
        *dash = b'-';
        let end = letter.encode_utf8(rest).len() + 1;
        return buffer.get(..end).and_then(|it| str::from_utf8(it).ok()).unwrap_or_default();
    }
    ""
}
