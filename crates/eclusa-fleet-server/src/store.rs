//! The statements: nothing outside of here, of the schema and of maintenance speaks SQL.

pub(crate) mod call_fields;
pub(crate) mod chains;
pub(crate) mod documents;
pub(crate) mod machines;
pub(crate) mod read;
pub(crate) mod seals;
pub(crate) mod ship;
