//! Which files nobody may see: patterns that hold at any depth, for reading, writing, listing and
//! searching alike.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use eclusa_git::is_clean;
use eclusa_text::is_ignorable;

use super::{
    FileError,
    secret_names::{self, CREDENTIALS, SECRET_NAMES, TRACKED_SETTINGS},
    secret_places::lies_in,
};
use crate::globs::{LazyGlobs, PathGlob};

/// Patterns of files that nobody may see.
///
/// A pattern fits at any depth, unless it begins with a slash. Letters fit in either case, because
/// on some disks names that differ in nothing else are the same file. What lies below something
/// that fits is blocked too, and `keys/*` blocks `keys` itself: its names are half of the secret.
/// A pattern that begins with `!` is an exception for exactly the files that it names, in exactly
/// this spelling, wherever nothing above them is blocked.
#[derive(Debug, Clone)]
pub struct Blocked {
    /// Everything as it was written.
    written: Vec<String>,
    patterns: Vec<String>,
    /// What fits: one glob for each pattern, then others that belong to the patterns in `of`.
    own: LazyGlobs,
    /// For each glob of `own`, its pattern.
    of: Vec<usize>,
    /// What fits, and everything below it: the quick answer for the many files that do not.
    any: LazyGlobs,
    but: LazyGlobs,
    /// The patterns could not be read: everything is blocked.
    all: bool,
    /// What no exception of another opens.
    firm: Option<Arc<Blocked>>,
    /// Each pattern holds by name alone, those that are shipped as well.
    by_name: bool,
    /// The workspace, where what git has of a file counts: see [`Blocked::with_tracked`].
    tracked: Option<Arc<Tracked>>,
    /// Places that no exception opens, relative to the workspace, and how they are called.
    places: Vec<(PathBuf, String)>,
}

/// What the name of a file says about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Judged<'a> {
    /// It is blocked, by this pattern.
    Blocked(&'a str),
    /// It fits this pattern and may be public: its content decides.
    ByContent(&'a str),
}

/// What git has of files with the names of secrets, as it was when each was first asked about: rules say the same
/// of the same path for as long as they are in force.
#[derive(Debug)]
struct Tracked {
    root: PathBuf,
    known: Mutex<HashMap<PathBuf, bool>>,
}

impl Tracked {
    fn is_clean(&self, path: &Path) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get(path) {
            Some(clean) => *clean,
            None => {
                let clean = is_clean(&self.root, path);
                known.insert(path.to_owned(), clean);
                clean
            }
        }
    }
}

/// What the library ships: files that hold secrets.
static SHIPPED: LazyLock<Blocked> = LazyLock::new(|| {
    // Were one of the shipped patterns broken, nothing could be seen at all. A test reads them.
    let blocked = Blocked::new(SECRET_NAMES);
    blocked.unwrap_or_else(|_| Blocked { all: true, ..Blocked::nothing() })
});

impl Default for Blocked {
    /// What the library ships: files that hold secrets.
    fn default() -> Blocked {
        SHIPPED.clone()
    }
}

impl Blocked {
    /// Blocks nothing.
    pub fn nothing() -> Blocked {
        let empty = LazyGlobs::default;
        let (own, any, but) = (empty(), empty(), empty());
        let (written, patterns, of) = (Vec::new(), Vec::new(), Vec::new());
        let (firm, by_name, all, tracked, places) = (None, false, false, None, Vec::new());
        Blocked { written, patterns, own, of, any, but, firm, by_name, all, tracked, places }
    }

    /// Blocks what these patterns fit.
    pub fn new<S: AsRef<str>>(patterns: impl IntoIterator<Item = S>) -> Result<Blocked, FileError> {
        let mut blocked = Blocked::nothing();
        let (mut own, mut any, mut but) = (Vec::new(), Vec::new(), Vec::new());
        // What somebody has written is put together here too where that can fail, so that its
        // mistakes are told.
        let mut added = Vec::new();
        for pattern in patterns {
            let pattern = pattern.as_ref();
            blocked.written.push(pattern.to_owned());
            if let Some(exception) = pattern.strip_prefix('!') {
                but.push(glob(&anywhere(exception)?, false)?);
                continue;
            }
            let whole = anywhere(pattern)?;
            let above = whole.strip_suffix("/**").or_else(|| whole.strip_suffix("/*"));
            for it in [Some(whole.as_str()), above.filter(|it| *it != "**")].into_iter().flatten() {
                let fits = glob(it, true)?;
                let below = glob(&format!("{it}/**"), true)?;
                if !SECRET_NAMES.contains(&pattern) {
                    added.extend([fits.clone(), below.clone()]);
                }
                own.push(fits.clone());
                any.extend([fits, below]);
                blocked.of.push(blocked.patterns.len());
            }
            blocked.patterns.push(pattern.to_owned());
        }
        let checked = |globs| {
            LazyGlobs::checked(globs)
                .map_err(|err| wrong(err.glob().unwrap_or_default(), &err.kind().to_string()))
        };
        checked(added)?;
        let (own, any) = (LazyGlobs::new(own), LazyGlobs::new(any));
        Ok(Blocked { own, any, but: checked(but)?, ..blocked })
    }

    /// Blocks what these patterns fit; what the library ships is made only once.
    pub fn known_or_new(patterns: &[String]) -> Result<Blocked, FileError> {
        match patterns.iter().eq(SECRET_NAMES) {
            true => Ok(Blocked::default()),
            false => Blocked::new(patterns),
        }
    }

    /// Says what is wrong with a pattern, if anything is.
    pub fn check(pattern: &str) -> Result<(), FileError> {
        let bare = pattern.strip_prefix('!').unwrap_or(pattern);
        glob(&anywhere(bare)?, true).map(drop)
    }

    /// The patterns, without the exceptions.
    pub fn patterns(&self) -> &[String] {
        &self.patterns
    }

    /// The same without what the library ships: what a person has added. Exceptions stay.
    pub fn own(&self) -> Blocked {
        let own = |it: &&String| it.starts_with('!') || !SECRET_NAMES.contains(&it.as_str());
        // Each was read before.
        let own = Blocked::new(self.written.iter().filter(own));
        let own = own.unwrap_or_else(|_| Blocked { all: true, ..Blocked::nothing() });
        let (places, firm) = (self.places.clone(), self.firm.clone());
        Blocked { places, firm, tracked: self.tracked.clone(), ..own }
    }

    /// True when both were written alike, so that what one says the other says too.
    pub fn same_as(&self, other: &Blocked) -> bool {
        let firm = match (&self.firm, &other.firm) {
            (Some(one), Some(other)) => one.same_as(other),
            (None, None) => true,
            _ => false,
        };
        firm && self.all == other.all
            && self.written == other.written
            && self.places == other.places
    }

    /// Blocks what these fit as well, by name, whatever exceptions there are: only their own count.
    #[must_use]
    pub fn with_firm(self, firm: Blocked) -> Blocked {
        Blocked { firm: Some(Arc::new(Blocked { by_name: true, ..firm })), ..self }
    }

    /// Blocks these absolute places too, as far as they lie in the workspace at `root`, for good:
    /// no exception opens them.
    #[must_use]
    pub fn with_places(
        mut self,
        root: &Path,
        places: impl IntoIterator<Item = PathBuf>,
    ) -> Blocked {
        for place in places {
            let inside = place.strip_prefix(root).ok().filter(|it| !it.as_os_str().is_empty());
            if let Some(inside) = inside {
                self.places.push((inside.to_owned(), place.to_string_lossy().into_owned()));
            }
        }
        self
    }

    /// The same in the workspace at `root`: a file that git tracks, and has just as it is, is judged by its content,
    /// whatever its name. A command could ask git for it.
    #[must_use]
    pub fn with_tracked(self, root: &Path) -> Blocked {
        let tracked = Tracked { root: root.to_owned(), known: Mutex::default() };
        Blocked { tracked: Some(Arc::new(tracked)), ..self }
    }

    /// The pattern that blocks this path, which is relative to the workspace.
    pub fn by(&self, path: &Path) -> Option<&str> {
        match self.judged(path, false) {
            Some(Judged::Blocked(pattern)) => Some(pattern),
            Some(Judged::ByContent(_)) | None => None,
        }
    }

    /// The pattern that a file fits which may be public all the same: it is blocked if its content
    /// is secret, and only then. Certificates, public keys, source code and installed packages are
    /// such files.
    pub fn by_content(&self, path: &Path) -> Option<&str> {
        match self.judged(path, false) {
            Some(Judged::ByContent(pattern)) => Some(pattern),
            Some(Judged::Blocked(_)) | None => None,
        }
    }

    /// True when a file that is judged by its content is one of those that are secret unless git
    /// tracks them.
    pub fn must_be_tracked(&self, path: &Path) -> bool {
        self.by_content(path).is_some_and(|it| TRACKED_SETTINGS.contains(&it))
    }

    /// True when a file that is judged by its content is one of those that are secret unless git has just what is in
    /// them.
    pub fn must_be_clean(&self, path: &Path) -> bool {
        self.by_content(path).is_some_and(|it| !secret_names::is_public(path, it))
    }

    /// The pattern that blocks a directory with all that is in it. Of source code about
    /// credentials, each file is judged by itself.
    pub fn by_directory(&self, path: &Path) -> Option<&str> {
        match self.judged(path, true) {
            Some(Judged::Blocked(pattern)) => Some(pattern),
            Some(Judged::ByContent(_)) | None => None,
        }
    }

    fn judged(&self, path: &Path, directory: bool) -> Option<Judged<'_>> {
        if self.all {
            return Some(Judged::Blocked("*"));
        }
        if let Some((_, place)) = self.places.iter().find(|(place, _)| lies_in(path, place)) {
            return Some(Judged::Blocked(place));
        }
        let firm = self.firm.as_ref().and_then(|it| it.judged(path, directory));
        if firm.is_some() {
            return firm;
        }
        let folded = || self.fitting(&folded(path)?, directory);
        self.fitting(path, directory).or_else(folded)
    }

    fn fitting(&self, path: &Path, directory: bool) -> Option<Judged<'_>> {
        // Where nobody can tell, everything fits.
        if !self.any.is_match(path).unwrap_or(true) {
            return None;
        }
        let mut by_content = None;
        // Above first: an exception does not reach into a directory that is blocked itself.
        let mut above: Vec<&Path> = path.ancestors().filter(|it| *it != Path::new("")).collect();
        above.reverse();
        for it in above {
            if it == path && self.but.is_match(it).unwrap_or(false) {
                continue;
            }
            let all = || (0..self.own.globs().len()).collect();
            let fits = self.own.matches(it).unwrap_or_else(all);
            let mut fits: Vec<usize> =
                fits.iter().filter_map(|fit| self.of.get(*fit).copied()).collect();
            fits.sort_unstable();
            for fit in fits {
                let Some(pattern) = self.patterns.get(fit).map(String::as_str) else { continue };
                let shipped = self.is_shipped(fit);
                if shipped && directory && pattern == CREDENTIALS {
                    continue;
                }
                let clean = || {
                    let known = self.tracked.as_ref().filter(|_| !secret_names::is_place(pattern));
                    !directory && known.is_some_and(|known| known.is_clean(path))
                };
                match shipped && (secret_names::is_public(path, pattern) || clean()) {
                    true => by_content = by_content.or(Some(Judged::ByContent(pattern))),
                    false => return Some(Judged::Blocked(pattern)),
                }
            }
        }
        by_content
    }

    /// True for what the library ships. What a person has written besides holds by name alone.
    fn is_shipped(&self, pattern: usize) -> bool {
        let text = self.patterns.get(pattern).filter(|_| !self.by_name);
        text.is_some_and(|it| {
            SECRET_NAMES.contains(&it.as_str())
                && self.patterns.iter().position(|other| other == it) == Some(pattern)
        })
    }
}

/// The name for which a disk that does not tell letters apart takes this one, where it is another:
/// two letters outside ASCII are an `s` and a `k` in another case, and some characters count for
/// nothing.
fn folded(path: &Path) -> Option<PathBuf> {
    if path.as_os_str().is_ascii() {
        return None;
    }
    let path = path.to_string_lossy();
    let counts = path.chars().filter(|it| !is_ignorable(*it));
    let folded = counts.map(|it| match it {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        it => it,
    });
    Some(folded.collect::<String>().into())
}

/// A pattern as a glob over paths relative to the workspace.
fn anywhere(pattern: &str) -> Result<String, FileError> {
    let bare = pattern.trim_end_matches('/');
    if bare.is_empty() || bare.split('/').any(|it| it == ".." || it == ".") {
        return Err(wrong(pattern, "write a name such as `*.pem`, or a path in the workspace"));
    }
    Ok(match bare.strip_prefix('/') {
        Some(anchored) => anchored.to_owned(),
        None if bare.starts_with("**/") => bare.to_owned(),
        None => format!("**/{bare}"),
    })
}

fn glob(glob: &str, any_case: bool) -> Result<PathGlob, FileError> {
    PathGlob::new(glob, any_case).map_err(|err| wrong(glob, &err.kind().to_string()))
}

fn wrong(pattern: &str, why: &str) -> FileError {
    FileError::Pattern { pattern: crate::one_line(pattern), why: why.to_owned() }
}
