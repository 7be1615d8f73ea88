//! The configuration, as meant: every value that the layers came to.

use std::{
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

use eclusa::{
    Blocked, Durability, Limits, Mode, ModeRule, OnNoApprover, Registry, Rule,
    audit::ArgsInLog,
    catalogue::Language,
    policy::EffectLimits,
    preflight::PreflightStep,
    settings::{CheckSettings, ServerSettings},
    workspace::Retention,
};

use crate::{
    AgentSettings, ApprovalsSettings, CommandSettings, CommandTool, ConfigError, Layer,
    ModelSettings, NotificationSettings, PersonaSettings, PreflightSettings, ProjectEntries,
    RedactSettings, ReviewerSettings, Setting, TurnSettings, WebSettings, error::nearest, shipped,
};

/// The configuration, as meant.
#[derive(Debug, Clone)]
pub struct Config {
    /// When people are asked.
    pub mode: Mode,
    /// Other modes of some clients and sessions.
    pub modes: Vec<ModeRule>,
    /// What happens when nobody can be asked.
    pub on_no_approver: OnNoApprover,
    /// The language in which people are asked. `None`: as the environment says.
    pub language: Option<Language>,
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
    /// What a project's file says that loosens, and nobody has trusted: it counts for nothing.
    pub left_out: Vec<ConfigError>,
    /// What such a file says, loosening and tightening apart, where settings are listed.
    pub(super) entries: ProjectEntries,
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
    /// How deep tasks may start tasks in a session with a model.
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
    pub(crate) layers: Vec<Layer>,
    /// Every value and its origin, where they are listed.
    pub(crate) settings: Vec<Setting>,
    /// What `blocked` is made of.
    pub(crate) blocked_patterns: Vec<String>,
    /// Those of the administrator among them.
    pub(crate) firm_patterns: Vec<String>,
    /// The administrator's among `modes`.
    pub(crate) firm_modes: Vec<ModeRule>,
    /// What `review_cache` is made of: its parts can come from different layers.
    pub(crate) cache: (Duration, usize),
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
    pub const DEFAULTS: &'static str = shipped::DEFAULTS;

    /// Drops what files say of modes for clients and conversations: a person has named the mode of this
    /// run. What the administrator says stays.
    pub fn keep_administrators_modes(&mut self) {
        let firm = &self.firm_modes;
        self.modes.retain(|it| firm.contains(it));
    }

    /// Blocks these absolute places, as far as they lie in the workspace at `root`, for every
    /// tool: no exception opens them. What git has of files there counts from now on.
    pub fn block_places(&mut self, root: &Path, places: impl IntoIterator<Item = PathBuf>) {
        self.blocked = self.blocked.clone().with_places(root, places).with_tracked(root);
        let blocked = &self.blocked;
        self.rules.iter_mut().for_each(|rule| rule.block_again(blocked));
    }

    /// What the program holds for right before it has read anything; the shipped defaults say
    /// the same in a readable form.
    pub(crate) fn built_in() -> Config {
        Config {
            mode: Mode::default(),
            modes: Vec::new(),
            on_no_approver: OnNoApprover::default(),
            language: None,
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
            left_out: Vec::new(),
            entries: ProjectEntries::default(),
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
            firm_patterns: Vec::new(),
            firm_modes: Vec::new(),
            cache: (Duration::ZERO, 1024),
        }
    }

    /// The tools that rules, reviewers and personas name and nobody has registered (C19). A rule about a
    /// tool that is spelt otherwise would never apply, and a persona would lack the tool. Shipped rules may
    /// know tools that are not there.
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
        let of_personas = self.personas.iter().flat_map(|it| {
            it.tools.iter().flatten().map(|name| (name.as_str(), it.origin.as_str()))
        });
        of_rules
            .chain(of_reviewers)
            .chain(of_personas)
            // Which tools a server has is known once it has started.
            .filter(|(name, _)| !registry.has(name) && !name.starts_with("mcp_"))
            .map(|(name, origin)| UnknownTool {
                name: name.to_owned(),
                origin: origin.to_owned(),
                nearest: registry.nearest(name),
            })
            .collect()
    }

    /// The model of this name, whatever its case; or the name that is nearest to it.
    pub fn model(&self, name: &str) -> Result<&ModelSettings, Option<&str>> {
        let found = self.models.iter().find(|it| it.name == name);
        let found =
            found.or_else(|| self.models.iter().find(|it| it.name.eq_ignore_ascii_case(name)));
        found.ok_or_else(|| nearest(name, self.models.iter().map(|it| it.name.as_str())))
    }

    /// The persona of this name, whatever its case; or the name that is nearest to it.
    pub fn persona(&self, name: &str) -> Result<&PersonaSettings, Option<&str>> {
        let all = &self.personas;
        let found = all.iter().find(|it| it.name == name);
        let found = found.or_else(|| all.iter().find(|it| it.name.eq_ignore_ascii_case(name)));
        let names = all.iter().map(|it| it.name.as_str()).chain(["coder"]);
        found.ok_or_else(|| nearest(name, names))
    }
}
