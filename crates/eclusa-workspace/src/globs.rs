//! Sets of globs over paths: matched as they are written while few paths are asked about, and put
//! together into an automaton where that pays. Building one takes as long as a whole short command.

use std::{
    path::Path,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use globset::{Error, Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use simple::SimpleGlob;

mod simple;
#[cfg(test)]
mod tests;

/// So many paths are matched glob by glob, before the automaton is built.
const FEW: usize = 1000;
/// Globs that are shorter together can always be put together.
const ALWAYS: usize = 4096;

/// A glob that is known to be right. `*` stays within a directory, `**` does not.
#[derive(Debug, Clone)]
pub struct PathGlob {
    text: String,
    any_case: bool,
    kind: GlobKind,
}

#[derive(Debug, Clone)]
enum GlobKind {
    Simple(SimpleGlob),
    Other(Arc<OtherGlob>),
}

/// A glob with more in it.
#[derive(Debug)]
struct OtherGlob {
    glob: Glob,
    /// Itself alone, built when a path is asked about. `None` inside: it cannot be built.
    set: OnceLock<Option<GlobSet>>,
}

impl PathGlob {
    /// Reads a glob; `any_case` makes no difference between upper and lower case.
    pub fn new(text: &str, any_case: bool) -> Result<PathGlob, Error> {
        let kind = match SimpleGlob::new(text, any_case) {
            Some(simple) => GlobKind::Simple(simple),
            None => {
                let glob = compiled(text, any_case)?;
                GlobKind::Other(Arc::new(OtherGlob { glob, set: OnceLock::new() }))
            }
        };
        Ok(PathGlob { text: text.to_owned(), any_case, kind })
    }

    /// The glob as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it fits a path; nothing where it cannot be built.
    fn fits(&self, path: &Path) -> Option<bool> {
        match &self.kind {
            GlobKind::Simple(simple) => Some(simple.fits(path.as_os_str().as_encoded_bytes())),
            GlobKind::Other(other) => {
                let set = other.set.get_or_init(|| built(std::slice::from_ref(self)).ok());
                set.as_ref().map(|it| it.is_match(path))
            }
        }
    }

    fn compiled(&self) -> Result<Glob, Error> {
        match &self.kind {
            GlobKind::Simple(_) => compiled(&self.text, self.any_case),
            GlobKind::Other(other) => Ok(other.glob.clone()),
        }
    }
}

fn compiled(text: &str, any_case: bool) -> Result<Glob, Error> {
    GlobBuilder::new(text)
        .literal_separator(true)
        .backslash_escape(true)
        .case_insensitive(any_case)
        .build()
}

/// A set of globs, shared by its copies.
#[derive(Debug, Clone, Default)]
pub struct LazyGlobs(Arc<GlobsInner>);

#[derive(Debug, Default)]
struct GlobsInner {
    globs: Vec<PathGlob>,
    /// Paths that were matched glob by glob.
    asked: AtomicUsize,
    /// `None` inside: they cannot be put together.
    set: OnceLock<Option<GlobSet>>,
}

impl LazyGlobs {
    /// A set that is put together later, if at all.
    pub fn new(globs: Vec<PathGlob>) -> LazyGlobs {
        LazyGlobs(Arc::new(GlobsInner { globs, ..GlobsInner::default() }))
    }

    /// The same, put together at once where that could fail.
    pub fn checked(globs: Vec<PathGlob>) -> Result<LazyGlobs, Error> {
        let set = LazyGlobs::new(globs);
        let length: usize = set.globs().iter().map(|it| it.text.len()).sum();
        if length > ALWAYS {
            let _ = set.0.set.set(Some(built(set.globs())?));
        }
        Ok(set)
    }

    /// The globs, in the order in which they were given.
    pub fn globs(&self) -> &[PathGlob] {
        &self.0.globs
    }

    /// Whether one of the globs fits a path; nothing where they cannot be put together.
    pub fn is_match(&self, path: &Path) -> Option<bool> {
        if !self.is_one_of_few() {
            return self.set().map(|set| set.is_match(path));
        }
        for glob in self.globs() {
            if glob.fits(path)? {
                return Some(true);
            }
        }
        Some(false)
    }

    /// The numbers of the globs that fit a path, in order; nothing where they cannot be put together.
    pub fn matches(&self, path: &Path) -> Option<Vec<usize>> {
        if !self.is_one_of_few() {
            return self.set().map(|set| set.matches(path));
        }
        let mut fits = Vec::new();
        for (at, glob) in self.globs().iter().enumerate() {
            if glob.fits(path)? {
                fits.push(at);
            }
        }
        Some(fits)
    }

    /// Counts a path that is asked about. True as long as there were few, and the globs are not put
    /// together.
    fn is_one_of_few(&self) -> bool {
        let GlobsInner { asked, set, .. } = &*self.0;
        set.get().is_none() && asked.fetch_add(1, Ordering::Relaxed) < FEW
    }

    fn set(&self) -> Option<&GlobSet> {
        self.0.set.get_or_init(|| built(&self.0.globs).ok()).as_ref()
    }
}

fn built(globs: &[PathGlob]) -> Result<GlobSet, Error> {
    let mut builder = GlobSetBuilder::new();
    for glob in globs {
        builder.add(glob.compiled()?);
    }
    builder.build()
}
