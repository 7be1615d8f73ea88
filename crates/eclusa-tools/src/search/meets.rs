//! Whether a search that somebody else makes could meet what nobody may see: another agent's own
//! search leaves nothing out.

use std::path::{Component, Path, PathBuf};

use eclusa::{Files, policy::HiddenPaths};
use globset::{GlobBuilder, GlobMatcher};

use crate::sandboxes::hidden_beneath;

/// Characters with which a name stands for several.
const SPECIAL: [char; 8] = ['*', '?', '[', ']', '{', '}', '(', '!'];

/// Something beneath this directory that a search with this filter could meet and nobody may see, or
/// that rules keep from the call. `from` is relative to the workspace.
pub fn meets_hidden(
    files: &Files,
    rules: &HiddenPaths,
    from: &Path,
    filter: Option<&str>,
) -> Option<PathBuf> {
    let hidden = hidden_beneath(files.root(), files.blocked(), rules, from);
    let filter = filter.map_or(SearchFilter::Everything, SearchFilter::new);
    hidden.into_iter().find(|it| {
        let is_directory = files.root().join(it).is_dir();
        let beneath = it.strip_prefix(from).unwrap_or(it);
        filter.could_meet(it, is_directory) || filter.could_meet(beneath, is_directory)
    })
}

/// What another agent's search found, without the lines about files that nobody may see.
pub fn without_hidden(files: &Files, text: &str) -> String {
    let hidden =
        hidden_beneath(files.root(), files.blocked(), &HiddenPaths::nothing(), Path::new(""));
    let about = |line: &str, path: &Path| {
        let line = Path::new(line.split(':').next().unwrap_or(line));
        let line = line.strip_prefix(files.root()).unwrap_or(line);
        line.strip_prefix("./").unwrap_or(line).starts_with(path)
    };
    let shown = text.lines().filter(|line| !hidden.iter().any(|it| about(line, it)));
    let mut kept = shown.collect::<Vec<_>>().join("\n");
    if text.ends_with('\n') && !kept.is_empty() {
        kept.push('\n');
    }
    kept
}

/// Which files a search looks into.
enum SearchFilter {
    /// All, or nobody can tell.
    Everything,
    /// Those that fit.
    Fitting { matcher: GlobMatcher, start: PathBuf, by_name: bool },
}

impl SearchFilter {
    /// Reads a pattern as the search tools of agents do. What two of them read differently fits
    /// everything.
    fn new(pattern: &str) -> SearchFilter {
        let odd = pattern.contains([' ', '!', '(', '\\', '\n', '\t']) || pattern.contains("..");
        if odd || pattern.starts_with(['/', '~']) || lists_several(pattern) {
            return SearchFilter::Everything;
        }
        let glob = GlobBuilder::new(pattern.trim_start_matches("./"))
            .case_insensitive(true)
            .literal_separator(false)
            .build();
        match glob {
            Ok(glob) => SearchFilter::Fitting {
                matcher: glob.compile_matcher(),
                start: literal_start(pattern),
                by_name: !pattern.contains('/'),
            },
            Err(_) => SearchFilter::Everything,
        }
    }

    /// Whether a path, or something in it if it is a directory, could fit.
    fn could_meet(&self, path: &Path, is_directory: bool) -> bool {
        let SearchFilter::Fitting { matcher, start, by_name } = self else { return true };
        if is_directory {
            return path.starts_with(start) || start.starts_with(path);
        }
        let name = path.file_name().map(Path::new).filter(|_| *by_name);
        matcher.is_match(path) || name.is_some_and(|it| matcher.is_match(it))
    }
}

/// Whether there is a comma outside braces: some readers take what it parts for several patterns.
fn lists_several(pattern: &str) -> bool {
    let mut depth = 0_usize;
    pattern.chars().any(|it| {
        match it {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        it == ',' && depth == 0
    })
}

/// The directories that a pattern names before anything in it stands for several names.
fn literal_start(pattern: &str) -> PathBuf {
    let parts: Vec<&str> = pattern.split('/').collect();
    let before_name = parts.len().saturating_sub(1);
    let plain = parts.iter().take(before_name).take_while(|it| !it.contains(SPECIAL));
    plain.filter(|it| !matches!(**it, "" | ".")).collect()
}

/// The place that a pattern of names starts in, as a path: `src/**` starts in `src`, `/home/*` in
/// `/home`. `None` where it may lead elsewhere further on, or to several places.
pub fn start_of(pattern: &str) -> Option<String> {
    let parts: Vec<&str> = pattern.split('/').collect();
    let before_name = parts.len().saturating_sub(1);
    let plain = parts.iter().take(before_name).take_while(|it| !it.contains(SPECIAL)).count();
    let rest = parts.get(plain..).unwrap_or_default();
    // Some readers take `\..` and `[.][.]` for what they spell.
    let climbs = |it: &str| it.replace(['\\', '[', ']'], "") == "..";
    let leads_away =
        |it: &&str| it.split(['{', ',', '}', '(', '|', ')']).any(climbs) || it.starts_with('~');
    let spelt = |it: &&str| *it != ".." && climbs(it);
    if parts.iter().any(spelt) {
        return None;
    }
    let in_braces = |it: &&str| it.contains('{') && (it.len() == 1 || it.ends_with(['{', ',']));
    let bare_brace = rest.iter().take(rest.len().saturating_sub(1)).any(in_braces);
    if rest.iter().any(leads_away) || bare_brace || pattern.starts_with('~') {
        return None;
    }
    let start = parts.get(..plain).unwrap_or_default().join("/");
    let rooted = pattern.starts_with('/') && start.is_empty();
    let start = if rooted { "/".to_owned() } else { start };
    let normal = Path::new(&start).components().all(|it| !matches!(it, Component::Prefix(_)));
    normal.then_some(if start.is_empty() { ".".to_owned() } else { start })
}

#[cfg(test)]
mod tests;
