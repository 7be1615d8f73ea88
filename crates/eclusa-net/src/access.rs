//! Sets of hosts with exceptions, and what rules and people say of the hosts that a program reaches.

use crate::{Endpoint, HostError, HostPattern};

/// Patterns over hosts, with exceptions (`!`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostSet {
    any: Vec<HostPattern>,
    but: Vec<HostPattern>,
}

impl HostSet {
    /// Reads patterns; those that begin with `!` are exceptions. The error names the pattern that
    /// cannot be read.
    pub fn parse<S: AsRef<str>>(
        patterns: impl IntoIterator<Item = S>,
    ) -> Result<HostSet, (String, HostError)> {
        let mut set = HostSet::default();
        for pattern in patterns {
            let (list, written) = match pattern.as_ref().strip_prefix('!') {
                Some(exception) => (&mut set.but, exception),
                None => (&mut set.any, pattern.as_ref()),
            };
            list.push(HostPattern::parse(written).map_err(|err| (written.to_owned(), err))?);
        }
        Ok(set)
    }

    /// True when it has nothing but exceptions.
    pub fn is_empty(&self) -> bool {
        self.any.is_empty()
    }

    /// True when it covers an endpoint, for those who allow: doubts are not covered.
    pub fn covers(&self, endpoint: &Endpoint) -> bool {
        self.any.iter().any(|it| it.covers(endpoint))
            && !self.but.iter().any(|it| it.concerns(endpoint))
    }

    /// True when it may be about an endpoint, for those who deny: doubts are.
    pub fn concerns(&self, endpoint: &Endpoint) -> bool {
        self.any.iter().any(|it| it.concerns(endpoint))
            && !self.but.iter().any(|it| it.covers(endpoint))
    }
}

impl From<HostPattern> for HostSet {
    fn from(pattern: HostPattern) -> HostSet {
        HostSet { any: vec![pattern], but: Vec::new() }
    }
}

/// Hosts that a rule closes, without those that another rule makes an exception for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClosedHosts {
    /// What is closed.
    pub hosts: HostSet,
    /// What is not, although it is among them.
    pub unless: Vec<HostSet>,
}

impl ClosedHosts {
    /// True when an endpoint may be among them.
    pub fn concerns(&self, endpoint: &Endpoint) -> bool {
        self.hosts.concerns(endpoint) && !self.unless.iter().any(|it| it.covers(endpoint))
    }
}

/// What rules and a person say of the hosts that one program may reach, beside its settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostAccess {
    /// Never, whoever allows it.
    pub denied: Vec<ClosedHosts>,
    /// A person said yes to exactly these.
    pub granted: Vec<HostPattern>,
    /// Not without a person's yes.
    pub asked: Vec<ClosedHosts>,
    /// A rule opens them.
    pub opened: Vec<HostSet>,
}

impl HostAccess {
    /// Nothing at all: what holds where nobody could tell.
    pub fn nothing() -> HostAccess {
        let hosts = HostSet::from(HostPattern::EVERY_HOST);
        let all = ClosedHosts { hosts, unless: Vec::new() };
        HostAccess { denied: vec![all], ..HostAccess::default() }
    }

    /// True when an endpoint may be reached; `allowed` says whether the settings allow it.
    pub fn permits(&self, endpoint: &Endpoint, allowed: bool) -> bool {
        let among = |closed: &[ClosedHosts]| closed.iter().any(|it| it.concerns(endpoint));
        if self.denies(endpoint) {
            return false;
        }
        self.granted.iter().any(|it| it.covers(endpoint))
            || (!among(&self.asked)
                && (allowed || self.opened.iter().any(|it| it.covers(endpoint))))
    }

    /// True when an endpoint is closed whoever says yes. One that is only asked about is not.
    pub fn denies(&self, endpoint: &Endpoint) -> bool {
        self.denied.iter().any(|it| it.concerns(endpoint))
    }

    /// True when it may let a host be reached that the settings do not allow.
    pub fn opens_any(&self) -> bool {
        !self.granted.is_empty() || !self.opened.is_empty()
    }
}
