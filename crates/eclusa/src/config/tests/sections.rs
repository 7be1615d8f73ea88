//! The sections of a file, one by one.
