//! All files of a patch, or none.

use std::{
    collections::{HashMap, HashSet},
    fmt,
};

use super::{
    file::{FilePatch, Kind},
    hunk::HunkNote,
    reject::Rejected,
};
use crate::text::decode;

/// What becomes of one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The path, as the patch names it.
    pub path: String,
    /// Where the content comes from, when it was moved or copied; its mode comes from there too.
    pub from: Option<String>,
    /// What is there then. `None`: nothing.
    pub content: Option<Vec<u8>>,
    /// The permission bits, where the patch says.
    pub new_mode: Option<u32>,
    /// Where the patch did not fit exactly.
    pub notes: Vec<HunkNote>,
}

/// Why nothing was patched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetError {
    /// A file could not be read.
    Unread {
        /// The path, as the patch names it.
        path: String,
        /// Why not.
        why: String,
    },
    /// Some files do not fit the patch; there may be others that do.
    Rejected {
        /// Those that do not fit.
        files: Vec<Rejected>,
        /// How many files the patch has.
        of: usize,
    },
}

/// Applies the patch to files that `read` knows: their content, or `None` for those that do not
/// exist. Gives what becomes of each path, in the order in which the patch comes to it, and
/// writes nothing. A file that the patch mentions twice is changed twice.
pub fn apply_all(
    files: &[FilePatch],
    read: impl FnMut(&str) -> Result<Option<Vec<u8>>, String>,
) -> Result<Vec<Outcome>, SetError> {
    let mut set = Set {
        files,
        read,
        known: HashMap::new(),
        outcomes: Vec::new(),
        replaced: HashSet::new(),
        rejected: Vec::new(),
    };
    for file in files {
        set.apply(file)?;
    }
    match set.rejected.is_empty() {
        true => Ok(set.outcomes),
        false => Err(SetError::Rejected { files: set.rejected, of: files.len() }),
    }
}

struct Set<'a, R> {
    files: &'a [FilePatch],
    read: R,
    /// Files as they were.
    known: HashMap<String, Option<Vec<u8>>>,
    outcomes: Vec<Outcome>,
    /// Paths where the patch puts a file of its own.
    replaced: HashSet<String>,
    rejected: Vec<Rejected>,
}

impl<R: FnMut(&str) -> Result<Option<Vec<u8>>, String>> Set<'_, R> {
    fn apply(&mut self, file: &FilePatch) -> Result<(), SetError> {
        let source = file.source().to_owned();
        if self.rejected.iter().any(|it| it.path == source) {
            return Ok(());
        }
        let moved = matches!(file.kind, Kind::Move | Kind::Copy);
        let there = moved && !self.goes_away(&file.path) && self.now(&file.path)?.is_some();
        if there && file.path != source {
            let path = &file.path;
            self.rejected.push(
                file.refuse(format!(
                    "`{path}` exists already; nothing can be moved or copied there"
                )),
            );
            return Ok(());
        }
        // What is moved or copied is the file as it was, so that two files can change places.
        let before = if moved { self.before(&source)?.clone() } else { None };
        let makes_room = file.kind == Kind::Add && self.moves_away(&source);
        let old = match before {
            None if makes_room && self.outcome(&source).is_none() => None,
            Some(bytes) => Some(bytes),
            None => self.now(&source)?.map(<[u8]>::to_vec),
        };
        match changed(file, old) {
            Ok((content, notes)) => self.settle(file, content, notes),
            Err(rejected) => self.rejected.push(rejected),
        }
        Ok(())
    }

    fn settle(&mut self, file: &FilePatch, content: Option<Vec<u8>>, notes: Vec<HunkNote>) {
        let source = file.source();
        if file.kind == Kind::Move && source != file.path && self.outcome(source).is_none() {
            let path = source.to_owned();
            self.outcomes.push(Outcome {
                path,
                from: None,
                content: None,
                new_mode: None,
                notes: Vec::new(),
            });
        } else if file.kind == Kind::Move && source != file.path {
            // Changed before it is moved, unless something else has taken its place.
            let replaced = self.replaced.contains(source);
            let gone = self.outcomes.iter_mut().find(|it| it.path == source && !replaced);
            gone.into_iter().for_each(|it| it.content = None);
        }
        if matches!(file.kind, Kind::Add | Kind::Move | Kind::Copy) {
            self.replaced.insert(file.path.clone());
        }
        match self.outcomes.iter_mut().find(|it| it.path == file.path) {
            Some(outcome) => {
                outcome.content = content;
                outcome.from = file.from.clone().or(outcome.from.take());
                outcome.new_mode = file.new_mode.or(outcome.new_mode);
                outcome.notes.extend(notes);
            }
            None => self.outcomes.push(Outcome {
                path: file.path.clone(),
                from: file.from.clone(),
                content,
                new_mode: file.new_mode,
                notes,
            }),
        }
    }

    fn outcome(&self, path: &str) -> Option<&Outcome> {
        self.outcomes.iter().find(|it| it.path == path)
    }

    fn before(&mut self, path: &str) -> Result<&Option<Vec<u8>>, SetError> {
        if !self.known.contains_key(path) {
            let read = (self.read)(path);
            let read = read.map_err(|why| SetError::Unread { path: path.to_owned(), why })?;
            self.known.insert(path.to_owned(), read);
        }
        Ok(self.known.get(path).unwrap_or(&None))
    }

    fn now(&mut self, path: &str) -> Result<Option<&[u8]>, SetError> {
        match self.outcomes.iter().position(|it| it.path == path) {
            Some(at) => Ok(self.outcomes.get(at).and_then(|it| it.content.as_deref())),
            None => Ok(self.before(path)?.as_deref()),
        }
    }

    /// True if the patch itself makes room at a path.
    fn goes_away(&self, path: &str) -> bool {
        let deleted = self.files.iter().any(|it| it.kind == Kind::Delete && it.path == path);
        deleted || self.moves_away(path)
    }

    fn moves_away(&self, path: &str) -> bool {
        self.files.iter().any(|it| it.kind == Kind::Move && it.source() == path)
    }
}

/// The content of a file after the patch, in the encoding it had.
fn changed(
    file: &FilePatch,
    old: Option<Vec<u8>>,
) -> Result<(Option<Vec<u8>>, Vec<HunkNote>), Rejected> {
    let Some(bytes) = old else {
        let applied = file.apply(None)?;
        return Ok((applied.text.map(String::into_bytes), applied.notes));
    };
    let whole = file.hunks.is_empty();
    match file.kind {
        // Nothing is looked into, so it need not be text.
        Kind::Move | Kind::Copy | Kind::Update if whole => return Ok((Some(bytes), Vec::new())),
        Kind::Delete if file.unseen => return Ok((None, Vec::new())),
        _ => {}
    }
    let decoded = decode(&bytes).map_err(|err| file.refuse(err.to_string()))?;
    let applied = file.apply(Some(&decoded.text))?;
    let encode = |text: String| {
        decoded.format.encode_owned(text).map_err(|err| file.refuse(err.to_string()))
    };
    Ok((applied.text.map(encode).transpose()?, applied.notes))
}

impl fmt::Display for SetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SetError::Unread { path, why } => {
                write!(f, "`{path}` cannot be read: {why}; nothing was changed")
            }
            SetError::Rejected { files, of } => {
                let count = files.len();
                writeln!(
                    f,
                    "the patch does not fit {count} of {of} files, so nothing was changed"
                )?;
                let files: Vec<String> = files.iter().map(Rejected::to_string).collect();
                f.write_str(&files.join("\n"))
            }
        }
    }
}

impl std::error::Error for SetError {}
