//! What a command runs in turn.

use crate::Word;

/// What a command runs in turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NestedCommands {
    /// Commands that it runs, each with its arguments (`env`, `xargs`, `find -exec`).
    pub runs: Vec<Vec<Word>>,
    /// Shell text that it runs (`bash -c`, `eval`, `trap`).
    pub scripts: Vec<Word>,
    /// True when it runs what it reads from its standard input (`sh`).
    pub reads_script: bool,
}
