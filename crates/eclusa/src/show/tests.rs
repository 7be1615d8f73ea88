//! What is shown.
