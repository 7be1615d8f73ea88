//! Programs that talk to a service which no sandbox has: what they do when they only look.

use eclusa_shell::{Command, programs::CommandProfile};

/// What is said of them.
pub(super) const GRANT: &str = "needs a service outside the sandbox, so it cannot work inside it; a \
                                person can run it in a terminal, or give it to the agent as a tool \
                                of its own (`[tools.NAME]` with `sandbox = false` in eclusa.toml)";

/// True when a command talks to such a service.
pub(super) fn needs(profile: &CommandProfile) -> bool {
    profile.needs.contains(&"host-service") && !profile.class.is_read_only()
}

/// Programs, and those of their subcommands that change nothing anywhere.
const LOOKS: [(&[&str], &[&str]); 7] = [
    (
        &["docker", "podman", "nerdctl"],
        &["ps", "images", "inspect", "logs", "version", "info", "stats", "top", "port", "history"],
    ),
    (
        &["docker-compose", "podman-compose"],
        &["ps", "logs", "config", "images", "top", "port", "version", "ls"],
    ),
    (
        &["kubectl", "oc"],
        &["get", "describe", "logs", "version", "explain", "api-resources", "cluster-info", "top"],
    ),
    (&["helm"], &["list", "ls", "status", "history", "show", "lint", "template", "version"]),
    (&["redis-cli"], &["ping"]),
    (
        &["systemctl"],
        &[
            "status",
            "show",
            "cat",
            "is-active",
            "is-enabled",
            "is-failed",
            "list-units",
            "list-timers",
            "list-sockets",
            "list-unit-files",
            "list-dependencies",
            "get-default",
        ],
    ),
    (&["hostnamectl", "timedatectl", "localectl"], &["status", "show"]),
];

/// Groups of subcommands, and those of them that change nothing anywhere.
const GROUPS: [(&str, &str, &[&str]); 8] = [
    ("docker", "compose", &["ps", "logs", "config", "images", "top", "port", "version", "ls"]),
    ("docker", "container", &["ls", "list", "ps", "inspect", "logs", "top", "stats", "port"]),
    ("docker", "image", &["ls", "list", "inspect", "history"]),
    ("docker", "volume", &["ls", "list", "inspect"]),
    ("docker", "network", &["ls", "list", "inspect"]),
    ("docker", "context", &["ls", "show"]),
    ("kubectl", "config", &["get-contexts", "current-context", "get-clusters"]),
    ("helm", "repo", &["list", "ls"]),
];

/// Clients of data bases. They speak to a socket of this machine or to a port of their own, neither
/// of which any setting opens: what they reach, if anything, runs in the sandbox too.
const CLIENTS: [&str; 7] =
    ["psql", "pg_dump", "mysql", "mariadb", "mysqldump", "redis-cli", "mongosh"];

/// True when a command loses nothing by being tried: read-only, with its subcommand right behind
/// the program, or whatever it does stays inside.
pub(super) fn is_read_only(command: &Command) -> bool {
    let words: Option<Vec<_>> = command.words.iter().map(|it| it.text()).collect();
    let Some(words) = words.filter(|_| command.assignments.is_empty()) else { return false };
    let words: Vec<&str> = words.iter().map(|it| &**it).collect();
    match words.as_slice() {
        [program, group, sub, ..] if GROUPS.iter().any(|it| it.0 == *program && it.1 == *group) => {
            let same = |it: &&(&str, &str, &[&str])| (it.0, it.1) == (*program, *group);
            GROUPS.iter().filter(same).any(|it| it.2.contains(sub))
        }
        [program, ..] if CLIENTS.contains(program) => true,
        [program, sub, ..] => {
            LOOKS.iter().any(|(programs, subs)| programs.contains(program) && subs.contains(sub))
        }
        [] | [_] => false,
    }
}
