//! What is particular to an agent, as a value.

use std::{fmt, path::Path};

use serde_json::Value;

use super::{
    event::{HookEvent, UnreadableEvent},
    json_form::JsonForm,
    past_calls::PastSpec,
};
use crate::{
    answer::{self, HookOutput, HookVerdict, ResultNote},
    entries::{
        EntryChange, EntryFile, InstallFacts, SettingsEntry, hook_line, hook_mark, second_hook_mark,
    },
    fields::Fields,
    guard::GuardSpec,
    imported_rules::ImportedRules,
    mapped::{Mapping, SERVER},
    trial::TrialSpec,
};

/// An agent that asks us before each of its tool calls, or could.
pub struct AgentSpec {
    /// The word for it on the command line and in records.
    pub name: &'static str,
    /// Other words for it.
    pub aliases: &'static [&'static str],
    /// What people call it.
    pub title: &'static str,
    /// What its program is called.
    pub program: &'static str,
    /// How its hooks speak; `None`: it is connected over MCP alone.
    pub(crate) hooks: Option<HookSpec>,
    /// What is written into its settings besides servers.
    pub(crate) entries: fn(&InstallFacts) -> Vec<SettingsEntry>,
    /// Where it keeps its MCP servers.
    pub(crate) servers: ServerSpec,
    /// Where it keeps which hooks its person trusts; `None`: it runs all of them.
    pub(crate) trust: Option<TrustSpec>,
    /// Where its hooks can be switched off.
    pub(crate) switches: SwitchSpec,
    /// What hooks leave to its person.
    pub(crate) caveats: Caveats,
    /// Its own rules that deny or ask; `None`: it has none that see a command before us.
    pub(crate) denials: Option<DenialSpec>,
    /// How its program is started; `None`: only its person starts it.
    pub(crate) launch: Option<LaunchSpec>,
    /// Where it keeps its sessions; `None`: they are not read.
    pub(crate) past: Option<PastSpec>,
    /// Reads its permission settings as rules; `None`: they cannot be imported.
    pub import_rules: Option<RuleReader>,
}

/// Reads a text of permission settings as rules; the error says why it cannot be read.
pub(crate) type RuleReader = fn(&str) -> Result<ImportedRules, String>;

/// How an agent's hooks speak.
pub(crate) struct HookSpec {
    /// True where the contract was seen with the real program; for the others it is taken from
    /// their manuals.
    pub(crate) tried: bool,
    /// The events that stop calls; an answer to something unreadable is one to the first.
    pub(crate) gates: &'static [&'static str],
    /// The variable in which a hook finds the root of the session.
    pub(crate) root_variable: Option<&'static str>,
    /// True when a shell stands between the agent and the hook.
    pub(crate) in_shell: bool,
    /// True when a hook can put another command in the place of a shell command.
    pub(crate) can_rewrite: bool,
    /// How strictly it reads the file that they stand in.
    pub(crate) json: JsonForm,
    /// True when the next command starts where the last one has left its shell.
    pub(crate) keeps_directory: bool,
    /// How it shows its person a command that we put there, and runs that after a yes.
    pub(crate) asks_rewritten: RewrittenAsk,
    /// True when the agent shows its person a question of ours instead of running the call. The
    /// flag: whether a person sits there, as far as the agent says.
    pub(crate) can_ask: fn(&HookEvent, bool) -> bool,
    /// What its hook sent.
    pub(crate) read: fn(Fields<'_>) -> Result<HookEvent, String>,
    /// Whose event it is, where others run the hooks of this agent's settings as well.
    pub(crate) sender: fn(Fields<'_>) -> Option<&'static AgentSpec>,
    /// What a call is in our words.
    pub(crate) map: fn(&HookEvent, Fields<'_>) -> Mapping,
    /// A verdict in its language: the event's name, the verdict, and the input as it was.
    pub(crate) verdict: fn(&str, &HookVerdict, &Value) -> HookOutput,
    /// What is said of a call that has run.
    pub(crate) result: fn(&HookEvent, &ResultNote) -> HookOutput,
}

/// How an agent asks its person about a command that a hook has put in the place of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RewrittenAsk {
    /// It does not, or runs what was there before: nobody has seen a way.
    Never,
    /// One answer rewrites and asks; the command is shown whole, with its comments.
    Comments,
    /// The first hook rewrites, the second asks, and its reason is shown whole.
    SecondHook,
    /// One answer rewrites and asks, and a message beside it is shown whole.
    Message,
    /// One answer rewrites, a message beside it is shown whole, and a rule in this file of the agent's has it ask;
    /// what it then runs cannot write our state, so that the hook after the call takes it.
    OwnRule(EntryFile),
}

/// Where an agent keeps its MCP servers.
pub(crate) struct ServerSpec {
    /// The paths of keys to its lists of servers, the one for all projects first. `*` stands for
    /// every workspace.
    pub(crate) lists: &'static [&'static [&'static str]],
    /// Its files. Our server is put into the first one of a scope.
    pub(crate) files: &'static [EntryFile],
    /// Our server, as its list has it; `None`: there is none, or it is not put into a list of JSON.
    pub(crate) ours: fn(&InstallFacts) -> Option<Value>,
}

/// Where an agent keeps which hooks its person trusts: it runs no others.
pub(crate) struct TrustSpec {
    /// A file of the person's own.
    pub(crate) file: EntryFile,
    /// True when its text says that the hooks of this file are trusted.
    pub(crate) is_trusted: fn(&str, &Path) -> bool,
}

/// Where an agent's hooks can be switched off, or be led to other rules than the person's.
pub(crate) struct SwitchSpec {
    /// The files in which a person or a repository can switch them off.
    pub(crate) files: &'static [EntryFile],
    /// What in the text of such a file switches them off, if anything does. The flag: whether they
    /// are managed. A text that cannot be read is no switch: the agent cannot read it either.
    pub(crate) switched_off_by: fn(&str, bool) -> Option<&'static str>,
    /// The files of a project that give variables to the agent or to its hooks.
    pub(crate) variable_files: &'static [&'static str],
    /// The variables that the text of such a file sets; the error says why nobody can tell.
    pub(crate) variables: fn(&str) -> Result<Vec<String>, String>,
    /// True when the agent takes such a file from a directory above the project, too.
    pub(crate) looks_above: bool,
}

impl SwitchSpec {
    /// No switches that are known.
    pub(crate) const NONE: SwitchSpec = SwitchSpec {
        files: &[],
        switched_off_by: |_, _| None,
        variable_files: &[],
        variables: |_| Ok(Vec::new()),
        looks_above: false,
    };
}

/// What hooks cannot close in an agent, and what only its person can confirm.
pub(crate) struct Caveats {
    /// Ways around the hooks that are left.
    pub(crate) open: &'static [&'static str],
    /// Those that an installation for the whole machine closes.
    pub(crate) open_unmanaged: &'static [&'static str],
    /// What its person must still confirm there: nobody else may.
    pub(crate) confirm: Option<&'static str>,
    /// The same where the installation is not for the whole machine.
    pub(crate) confirm_unmanaged: Option<&'static str>,
}

impl Caveats {
    /// Of an agent that is connected over MCP alone.
    pub(crate) const NO_HOOKS: Caveats = Caveats {
        open: &[
            "it has no hooks: its own tools run without eclusa; switch them off in its settings",
        ],
        open_unmanaged: &[],
        confirm: None,
        confirm_unmanaged: None,
    };
}

/// An agent's own rules that deny or ask.
pub(crate) struct DenialSpec {
    /// The files that hold them.
    pub(crate) files: &'static [EntryFile],
    /// Directories of the machine in which every file holds some.
    pub(crate) directories: &'static [&'static str],
    /// True when a rule in the text of such a file may be about a command. In doubt it is.
    pub(crate) may_concern: fn(&str, &str) -> bool,
}

/// How an agent's program is started.
pub(crate) struct LaunchSpec {
    /// The lines of versions with which hooks were seen to hold.
    pub(crate) majors: &'static [u32],
    /// In a sandbox of its own; `None`: it was not tried there.
    pub(crate) guard: Option<GuardSpec>,
    /// With a scripted model.
    pub(crate) trial: TrialSpec,
}

/// A name that is no agent's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownAgent {
    pub(super) word: String,
    pub(super) known: String,
}

impl fmt::Display for UnknownAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not an agent that is known here; use {}", self.word, self.known)
    }
}

impl std::error::Error for UnknownAgent {}

impl fmt::Display for AgentSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title)
    }
}

impl fmt::Debug for AgentSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for AgentSpec {
    fn eq(&self, other: &AgentSpec) -> bool {
        self.name == other.name
    }
}

impl Eq for AgentSpec {}

impl AgentSpec {
    /// False for agents that have no hooks and are connected over MCP alone.
    pub fn has_hooks(&self) -> bool {
        self.hooks.is_some()
    }

    /// True where the contract of its hooks was seen with the real program.
    pub fn is_tried(&self) -> bool {
        self.hooks.as_ref().is_some_and(|it| it.tried)
    }

    /// Reads what the agent's hook sent on stdin.
    pub fn read_event(&self, bytes: &[u8]) -> Result<HookEvent, UnreadableEvent> {
        let value: Value = serde_json::from_slice(bytes)
            .map_err(|err| UnreadableEvent(format!("it is not JSON: {err}")))?;
        let fields = Fields::new(&value, "it")?;
        let none = || UnreadableEvent(format!("{self} has no hooks"));
        let hooks = self.hooks.as_ref().ok_or_else(none)?;
        match (hooks.sender)(fields).and_then(|it| it.hooks.as_ref()) {
            Some(theirs) => Ok(HookEvent { is_foreign: true, ..(theirs.read)(fields)? }),
            None => Ok((hooks.read)(fields)?),
        }
    }

    /// The name of the event that stops calls, for an answer to something unreadable.
    pub fn gate_event(&self) -> &'static str {
        let gates = self.hooks.as_ref().map(|it| it.gates);
        gates.and_then(|it| it.first().copied()).unwrap_or_default()
    }

    /// A denial for an event that may not even have been read: JSON, stderr and exit code all say
    /// no, so that whichever of them the agent looks at does.
    pub fn failure(&self, event: &str, why: &str) -> HookOutput {
        let why = if why.trim().is_empty() { "the hook failed" } else { why };
        let deny = HookVerdict::Deny(format!("eclusa: {why}"));
        let output = self.verdict(event, &deny, &Value::Null);
        HookOutput { stderr: format!("eclusa: {why}\n"), code: 2, ..output }
    }

    pub(super) fn verdict(&self, event: &str, verdict: &HookVerdict, old: &Value) -> HookOutput {
        let verdict_in_words =
            self.hooks.as_ref().map_or(answer::by_exit_code as _, |it| it.verdict);
        verdict_in_words(event, verdict, old)
    }

    /// Everything that is written into its settings. An agent without a place for it gets nothing.
    pub fn entries(&self, facts: &InstallFacts) -> Vec<SettingsEntry> {
        let mut all = (self.entries)(facts);
        all.extend(self.eclusa_server(facts));
        all.extend(self.other_servers(facts));
        all
    }

    /// Ways around the hooks that are left, as `status` tells them.
    pub fn still_open(&self, managed: bool) -> Vec<&'static str> {
        let unmanaged = self.caveats.open_unmanaged.iter().filter(|_| !managed);
        self.caveats.open.iter().chain(unmanaged).copied().collect()
    }

    /// What its person must still confirm there: nobody else may.
    pub fn to_confirm(&self, managed: bool) -> Option<&'static str> {
        self.caveats.confirm.or(self.caveats.confirm_unmanaged.filter(|_| !managed))
    }

    /// The variable in the text of one of its files of variables with which our hooks would go by
    /// other rules than the person's, if there is one.
    pub(crate) fn redirected_by(&self, text: &str) -> Result<Option<String>, String> {
        // By these our program finds a person's configuration and state and knows who asks, and a
        // shell what it runs before its command line.
        const PLACES: [&str; 9] = [
            "HOME",
            "XDG_CONFIG_HOME",
            "XDG_STATE_HOME",
            "USER",
            "LOGNAME",
            "BASH_ENV",
            "SHELLOPTS",
            // By these a hook knows which agent it is a hook of, and whether somebody sits in front of it.
            "CLAUDE_PID",
            "CLAUDE_CODE_SESSION_ATTENDED",
        ];
        // With the first other code runs in every program that is started, with the second in the
        // shell that starts a hook; the third is ours.
        const FAMILIES: [&str; 3] = ["LD_", "BASH_FUNC_", "ECLUSA_"];
        // By these a hook finds where the session was started, and the person's own rules there.
        let root = self.hooks.as_ref().and_then(|it| it.root_variable);
        let rules = self.denials.as_ref().map_or(&[][..], |it| it.files);
        let settings = rules.iter().filter_map(|it| match it {
            EntryFile::Settings(variable, ..) => Some(*variable),
            _ => None,
        });
        let own: Vec<&str> = settings.chain(root).collect();
        let leads = |it: &String| {
            PLACES.contains(&it.as_str())
                || own.contains(&it.as_str())
                || FAMILIES.iter().any(|family| it.starts_with(family))
        };
        Ok((self.switches.variables)(text)?.into_iter().find(leads))
    }

    /// A hook for an event, in the list that the agent keeps under its name.
    pub(super) fn hook(&self, file: EntryFile, event: &'static str, value: Value) -> SettingsEntry {
        let is_gate = self.hooks.as_ref().is_some_and(|it| it.gates.contains(&event));
        let path = vec!["hooks", event];
        let change = EntryChange::JsonHook { path, value, mark: hook_mark(self.name) };
        SettingsEntry { file, purpose: "asks eclusa before its own tools run", is_gate, change }
    }

    /// The second hook for an event, behind the first.
    pub(super) fn second_hook(
        &self,
        file: EntryFile,
        event: &'static str,
        value: Value,
    ) -> SettingsEntry {
        let path = vec!["hooks", event];
        let change = EntryChange::JsonHook { path, value, mark: second_hook_mark(self.name) };
        let purpose = "refuses a call that the first hook has not judged";
        SettingsEntry { file, purpose, is_gate: true, change }
    }

    /// What a hook runs.
    pub(super) fn hook_line(&self, facts: &InstallFacts) -> String {
        hook_line(self.name, facts)
    }

    fn server_files(&self, facts: &InstallFacts) -> impl Iterator<Item = EntryFile> {
        self.servers.files.iter().copied().filter(|it| it.is_for(facts))
    }

    /// Our server in the agent's list of servers.
    fn eclusa_server(&self, facts: &InstallFacts) -> Option<SettingsEntry> {
        let entry = (self.servers.ours)(facts)?;
        let list = self.servers.lists.first()?;
        let path = list.iter().copied().chain([SERVER]).collect();
        let file = self.server_files(facts).next()?;
        Some(SettingsEntry::value(file, "connects eclusa's tools", path, entry))
    }

    /// The other servers of the agent's lists, put behind the gate.
    fn other_servers(&self, facts: &InstallFacts) -> Vec<SettingsEntry> {
        let lists: Vec<Vec<&str>> = self.servers.lists.iter().map(|it| it.to_vec()).collect();
        let change = |file: EntryFile| match file.is_toml() {
            true => EntryChange::TomlServers {
                path: lists.first().cloned().unwrap_or_default(),
                program: facts.program.clone(),
            },
            false => {
                EntryChange::JsonServers { lists: lists.clone(), program: facts.program.clone() }
            }
        };
        let entry = |file: EntryFile| SettingsEntry {
            file,
            purpose: "puts its other servers behind the gate",
            is_gate: false,
            change: change(file),
        };
        self.server_files(facts).map(entry).collect()
    }
}
