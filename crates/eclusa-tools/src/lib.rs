//! The built-in tools, and the pure text work beneath them.
//!
//! - [`text`]: what encoding and newlines a file has, and edits that keep both.
//! - [`patch`]: unified diffs and the `*** Begin Patch` form, parsed and applied.
//! - [`search`]: the tools `list`, `glob` and `grep`.
//!
//! What works on text is a function from bytes or text to bytes or text. Paths are only strings, and
//! no file is opened: whoever calls has read the file through the one way there is to it, and
//! makes the result into a [`Changes`](eclusa::Changes) value.

pub mod patch;
pub mod search;
pub mod text;
