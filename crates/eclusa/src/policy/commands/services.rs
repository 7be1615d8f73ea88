//! Programs that talk to a service which no sandbox has: what they do when they only look.

use eclusa_shell::{Command, Word, programs::CommandProfile};

/// What is said of them.
const GRANT: &str = "needs a service outside the sandbox, so it cannot work inside it; a \
                                person can run it in a terminal, or give it to the agent as a tool \
                                of its own (`[tools.NAME]` with `sandbox = false` in eclusa.toml)";

/// What is said of clients of data bases: a server that the session has started answers them.
const OWN_SERVER: &str = "reaches only a server that this session has started, none of this machine; a \
                          person can run it in a terminal, or give it to the agent as a tool of its own \
                          (`[tools.NAME]` with `sandbox = false` in eclusa.toml)";

/// What is said of a command that needs such a service.
pub(super) fn said_of(command: &Command) -> &'static str {
    let program = command.words.first().and_then(Word::text);
    match program.is_some_and(|it| CLIENTS.contains(&&*it)) {
        true => OWN_SERVER,
        false => GRANT,
    }
}

/// True when a command talks to such a service.
pub(super) fn needs(profile: &CommandProfile) -> bool {
    profile.needs.contains(&"host-service") && !profile.class.is_read_only()
}

/// Programs, and those of their subcommands that change nothing anywhere.
const LOOKS: [(&[&str], &[&str]); 8] = [
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
        &[
            "get",
            "describe",
            "logs",
            "version",
            "explain",
            "api-resources",
            "cluster-info",
            "top",
            "kustomize",
            "diff",
            "options",
        ],
    ),
    (
        &["helm"],
        &[
            "list", "ls", "status", "history", "show", "lint", "template", "version", "create",
            "package",
        ],
    ),
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
    (
        &["loginctl"],
        &[
            "list-sessions",
            "list-users",
            "list-seats",
            "session-status",
            "user-status",
            "show-session",
        ],
    ),
];

/// Programs that only look where they are told nothing.
const BARE: [&str; 5] = ["systemctl", "hostnamectl", "timedatectl", "localectl", "loginctl"];

/// What `kubectl` makes of files alone, where it is told to go no further.
const REHEARSED: [&str; 8] =
    ["create", "run", "apply", "expose", "set", "label", "annotate", "autoscale"];

/// Groups of subcommands, and those of them that change nothing anywhere.
const GROUPS: [(&str, &str, &[&str]); 8] = [
    ("docker", "compose", &["ps", "logs", "config", "images", "top", "port", "version", "ls"]),
    ("docker", "container", &["ls", "list", "ps", "inspect", "logs", "top", "stats", "port"]),
    ("docker", "image", &["ls", "list", "inspect", "history"]),
    ("docker", "volume", &["ls", "list", "inspect"]),
    ("docker", "network", &["ls", "list", "inspect"]),
    ("docker", "context", &["ls", "show"]),
    (
        "kubectl",
        "config",
        &["view", "get-contexts", "current-context", "get-clusters", "get-users"],
    ),
    ("helm", "repo", &["list", "ls"]),
];

/// Clients of data bases. They speak to a socket of this machine or to a port of their own, neither
/// of which any setting opens: what they reach, if anything, runs in the sandbox too.
const CLIENTS: [&str; 26] = [
    "clusterdb",
    "createdb",
    "createuser",
    "dropdb",
    "dropuser",
    "mariadb",
    "mariadb-admin",
    "mariadb-dump",
    "mongosh",
    "mysql",
    "mysqladmin",
    "mysqldump",
    "mysqlimport",
    "mysqlshow",
    "pg_dump",
    "pg_dumpall",
    "pg_isready",
    "pg_restore",
    "pgbench",
    "psql",
    "redis-benchmark",
    "redis-cli",
    "reindexdb",
    "sqlcmd",
    "vacuumdb",
    "valkey-cli",
];

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
        ["kubectl" | "oc", sub, rest @ ..] if REHEARSED.contains(sub) => {
            rest.contains(&"--dry-run=client")
        }
        [program, sub, ..] => {
            LOOKS.iter().any(|(programs, subs)| programs.contains(program) && subs.contains(sub))
        }
        [program] => BARE.contains(program),
        [] => false,
    }
}
