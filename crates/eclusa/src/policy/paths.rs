//! Paths in words alone: where a path leads, and which globs it fits. Nothing here looks at a
//! disk; links are the business of whoever opens the file.

use std::{borrow::Cow, path::Path};

use eclusa_workspace::globs::{LazyGlobs, PathGlob};

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PathLocation<'a> {
    /// To this path, relative to the workspace; `.` is the workspace itself.
    Inside(Cow<'a, str>),
    /// Somewhere else.
    Outside,
    /// Nobody can tell: it is empty, has a NUL, or leaves it to a shell to say where it leads.
    Nowhere,
}

/// The workspace, as far as words go.
#[derive(Debug, Clone, Default)]
pub(crate) struct Root {
    /// Its parts, each after a slash: `/` is empty.
    text: String,
    /// Whether that is where it is. Nothing absolute lies in a workspace at an unknown place.
    absolute: bool,
}

impl Root {
    pub(crate) fn new(workspace: &Path) -> Root {
        let workspace = workspace.to_string_lossy();
        let mut parts = Vec::new();
        let known = climb(&mut parts, &workspace);
        let text = parts.iter().flat_map(|it| ["/", it]).collect();
        Root { text, absolute: known && workspace.starts_with('/') }
    }

    /// The path, if it leads into the workspace.
    pub(crate) fn inside<'a>(&self, path: &'a str) -> Option<Cow<'a, str>> {
        match self.place(path) {
            PathLocation::Inside(path) => Some(path),
            PathLocation::Outside | PathLocation::Nowhere => None,
        }
    }

    /// Where a path leads.
    pub(crate) fn place<'a>(&self, path: &'a str) -> PathLocation<'a> {
        if path.is_empty() || path.contains('\0') || is_for_a_shell(path) {
            return PathLocation::Nowhere;
        }
        let absolute = path.starts_with('/');
        if absolute && !self.absolute {
            return PathLocation::Outside;
        }
        if is_plain(path) {
            let Some(rest) = path.strip_prefix(if absolute { self.text.as_str() } else { "" })
            else {
                return PathLocation::Outside;
            };
            return match rest.strip_prefix('/') {
                _ if !absolute => PathLocation::Inside(Cow::Borrowed(rest)),
                Some(rest) => PathLocation::Inside(Cow::Borrowed(rest)),
                None if rest.is_empty() => PathLocation::Inside(Cow::Borrowed(".")),
                None => PathLocation::Outside,
            };
        }
        let own: Vec<&str> = self.text.split('/').filter(|it| !it.is_empty()).collect();
        let mut parts = if absolute { Vec::new() } else { own.clone() };
        if !climb(&mut parts, path) {
            return PathLocation::Outside;
        }
        match parts.strip_prefix(own.as_slice()) {
            Some([]) => PathLocation::Inside(Cow::Borrowed(".")),
            Some(rest) => PathLocation::Inside(Cow::Owned(rest.join("/"))),
            None => PathLocation::Outside,
        }
    }
}

/// True when no part of the path is empty, `.` or `..`.
fn is_plain(path: &str) -> bool {
    let path = path.strip_prefix('/').unwrap_or(path);
    path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// Follows a path part by part. False when it climbs above everything that is known.
fn climb<'a>(parts: &mut Vec<&'a str>, path: &'a str) -> bool {
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return false;
                }
            }
            part => parts.push(part),
        }
    }
    true
}

/// True when an inside path is this directory or lies in it.
pub(crate) fn is_under(path: &str, dir: &str, any_case: bool) -> bool {
    if dir == "." {
        return true;
    }
    let Some((head, rest)) = path.split_at_checked(dir.len()) else { return false };
    let same = if any_case { head.eq_ignore_ascii_case(dir) } else { head == dir };
    same && (rest.is_empty() || rest.starts_with('/'))
}

/// Globs over inside paths, with exceptions.
#[derive(Debug, Clone)]
pub(crate) struct Globs {
    any: Set,
    but: Set,
    tightens: bool,
}

/// Globs of one kind.
#[derive(Debug, Clone, Default)]
struct Set {
    globs: LazyGlobs,
    /// Which way doubts go.
    width: GlobWidth,
    /// Those that were written with a slash before them, as written.
    absolute: Vec<String>,
}

/// Globs of one kind as they are read.
#[derive(Default)]
struct SetReader {
    globs: Vec<PathGlob>,
    width: GlobWidth,
    absolute: Vec<String>,
}

/// Which way doubts go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum GlobWidth {
    /// Exactly as written.
    #[default]
    Narrow,
    /// In any case (files that differ in nothing else are the same on some disks), and with
    /// everything below a directory that fits.
    Wide,
}

impl Globs {
    /// Reads globs; those that begin with `!` are exceptions. `tightens` says what a fit means
    /// for the call: where it does, globs are read widely and exceptions narrowly.
    pub(crate) fn new<S: AsRef<str>>(
        globs: impl IntoIterator<Item = S>,
        tightens: bool,
    ) -> Result<Globs, String> {
        let (hit, miss) = match tightens {
            true => (GlobWidth::Wide, GlobWidth::Narrow),
            false => (GlobWidth::Narrow, GlobWidth::Wide),
        };
        let set = |width| SetReader { width, ..SetReader::default() };
        let (mut any, mut but) = (set(hit), set(miss));
        let mut count = 0;
        for glob in globs {
            match glob.as_ref().strip_prefix('!') {
                Some(exception) => but.add(exception)?,
                None => {
                    any.add(glob.as_ref())?;
                    count += 1;
                }
            }
        }
        if count == 0 {
            return Err("there is no path here to match; write `*` for all paths".to_owned());
        }
        Ok(Globs { any: any.checked()?, but: but.checked()?, tightens })
    }

    /// True when an inside path fits.
    pub(crate) fn fit(&self, path: impl AsRef<Path>) -> bool {
        let path = path.as_ref();
        // Where nobody can tell, the stricter holds.
        let fits = self.any.fit(path).unwrap_or(self.tightens);
        fits && !self.but.fit(path).unwrap_or(!self.tightens)
    }
}

impl Globs {
    /// The same globs with those that are absolute paths in this workspace read from there as well;
    /// nothing where there are none. `/src` is a path of the workspace like any other where the
    /// workspace is `/src`: what could be meant either way is read as in ignore files alone.
    pub(crate) fn within(&self, root: &Root) -> Option<Globs> {
        if !root.absolute || root.text.matches('/').count() < 2 {
            return None;
        }
        let prefix = format!("{}/", root.text);
        let more = |set: &Set| {
            let mut more = SetReader {
                globs: set.globs.globs().to_vec(),
                width: set.width,
                absolute: set.absolute.clone(),
            };
            for rest in set.absolute.iter().filter_map(|it| it.strip_prefix(&prefix)) {
                let glob = if rest.is_empty() { "*".to_owned() } else { format!("/{rest}") };
                // It could be read once, so it can be read again.
                let _ = more.add(&glob);
            }
            more
        };
        if self.any.absolute.is_empty() && self.but.absolute.is_empty() {
            return None;
        }
        let (any, but) = (more(&self.any), more(&self.but));
        let same = any.globs.len() == self.any.globs.globs().len()
            && but.globs.len() == self.but.globs.globs().len();
        (!same).then(|| Globs { any: any.unchecked(), but: but.unchecked(), ..self.clone() })
    }

    /// True when something beneath a directory may fit, exceptions aside.
    pub(crate) fn may_fit_below(&self, directory: &Path) -> bool {
        self.any.may_fit_below(directory)
    }

    /// True when an exception may be about something beneath a directory.
    pub(crate) fn may_except_below(&self, directory: &Path) -> bool {
        self.but.may_fit_below(directory)
    }

    /// The glob that a path fits, as short as it can be written.
    pub(crate) fn pattern(&self, path: &Path) -> Option<String> {
        let first = self.any.globs.matches(path)?.into_iter().min()?;
        let glob = self.any.globs.globs().get(first)?.text();
        let glob = glob.strip_suffix("/**").unwrap_or(glob);
        let bare = glob.strip_prefix("**/").filter(|it| !it.contains('/'));
        Some(bare.unwrap_or(glob).to_owned())
    }
}

impl Set {
    /// Part by part, as far as the globs say exactly which.
    fn may_fit_below(&self, directory: &Path) -> bool {
        let names: Vec<_> =
            directory.iter().map(|it| it.to_string_lossy().to_lowercase()).collect();
        self.globs.globs().iter().any(|glob| {
            for (part, name) in glob.text().split('/').zip(&names) {
                if part.contains(['*', '?', '[', '{', '\\']) || !part.is_ascii() {
                    return true;
                }
                if !part.eq_ignore_ascii_case(name) {
                    return false;
                }
            }
            true
        })
    }

    fn fit(&self, path: &Path) -> Option<bool> {
        self.globs.is_match(path)
    }
}

impl SetReader {
    /// Puts the globs together where that can fail.
    fn checked(self) -> Result<Set, String> {
        let globs = LazyGlobs::checked(self.globs).map_err(|err| err.to_string())?;
        Ok(Set { globs, width: self.width, absolute: self.absolute })
    }

    /// The same for globs that were put together before.
    fn unchecked(self) -> Set {
        Set { globs: LazyGlobs::new(self.globs), width: self.width, absolute: self.absolute }
    }

    /// Adds one glob. As in ignore files, one without a slash fits at any depth, and one with a slash
    /// starts at the workspace.
    fn add(&mut self, glob: &str) -> Result<(), String> {
        let wide = self.width == GlobWidth::Wide;
        if glob.starts_with(['~', '$']) || glob.split('/').any(|part| part == "..") {
            return Err(format!(
                "`{glob}` leaves the workspace; paths outside are always denied, so write it relative to the workspace"
            ));
        }
        if glob.starts_with('/') {
            self.absolute.push(glob.to_owned());
        }
        let mut rest = glob;
        while let Some(shorter) = rest.strip_prefix("./") {
            rest = shorter;
        }
        let directory = rest.ends_with('/');
        let bare = rest.trim_end_matches('/');
        let anchored = bare.contains('/');
        let bare = bare.trim_start_matches('/');
        if bare.is_empty() {
            return Err("a path cannot be empty; write `*` for all paths".to_owned());
        }
        let odd = |it: &str| it.is_empty() || it == ".";
        if bare.split('/').any(odd) || bare.contains('\0') {
            return Err(format!(
                "no path is written like `{glob}`; name each directory once, with one slash between them"
            ));
        }
        let whole = if anchored { bare.to_owned() } else { format!("**/{bare}") };
        let below = format!("{whole}/**");
        // What lies in a directory cannot be kept safe without the directory.
        if let Some(above) = whole.strip_suffix("/**")
            && wide
            && !above.is_empty()
        {
            self.globs.push(compiled(above, wide)?);
        }
        if !directory || wide {
            self.globs.push(compiled(&whole, wide)?);
        }
        if directory || wide {
            self.globs.push(compiled(&below, wide)?);
        }
        Ok(())
    }
}

fn compiled(glob: &str, any_case: bool) -> Result<PathGlob, String> {
    PathGlob::new(glob, any_case).map_err(|err| format!("`{glob}` is not a glob: {}", err.kind()))
}

/// True when a path begins with what only a shell would replace: `~`, `$NAME` or `${NAME}`. Nobody
/// replaces it here, and whoever wrote it meant another file. Any other `$` is part of a name.
fn is_for_a_shell(path: &str) -> bool {
    match path.strip_prefix('$') {
        Some(rest) => rest.starts_with(|it: char| it == '{' || it == '_' || it.is_alphabetic()),
        None => path.starts_with('~'),
    }
}
