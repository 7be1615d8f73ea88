//! The composition root: where the program's files are, what is configured, and the gate made of it.
//!
//! Everything that a surface (a command, a hook, a server) is given is put together here, so that
//! what a person configures holds at all of them.

use eclusa_spawn as spawn;
use eclusa_term::{failure, language, screen, since, terminal, timestamp};

pub mod address_variable;
pub mod allowances;
pub mod checks;
pub mod command_tool;
pub mod config_layers;
pub mod context;
mod context_store;
pub mod discard_policy;
pub mod examples;
pub mod exec;
pub mod fleet;
mod fleet_machine;
pub mod fleet_standing;
pub mod gates;
pub mod git_excludes;
pub mod global;
pub mod job_plan;
pub mod log_call;
pub mod notifications;
pub mod open_model;
pub mod open_store;
pub mod paths;
pub mod pending_runs;
pub mod person;
pub mod printed;
pub mod queue_approver;
pub mod queues;
pub mod raised_policy;
pub mod read_text;
pub mod registry;
pub mod rehearsal;
pub mod remember;
pub mod reply;
pub mod reviewers;
pub mod rule_uses;
pub mod serve_mcp;
pub mod servers;
pub mod sessions_kept;
pub mod shell;
pub mod signals;
pub mod signers;
pub mod surface;
pub mod telemetry;
pub mod tickets;
pub mod token_store;
pub mod trust;
pub mod undo;
pub mod undo_retention;
pub mod up_token;
pub mod values;
mod workspace_programs;
