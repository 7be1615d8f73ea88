//! Small tools that are always there: for the demo, and to try the gate with.

mod echo;
mod note;
mod time;

use eclusa::{Files, Registry, RegistryError};

/// Adds them to a registry.
pub(crate) fn add(registry: &Registry, files: Files) -> Result<(), RegistryError> {
    registry.add(echo::Echo)?;
    registry.add(time::Time)?;
    registry.add(note::Note::new(files))
}
