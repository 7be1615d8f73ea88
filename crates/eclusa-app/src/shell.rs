//! Where shell commands run on this machine: the sandboxes that the configuration means, made from
//! this person's environment.

use std::{
    env,
    path::{Path, PathBuf},
};

use eclusa_config::Config;
use eclusa_sandbox::{Limits, clean_environment, delegated_group};
use eclusa_tools::{SandboxSettings, Sandboxes};

use crate::{failure::Failure, paths::Paths, rehearsal, screen, workspace_programs};

/// The sandboxes of this workspace. `hosts` are allowed besides those of the configuration.
pub fn sandboxes(paths: &Paths, config: &Config, hosts: &[String]) -> Result<Sandboxes, Failure> {
    with_settings(settings(paths, config, hosts))
}

/// The sandboxes that these settings mean.
pub fn with_settings(settings: SandboxSettings) -> Result<Sandboxes, Failure> {
    Sandboxes::new(settings).map_err(|err| {
        Failure::usage(format!("a host that commands may reach cannot be read: {err}"))
            .hint("write `example.org`, `*.example.org` or `example.org:8080`")
    })
}

/// The settings of this workspace's sandboxes.
pub fn settings(paths: &Paths, config: &Config, hosts: &[String]) -> SandboxSettings {
    let commands = &config.commands;
    let (root, state) = (paths.workspace.clone(), paths.undo());
    let mut settings = SandboxSettings::new(&root, &state);
    let home = env::var_os("HOME").map(PathBuf::from).filter(|it| it.is_absolute());
    settings.home = home.filter(|it| it.is_dir());
    settings.env = clean_environment(env::vars_os(), std::slice::from_ref(&root));
    workspace_programs::keep(&mut settings.env, env::vars_os(), &root);
    settings.identity = commands.identity.clone();
    settings.hosts = commands.hosts.iter().chain(hosts).cloned().collect();
    settings.live = commands.live.clone();
    let place = |it: &String| match (it.strip_prefix("~/"), &settings.home) {
        (Some(below), Some(home)) => Some(home.join(below)),
        (Some(_), None) => None,
        (None, _) => Some(PathBuf::from(it)),
    };
    // A rehearsal writes nothing at once: its layer lies over the workspace alone.
    if rehearsal::directory().is_none() {
        settings.writable = commands.writable.iter().filter_map(place).collect();
    }
    for refused in settings.refused_writable() {
        screen::note(&format!(
            "`{}` is not written at once, because it lies in a git directory: take it out of `commands.writable`",
            refused.display()
        ));
    }
    settings.least = commands.least;
    settings.limits = Limits {
        memory: commands.memory,
        processes: commands.processes,
        disk: commands.disk,
        ..Limits::default()
    };
    settings.job_processes = commands.job_processes;
    // The logs, what is kept for undo and the tokens of servers are nobody's business in there:
    // not those of this workspace, and not those of others.
    settings.hide = paths.store.parent().map(Path::to_owned).into_iter().collect();
    settings.hide.extend(paths.state().filter(|it| !root.starts_with(it)).map(Path::to_owned));
    settings.hide.extend([paths.pins(), paths.key(), paths.homes(), paths.agent_homes()]);
    // What the workspace holds, or lies in, is hidden by names and places alone.
    let apart = |it: &PathBuf| !it.starts_with(&root) && !root.starts_with(it);
    settings.hide.extend(paths.own_configuration().filter(apart));
    settings.cgroup = delegated_group();
    settings.blocked = config.blocked.clone();
    settings
}

/// Removes the layers that a program left behind when it died. That it cannot be done is told, and
/// is no reason to do nothing.
pub fn sweep(sandboxes: &Sandboxes) {
    match sandboxes.sweep() {
        Ok(0) => {}
        Ok(swept) => tracing::info!(swept, "removed the layers of commands that died"),
        Err(err) => screen::note(&format!("layers of commands that died are still there: {err}")),
    }
}
