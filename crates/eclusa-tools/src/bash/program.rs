//! A program that a person has made a tool of, in the sandbox that `bash` has: the same plan, the same
//! staging, the same report; and held to what the tool declares.

use std::{
    ffi::OsString,
    fs, io,
    path::{Component, Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use eclusa::{Changes, Decision, Job, Node, Output, ToolError};
use eclusa_net::HostPattern;
use rustix::fs::Access;

use super::{
    can_be_reviewed,
    hosts::run_with_hosts,
    messages::{Messages, TELL},
    report::{self, Wording},
    signing::{CommandSigning, SigningGrants},
    time_left,
};
use crate::sandboxes::{CommandOrder, ProgramStart, Sandboxes, Writes};

/// One run of a program. Paths are those of the workspace; `None` is what holds for every command.
#[derive(Debug, Clone)]
pub struct ProgramRun {
    /// The tool, as people call it.
    pub tool: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// What is on its standard input.
    pub input: Vec<u8>,
    /// Variables that it has besides those of every command.
    pub env: Vec<(OsString, OsString)>,
    /// All that it may read.
    pub reads: Option<Vec<String>>,
    /// All that it may write.
    pub writes: Option<Vec<String>>,
    /// All hosts that it may reach.
    pub hosts: Option<Vec<String>>,
    /// Words of its command that may be files of its own, which it may read.
    pub own: Vec<String>,
    /// How long it may run; `None`: as long as any tool.
    pub time: Option<Duration>,
}

/// Runs a program in the sandbox. What it changes in the workspace is in the output, and not applied.
pub async fn run_program(
    sandboxes: &Sandboxes,
    run: ProgramRun,
    job: &Job,
) -> Result<Output, ToolError> {
    let failed = |err: io::Error| ToolError::new(format!("`{}` was not run: {err}", run.tool));
    let root = &sandboxes.settings().root;
    let writes = match &run.writes {
        Some(named) if named.is_empty() => Writes::Refused,
        None if job.only_reads_files() => Writes::Refused,
        Some(_) | None => Writes::Staged,
    };
    can_be_reviewed(sandboxes, writes, job.mode())?;
    let argv = argv(&run.command, sandboxes)?;
    let messages = Arc::new(Messages::new().map_err(failed)?);
    let mut env = run.env;
    env.push((TELL.into(), messages.word().into()));
    let hide = match &run.reads {
        Some(reads) => {
            let named = reads.iter().chain(&run.own).map(|it| beneath(root, it));
            all_but(root, &with_real_places(root, named.collect())).map_err(failed)?
        }
        None => Vec::new(),
    };
    let mut access = job.host_access();
    if let Some(hosts) = &run.hosts {
        // Rules open no more than it declares.
        access.opened.clear();
        if job.is_approved() {
            let patterns = hosts.iter().filter_map(|it| HostPattern::parse(it).ok());
            access.granted.extend(patterns);
        }
    }
    let asked = run.time.unwrap_or(Duration::MAX);
    let (time, limit) = time_left(asked, job);
    let hidden = match job.is_approved() {
        // What a rule wants a person asked about was asked about.
        true => job.hidden().from(Decision::Deny),
        false => job.hidden(),
    };
    let why = hidden.clone();
    let order = CommandOrder {
        command: run.command.join(" "),
        cwd: root.clone(),
        writes,
        time,
        session: Some(job.session().to_owned()),
        background: false,
        hidden,
        hosts: access,
        bound: job.bound_files()?,
        program: Some(ProgramStart { argv, input: run.input, env, hide, hosts: run.hosts }),
        signing: None,
    };
    let watch = Arc::clone(&messages);
    let watch = Arc::new(move |bytes: &[u8]| watch.watch(bytes));
    let signer = CommandSigning::new(sandboxes, SigningGrants::default(), root);
    let ran = run_with_hosts(sandboxes, Some(watch), order, job, signer).await?;
    let (ran, long, opened) = ran;
    let ruled_out = |it: &Path| why.why(it.strip_prefix(root).unwrap_or(it));
    let wording = Wording::program(&run.tool, limit);
    let mut output = report::output(ran, &wording, &long, &opened, ruled_out);
    output.text = messages.strip(&output.text);
    let refused = |message: String, output: Output| {
        Err(ToolError { message, output: output.text, data: output.data })
    };
    let result = match messages.result() {
        Ok(result) => result,
        Err(why) => return refused(format!("{why}; nothing was applied"), output),
    };
    if let (Some(result), Some(fields)) =
        (result, output.data.as_mut().and_then(|it| it.as_object_mut()))
    {
        fields.insert("result".to_owned(), result);
    }
    if let Some(named) = &run.writes {
        let named: Vec<PathBuf> = named.iter().map(|it| beneath(root, it)).collect();
        if let Some(path) = beyond(&output.changes, &named) {
            let message = format!(
                "it changed `{}`, which `writes` of `[tools.{}]` does not name; nothing was applied",
                path.display(),
                run.tool
            );
            return refused(message, output);
        }
    }
    Ok(output)
}

/// The program as an absolute path, and its arguments. A name without a `/` is looked for where
/// commands look.
fn argv(command: &[String], sandboxes: &Sandboxes) -> Result<Vec<OsString>, ToolError> {
    let settings = sandboxes.settings();
    let Some((name, args)) = command.split_first() else {
        return Err(ToolError::new("there is no program to run"));
    };
    let runs = |it: &Path| it.is_file() && rustix::fs::access(it, Access::EXEC_OK).is_ok();
    let found = if name.contains('/') {
        Some(settings.root.join(name)).filter(|it| runs(it))
    } else {
        let path = settings.env.iter().find(|(name, _)| name == "PATH").map(|it| &it.1);
        let path = path.map(std::env::split_paths);
        path.into_iter().flatten().map(|it| it.join(name)).find(|it| runs(it))
    };
    let Some(found) = found else {
        return Err(ToolError::new(format!(
            "`{name}` cannot be started: there is no such program in the workspace's sandbox; give its \
             path, or install it"
        )));
    };
    Ok(std::iter::once(found.into()).chain(args.iter().map(Into::into)).collect())
}

/// A path of the workspace, from there, without `.` and `..`.
fn beneath(root: &Path, path: &str) -> PathBuf {
    let path = Path::new(path);
    let mut inside = PathBuf::new();
    for part in path.strip_prefix(root).unwrap_or(path).components() {
        match part {
            Component::Normal(name) => inside.push(name),
            Component::ParentDir => drop(inside.pop()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    inside
}

/// The same paths, and where links lead that stay in the workspace.
fn with_real_places(root: &Path, mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let real = paths.iter().filter_map(|it| {
        let real = root.join(it).canonicalize().ok()?;
        real.strip_prefix(root).ok().map(Path::to_owned)
    });
    let real: Vec<PathBuf> = real.collect();
    paths.extend(real);
    paths
}

/// What of the workspace is neither named, nor in what is named, nor on the way there. A link shows
/// nothing that its target does not.
fn all_but(root: &Path, named: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let mut hidden = Vec::new();
    let mut pending = vec![PathBuf::new()];
    while let Some(directory) = pending.pop() {
        if named.iter().any(|it| directory.starts_with(it)) {
            continue;
        }
        for entry in fs::read_dir(root.join(&directory))? {
            let entry = entry?;
            let (path, kind) = (directory.join(entry.file_name()), entry.file_type()?);
            if kind.is_symlink() || named.iter().any(|it| path.starts_with(it)) {
                continue;
            }
            match kind.is_dir() && named.iter().any(|it| it.starts_with(&path)) {
                true => pending.push(path),
                false => hidden.push(root.join(path)),
            }
        }
    }
    Ok(hidden)
}

/// A path that is changed and not among these, beneath them, or a directory made on the way to them.
fn beyond<'a>(changes: &'a Changes, named: &[PathBuf]) -> Option<&'a Path> {
    let within = |path: &Path, made: bool| {
        named.iter().any(|it| path.starts_with(it) || (made && it.starts_with(path)))
    };
    let changed = changes.iter().find(|it| {
        let made = it.before.is_none() && matches!(it.after, Some(Node::Directory { .. }));
        !within(&it.path, made)
    });
    changed.map(|it| it.path.as_path())
}

#[cfg(test)]
mod tests;
