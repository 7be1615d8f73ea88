//! The expression of find: places, tests, and actions that delete, write or run.

use crate::Word;

use super::class::Class;
use super::entry::{Arity, Entry};
use super::git;
use super::operands::{Place, one};
use super::reading::{
    How, Reading, appended, found_beneath, is_dynamic, may_be_flag, splits, with_unknown,
};

/// Reads the words of find: the entry lists what it accepts, and what each takes.
pub(crate) fn read(entry: &'static Entry, words: &[Word], reading: &mut Reading) {
    reading.add_all(entry.class, |it| format!("`{it}`"));
    let mut walk = Walk { entry, reading, rest: words, places: Vec::new(), deletes: false };
    walk.expression();
    let Walk { places, deletes, .. } = walk;
    if deletes {
        reading.class |= Class::Sweeping.into();
    }
    // What is run on what is found may print it.
    if !reading.runs.is_empty() {
        let sought = reading.sought.clone();
        sought.into_iter().for_each(|it| reading.path(it, How::Read));
    }
    let how = if deletes { How::Deleted } else { How::Listed };
    if places.is_empty() {
        reading.path(Word::literal("."), how);
    }
    for place in places {
        reading.path(place, how);
    }
}

struct Walk<'w, 'r> {
    entry: &'static Entry,
    reading: &'r mut Reading,
    rest: &'w [Word],
    places: Vec<Word>,
    deletes: bool,
}

impl Walk<'_, '_> {
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
                self.reading.doubt(format!("`{source}` can turn out to be an action of `find`"));
                self.places.push(word);
            } else if matches!(name, Some("(" | ")" | "!" | ",")) {
                begun = true;
            } else if name.is_some_and(|it| it.starts_with('-') && it.len() > 1) {
                begun |= !matches!(name, Some("-H" | "-L" | "-P" | "--"));
                self.term(name.unwrap_or_default());
            } else if begun {
                let source = &word.source;
                self.reading
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
            self.reading.doubt(format!("`{name}` is not a known test or action of `find`"));
            return;
        };
        self.reading.add_all(flag.class, |it| format!("`{name}` of `{it}`"));
        self.deletes |= name == "-delete";
        if matches!(name, "-regex" | "-iregex") {
            self.reading.sought.push(appended(name));
        }
        let narrows = ["-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-wholename"];
        let measures = ["-newer", "-mtime", "-mmin", "-atime", "-ctime", "-size", "-empty"];
        self.reading.narrowed |= measures.contains(&name);
        if flag.arity != Arity::None
            && let Some(value) = self.next()
        {
            let all = value.text().is_some_and(|it| it.chars().all(|it| "*.".contains(it)));
            self.reading.narrowed |= narrows.contains(&name) && !all;
            if narrows.contains(&name) && !all {
                let pattern = value.text().map_or_else(|| value.clone(), |it| git::pattern(&it));
                self.reading.sought.push(pattern);
            }
            if is_dynamic(&value) && splits(&value) {
                self.reading.doubt(format!("`{}` can become an action of `find`", value.source));
            }
            one(flag.role, &value, Place::Flag(flag.name), self.reading);
        }
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
            self.reading.doubt(format!("`{name}` of `find` does not end"));
        }
        let deletes = ["rm", "unlink", "rmdir", "shred", "srm"];
        let first = inner.first().and_then(Word::text);
        let base = first.as_deref().and_then(|it| it.rsplit('/').next());
        self.deletes |= base.is_some_and(|it| deletes.contains(&it));
        // `sh -c 'rm -rf "$1"' _ {}`
        let shell = base.is_some_and(|it| ["sh", "bash", "dash", "zsh", "ksh"].contains(&it));
        let says = |it: &Word| {
            let text = it.text().unwrap_or_default();
            text.split([' ', ';', '&', '|']).any(|it| deletes.contains(&it))
        };
        self.deletes |= shell && inner.iter().any(says);
        // A found name begins with its place, so it is no flag unless the place is one.
        let safe =
            !matches!(name, "-execdir" | "-okdir") && self.places.iter().all(|it| !may_be_flag(it));
        let inner: Vec<Word> = inner.iter().map(|word| found_name(word, safe, many)).collect();
        if inner.is_empty() {
            self.reading.doubt(format!("`{name}` of `find` without a command"));
        } else {
            self.reading.runs.push(inner);
        }
    }
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
