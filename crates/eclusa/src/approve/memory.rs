//! What people have answered before, and how long it holds.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{
    CountedRule, Decision, Hash, PermissionClass, Rule, Touch, Validated,
    errors::{RememberError, TallyError},
    policy::{Root, written_hosts},
};

/// What a remembered answer covers: calls of one tool, as it is now, that touch what was approved
/// ([`GrantScope`]), and for a shell only the very same text. For a session it covers no more than
/// for always.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Grant {
    /// The tool's canonical name.
    pub tool: String,
    /// The tool's revision: another one is asked about again.
    pub revision: String,
    /// The exact arguments, where any others must be asked about.
    pub args: Option<Hash>,
    /// What "always" is held to. `None`: nobody can write a rule that covers this and not much
    /// more, so "always" is not offered.
    pub scope: Option<GrantScope>,
}

/// What a rule that is kept for always is held to: as little as covers what was approved. Where
/// all are empty, the rule is about every call of the tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct GrantScope {
    /// Commands of shell text, as a rule's `command` has them: exactly those that needed a yes.
    pub commands: Vec<String>,
    /// Paths, as a rule's `path` has them.
    pub paths: Vec<String>,
    /// Hosts, as a rule's `domain` has them.
    pub hosts: Vec<String>,
}

impl Grant {
    /// The grant that a yes to this call stands for, in this workspace.
    pub(crate) fn covering(call: &Validated, workspace: Option<&Path>) -> Grant {
        let scope = GrantScope::covering(call, workspace);
        // What no rule can say is covered word for word.
        let exactly = call.class() == PermissionClass::Shell || scope.is_none();
        Grant {
            tool: call.name().to_owned(),
            revision: call.revision().to_owned(),
            args: exactly.then(|| call.digest()),
            scope,
        }
    }

    /// What tells it from every other.
    pub(crate) fn digest(&self) -> Hash {
        let scope = self.scope.as_ref().map(|it| (&it.commands, &it.paths, &it.hosts));
        let args = self.args.map(|it| it.to_string());
        let text = serde_json::json!([self.tool, self.revision, args, scope]).to_string();
        Hash::sha256(text.as_bytes())
    }

    /// Whether it can be kept beyond a session.
    pub(crate) fn can_last(&self) -> bool {
        self.scope.is_some()
    }

    /// What "always" would cover, in words.
    pub fn describe_always(&self) -> String {
        match &self.scope {
            Some(it) if !it.commands.is_empty() => {
                let commands = it.commands.iter().map(|it| it.trim_end_matches(" $").to_owned());
                let commands = list(&commands.collect::<Vec<_>>());
                let hosts = match it.hosts.is_empty() {
                    true => String::new(),
                    false => format!(", which may reach {}", list(&it.hosts)),
                };
                format!("`{}` with exactly {commands}{hosts}", self.tool)
            }
            Some(_) | None => self.to_string(),
        }
    }
}

/// `a`, `b`
fn list(all: &[String]) -> String {
    let all: Vec<String> = all.iter().map(|it| format!("`{it}`")).collect();
    all.join(", ")
}

impl GrantScope {
    /// The least that covers a call, if a rule can say it.
    fn covering(call: &Validated, workspace: Option<&Path>) -> Option<GrantScope> {
        let mut scope = GrantScope::default();
        match call.class() {
            PermissionClass::Shell => {
                // A rule about commands does not say where they start.
                if call.directory().is_some() {
                    return None;
                }
                if call.touches().iter().any(|it| !matches!(it, Touch::Run(_))) {
                    return None;
                }
                for script in call.scripts() {
                    scope.commands.extend(script.exactly()?);
                }
                // The rule opens what the answer opened.
                scope.hosts = written_hosts(&call.view());
                (!scope.commands.is_empty()).then_some(scope)
            }
            PermissionClass::File => {
                let root = Root::new(workspace?);
                for touch in call.touches() {
                    let (Touch::Read(path) | Touch::Write(path)) = touch else { return None };
                    let path = root.inside(path)?;
                    let odd = |it: char| "*?[]{}!\\\"".contains(it) || it.is_control();
                    if path == "." || path.contains(odd) {
                        return None;
                    }
                    let path = format!("/{path}");
                    if !scope.paths.contains(&path) {
                        scope.paths.push(path);
                    }
                }
                (!scope.paths.is_empty()).then_some(scope)
            }
            PermissionClass::Web => {
                for touch in call.touches() {
                    let Touch::Fetch(host) = touch else { return None };
                    scope.hosts.push(host.clone());
                }
                let rule = Rule::new(Decision::Allow).domain(&scope.hosts);
                rule.is_ok().then_some(scope)
            }
            PermissionClass::ReadOnly | PermissionClass::Generic => Some(scope),
        }
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.args, &self.scope) {
            (Some(_), _) => write!(f, "`{}` with exactly these arguments", self.tool),
            (None, Some(it)) if !it.paths.is_empty() => {
                write!(f, "`{}` for {}", self.tool, list(&it.paths))
            }
            (None, Some(it)) if !it.hosts.is_empty() => {
                write!(f, "`{}` for {}", self.tool, list(&it.hosts))
            }
            (None, _) => write!(f, "every call of `{}`", self.tool),
        }
    }
}

/// Keeps what holds beyond a session, for example as a rule in a file.
pub trait Remember: Send + Sync {
    /// Keeps it for good.
    fn always(&self, grant: &Grant) -> Result<(), RememberError>;
}

/// Counts the uses of rules that hold for so many calls, by their ids.
pub trait Tally: Send + Sync {
    /// How often a rule let something pass so far: ever, or in its last while before `now`, which is
    /// in milliseconds since 1970. Where nobody can tell, it lets nothing pass.
    fn used(&self, rule: &CountedRule, now: u64) -> Result<u64, TallyError>;

    /// Counts one more use, unless there were as many as the rule is good for: then it is `false`.
    fn take(&self, rule: &CountedRule, now: u64) -> Result<bool, TallyError>;
}

/// Counts for as long as the program runs.
#[derive(Debug, Default)]
pub(crate) struct Counter(Mutex<HashMap<String, RuleUse>>);

impl Tally for Counter {
    fn used(&self, rule: &CountedRule, now: u64) -> Result<u64, TallyError> {
        let all = lock(&self.0);
        Ok(all.get(&rule.id).map_or(0, |it| it.count(rule, now)))
    }

    fn take(&self, rule: &CountedRule, now: u64) -> Result<bool, TallyError> {
        Ok(lock(&self.0).entry(rule.id.clone()).or_default().take(rule, now))
    }
}

/// The uses of one rule: how many there were, and when the last of them were.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RuleUse {
    /// How many, ever.
    pub total: u64,
    /// When, in milliseconds since 1970, for rules that count the last while only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<u64>,
}

impl RuleUse {
    /// How many count.
    pub fn count(&self, rule: &CountedRule, now: u64) -> u64 {
        match rule.per {
            None => self.total,
            Some(per) => {
                let recent = self.times.iter().filter(|it| is_within(**it, per, now));
                recent.count() as u64
            }
        }
    }

    /// Counts one more, unless there were as many as the rule is good for: then it is `false`.
    pub fn take(&mut self, rule: &CountedRule, now: u64) -> bool {
        if self.count(rule, now) >= rule.times {
            return false;
        }
        self.total += 1;
        if let Some(per) = rule.per {
            self.times.retain(|it| is_within(*it, per, now));
            self.times.push(now);
        }
        true
    }
}

/// True for a time that is not so long ago. One that is yet to come counts: the clock was set back.
fn is_within(time: u64, per: Duration, now: u64) -> bool {
    u128::from(now.saturating_sub(time)) < per.as_millis()
}

/// What people have answered for always. What they answered for a session is kept with it.
#[derive(Default)]
pub(crate) struct Memory {
    always: Mutex<HashSet<Grant>>,
    keeper: Option<Arc<dyn Remember>>,
    /// Rings when something more is remembered.
    pub(crate) changed: tokio::sync::Notify,
}

impl Memory {
    pub(crate) fn new(keeper: Arc<dyn Remember>) -> Memory {
        Memory { keeper: Some(keeper), ..Memory::default() }
    }

    /// Whether somebody said yes to this for always.
    pub(crate) fn covers(&self, grant: &Grant) -> bool {
        lock(&self.always).contains(grant)
    }

    pub(crate) fn always(&self, grant: Grant) -> Result<(), RememberError> {
        let keeper = self.keeper.as_ref().ok_or("there is nowhere to keep it")?;
        keeper.always(&grant)?;
        lock(&self.always).insert(grant);
        self.changed.notify_waiters();
        Ok(())
    }

    pub(crate) fn can_always(&self) -> bool {
        self.keeper.is_some()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
