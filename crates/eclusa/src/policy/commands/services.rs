//! Programs that talk to a service which no sandbox has: what they do when they only look.

use eclusa_shell::Command;

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
