//! Programs that talk to a service which no sandbox has: what they do when they only look.

use eclusa_shell::{Command, programs::CommandProfile};

/// What is said of them.
pub(super) const GRANT: &str = "needs a service outside the sandbox, so it cannot work inside it; a \
                                person can run it in a terminal, or give it to the agent as a tool \
                                of its own (`[tools.NAME]` in eclusa.toml), which runs outside";

/// True when a command talks to such a service.
pub(super) fn needs(profile: &CommandProfile) -> bool {
    profile.needs.contains(&"host-service") && !profile.class.is_read_only()
}

/// Programs, and those of their subcommands that change nothing anywhere.
const LOOKS: [(&[&str], &[&str]); 4] = [
    (
        &["docker", "podman", "nerdctl"],
        &["ps", "images", "inspect", "logs", "version", "info", "stats", "top", "port", "history"],
    ),
    (
        &["kubectl", "oc"],
        &["get", "describe", "logs", "version", "explain", "api-resources", "cluster-info", "top"],
    ),
    (&["helm"], &["list", "ls", "status", "history", "show", "lint", "template", "version"]),
    (&["redis-cli"], &["ping"]),
];

/// True when a command is one of these, with its subcommand right behind the program.
pub(super) fn only_looks(command: &Command) -> bool {
    let mut words = command.words.iter().map(|it| it.text());
    let (Some(Some(program)), Some(Some(sub))) = (words.next(), words.next()) else {
        return false;
    };
    let known = LOOKS.iter().find(|(programs, _)| programs.contains(&&*program));
    let plain = command.assignments.is_empty();
    plain && known.is_some_and(|(_, subs)| subs.contains(&&*sub)) && words.all(|it| it.is_some())
}
