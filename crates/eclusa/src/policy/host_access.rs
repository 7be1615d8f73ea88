//! Which hosts a command may reach, as far as rules say: those that a rule closes are closed whatever
//! the settings allow, and those that a rule allows are open to the commands that it is about.

use eclusa_net::{ClosedHosts, Endpoint, HostAccess, HostPattern, HostSet};

use super::{Rule, Rules, Script, Subject, touches_and_hosts};
use crate::{CallView, Decision, Touch};

impl Rules {
    /// What rules say of the hosts that this call reaches while it runs.
    ///
    /// Nobody is asked then: what would have to be asked about is closed, unless a person has said
    /// yes to that very host.
    pub(super) fn host_access_of(&self, call: &CallView<'_>) -> HostAccess {
        let runs = run_touches(call);
        let running = self.subject(call, &runs, &[]);
        let touches = touches_and_hosts(call.touches(), call.scripts());
        let written = self.subject(call, &touches, &[]);
        let mut access = HostAccess::default();
        let early = self.rules.iter().filter(|it| it.effect_conditions().is_none());
        let mut rules: Vec<&Rule> = early.filter(|it| it.hosts().is_some()).collect();
        self.drop_excepted_by_commands(&mut rules, &written, call.scripts());
        for rule in rules {
            let Some(hosts) = rule.hosts() else { continue };
            match rule.decision() {
                Decision::Allow if self.opens(rule, call, &running, &written) => {
                    access.opened.push(hosts.clone());
                }
                Decision::Deny if self.closes(rule, call, &running) => {
                    access.denied.extend(self.without_exceptions(rule, hosts, &running));
                }
                Decision::Ask if self.closes(rule, call, &running) => {
                    access.asked.extend(self.without_exceptions(rule, hosts, &running));
                }
                Decision::Allow | Decision::Stage | Decision::Ask | Decision::Deny => {}
            }
        }
        access
    }

    /// A rule about commands closes its hosts to a text that has such a command in it.
    fn closes(&self, rule: &Rule, call: &CallView<'_>, running: &Subject<'_>) -> bool {
        match rule.is_about_commands() {
            true => call.scripts().iter().any(|it| it.may_run(rule)),
            false => rule.concerns(running),
        }
    }

    /// A rule opens its hosts to the commands that it is about. While there is text from outside in
    /// the session, only one that has thought of that does.
    fn opens(
        &self,
        rule: &Rule,
        call: &CallView<'_>,
        running: &Subject<'_>,
        written: &Subject<'_>,
    ) -> bool {
        let tainted = call.context().taint.is_some() && !rule.holds_tainted();
        if tainted || rule.is_about_paths() {
            return false;
        }
        match rule.is_about_commands() {
            true => {
                let scripts = call.scripts();
                !scripts.is_empty() && scripts.iter().all(|it| it.runs_only(rule, written))
            }
            false => rule.concerns(running),
        }
    }

    /// What a rule closes, without what others except; nothing where one excepts all of it.
    fn without_exceptions(
        &self,
        rule: &Rule,
        hosts: &HostSet,
        running: &Subject<'_>,
    ) -> Option<ClosedHosts> {
        let mut unless = Vec::new();
        for other in self.excepting(rule, running) {
            match other.hosts() {
                Some(hosts) => unless.push(hosts.clone()),
                None if other.is_about_paths() => {}
                None => return None,
            }
        }
        Some(ClosedHosts { hosts: hosts.clone(), unless })
    }

    /// The rules that are an exception to this one and concern the call. One about commands is about
    /// some of them only, and is not heard where nobody knows which command does it.
    pub(super) fn excepting<'a>(
        &'a self,
        rule: &'a Rule,
        running: &'a Subject<'_>,
    ) -> impl Iterator<Item = &'a Rule> {
        let named = |it: &&Rule| {
            rule.name().is_some_and(|id| it.exceptions().iter().any(|other| other == id))
        };
        let heard = |it: &&Rule| {
            it.effect_conditions().is_none() && !it.is_about_commands() && it.concerns(running)
        };
        self.rules.iter().filter(named).filter(heard)
    }
}

/// The hosts that the commands of a call name, as patterns that cover them and nothing else.
pub(crate) fn named_hosts(call: &CallView<'_>) -> Vec<HostPattern> {
    let hosts = call.scripts().iter().flat_map(Script::hosts);
    hosts.filter_map(|it| pattern_of(&it)).collect()
}

/// The hosts that the commands of a call name, each once, as a rule would write them; none where one
/// of them cannot be written.
pub(crate) fn written_hosts(call: &CallView<'_>) -> Vec<String> {
    let hosts = call.scripts().iter().flat_map(Script::hosts);
    let hosts: Option<Vec<String>> = hosts.map(|it| written(&it)).collect();
    let mut hosts = hosts.unwrap_or_default();
    hosts.sort();
    hosts.dedup();
    hosts
}

/// The pattern that covers a host as a command names it: the usual ports, or the one that it names.
pub(super) fn pattern_of(host: &str) -> Option<HostPattern> {
    HostPattern::parse(&written(host)?).ok()
}

/// A host as a rule would name it: `example.com`, or `example.com:8080`. Nothing for this machine.
pub(super) fn written(host: &str) -> Option<String> {
    let endpoint = Endpoint::parse(host).ok().filter(|it| !it.is_loopback())?;
    Some(match endpoint.port.filter(|_| !endpoint.is_usual()) {
        Some(port) => format!("{}:{port}", endpoint.host),
        None => endpoint.host.to_string(),
    })
}

/// The shell texts among what a call touches.
pub(super) fn run_touches(call: &CallView<'_>) -> Vec<Touch> {
    call.touches().iter().filter(|it| matches!(it, Touch::Run(_))).cloned().collect()
}
