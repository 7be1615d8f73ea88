//! Small tools for the demo, and to try the gate with: nobody else has them.

mod echo;
mod note;
mod time;

use eclusa::{Files, Registration, Registry, TypedTool as _, registry::RegistryError};

/// Adds them to a registry.
pub fn add(registry: &Registry, files: Files) -> Result<(), RegistryError> {
    registry.register(Registration::new(echo::Echo).lazy())?;
    registry.register(Registration::new(time::Time).lazy())?;
    registry.register(Registration::new(note::Note::new(files)).lazy())
}

/// Takes them off the list that models read: they are for people who try the gate. A tool of the
/// configuration that has one of their names stays.
pub fn unlist(
    registry: &Registry,
    files: Files,
    configured: impl Fn(&str) -> bool,
) -> Result<(), RegistryError> {
    let ours = |name: &str| registry.has(name) && !configured(name);
    let hide = |it: Registration| registry.register(it.unlisted().replace().lazy());
    if ours(echo::Echo::NAME) {
        hide(Registration::new(echo::Echo))?;
    }
    if ours(time::Time::NAME) {
        hide(Registration::new(time::Time))?;
    }
    if ours(note::Note::NAME) {
        hide(Registration::new(note::Note::new(files)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
