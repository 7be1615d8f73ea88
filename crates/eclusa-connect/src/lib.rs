//! Other people's agents: what their hooks send, what their tools are here, how they are
//! answered, and what is written into their settings; and the commands that connect them.
//!
//! Outside of [`commands`] nothing reads a file, the environment or a clock: text in, text out.
//!
//! ```
//! use eclusa_connect::{AgentSpec, HookVerdict, MappedCall};
//!
//! let stdin = br#"{"session_id":"s","hook_event_name":"PreToolUse","cwd":"/p","tool_name":"Bash",
//!                  "tool_input":{"command":"make test"},"tool_use_id":"t1"}"#;
//! let event = AgentSpec::named("claude-code")?.read_event(stdin)?;
//! let MappedCall::Eclusa(calls) = event.mapped_call() else { panic!("a shell command") };
//! assert_eq!(calls[0].tool, "bash");
//! let output = event.answer(&HookVerdict::Deny("no network here".to_owned()));
//! assert!(output.stdout.contains("\"deny\""));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod acp;
mod agents;
mod answer;
pub mod commands;
mod entries;
mod entry_error;
mod fields;
mod guard;
mod imported_rules;
mod install;
mod mapped;
mod servers;
mod trial;

pub use acp::{
    acp_answer, acp_call, acp_is_judged, acp_loosening_mode, acp_permission_answer, acp_question,
    acp_wrap_servers,
};
pub use agents::{
    AGENTS, AgentSpec, HookEvent, HookEventKind, PastCall, ToolResult, UnknownAgent,
    UnreadableEvent, server_lists, servers_in,
};
pub use answer::{HookOutput, HookVerdict, ResultNote};
pub use entries::{EntryFile, InstallFacts, SettingsEntry, shell_quoted};
pub use entry_error::EntryError;
pub use imported_rules::{ImportedRules, SkippedRule};
pub use install::EntryState;
pub use mapped::{EclusaCall, InternalTool, MappedCall};
pub use servers::{ListedServer, ServerPosition, server_name};
