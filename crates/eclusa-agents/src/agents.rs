//! One file for each agent: how its events are read, and what its tools are here.

pub(crate) mod claude_code;
pub(crate) mod codex;
pub(crate) mod copilot;
pub(crate) mod cursor;
pub(crate) mod gemini;
pub(crate) mod opencode;
pub(crate) mod windsurf;
