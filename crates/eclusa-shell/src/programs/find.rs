//! The expression of find: places, tests, and actions that delete, write or run.

use crate::Word;

use super::class::Class;
use super::entry::{Arity, Entry};
use super::operands::{ArgPosition, one};
use super::profile::{
    CommandProfile, How, appended, found_beneath, is_dynamic, may_be_flag, splits, with_unknown,
};
use super::{argv, git};

/// Programs that run the command, or the text, that they are given.
const RUNNERS: [&str; 12] = [
    "sh", "bash", "dash", "zsh", "ksh", "sudo", "doas", "env", "nice", "timeout", "xargs",
    "busybox",
];

/// Reads the words of find: the entry lists what it accepts, and what each takes.
pub(crate) fn read(entry: &'static Entry, words: &[Word], profile: &mut CommandProfile) {
    profile.add_all(entry.class, |it| format!("`{it}`"));
    let places = Vec::new();
    let (deletes, narrow, all) = (false, false, false);
    let mut walk = FindWalk { entry, profile, rest: words, places, deletes, narrow, all };
    walk.expression();
    let FindWalk { places, deletes, all, .. } = walk;
    profile.narrowed &= !all;
    if deletes {
        profile.class |= Class::Sweeping.into();
    }
    // What is run on what is found may print it.
    if !profile.runs.is_empty() {
        let sought = profile.sought.clone();
        sought.into_iter().for_each(|it| profile.path(it, How::Read));
    }
    let how = if deletes { How::Deleted } else { How::Listed };
    if places.is_empty() {
        profile.path(Word::literal("."), how);
    }
    for place in places {
        profile.path(place, how);
    }
}

struct FindWalk<'w, 'r> {
    entry: &'static Entry,
    profile: &'r mut CommandProfile,
    rest: &'w [Word],
    places: Vec<Word>,
    deletes: bool,
    /// True when tests before this place narrow what it is about.
    narrow: bool,
    /// True when something is deleted that no test narrows.
    all: bool,
}

impl FindWalk<'_, '_> {
    fn next(&mut self) -> Option<Word> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first.clone())
    }

    fn expression(&mut self) {
        let mut begun = false;
        while let Some(word) = self.next() {
            let known = word.text();
            let name = known.as_deref();
            if is_dynamic(&word) && (begun || may_be_flag(&word) || has_unknown(&word)) {
                let source = &word.source;
                self.profile.doubt(format!("`{source}` can turn out to be an action of `find`"));
                self.places.push(word);
            } else if matches!(name, Some("(" | ")" | "!" | ",")) {
                begun = true;
                self.narrow &= name != Some(",");
            } else if name.is_some_and(|it| it.starts_with('-') && it.len() > 1) {
                begun |= !matches!(name, Some("-H" | "-L" | "-P" | "--"));
                self.term(name.unwrap_or_default());
            } else if begun {
                let source = &word.source;
                self.profile
                    .doubt(format!("`{source}` is a place behind the expression of `find`"));
                self.places.push(word);
            } else {
                self.places.push(word);
            }
        }
    }

    fn term(&mut self, name: &str) {
        if name.starts_with("-O") && name.len() == 3 {
            return;
        }
        if matches!(name, "-exec" | "-execdir" | "-ok" | "-okdir") {
            return self.command(name);
        }
        let Some(flag) = self.entry.flag(name) else {
            self.profile.doubt(format!("`{name}` is not a known test or action of `find`"));
            return;
        };
        self.profile.add_all(flag.class, |it| format!("`{name}` of `{it}`"));
        if name == "-delete" {
            self.delete();
        }
        // What follows is for what the tests before do not fit.
        self.narrow &= !matches!(name, "-o" | "-or");
        if matches!(name, "-regex" | "-iregex") {
            self.profile.sought.push(appended(name));
        }
        let narrows = ["-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-wholename"];
        let measures = ["-newer", "-mtime", "-mmin", "-atime", "-ctime", "-size", "-empty"];
        self.narrow |= measures.contains(&name);
        let kind = self.rest.first().and_then(Word::text).unwrap_or_default();
        self.profile.tested |= match name {
            "-type" | "-xtype" => !kind.contains(['f', 'd']),
            "-print" | "-print0" | "-delete" | "-depth" | "-mount" | "-xdev" | "-o" | "-or" => {
                false
            }
            "-a" | "-and" | "-true" | "-follow" | "-mindepth" | "-ls" | "-warn" | "-nowarn" => {
                false
            }
            _ => true,
        };
        if flag.arity != Arity::None
            && let Some(value) = self.next()
        {
            let all = value.text().is_some_and(|it| it.chars().all(|it| "*.".contains(it)));
            self.narrow |= narrows.contains(&name) && !all;
            if narrows.contains(&name) && !all {
                let known = value.text().map(|it| git::patterns(&it));
                self.profile.sought.extend(known.unwrap_or_else(|| vec![value.clone()]));
            }
            if is_dynamic(&value) && splits(&value) {
                self.profile.doubt(format!("`{}` can become an action of `find`", value.source));
            }
            one(flag.role, &value, ArgPosition::Flag(flag.name.as_str()), self.profile);
        }
        self.profile.narrowed |= self.narrow;
    }

    fn delete(&mut self) {
        self.deletes = true;
        self.all |= !self.narrow;
    }

    /// `-exec command… ;` or `… {} +`.
    fn command(&mut self, name: &str) {
        let mut inner = Vec::new();
        let (mut ended, mut many) = (false, false);
        while let Some(word) = self.next() {
            let text = word.text();
            let plus = text.as_deref() == Some("+")
                && inner.last().is_some_and(|it: &Word| it.text().as_deref() == Some("{}"));
            if text.as_deref() == Some(";") || plus {
                (ended, many) = (true, plus);
                break;
            }
            inner.push(word.clone());
        }
        if !ended {
            self.profile.doubt(format!("`{name}` of `find` does not end"));
        }
        if removes(&inner) {
            self.delete();
        }
        // A found name begins with its place, so it is no flag unless the place is one.
        let safe =
            !matches!(name, "-execdir" | "-okdir") && self.places.iter().all(|it| !may_be_flag(it));
        let inner: Vec<Word> = inner.iter().map(|word| found_name(word, safe, many)).collect();
        if inner.is_empty() {
            self.profile.doubt(format!("`{name}` of `find` without a command"));
        } else {
            self.profile.runs.push(inner);
        }
    }
}

/// True when a command that is run on what is found removes it.
fn removes(inner: &[Word]) -> bool {
    let deletes = ["rm", "unlink", "rmdir", "shred", "srm"];
    let first = inner.first().and_then(Word::text);
    let base = first.as_deref().and_then(|it| it.rsplit('/').next());
    // `sh -c 'rm -rf "$1"' _ {}`, `sudo rm {}`
    let says = |it: &Word| {
        let text = it.text().unwrap_or_default();
        text.split([' ', ';', '&', '|', '/']).any(|it| deletes.contains(&it))
    };
    base.is_some_and(|it| deletes.contains(&it))
        || (base.is_some_and(|it| RUNNERS.contains(&it)) && inner.iter().any(says))
}

/// fd: a search, and behind `-x` or `-X` a command that is run on what is found.
pub(crate) fn fd(entry: &'static Entry, words: &[Word], profile: &mut CommandProfile) {
    let runs = |it: &Word| {
        let text = it.text().unwrap_or_default();
        let long = matches!(&*text, "--exec" | "--exec-batch");
        let letters = text.strip_prefix('-').filter(|it| !it.starts_with('-'));
        long || letters.is_some_and(|it| it.ends_with(['x', 'X']))
    };
    let at = words.iter().position(runs).map_or(words.len(), |it| it + 1);
    let (own, rest) = words.split_at_checked(at).unwrap_or((words, &[]));
    let end = rest.iter().position(|it| it.text().as_deref() == Some(";")).unwrap_or(rest.len());
    let inner: Vec<Word> = rest.iter().take(end).cloned().collect();
    let own: Vec<Word> = own.iter().chain(rest.iter().skip(end + 1)).cloned().collect();
    argv::plain(entry, &own, profile);
    if inner.is_empty() {
        return;
    }
    if !profile.paths.iter().any(|it| it.how == How::Listed) {
        profile.path(Word::literal("."), How::Listed);
    }
    let everything =
        |it: &Word| it.text().is_some_and(|it| it.chars().all(|it| ".*^$".contains(it)));
    let operands = own.iter().filter(|it| !it.prefix().starts_with('-'));
    let narrows = own.iter().any(|it| {
        let long = ["--extension", "--size", "--changed", "--glob"]
            .iter()
            .any(|flag| it.prefix().starts_with(flag));
        long || matches!(it.text().as_deref(), Some("-e" | "-S"))
    });
    profile.narrowed = narrows || operands.take(1).any(|it| !everything(it));
    if removes(&inner) {
        profile.class |= Class::Sweeping.into();
        let listed = profile.paths.iter_mut().filter(|it| it.how == How::Listed);
        listed.for_each(|it| it.how = How::Deleted);
    }
    let marked = inner.iter().any(|it| it.text().is_some_and(|it| it.contains('{')));
    let tail = (!marked).then(|| appended("{}"));
    let inner = inner.iter().map(|it| found_name(it, false, true));
    profile.runs.push(inner.chain(tail).collect());
}

/// The word with `{}` in it stands for what is found: a path, one or several. Each begins with the
/// place where the search began, and so is no flag where the place is none.
fn found_name(word: &Word, safe: bool, many: bool) -> Word {
    let Some(text) = word.text().filter(|it| it.contains("{}")) else { return word.clone() };
    if text != "{}" {
        return with_unknown(&text, "{}");
    }
    if !safe {
        return appended("{}");
    }
    found_beneath("{}", many)
}

fn has_unknown(word: &Word) -> bool {
    splits(word) && !word.is_glob()
}
