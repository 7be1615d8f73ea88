//! What git ignores for this person everywhere: `core.excludesFile`, or where it is by convention.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The text of the person's excludes, if there are any. Only their own configuration is asked.
pub fn read(home: Option<&Path>, config: Option<&Path>) -> Option<String> {
    let usual = config.map(|it| it.join("git/ignore"));
    let own = [home.map(|it| it.join(".gitconfig")), config.map(|it| it.join("git/config"))];
    let named = own.into_iter().flatten().filter_map(|it| fs::read_to_string(it).ok());
    let named = named.filter_map(|it| excludes_file(&it)).next();
    let path = named.and_then(|it| located(&it, home)).or(usual)?;
    fs::read_to_string(path).ok()
}

/// The value of `core.excludesFile` in a configuration of git.
fn excludes_file(text: &str) -> Option<String> {
    let mut core = false;
    let mut value = None;
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            core = section.trim_end_matches(']').trim().eq_ignore_ascii_case("core");
        } else if let Some((key, new)) = line.split_once('=')
            && core
            && key.trim().eq_ignore_ascii_case("excludesfile")
        {
            value = Some(new.trim().trim_matches('"').to_owned());
        }
    }
    value
}

/// `~/` is the home directory; anything else that is not absolute is not followed.
fn located(path: &str, home: Option<&Path>) -> Option<PathBuf> {
    match path.strip_prefix("~/") {
        Some(rest) => Some(home?.join(rest)),
        None => Some(PathBuf::from(path)).filter(|it| it.is_absolute()),
    }
}

#[cfg(test)]
mod tests;
