//! What a machine takes and what it refuses, each check by name.

mod attacks;
mod hostile;
pub(crate) mod world;
