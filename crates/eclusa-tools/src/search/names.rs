//! Globs over names: which files are meant.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

use eclusa::{ToolError, one_line};

/// A glob over paths relative to the directory that is asked for.
///
/// Without a slash it fits a name at any depth, with one it fits the whole path. `*` stays within
/// a name, `**` goes across. With `!` before it, it fits everything else.
#[derive(Debug)]
pub(super) struct NamePattern {
    glob: GlobMatcher,
    but: bool,
}

impl NamePattern {
    pub(super) fn new(asked: &str) -> Result<NamePattern, ToolError> {
        let wrong = |why: &str| {
            let asked = one_line(asked);
            ToolError::new(format!(
                "`{asked}` is not a glob: {why}; write one such as `*.rs`, `src/**/*.ts` or \
                 `*.{{js,ts}}`"
            ))
        };
        let (but, bare) = match asked.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, asked),
        };
        let bare = bare.strip_prefix("./").unwrap_or(bare);
        if bare.is_empty() {
            return Err(wrong("it is empty"));
        }
        if bare.starts_with('/') || bare.split('/').any(|it| it == "..") {
            return Err(wrong("it is relative to `path` and cannot leave it"));
        }
        let whole = match bare.contains('/') {
            true => bare.to_owned(),
            false => format!("**/{bare}"),
        };
        let glob = GlobBuilder::new(&whole).literal_separator(true).backslash_escape(true).build();
        let glob = glob.map_err(|err| wrong(&err.kind().to_string()))?.compile_matcher();
        Ok(NamePattern { glob, but })
    }

    /// True if it fits a path, which is relative to the directory that is asked for.
    pub(super) fn fit(&self, path: &Path) -> bool {
        self.glob.is_match(path) != self.but
    }
}
