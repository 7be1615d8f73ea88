//! Git without the helpers of a repository.
//!
//! The configuration of a repository, and files in it, name programs that even `git status` runs:
//! file-system monitors, hooks, filters, text converters, diff programs, pagers. They come with the
//! directory, not from the person. These variables switch them off for every git that the command
//! starts. Most have a fixed name; drivers have names that the repository chooses, so they are read
//! from its configuration, which runs nothing. A configuration that cannot be judged switches git off.

mod ask;
mod config;
mod person;
mod repository;
mod signer;
mod signing;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use eclusa_git::ConfigName;
pub use person::personal_git_settings;
use repository::DriverNames;
pub use signer::{GitSigner, set_git_signer};
pub use signing::{Signing, git_signing};

/// What holds for every repository: settings that are safe to make even where none was made.
const ALWAYS: [(&str, &str); 18] = [
    ("core.fsmonitor", "false"),
    ("core.attributesFile", "/dev/null"),
    ("core.gitProxy", "none"),
    ("core.pager", "cat"),
    ("safe.bareRepository", "explicit"),
    ("protocol.ext.allow", "never"),
    ("credential.helper", ""),
    ("gpg.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.x509.program", "false"),
    ("gpg.ssh.defaultKeyCommand", "false"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("log.showSignature", "false"),
    ("interactive.diffFilter", "cat"),
    // What git does by itself afterwards would outlive the command, or hide what it changed.
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("core.untrackedCache", "false"),
];

/// Variables that git itself looks at. An editor that changes nothing keeps the message that git
/// proposes; nobody is there to be asked.
const VARIABLES: [(&str, &str); 12] = [
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "true"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "false"),
    ("SSH_ASKPASS", "false"),
    ("GIT_SSH_COMMAND", "false"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
];

/// A diff program that does what git does without one.
const PLAIN_DIFF: &str = r#"f() { diff -u --label "a/$1" --label "b/$1" -- "$2" "$5"; true; }; f"#;
/// A merge driver that does what git does without one.
const PLAIN_MERGE: &str = "git merge-file -q %A %O %B";

/// Whether git runs the hooks of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hooks {
    /// It does, like any other script of the project: whatever they do, they do in the sandbox.
    Run,
    /// It runs none.
    Skip,
}

/// Who commits, where the repository doesn't say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity<'a> {
    /// The name.
    pub name: &'a str,
    /// The address.
    pub email: &'a str,
}

/// The variables that switch off every helper which the repositories around `places` could name.
/// `places` are the working directory and the roots of the workspace; repositories are looked for
/// above them and a little way beneath.
#[must_use]
pub fn git_environment(
    places: &[PathBuf],
    identity: Option<Identity<'_>>,
) -> Vec<(OsString, OsString)> {
    environment(&repository::names(places), identity, &[], Hooks::Skip)
}

/// The same for a caller that knows the repositories: those above `places` are looked for, and of
/// what lies beneath them only `trees`, each a working tree or a repository. `person` are settings of
/// the person's own ([`personal_git_settings`]), which hold where no repository says otherwise.
#[must_use]
pub fn git_environment_of(
    places: &[PathBuf],
    trees: &[PathBuf],
    identity: Option<Identity<'_>>,
    person: &[(String, String)],
    hooks: Hooks,
) -> Vec<(OsString, OsString)> {
    environment(&repository::names_of(places, trees), identity, person, hooks)
}

/// Said in the place of a number, at which every git stops.
const UNREADABLE: &str = "the configuration of a repository here cannot be judged";

fn environment(
    names: &DriverNames,
    identity: Option<Identity<'_>>,
    person: &[(String, String)],
    hooks: Hooks,
) -> Vec<(OsString, OsString)> {
    let mut env: Vec<(OsString, OsString)> =
        VARIABLES.iter().map(|(name, value)| (name.into(), value.into())).collect();
    if names.unreadable {
        env.push(("GIT_CONFIG_COUNT".into(), UNREADABLE.into()));
        env.push(("GIT_DIR".into(), format!("/{UNREADABLE}").into()));
        return env;
    }
    let names = &names.list;
    let mut settings: BTreeMap<OsString, OsString> = BTreeMap::new();
    for (name, value) in person {
        let said = ConfigName::parse(name.as_bytes()).is_none_or(|it| names.contains(&it));
        if !said {
            settings.insert(name.into(), value.into());
        }
    }
    for name in names {
        // Of these the first one counts, so they can't be overruled: what would start them, on
        // this machine, is switched off instead. Over ssh they would be started elsewhere.
        if name.section == "remote" && matches!(name.key.as_str(), "uploadpack" | "receivepack") {
            settings.insert("protocol.file.allow".into(), "never".into());
        } else if let Some(value) = neutral(name) {
            settings.insert(name.to_os_string(), value.into());
            if name.section == "filter" {
                let required = ConfigName { key: "required".into(), ..name.clone() };
                settings.insert(required.to_os_string(), "false".into());
            }
        }
    }
    for (name, value) in ALWAYS {
        // Names are the same whatever their case, and the last one counts.
        settings.retain(|it, _| !it.eq_ignore_ascii_case(name));
        settings.insert(name.into(), value.into());
    }
    if hooks == Hooks::Skip {
        settings.retain(|name, _| !name.eq_ignore_ascii_case("core.hookspath"));
        settings.insert("core.hooksPath".into(), "/dev/null".into());
    }
    if let Some(identity) = identity {
        let own = names.iter().any(|name| name.section == "user" && name.key == "name");
        if !own {
            settings.insert("user.name".into(), identity.name.into());
            settings.insert("user.email".into(), identity.email.into());
        }
    }
    env.push(("GIT_CONFIG_COUNT".into(), settings.len().to_string().into()));
    for (n, (name, value)) in settings.into_iter().enumerate() {
        env.push((format!("GIT_CONFIG_KEY_{n}").into(), name));
        env.push((format!("GIT_CONFIG_VALUE_{n}").into(), value));
    }
    env
}

/// What to set a name to so that it starts nothing, if it could start something.
fn neutral(name: &ConfigName) -> Option<&'static str> {
    let (section, key) = (name.section.as_str(), name.key.as_str());
    Some(match (section, key) {
        ("filter", "clean" | "smudge" | "process") => "",
        ("diff", "textconv") => "cat",
        ("diff", "external" | "command") => PLAIN_DIFF,
        ("merge", "driver") => PLAIN_MERGE,
        ("alias", _) => "",
        ("credential", "helper") => "",
        ("remote", "vcs" | "proxy") => "",
        ("submodule", "update") => "checkout",
        ("tar", "command") => "cat",
        ("trailer", "command" | "cmd") => "true",
        ("pager", _) => "cat",
        ("mergetool" | "difftool" | "browser" | "man" | "guitool", "cmd" | "path") => "false",
        ("instaweb", _) | ("lfs", "path" | "args") => "false",
        ("hook", "command") => "true",
        ("hook", "enabled") => "false",
        ("core", "editor" | "sshcommand" | "askpass" | "alternaterefscommand") => "true",
        ("sequence", "editor") => "true",
        ("imap", "tunnel") => "false",
        ("sendemail", "smtpserver" | "tocmd" | "cccmd" | "headercmd" | "sendmailcmd") => "false",
        _ if is_program(key) => "false",
        _ => return None,
    })
}

/// Names that nobody has listed yet still say what they are.
fn is_program(key: &str) -> bool {
    ["cmd", "command", "program", "helper", "driver", "hook", "textconv", "editor", "tunnel"]
        .iter()
        .any(|end| key.ends_with(end))
}
