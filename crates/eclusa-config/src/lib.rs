//! The configuration: as written in `eclusa.toml` -> as meant, with the origin of every value.
//!
//! Layers are laid on top of each other, the shipped defaults lowest. Later layers override
//! single values; the rules of all layers apply together. A layer that was found in a workspace
//! can only tighten.

pub use agents::{AgentSettings, AgentShell};
pub use commands::CommandSettings;
pub use config::{Config, UnknownTool};
pub use error::{ConfigError, ConfigErrors};
pub use grant_rule::{rule_text, with_rule};
pub use layer::{Layer, Setting, Trust};
pub use models::{KeySource, ModelSettings, PersonaSettings, PriceSettings, TurnSettings};
pub use notifications::{ApprovalsSettings, NotificationSettings};
pub use preflight::{PreflightReach, PreflightSettings};
pub use project_entries::ProjectEntries;
pub use redact::{RedactRule, RedactSettings, RedactionError};
pub use reviewers::{ReviewerSettings, ReviewsOn};
pub use rule_toml::RuleToml;
pub use server_address::ServerAddress;
pub use tool_touches::Held;
pub use tools::CommandTool;
pub use web::WebSettings;

mod agents;
mod builder;
mod check;
mod commands;
mod config;
mod diagnostics;
mod error;
mod files;
mod fleet;
mod grant_rule;
pub mod jsonc;
mod layer;
mod load;
mod merge;
mod models;
mod modes;
mod needs;
mod notifications;
mod preflight;
mod project_entries;
mod redact;
mod reviewers;
mod rule_bounds;
mod rule_toml;
mod rules;
mod schema;
mod server_address;
mod servers;
mod shipped;
mod source;
mod spanned;
#[cfg(test)]
mod tests;
mod tighten;
mod tool_touches;
mod tools;
mod units;
mod web;
