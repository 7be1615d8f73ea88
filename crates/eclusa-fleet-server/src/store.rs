//! The statements: nothing outside of here, of the schema and of maintenance speaks SQL.

pub(crate) mod acts;
pub(crate) mod call_fields;
pub(crate) mod chains;
pub(crate) mod documents;
pub(crate) mod gauges;
pub(crate) mod machines;
pub(crate) mod messages;
pub(crate) mod notifications;
pub(crate) mod offers;
pub(crate) mod overview;
pub(crate) mod pending_keys;
pub(crate) mod questions;
pub(crate) mod read;
pub(crate) mod rollouts;
pub(crate) mod sealed_tree;
pub(crate) mod seals;
pub(crate) mod sessions;
pub(crate) mod ship;
pub(crate) mod shipped;
