//! Whether a rule applies: its conditions, held against a call.

use std::{borrow::Cow, path::Path};

#[cfg(feature = "shell")]
use eclusa_shell::{Command, programs::CommandProfile};

use super::{Access, Rule};
use crate::{
    PermissionClass, Touch,
    policy::{
        call_view::Author,
        domains::Domains,
        matcher::{Holds, Matcher},
        names::Names,
        paths::Root,
        validity::JudgeContext,
    },
};

#[cfg(feature = "shell")]
use crate::policy::commands::Fit;

/// What a rule looks at.
pub(crate) struct Subject<'a> {
    /// Whose call it is.
    pub(crate) author: Author<'a>,
    /// What the rule is matched with: what the call said it would touch, or a part of that.
    pub(crate) touches: &'a [Touch],
    /// The paths among the touches that lie in the workspace, resolved.
    pub(crate) paths: &'a [(Access, Cow<'a, str>)],
    pub(crate) root: &'a Root,
    pub(crate) moment: &'a JudgeContext,
    /// True when the paths are what it has changed, and what is in them is known: what is public
    /// although its name is like that of a secret is not among them.
    pub(crate) changed: bool,
}

impl Rule {
    /// How far one command of a call is what it is about.
    #[cfg(feature = "shell")]
    pub(in crate::policy) fn fits_command(
        &self,
        call: &Subject<'_>,
        command: &Command,
        reading: &CommandProfile,
    ) -> Fit {
        match self.names_command(command, reading) {
            fit if fit > Fit::No && self.concerns(call) && self.reaches(call) => fit,
            _ => Fit::No,
        }
    }

    /// How far a command is one of those that it names, whatever else it asks.
    #[cfg(feature = "shell")]
    pub(in crate::policy) fn names_command(
        &self,
        command: &Command,
        reading: &CommandProfile,
    ) -> Fit {
        let fits = self.commands.iter().map(|it| match self.tightens() {
            true => it.concerns(command, reading),
            false => it.covers(command),
        });
        fits.max().unwrap_or(Fit::No)
    }

    /// Whether it applies.
    pub(crate) fn applies(&self, call: &Subject<'_>) -> bool {
        self.concerns(call) && self.reaches(call)
    }

    /// Whether it applies, as far as it does not depend on what the call touches.
    pub(in crate::policy) fn concerns(&self, call: &Subject<'_>) -> bool {
        let enough = if self.tightens() { Holds::Doubt } else { Holds::Yes };
        (self.tightens() || self.has_conditions())
            && self.is_in_force(call.moment, call.root)
            && self.tools.as_ref().is_none_or(|it| self.knows(it, call))
            && (self.classes.is_empty() || self.classes.contains(&call.author.class))
            && self.fits_labels(call)
            && self
                .servers
                .as_ref()
                .is_none_or(|it| call.author.server.is_some_and(|server| it.matches(server)))
            && self.args.iter().all(|(at, matcher)| {
                let value = at.find(call.author.args);
                value.is_some_and(|it| matcher.test(it, call.root, self.tightens()) >= enough)
            })
            && self.command.as_ref().is_none_or(|it| runs(it, call) >= enough)
    }

    /// A tool of somebody else cannot slip under a rule that allows by calling itself alike.
    fn knows(&self, names: &Names, call: &Subject<'_>) -> bool {
        let by_alias = self.tightens() || call.author.server.is_none();
        names.matches(call.author.name)
            || (by_alias && call.author.aliases.iter().any(|alias| names.matches(alias)))
    }

    /// Whether the paths and hosts of a call are those the rule is about.
    fn reaches(&self, call: &Subject<'_>) -> bool {
        let fits = |(access, path): &(Access, Cow<'_, str>)| {
            self.access.is_none_or(|it| it == *access)
                && self.paths.as_ref().is_none_or(|it| it.fit(Path::new(&**path), call.changed))
        };
        let (paths, hosts) = (self.is_about_paths(), self.domains.as_ref());
        match self.tightens() {
            true => {
                (!paths || call.paths.iter().any(fits))
                    && hosts.is_none_or(|it| talks(it, call) >= Holds::Doubt)
            }
            false if !paths && hosts.is_none() => true,
            false => {
                // A command that a rule names reaches no other hosts than the rule does: the sandbox
                // holds it to them.
                let runs = self.is_about_commands() && !paths;
                // What else the call touches, the rule says nothing about.
                let covered = |it: &Touch| match it {
                    Touch::Read(_) | Touch::Write(_) => paths,
                    Touch::Fetch(host) => hosts.is_some_and(|it| it.fit(host) == Holds::Yes),
                    Touch::Run(_) => runs,
                    Touch::Unknown | Touch::Unheld(_) => false,
                };
                let fetches = |it: &Touch| matches!(it, Touch::Fetch(_));
                call.touches.iter().all(covered)
                    && (!paths || (!call.paths.is_empty() && call.paths.iter().all(fits)))
                    && (hosts.is_none() || runs || call.touches.iter().any(fetches))
            }
        }
    }
}

/// Whether a call talks to one of these hosts. A tool that talks to hosts and does not say to
/// which leaves it in doubt.
fn talks(domains: &Domains, call: &Subject<'_>) -> Holds {
    let hosts = call.touches.iter().filter_map(|it| match it {
        Touch::Fetch(host) => Some(domains.fit(host)),
        Touch::Read(_) | Touch::Write(_) | Touch::Run(_) | Touch::Unknown | Touch::Unheld(_) => {
            None
        }
    });
    let silent = match call.author.class {
        PermissionClass::Web => Holds::Doubt,
        _ => Holds::No,
    };
    hosts.max().unwrap_or(silent)
}

/// Whether a call runs shell text that meets a condition. A shell that does not say what it runs
/// leaves it in doubt.
fn runs(matcher: &Matcher, call: &Subject<'_>) -> Holds {
    let texts = call.touches.iter().filter_map(|it| match it {
        Touch::Run(text) => Some(matcher.test_text(text, call.root, true)),
        Touch::Read(_) | Touch::Write(_) | Touch::Fetch(_) | Touch::Unknown | Touch::Unheld(_) => {
            None
        }
    });
    let silent = match call.author.class {
        PermissionClass::Shell => Holds::Doubt,
        _ => Holds::No,
    };
    texts.max().unwrap_or(silent)
}
