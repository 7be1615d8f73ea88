//! How much shell text is looked at. Whatever is over a limit makes the verdict stricter, never
//! looser: a text that was not read whole is refused, because deny rules could not be applied to
//! the part that was not read.

/// Bytes of a script, and of all scripts inside it together. Longer texts are refused.
pub const MAX_BYTES: usize = 32 * 1024;

/// Simple commands in all, those of nested scripts included. More are refused.
pub const MAX_COMMANDS: usize = 4096;

/// Scripts and wrappers in each other: `sudo env bash -c '…'` is three deep. More is a doubt.
pub const MAX_NESTING: usize = 12;

/// Levels of syntax in each other (`$(`, `{`, `if`, …). More are refused.
pub const MAX_DEPTH: usize = 40;

/// Bytes of a text with a mistake in it. Parsers that look for a way on can take very long, so
/// longer ones are refused.
pub const MAX_BROKEN_BYTES: usize = 4096;

/// Brackets that may be open at once in a text of more than [`MAX_BROKEN_BYTES`]. More are refused.
pub const MAX_OPEN: usize = 64;

/// Definitions of functions in a script. More are refused.
pub const MAX_FUNCTIONS: usize = 64;

/// Loops in a script whose variables are followed. Those of further ones stay unknown.
pub(crate) const MAX_SCOPES: usize = 64;

/// Signs of nesting up to which a text is read on the stack of the caller. Others get a thread
/// with [`STACK`] bytes, because a parser that descends may need much.
pub(crate) const MAX_INLINE: usize = 8;

/// Stack of the thread that reads deeply nested texts.
pub(crate) const STACK: usize = 16 * 1024 * 1024;

/// Words such as `time` and `!` in a row. More are refused.
pub(crate) const MAX_PREFIXES: usize = 8;

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

/// Words and texts that may be commands, and are looked at for catastrophes. More are a doubt.
pub const MAX_SUSPECTS: usize = 96;

/// Bytes of all texts that are looked at for that. More are a doubt.
pub(crate) const MAX_SUSPECT_BYTES: usize = 32 * 1024;
