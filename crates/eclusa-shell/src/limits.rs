//! How much shell text is looked at. Whatever is over a limit makes the verdict stricter, never
//! looser: a text that was not read whole is refused, because deny rules could not be applied to
//! the part that was not read.

/// Bytes of a script, and of all scripts inside it together. Longer texts are refused.
pub const MAX_BYTES: usize = 64 * 1024;

/// Simple commands in all, those of nested scripts included. More are refused.
pub const MAX_COMMANDS: usize = 4096;

/// Scripts and wrappers in each other: `sudo env bash -c '…'` is three deep. More is a doubt.
pub const MAX_NESTING: usize = 12;

/// Levels of syntax in each other (`$(`, `{`, `if`, …). More is a doubt.
pub const MAX_DEPTH: usize = 40;

/// Steps that each parser may take, per byte of the text, before it is stopped.
pub(crate) const STEPS_PER_BYTE: usize = 64;

/// Steps that each parser may take whatever the length.
pub(crate) const STEPS_AT_LEAST: usize = 20_000;

/// Nodes of a syntax tree that are looked at, per byte of the text.
pub(crate) const NODES_PER_BYTE: usize = 16;

/// Words that one word with braces may become (`{1..9}`). More stay unknown.
pub const MAX_BRACES: usize = 64;

/// Commands that one command in loops over known words may become. More keep the variable.
pub const MAX_UNROLLED: usize = 32;
