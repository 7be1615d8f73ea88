//! Rendered questions.
