//! The binary through its front door: what is typed, what comes back, which exit code.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics has failed"
)]

mod acp;
mod agent_files;
mod agent_odd_input;
mod agent_settings;
mod agent_trials;
mod ahead;
mod allow;
mod approvals_page;
mod approvals_people;
mod ask;
mod attacked;
mod built_in;
mod chat;
mod chat_spoofs;
mod check;
mod command_tools;
mod configuration;
mod container;
mod conversation;
mod demo;
mod display;
mod doctor;
mod exec;
mod feed;
mod fleet;
mod git_habits;
mod goldens;
mod guard;
mod home;
mod hook;
mod hook_attended;
mod hook_faults;
mod hook_foreign;
mod hook_media;
mod hook_names;
mod hook_searches;
mod hook_sessions;
mod hostile_checkout;
mod http_reviewer;
mod job_network;
mod job_views;
mod jobs;
mod killed;
mod languages;
mod layer_places;
mod lesser_machines;
mod log;
mod login;
mod looking;
mod mcp;
mod mission;
mod newcomers;
mod newcomers_details;
mod notifications;
mod offered;
mod old_state;
mod one_question;
mod opencode_plugin;
mod own_loops;
mod passkeys;
mod pending;
mod pending_git;
mod people;
mod policy;
mod policy_docs;
mod policy_import;
mod prompt;
mod questions;
mod queue;
mod reviewers;
mod rules_hold;
mod run;
mod saved_questions;
mod screens;
mod secret_names;
mod servers;
mod snapshots;
mod surfaces;
#[cfg(target_arch = "x86_64")]
mod system_calls;
mod team;
mod tickets;
mod tracked_names;
mod undo;
mod undo_latest;
mod workday;
mod worktrees;
mod world;
