//! Whether commits and tags are to be signed: as the repository says, or else as the person does.

use std::path::PathBuf;

use super::{config, repository};

/// What is to be signed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Signing {
    /// Commits: `commit.gpgSign`.
    pub commits: bool,
    /// Tags: `tag.gpgSign`.
    pub tags: bool,
}

/// What is to be signed in the repositories that `places` lie in. `person` are settings of the person's own
/// ([`personal_git_settings`](super::personal_git_settings)).
#[must_use]
pub fn git_signing(places: &[PathBuf], person: &[(String, String)]) -> Signing {
    let files = repository::files_above(places);
    let said: Vec<_> = files.iter().filter_map(|it| config::read(it)).flatten().collect();
    let wanted = |section: &str| {
        let own = said.iter().rfind(|(it, _)| it.section == section && it.key == "gpgsign");
        let own = own.map(|(_, value)| is_true(&String::from_utf8_lossy(value)));
        let name = format!("{section}.gpgsign");
        let person = person.iter().rfind(|it| it.0.eq_ignore_ascii_case(&name));
        own.unwrap_or_else(|| person.is_some_and(|it| is_true(&it.1)))
    };
    Signing { commits: wanted("commit"), tags: wanted("tag") }
}

/// As git reads a truth. A name without a value is one.
fn is_true(value: &str) -> bool {
    let value = value.trim().to_ascii_lowercase();
    !matches!(value.as_str(), "false" | "no" | "off" | "0")
}
