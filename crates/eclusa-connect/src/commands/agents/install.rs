//! `eclusa install` and `uninstall`: entries go into an agent's settings, and out again.

use std::{os::unix::fs::MetadataExt as _, path::Path};

use eclusa::audit::{Clock as _, SystemClock};
use similar::{Algorithm, DiffTag, capture_diff_slices, group_diff_ops};

use super::{
    InstallScope,
    backup::{Backup, SavedFile},
    runner_cache::refuse_runner_cache,
    settings_files::{self, SettingsFile, files},
    watch,
};
use crate::commands::{
    failure::{Exit, Failure},
    global::Global,
    screen::{Screen, note, sanitize},
    terminal::Terminal,
};
use crate::{AGENTS, AgentSpec, EntryState, ListedServer, ServerPosition, SettingsEntry};

/// Lines that are shown around those that change.
const CONTEXT: usize = 2;

/// What is installed, and for whom.
pub(super) struct Installation<'a> {
    pub(super) global: &'a Global,
    pub(super) scope: InstallScope,
    /// Leave the agent's other servers as they are.
    pub(super) plain_servers: bool,
    /// Have its calls judged and recorded, and not held.
    pub(super) observe: bool,
}

impl Installation<'_> {
    /// Connects the agent that was named. Of one whose program is not here a person is asked first, where there is one.
    pub(super) fn of_named(&self, agent: &AgentSpec, screen: &mut Screen) -> Result<Exit, Failure> {
        if agent.installed().is_none() && !self.global.dry_run && self.scope == InstallScope::User {
            let program = agent.program;
            if self.observe {
                // The one question that follows says enough.
                note(&format!("{agent} was not found here (no `{program}` on the PATH)"));
                return connect(self, agent, screen);
            }
            let asked = Terminal::new(false, None).confirm(&format!(
                "{agent} was not found here (no `{program}` on the PATH). Write its settings anyway? [y/n] "
            ));
            match asked {
                Ok(true) => {}
                Ok(false) => return Err(Failure::refused("nothing was written")),
                Err(_) => note(&format!(
                    "{agent} was not found here (no `{program}` on the PATH); its settings are for when it is"
                )),
            }
        }
        connect(self, agent, screen)
    }

    /// Connects every agent whose program is here, once a person has said yes.
    pub(super) fn of_all_found(&self, screen: &mut Screen) -> Result<Exit, Failure> {
        let found: Vec<&AgentSpec> =
            AGENTS.iter().filter(|it| it.installed().is_some()).copied().collect();
        let all: Vec<&str> = AGENTS.iter().map(|it| it.name).collect();
        if found.is_empty() {
            let text = "no agent was found on the PATH";
            let hint = format!("`eclusa install AGENT` connects one: {}", all.join(", "));
            return Err(Failure::usage(text).hint(hint));
        }
        let titles: Vec<&str> = found.iter().map(|it| it.title).collect();
        let question = format!("Found here: {}. Connect? [y/n] ", titles.join(", "));
        let asked = match self.global.dry_run {
            true => Ok(true),
            false => Terminal::new(false, None).confirm(&question),
        };
        match asked {
            Ok(true) => {}
            Ok(false) => return Err(Failure::refused("nothing was written")),
            Err(_) => {
                let names: Vec<&str> = found.iter().map(|it| it.name).collect();
                let text = format!("found here: {}", titles.join(", "));
                let hint =
                    format!("`eclusa install {}` connects it", names.join("`, `eclusa install "));
                return Err(Failure::usage(text).hint(hint));
            }
        }
        let mut exit = Exit::Done;
        for agent in found {
            if let Err(failure) = connect(self, agent, screen) {
                screen.line(&sanitize(&format!("{agent}: {}", failure.message())))?;
                exit = Exit::Failed;
            }
        }
        Ok(exit)
    }
}

fn connect(
    what: &Installation<'_>,
    agent: &AgentSpec,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let Installation { global, scope, plain_servers, observe } = *what;
    match observe {
        true => watch::ask(global, agent)?,
        false if scope == InstallScope::User && !global.dry_run => watch::end(agent)?,
        false => {}
    }
    let program = std::env::current_exe()?;
    refuse_runner_cache(&program)?;
    if scope == InstallScope::Managed
        && let Some(open) = program.ancestors().find(|it| is_open_to_all(it))
    {
        let text = format!(
            "everybody can write `{}`, and so answer for the whole machine",
            open.display()
        );
        return Err(Failure::usage(text)
            .hint("install the program where only root writes, such as `/usr/local/bin`"));
    }
    let mut files = files(global, agent, scope)?;
    for file in files.iter_mut().filter(|_| plain_servers) {
        file.entries.retain(|it| !it.is_other_servers());
    }
    if observe {
        only_hooks(agent, &mut files)?;
    }
    files.retain(|it| !it.entries.is_empty());
    if files.is_empty() {
        let text = format!("{agent} has no settings for a whole {}", whole(scope));
        return Err(Failure::usage(text).hint("leave the option out: it is then for you alone"));
    }
    // Everything is worked out before anything is written.
    let mut planned = Vec::new();
    for file in &files {
        planned.push((file, file.installed()?));
    }
    let changed: Vec<&(&SettingsFile, String)> =
        planned.iter().filter(|(file, new)| file.text() != new).collect();
    if changed.is_empty() && observe && !global.dry_run {
        return tell_watched(agent, screen);
    }
    if changed.is_empty() {
        screen.line(&format!("{agent} is connected already: nothing to change"))?;
        return Ok(Exit::Done);
    }
    if global.dry_run {
        for (file, new) in &changed {
            show(screen, file, new)?;
        }
        note("nothing was written (--dry-run)");
        return Ok(Exit::Done);
    }
    let earlier = Backup::load(global, agent, scope)?;
    let mut backup = Backup::default();
    for (file, new) in &planned {
        let before = match earlier.file(&file.path) {
            // Nobody touched it since: what was there before us is known.
            Some(saved) if file.text.as_deref() == Some(&saved.after) => saved.before.clone(),
            // Another installation beside this one has not come to it yet, or somebody has removed it.
            Some(_) if file.text.is_none() => None,
            Some(_) => file.uninstalled()?,
            None => file.text.clone(),
        };
        backup.files.push(SavedFile { path: file.path.clone(), before, after: new.clone() });
    }
    backup.save(global, agent, scope)?;
    let written = settings_files::write_all(changed.iter().map(|it| (it.0, Some(it.1.as_str()))));
    if let Err(failure) = written {
        // What was known before is what is there.
        earlier.save_or_forget(global, agent, scope)?;
        return Err(failure);
    }
    let names: Vec<String> = changed.iter().map(|it| below_home(&it.0.path)).collect();
    let written = sanitize(&names.join(", "));
    if observe {
        screen.line(&format!("wrote {written}"))?;
        return tell_watched(agent, screen);
    }
    // Three lines: what is connected, where it asks, what to do next. All the rest is in `eclusa status`.
    screen.line(&format!("{agent} is connected ({}): wrote {written}", scope.name()))?;
    screen.line(&format!("questions: {}", agent.questions_in_short()))?;
    let mut servers = Vec::new();
    for (file, new) in &planned {
        servers.extend(file.other_servers(new)?);
    }
    tell_servers(&servers, screen)?;
    screen.line(&format!("next: {}", next_step(agent, scope)))?;
    Ok(Exit::Done)
}

/// What a person still does by hand, and then tries.
fn next_step(agent: &AgentSpec, scope: InstallScope) -> String {
    let (name, program) = (agent.name, agent.program);
    let by_hand = agent.to_confirm(scope == InstallScope::Managed);
    let by_hand = by_hand.map(|it| format!("{it}; ")).unwrap_or_default();
    match agent.launch.is_some() && scope == InstallScope::User {
        true => {
            format!("{by_hand}`eclusa status {name} --prove` tries it and says what is not covered")
        }
        false => {
            format!("{by_hand}start `{program}`; `eclusa status {name}` says what is not covered")
        }
    }
}

/// Leaves only hooks: what is watched has no servers of ours, and what an earlier installation put there would still hold.
fn only_hooks(agent: &AgentSpec, files: &mut [SettingsFile]) -> Result<(), Failure> {
    for file in files {
        let text = file.text.clone().unwrap_or_default();
        let others = |it: &&SettingsEntry| !it.is_gate && !it.is_hook() && !it.is_other_servers();
        let is_there =
            |it: &SettingsEntry| it.state(&text).is_ok_and(|it| it == EntryState::Present);
        let held = file.entries.iter().filter(others).any(is_there);
        let behind = file.other_servers(&text)?;
        if held || behind.iter().any(|it| it.position == ServerPosition::Behind) {
            let text = format!("{agent} is connected and enforced already");
            let hint = format!(
                "run `eclusa uninstall {}` first: the rest of that installation would still enforce",
                agent.name
            );
            return Err(Failure::refused(text).hint(hint));
        }
        file.entries.retain(|it| it.is_gate || it.is_hook());
    }
    Ok(())
}

fn tell_watched(agent: &AgentSpec, screen: &mut Screen) -> Result<Exit, Failure> {
    let name = agent.name;
    // The hooks are there: until this is written, they hold.
    watch::begin(agent, SystemClock.unix_ms())?;
    screen.line(&format!(
        "{agent} is watched: its calls are judged and recorded, nothing is stopped, and its own prompts still ask"
    ))?;
    if let Some(what) = agent.to_confirm(false) {
        screen.line(&format!("you still need to: {what}"))?;
    }
    screen.line(&format!(
        "next: work as usual, then `eclusa log` and `eclusa policy suggest`; `eclusa install {name}` enforces the rules"
    ))?;
    note(&format!("`eclusa uninstall {name}` removes it; do that before you remove the program"));
    Ok(Exit::Done)
}

/// A path as people write it.
fn below_home(path: &Path) -> String {
    let home = std::env::var_os("HOME").filter(|it| !it.is_empty());
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

/// True for a file that everybody may replace or write, and for a directory in which they may do so.
fn is_open_to_all(path: &Path) -> bool {
    const STICKY: u32 = 0o1000;
    path.metadata().is_ok_and(|it| it.mode() & 0o002 != 0 && it.mode() & STICKY == 0)
}

pub(super) fn uninstall(
    global: &Global,
    agent: &AgentSpec,
    scope: InstallScope,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    if scope == InstallScope::User && !global.dry_run {
        watch::end(agent)?;
    }
    if !take_out(global, agent, scope, screen)? {
        screen.line(&format!("{agent} is not connected: nothing to take out"))?;
    }
    Ok(Exit::Done)
}

/// Every agent's, whatever becomes of the others.
pub(super) fn uninstall_all(
    global: &Global,
    scopes: &[InstallScope],
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let (mut taken, mut failed) = (0, 0);
    if scopes.contains(&InstallScope::User) && !global.dry_run {
        AGENTS.iter().try_for_each(|it| watch::end(it))?;
    }
    for (agent, scope) in AGENTS.iter().flat_map(|agent| scopes.iter().map(move |it| (agent, *it)))
    {
        match take_out(global, agent, scope, screen) {
            Ok(was_there) => taken += usize::from(was_there),
            Err(failure) => {
                failed += 1;
                screen.line(&sanitize(&format!(
                    "{agent} ({}): {}",
                    scope.name(),
                    failure.message()
                )))?;
            }
        }
    }
    if taken == 0 && failed == 0 {
        screen.line("no agent is connected: nothing to take out")?;
    }
    if scopes.contains(&InstallScope::Project) {
        note(
            "other projects that were connected with `--project` are not known: run it there, too",
        );
    }
    Ok(if failed == 0 { Exit::Done } else { Exit::Failed })
}

/// Takes out what is ours; false where there is nothing.
fn take_out(
    global: &Global,
    agent: &AgentSpec,
    scope: InstallScope,
    screen: &mut Screen,
) -> Result<bool, Failure> {
    let files = files(global, agent, scope)?;
    let backup = Backup::load(global, agent, scope)?;
    let mut planned = Vec::new();
    for file in files.iter().filter(|it| it.text.is_some()) {
        let left = match backup.file(&file.path) {
            Some(saved) if file.text.as_deref() == Some(&saved.after) => saved.before.clone(),
            // Somebody changed it since: what is ours is taken out, and the rest stays.
            _ => file.uninstalled()?,
        };
        planned.push((file, left));
    }
    planned.retain(|(file, left)| file.text != *left);
    if planned.is_empty() {
        return Ok(false);
    }
    for (file, left) in &planned {
        show(screen, file, left.as_deref().unwrap_or_default())?;
    }
    if global.dry_run {
        note("nothing was written (--dry-run)");
        return Ok(true);
    }
    settings_files::write_all(planned.iter().map(|(file, left)| (*file, left.as_deref())))?;
    Backup::forget(global, agent, scope)?;
    screen.line(&format!("{agent} is no longer connected ({})", scope.name()))?;
    Ok(true)
}

/// Which servers are behind the gate now, and which are not.
fn tell_servers(servers: &[ListedServer], screen: &mut Screen) -> Result<(), Failure> {
    let behind = servers.iter().filter(|it| it.position == ServerPosition::Behind);
    let behind: Vec<&str> = behind.map(|it| it.name.as_str()).collect();
    if !behind.is_empty() {
        let names = sanitize(&behind.join(", "));
        screen.line(&format!("servers behind the gate: {names}"))?;
        note(
            "they have no network and read-only access; add `--allow-net HOST` or `--access write` \
             before `--` in their arguments",
        );
    }
    for server in servers {
        if let ServerPosition::Left(why) = server.position {
            let text = format!("server not behind the gate: {}: {why}", server.name);
            screen.line(&sanitize(&text))?;
        }
    }
    Ok(())
}

fn whole(scope: InstallScope) -> &'static str {
    match scope {
        InstallScope::User => "person",
        InstallScope::Project => "project",
        InstallScope::Managed => "machine",
    }
}

/// What changes in a file.
fn show(screen: &mut Screen, file: &SettingsFile, new: &str) -> Result<(), Failure> {
    screen.line(&sanitize(&format!("+++ {}", file.path.display())))?;
    let (old, new): (Vec<&str>, Vec<&str>) = (file.text().lines().collect(), new.lines().collect());
    let ops = capture_diff_slices(Algorithm::Myers, &old, &new);
    for op in group_diff_ops(ops, CONTEXT).into_iter().flatten() {
        let (old, new) = (old.get(op.old_range()), new.get(op.new_range()));
        let gone = old.into_iter().flatten().map(|it| ("-", it));
        let come = new.into_iter().flatten().map(|it| ("+", it));
        let lines: Vec<(&str, &&str)> = match op.tag() {
            DiffTag::Equal => come.map(|(_, it)| (" ", it)).collect(),
            DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => gone.chain(come).collect(),
        };
        for (mark, line) in lines {
            screen.line(&sanitize(&format!("{mark}{line}")))?;
        }
    }
    Ok(())
}
