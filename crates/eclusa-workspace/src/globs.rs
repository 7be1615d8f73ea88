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
    Other(Glob),
}

impl PathGlob {
    /// Reads a glob; `any_case` makes no difference between upper and lower case.
    pub fn new(text: &str, any_case: bool) -> Result<PathGlob, Error> {
        let kind = match SimpleGlob::new(text, any_case) {
            Some(simple) => GlobKind::Simple(simple),
            None => GlobKind::Other(compiled(text, any_case)?),
        };
        Ok(PathGlob { text: text.to_owned(), any_case, kind })
    }

    /// The glob as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    fn simple(&self) -> Option<&SimpleGlob> {
        match &self.kind {
            GlobKind::Simple(simple) => Some(simple),
            GlobKind::Other(_) => None,
        }
    }

    fn compiled(&self) -> Result<Glob, Error> {
        match &self.kind {
            GlobKind::Simple(_) => compiled(&self.text, self.any_case),
            GlobKind::Other(glob) => Ok(glob.clone()),
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
pub struct LazyGlobs(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    globs: Vec<PathGlob>,
    /// Paths that were matched glob by glob.
    asked: AtomicUsize,
    /// `None` inside: they cannot be put together.
    set: OnceLock<Option<GlobSet>>,
}

impl LazyGlobs {
    /// A set that is put together later, if at all.
    pub fn new(globs: Vec<PathGlob>) -> LazyGlobs {
        LazyGlobs(Arc::new(Inner { globs, ..Inner::default() }))
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
        match self.one_by_one(path) {
            Some(mut fits) => Some(fits.any(|(_, fits)| fits)),
            None => self.set().map(|set| set.is_match(path)),
        }
    }

    /// The numbers of the globs that fit a path, in order; nothing where they cannot be put together.
    pub fn matches(&self, path: &Path) -> Option<Vec<usize>> {
        match self.one_by_one(path) {
            Some(fits) => Some(fits.filter_map(|(at, fits)| fits.then_some(at)).collect()),
            None => self.set().map(|set| set.matches(path)),
        }
    }

    /// Whether each glob fits, as long as few paths were asked about and all globs are simple.
    fn one_by_one(&self, path: &Path) -> Option<impl Iterator<Item = (usize, bool)>> {
        let Inner { globs, asked, set } = &*self.0;
        let few = || asked.fetch_add(1, Ordering::Relaxed) < FEW;
        if set.get().is_some() || !globs.iter().all(|it| it.simple().is_some()) || !few() {
            return None;
        }
        let path = path.as_os_str().as_encoded_bytes();
        let fits = move |glob: &PathGlob| glob.simple().is_some_and(|it| it.fits(path));
        Some(globs.iter().map(fits).enumerate())
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
