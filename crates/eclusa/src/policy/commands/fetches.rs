//! Commands that fetch something and change nothing elsewhere. The sandbox has no network, so they
//! are tried without one; a person is asked about the hosts that they turn out to want, and only a
//! yes opens those. So a question says which hosts, and `git fetch` from a directory asks nobody.

use eclusa_shell::{
    Command,
    programs::{Class, CommandProfile},
};

use super::Script;

/// Programs, and those of their subcommands that fetch.
const SUBCOMMANDS: [(&[&str], &[&str]); 10] = [
    (&["git"], &["fetch", "pull", "clone", "ls-remote"]),
    (
        &["cargo"],
        &[
            "add",
            "audit",
            "deny",
            "fetch",
            "generate-lockfile",
            "info",
            "install",
            "outdated",
            "search",
            "update",
            "upgrade",
            "vendor",
        ],
    ),
    (
        &["npm", "pnpm"],
        &[
            "add",
            "audit",
            "ci",
            "dedupe",
            "exec",
            "fetch",
            "i",
            "info",
            "install",
            "outdated",
            "remove",
            "rm",
            "search",
            "show",
            "un",
            "uninstall",
            "up",
            "update",
            "upgrade",
            "v",
            "view",
        ],
    ),
    (
        &["yarn", "bun"],
        &[
            "add", "audit", "dedupe", "i", "info", "install", "outdated", "remove", "rm", "up",
            "update", "upgrade",
        ],
    ),
    (&["pip", "pip3"], &["install", "download", "wheel", "index", "list", "freeze"]),
    (
        &["uv", "poetry", "pdm", "hatch", "pipenv"],
        &["add", "install", "lock", "pip", "remove", "sync", "update", "upgrade"],
    ),
    (&["go"], &["get", "install", "mod"]),
    (
        &["terraform", "tofu"],
        &["init", "plan", "show", "output", "providers", "get", "state", "workspace"],
    ),
    (
        &["gh", "glab"],
        &["pr", "issue", "run", "release", "repo", "workflow", "mr", "ci", "status", "auth"],
    ),
    (&["aws", "gcloud", "az"], &[]),
];

/// Of the last group but one: what only looks at one of these.
const FORGE_LOOKS: [&str; 6] = ["list", "view", "status", "diff", "checks", "ls"];

/// Programs that ask for names and addresses: nothing of that goes through the proxy, so that no yes
/// would help them.
const LOOKUPS: [&str; 10] = [
    "ping",
    "ping6",
    "dig",
    "nslookup",
    "host",
    "whois",
    "traceroute",
    "tracepath",
    "mtr",
    "getent",
];

/// Options of `curl` that send nothing but a request for a page, and where the page goes.
const CURL: FetchOptions = FetchOptions {
    short: "sSfLIivkgNqJRoOmAwH#46",
    long: &[
        "silent",
        "show-error",
        "fail",
        "location",
        "head",
        "include",
        "verbose",
        "insecure",
        "compressed",
        "max-time",
        "connect-timeout",
        "retry",
        "output",
        "output-dir",
        "create-dirs",
        "remote-name",
        "url",
        "user-agent",
        "header",
        "no-progress-meter",
        "progress-bar",
        "globoff",
    ],
};
/// The same of `wget`.
const WGET: FetchOptions = FetchOptions {
    short: "qncvNOPtTS",
    long: &[
        "quiet",
        "no-verbose",
        "no-clobber",
        "continue",
        "timestamping",
        "output-document",
        "directory-prefix",
        "tries",
        "timeout",
        "server-response",
        "spider",
        "show-progress",
        "no-check-certificate",
    ],
};

/// Options that are accepted.
struct FetchOptions {
    short: &'static str,
    long: &'static [&'static str],
}

impl FetchOptions {
    fn cover(&self, word: &str) -> bool {
        match (word.strip_prefix("--"), word.strip_prefix('-')) {
            (Some(long), _) => {
                let name = long.split('=').next().unwrap_or_default();
                self.long.contains(&name)
            }
            (None, Some(short)) => {
                // `-oFILE`: what stands behind a letter that takes a value is the value.
                let mut letters =
                    short.chars().take_while(|it| it.is_ascii_alphabetic() || *it == '#');
                !short.is_empty() && letters.all(|it| self.short.contains(it))
            }
            (None, None) => true,
        }
    }
}

impl Script {
    /// True when a command of it only fetches.
    pub(super) fn only_fetches(&self, command: &Command, profile: &CommandProfile) -> bool {
        let more = [Class::Privilege, Class::Destructive, Class::Sweeping, Class::Unknown];
        let does_more = more.into_iter().any(|it| profile.class.contains(it));
        if !profile.class.contains(Class::Network) || does_more || super::services::needs(profile) {
            return false;
        }
        let words: Option<Vec<_>> = command.words.iter().map(|it| it.text()).collect();
        let Some(words) = words.filter(|_| command.assignments.is_empty()) else { return false };
        let words: Vec<&str> = words.iter().map(|it| &**it).collect();
        let Some((program, words)) = words.split_first() else { return false };
        // One of the workspace (`.venv/bin/pip`) runs no code that a test would not run.
        match program.rsplit('/').next().unwrap_or(program) {
            "curl" => words.iter().all(|it| CURL.cover(it)) && !self.is_beside_code(command),
            "wget" => words.iter().all(|it| WGET.cover(it)) && !self.is_beside_code(command),
            // Without a word it installs.
            "yarn" if words.is_empty() => true,
            lookup if LOOKUPS.contains(&lookup) => true,
            program => fetches_by_subcommand(program, words),
        }
    }

    /// True when everything that talks to other machines only fetches, and something does.
    pub(crate) fn fetches(&self) -> bool {
        let mut talking =
            self.commands().filter(|it| it.1.class.contains(Class::Network)).peekable();
        talking.peek().is_some()
            && talking.all(|(command, profile)| self.only_fetches(command, profile))
    }

    /// True when another command of the text could run what this one brings.
    pub(super) fn is_beside_code(&self, command: &Command) -> bool {
        let runs = |it: &CommandProfile| {
            it.class.contains(Class::RunsCode) || it.class.contains(Class::Unknown)
        };
        let mut others = self.commands().filter(|(it, _)| !std::ptr::eq(*it, command));
        self.beside_code || !self.is_certain() || others.any(|(_, it)| runs(it))
    }
}

fn fetches_by_subcommand(program: &str, words: &[&str]) -> bool {
    let Some((_, subs)) = SUBCOMMANDS.iter().find(|it| it.0.contains(&program)) else {
        return false;
    };
    let named = || words.iter().filter(|it| !it.starts_with('-')).copied();
    // Options before the subcommand may change what it is, but for a directory to work in.
    let leads = |it: &&&str| matches!(program, "terraform" | "tofu") && it.starts_with("-chdir=");
    let sub = words.iter().find(|it| !leads(it)).copied().unwrap_or_default();
    match program {
        "aws" => named().nth(1).is_some_and(|it| {
            it == "ls"
                || ["list-", "describe-", "get-caller-"].iter().any(|start| it.starts_with(start))
        }),
        "gcloud" | "az" => {
            named().last().is_some_and(|it| ["list", "describe", "show"].contains(&it))
        }
        "gh" | "glab" => {
            let what = words.get(1).copied().unwrap_or_default();
            sub == "status" || (subs.contains(&sub) && FORGE_LOOKS.contains(&what))
        }
        "terraform" | "tofu" if ["state", "workspace"].contains(&sub) => {
            let mut behind = words.iter().skip_while(|it| **it != sub).skip(1);
            behind.next().is_some_and(|it| ["list", "show", "pull"].contains(it))
        }
        "go" if sub == "mod" => {
            words.get(1).is_some_and(|it| ["tidy", "download", "vendor"].contains(it))
        }
        // Programs that are to run at the other end, which may be a directory of this machine.
        "git" => {
            let runs = |it: &&str| {
                ["--upload-pack", "--exec", "-u", "-c"].iter().any(|flag| it.starts_with(flag))
            };
            subs.contains(&sub) && !words.iter().any(runs)
        }
        _ => subs.contains(&sub),
    }
}

/// What is said of a command that uses the network (`why`) and is tried without one.
pub(super) fn tried(why: &str) -> String {
    format!("{why}; runs offline first; asks before opening a host")
}
