//! Small tools: `echo` for the demo, and more to try the gate with, in builds that are not shipped.

mod echo;
#[cfg(any(debug_assertions, feature = "example-tools"))]
mod note;
#[cfg(any(debug_assertions, feature = "example-tools"))]
mod time;

use eclusa::{Files, Registration, Registry, TypedTool as _, registry::RegistryError};

/// Those that this build has, by name.
#[cfg(any(debug_assertions, feature = "example-tools"))]
fn all(files: Files) -> [(&'static str, Registration); 3] {
    [
        (echo::Echo::NAME, Registration::new(echo::Echo)),
        (time::Time::NAME, Registration::new(time::Time)),
        (note::Note::NAME, Registration::new(note::Note::new(files))),
    ]
}

/// What is shipped has the demo's alone.
#[cfg(not(any(debug_assertions, feature = "example-tools")))]
fn all(_: Files) -> [(&'static str, Registration); 1] {
    [(echo::Echo::NAME, Registration::new(echo::Echo))]
}

/// Adds them to a registry.
pub fn add(registry: &Registry, files: Files) -> Result<(), RegistryError> {
    all(files).into_iter().try_for_each(|(_, it)| registry.register(it.lazy()))
}

/// Takes them off the list that models read: they are for people who try the gate. A tool of the
/// configuration that has one of their names stays.
pub fn unlist(
    registry: &Registry,
    files: Files,
    configured: impl Fn(&str) -> bool,
) -> Result<(), RegistryError> {
    let ours = |name: &str| registry.has(name) && !configured(name);
    let mut hidden = all(files).into_iter().filter(|(name, _)| ours(name));
    hidden.try_for_each(|(_, it)| registry.register(it.unlisted().replace().lazy()))
}

#[cfg(test)]
mod tests;
