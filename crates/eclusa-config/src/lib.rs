//! The configuration: as written in `eclusa.toml` -> as meant, with the origin of every value.
//!
//! Layers are laid on top of each other, the shipped defaults lowest. Later layers override
//! single values; the rules of all layers apply together. A layer that was found in a workspace
//! can only tighten.

use std::{
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

use eclusa::{
    Blocked, Durability, Limits, Mode, ModeRule, OnNoApprover, Registry, Rule,
    audit::ArgsInLog,
    policy::EffectLimits,
    preflight::PreflightStep,
    settings::{CheckSettings, ServerSettings},
    workspace::Retention,
};

pub use agents::{AgentSettings, AgentShell};
pub use commands::CommandSettings;
pub use error::{ConfigError, ConfigErrors};
pub use grant_rule::{rule_text, with_rule};
pub use models::{
    KeySource, ModelSettings, ModelWire, PersonaSettings, PriceSettings, ThinkingLevel,
    TurnSettings,
};
pub use notifications::{ApprovalsSettings, NotificationForm, NotificationSettings};
pub use preflight::{PreflightReach, PreflightSettings};
pub use redact::{RedactRule, RedactSettings, RedactionError};
pub use reviewers::{ReviewerSettings, ReviewsOn};
pub use tools::CommandTool;
pub use web::WebSettings;

mod agents;
mod builder;
mod check;
mod commands;
mod diagnostics;
mod error;
mod files;
mod grant_rule;
mod merge;
mod models;
mod modes;
mod notifications;
mod preflight;
mod redact;
mod reviewers;
mod rule_bounds;
mod rules;
mod schema;
mod servers;
mod shipped;
mod source;
mod spanned;
#[cfg(test)]
mod tests;
mod tighten;
mod tools;
mod units;
mod web;

use source::LayerReader;

/// One configuration file, read by whoever may read files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// How messages call the file.
    pub name: String,
    /// What is in it.
    pub text: String,
    /// Who vouches for it.
    pub trust: Trust,
}

impl Layer {
    /// A file that the person vouches for: their own, or one they named on the command line.
    pub fn of_person(name: impl Into<String>, text: impl Into<String>) -> Layer {
        Layer { name: name.into(), text: text.into(), trust: Trust::Person }
    }

    /// A file of whoever runs the machine. It lies on top, wherever it stands in the list, and
    /// nothing loosens it; a stricter value of another file stands.
    pub fn of_administrator(name: impl Into<String>, text: impl Into<String>) -> Layer {
        Layer { name: name.into(), text: text.into(), trust: Trust::Administrator }
    }

    /// A file that was found in the workspace, and may have been written by anybody.
    pub fn of_project(name: impl Into<String>, text: impl Into<String>) -> Layer {
        Layer { name: name.into(), text: text.into(), trust: Trust::Project }
    }
}

/// Who vouches for a configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// The person: it is their own file, or they named it on the command line.
    Person,
    /// Nobody: it was found in the workspace. It may only tighten.
    Project,
    /// Whoever runs the machine. What it says holds, unless something stricter is said elsewhere.
    Administrator,
}

/// The configuration, as meant.
#[derive(Debug, Clone)]
pub struct Config {
    /// When people are asked.
    pub mode: Mode,
    /// Other modes of some clients and conversations.
    pub modes: Vec<ModeRule>,
    /// What happens when nobody can be asked.
    pub on_no_approver: OnNoApprover,
    /// The order of the passes between verdict and permit.
    pub order: Vec<PreflightStep>,
    /// How much a call may use.
    pub limits: Limits,
    /// What a call may do to the workspace.
    pub effects: EffectLimits,
    /// How large a file may be that tools write or edit, in bytes.
    pub max_file_size: u64,
    /// How much of the arguments the log holds.
    pub args_in_log: ArgsInLog,
    /// What the log survives.
    pub durability: Durability,
    /// What is kept for undo.
    pub keep: Retention,
    /// What committed changes survive.
    pub commit_durability: Durability,
    /// How secrets are taken out of what leaves.
    pub redact: RedactSettings,
    /// How long, and how many, decisions of input reviewers are kept. `None`: they are asked
    /// every time.
    pub review_cache: Option<(Duration, usize)>,
    /// The rules of all layers.
    pub rules: Vec<Rule>,
    /// Which files nobody may see.
    pub blocked: Blocked,
    /// How much one fetch from the web may cost.
    pub web: WebSettings,
    /// What shell commands may use and reach.
    pub commands: CommandSettings,
    /// How calls of other people's agents are treated.
    pub agents: AgentSettings,
    /// The checks that a person has named.
    pub checks: Vec<CheckSettings>,
    /// Tools that are programs.
    pub tools: Vec<CommandTool>,
    /// MCP servers behind the gate.
    pub servers: Vec<ServerSettings>,
    /// Reviewers that are programs or web addresses, in the order in which they are consulted.
    pub reviewers: Vec<ReviewerSettings>,
    /// Who is told of questions that wait.
    pub notifications: Vec<NotificationSettings>,
    /// How the page is reached where they are answered.
    pub approvals: ApprovalsSettings,
    /// Models that can be talked to.
    pub models: Vec<ModelSettings>,
    /// How they can be asked to behave.
    pub personas: Vec<PersonaSettings>,
    /// What one turn with a model may use.
    pub turn: TurnSettings,
    /// How deep tasks may start tasks in a conversation with a model.
    pub tasks: usize,
    /// The persona, unless the command line names one.
    pub chat_persona: Option<String>,
    /// The model, unless the persona or the command line names one.
    pub chat_model: Option<String>,
    /// Whether a question rings the terminal's bell.
    pub chat_bell: bool,
    /// Who argues the other side before a tool runs that demands it.
    pub reverse_thinker: Option<PreflightSettings>,
    /// Who opens checkpoints, in place of a person at the terminal.
    pub checkpoint: Option<PreflightSettings>,
    /// What it was read from.
    layers: Vec<Layer>,
    /// Every value and its origin, where they are listed.
    settings: Vec<Setting>,
    /// What `blocked` is made of.
    blocked_patterns: Vec<String>,
    /// What `review_cache` is made of: its parts can come from different layers.
    cache: (Duration, usize),
}

/// One value of the configuration and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its key, with dots.
    pub key: String,
    /// The value, as TOML.
    pub value: String,
    /// `defaults`, or `file:line`.
    pub origin: String,
    /// True when it comes with the program.
    pub shipped: bool,
}

/// A tool that the configuration names and nobody has registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownTool {
    /// Its name.
    pub name: String,
    /// Where it is named: `file:line`.
    pub origin: String,
    /// Names that look like it.
    pub nearest: Vec<String>,
}

impl fmt::Display for UnknownTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: no tool is called `{}`", self.origin, self.name)?;
        match self.nearest.first() {
            Some(near) => write!(f, "; did you mean `{near}`?"),
            None => Ok(()),
        }
    }
}

impl Config {
    /// The shipped configuration: the lowest layer, and the one that says what every key means.
    pub const DEFAULTS: &'static str = include_str!("defaults.toml");

    /// Blocks these absolute places, as far as they lie in the workspace at `root`, for every
    /// tool: no exception opens them.
    pub fn block_places(&mut self, root: &Path, places: impl IntoIterator<Item = PathBuf>) {
        self.blocked = self.blocked.clone().with_places(root, places);
        let blocked = &self.blocked;
        self.rules.iter_mut().for_each(|rule| rule.block_again(blocked));
    }

    /// The configuration that follows from the shipped defaults and these layers, lowest first,
    /// or everything that is wrong in any of them.
    pub fn load(layers: &[Layer]) -> Result<Config, ConfigErrors> {
        let config = Config::read(layers, false)?;
        Ok(Config { layers: layers.to_vec(), ..config })
    }

    /// Reads layers. Listing their settings takes as long as reading some of them, and few ask: then
    /// the shipped rules are read and tried with their examples, too.
    fn read(layers: &[Layer], lists_settings: bool) -> Result<Config, ConfigErrors> {
        let mut config = Config::built_in();
        let mut errors = Vec::new();
        let defaults = if lists_settings { Config::DEFAULTS } else { shipped::SHIPPED };
        let defaults = Layer::of_person("defaults", defaults);
        let (top, others): (Vec<&Layer>, Vec<&Layer>) =
            layers.iter().partition(|it| it.trust == Trust::Administrator);
        for (depth, layer) in [&defaults].into_iter().chain(others).chain(top).enumerate() {
            let mut source = LayerReader::new(layer);
            source.shipped = depth == 0;
            source.lists_settings = lists_settings;
            if let Some((written, settings)) = source.read(schema::shared) {
                merge::merge_layer(&mut source, &mut config, &written);
                let mut settings = source.taken(settings);
                if depth == 0 {
                    let plain = settings.iter_mut().filter(|it| it.key != "rules");
                    plain.for_each(|it| it.origin = "defaults".to_owned());
                }
                merge::note(&mut config.settings, settings);
            }
            errors.extend(source.into_errors());
        }
        if layers.iter().any(|it| it.trust == Trust::Administrator) {
            // Nobody is asked less than whoever runs the machine says.
            let careful = |mode: Mode| Mode::ALL.iter().position(|it| *it == mode);
            let mode = careful(config.mode);
            config.modes.retain(|it| careful(it.mode) <= mode);
        }
        if errors.is_empty() {
            errors = preflight::check(&mut config, &layers.iter().collect::<Vec<_>>());
        }
        if errors.is_empty() { Ok(config) } else { Err(ConfigErrors(errors)) }
    }

    /// What the program holds for right before it has read anything; the shipped defaults say
    /// the same in a readable form.
    fn built_in() -> Config {
        Config {
            mode: Mode::default(),
            modes: Vec::new(),
            on_no_approver: OnNoApprover::default(),
            order: PreflightStep::ORDER.to_vec(),
            limits: Limits::default(),
            effects: EffectLimits::default(),
            max_file_size: 10 << 20,
            args_in_log: ArgsInLog::default(),
            durability: Durability::default(),
            keep: Retention { recent: 50, bytes: 1 << 30 },
            commit_durability: Durability::Crash,
            redact: RedactSettings { on: true, ..RedactSettings::default() },
            review_cache: None,
            rules: Vec::new(),
            blocked: Blocked::nothing(),
            web: WebSettings::default(),
            commands: CommandSettings::default(),
            agents: AgentSettings::default(),
            checks: Vec::new(),
            tools: Vec::new(),
            servers: Vec::new(),
            reviewers: Vec::new(),
            notifications: Vec::new(),
            approvals: ApprovalsSettings::default(),
            models: Vec::new(),
            personas: Vec::new(),
            turn: TurnSettings::default(),
            tasks: 1,
            chat_persona: None,
            chat_model: None,
            chat_bell: true,
            reverse_thinker: None,
            checkpoint: None,
            layers: Vec::new(),
            settings: Vec::new(),
            blocked_patterns: Vec::new(),
            cache: (Duration::ZERO, 1024),
        }
    }

    /// The JSON Schema of a configuration file. Files are checked against this very schema.
    pub fn schema() -> serde_json::Value {
        schema::shared().clone()
    }

    /// Every value, and where it comes from.
    pub fn settings(&self) -> Vec<Setting> {
        // They could be read once, so they can be read again.
        Config::read(&self.layers, true).map(|it| it.settings).unwrap_or_default()
    }

    /// The tools that rules and reviewers name and nobody has registered (C19). A rule about a
    /// tool that is spelt otherwise would never apply. Shipped rules may know tools that are not
    /// there.
    pub fn unknown_tools(&self, registry: &Registry) -> Vec<UnknownTool> {
        let of_rules = self
            .rules
            .iter()
            .filter(|rule| !rule.is_shipped())
            .flat_map(|rule| rule.named_tools().map(|name| (name, rule.written_at())));
        let of_reviewers = self
            .reviewers
            .iter()
            .flat_map(|it| it.names.named().map(|name| (name, it.origin.as_str())));
        of_rules
            .chain(of_reviewers)
            // Which tools a server has is known once it has started.
            .filter(|(name, _)| !registry.has(name) && !name.starts_with("mcp_"))
            .map(|(name, origin)| UnknownTool {
                name: name.to_owned(),
                origin: origin.to_owned(),
                nearest: registry.nearest(name),
            })
            .collect()
    }
}
