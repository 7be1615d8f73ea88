//! Which programs a shell text runs, for whoever judges what came of it.

use eclusa_shell::{
    Command, Word,
    programs::{Class, CommandProfile},
};

use super::{Fit, Prefix, Script, Where, places, prefix, uses};
use crate::{
    Decision,
    policy::{Access, Root, Rule, Subject, host_access::written},
};

impl Script {
    /// True when one of its commands is one of these programs.
    pub(crate) fn runs_any(&self, programs: &[&str]) -> bool {
        self.commands().any(|(_, it)| programs.contains(&first_word(&it.program)))
    }

    /// True when one of its commands has one of these names as a word of its own, such as what `npx` runs, or as the
    /// module that Python runs.
    pub(in crate::policy) fn names_program(&self, programs: &[&str]) -> bool {
        let runner = |it: &CommandProfile| {
            let first = first_word(&it.program);
            ["npx", "npm", "pnpm", "yarn", "bunx", "bun", "uvx", "uv"].contains(&first)
                || first.starts_with("python")
        };
        let named = |word: &Word| {
            let name = word.text().map(|it| it.replace('_', "-"));
            name.is_some_and(|it| programs.contains(&it.as_str()))
        };
        self.commands().any(|(command, it)| runner(it) && command.words.iter().any(named))
    }

    /// True when it has Python install something: `python3 -m venv`, `python -m pip`.
    pub(in crate::policy) fn installs_python(&self) -> bool {
        self.commands().any(|(command, it)| {
            let python = first_word(&it.program).starts_with("python");
            let texts: Vec<_> = command.words.iter().map(|it| it.text()).collect();
            let module = |name: &str| {
                texts.windows(2).any(|pair| match pair {
                    [Some(flag), Some(module)] => flag == "-m" && module == name,
                    _ => false,
                })
            };
            python && ["venv", "pip", "virtualenv", "ensurepip"].into_iter().any(module)
        })
    }

    /// The hosts that its commands name, as far as they are known.
    pub(in crate::policy) fn hosts(&self) -> impl Iterator<Item = String> {
        self.commands().flat_map(|(command, profile)| hosts_named(command, profile))
    }

    /// The hosts that one of its commands names, each once, as a rule would write them.
    pub(super) fn hosts_of(
        &self,
        command: &Command,
        profile: &CommandProfile,
    ) -> impl Iterator<Item = String> {
        let mut hosts: Vec<String> =
            hosts_named(command, profile).filter_map(|it| written(&it)).collect();
        hosts.sort();
        hosts.dedup();
        hosts.into_iter()
    }

    /// True when one of its commands may be one that a rule names.
    pub(in crate::policy) fn may_run(&self, rule: &Rule) -> bool {
        self.commands().any(|(command, it)| rule.names_command(command, it) > Fit::No)
    }

    /// True when a rule covers every command of it that does more than read in the workspace, and at
    /// least one.
    pub(in crate::policy) fn runs_only(&self, rule: &Rule, subject: &Subject<'_>) -> bool {
        let covered = |(command, it): (&Command, &CommandProfile)| {
            rule.fits_command(subject, command, it) == Fit::Yes
        };
        let free = |(command, it): (&Command, &CommandProfile)| {
            self.default(command, it, subject.root, false).decision == Decision::Allow
        };
        self.is_certain()
            && self.commands().any(covered)
            && self.commands().all(|it| covered(it) || free(it))
    }

    /// True when one of its commands is a command of git that the table knows.
    pub(in crate::policy) fn runs_git(&self) -> bool {
        self.commands().any(|(_, it)| it.program.starts_with("git ") && it.entry.is_some())
    }

    /// True when one of its commands is this one, with one of these flags if there are any. A word
    /// that is only known when it runs may be any flag.
    pub(in crate::policy) fn runs_command(&self, program: &str, flags: &[&str]) -> bool {
        let is = |(command, profile): (&Command, &CommandProfile)| {
            begins(&profile.program, program)
                && (flags.is_empty() || flags.iter().any(|flag| has_flag(command, flag)))
        };
        self.commands().any(is)
    }

    /// True when this command names a path outside the workspace that it writes or may write.
    pub(in crate::policy) fn names_outside(&self, program: &str, root: &Root) -> bool {
        self.commands().filter(|it| begins(&it.1.program, program)).any(|(command, profile)| {
            uses(command, profile).filter(|it| it.0 == Access::Write).any(|(_, word)| {
                let places = places(&word, command, &self.start, root);
                places.into_iter().any(|it| matches!(it, Where::Outside))
            })
        })
    }

    /// The rules that would allow exactly this text, one for each command that is not allowed
    /// anyway: the narrowest there are. `None` where there is more to it than its words.
    pub(crate) fn exactly(&self) -> Option<Vec<String>> {
        // Nothing is inside it but what is relative to the workspace, wherever that is.
        let root = Root::default();
        let asked = self.commands().filter(|(command, reading)| {
            self.default(command, reading, &root, false).decision != Decision::Allow
        });
        let commands: Option<Vec<String>> = asked
            .map(|(it, _)| prefix::is_plain(it).then(|| Prefix::exactly(&it.words)).flatten())
            .collect();
        commands.filter(|it| self.is_certain() && !it.is_empty()).map(|mut it| {
            it.dedup();
            it
        })
    }
}

/// The hosts that a command names, as it writes them.
fn hosts_named<'a>(
    command: &'a Command,
    profile: &'a CommandProfile,
) -> impl Iterator<Item = String> + 'a {
    // Addresses among the words of what talks to other machines, whatever they are to it.
    let talks = profile.class.contains(Class::Network);
    let others = command.words.iter().skip(1).filter(move |it| talks && is_address(it));
    // What git is told to talk to may be the name of a remote, which says nothing of a host.
    let remote = first_word(&profile.program) == "git";
    let own = profile.hosts.iter().filter(move |it| !remote || is_address(it));
    let named = own.chain(others);
    named.filter_map(|it| it.text()).map(|it| host_of(&it).to_owned())
}

/// `ssh://host/x`, or `me@host:x`.
fn is_address(word: &Word) -> bool {
    word.text().is_some_and(|it| {
        it.contains("://") || it.split_once('@').is_some_and(|(_, host)| host.contains(':'))
    })
}

/// The host in a text that names one: of an address whichever its scheme, and of `me@host:path`.
fn host_of(text: &str) -> &str {
    let lower = text.get(..8).unwrap_or(text).to_ascii_lowercase();
    if lower.starts_with("http://") || lower.starts_with("https://") {
        return text;
    }
    let (scheme, rest) = text.split_once("://").map_or(("", text), |(it, rest)| (it, rest));
    let rest = rest.split('/').next().unwrap_or(rest);
    let host = rest.rsplit_once('@').map_or(rest, |it| it.1);
    match host.split_once(':') {
        // `host:path` of scp and git, and not a port.
        Some((host, path)) if scheme.is_empty() && path.parse::<u16>().is_err() => host,
        _ => host,
    }
}

fn first_word(program: &str) -> &str {
    let first = program.split(' ').next().unwrap_or_default();
    first.rsplit('/').next().unwrap_or(first)
}

/// `git stash drop` begins with `git stash`.
fn begins(program: &str, with: &str) -> bool {
    program.strip_prefix(with).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// A flag on its own, with a value, or in a bundle of short ones.
fn has_flag(command: &Command, flag: &str) -> bool {
    let short = flag.strip_prefix('-').filter(|it| it.len() == 1);
    command.words.iter().skip(1).any(|word| match word.text() {
        Some(text) => {
            text == flag
                || short.is_some_and(|letter| {
                    text.strip_prefix('-')
                        .is_some_and(|it| !it.starts_with('-') && it.contains(letter))
                })
        }
        None => false,
    })
}
