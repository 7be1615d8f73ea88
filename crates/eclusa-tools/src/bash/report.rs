//! What the model and programs are told of a command that ran.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    time::Duration,
};

use eclusa::{HumanDuration, Output, WholeOutput};
use eclusa_git::is_in_git_directory;
use eclusa_sandbox::{Ended, Exit, How, Refusal, proxy::Attempt};
use serde_json::json;

use super::{JobView, LongOutput};
use crate::sandboxes::{Ran, Sandboxes, WriteTracking};

/// What is said of a command that ended badly.
pub(super) struct Wording {
    /// `command` or `program`.
    pub(super) what: &'static str,
    /// The time that it had.
    pub(super) limit: Duration,
    /// What to do where that was too short.
    pub(super) more_time: String,
    /// Where a person allows hosts.
    pub(super) hosts: String,
    /// Where a person allows writing.
    pub(super) writes: String,
}

impl Wording {
    /// For a shell text that had so much time.
    pub(super) fn command(limit: Duration) -> Wording {
        let more_time = "give more time (`timeout_ms`, or `--timeout` on the command line), start it \
                         with `background`, or do less at once";
        let writes = "commands write to the workspace, to /tmp and to the caches of tools: allow another \
                      directory with `commands.writable`";
        Wording {
            what: "command",
            limit,
            more_time: more_time.to_owned(),
            hosts: "`commands.hosts`".to_owned(),
            writes: writes.to_owned(),
        }
    }

    /// For a program that is this tool.
    pub(super) fn program(tool: &str, limit: Duration) -> Wording {
        let more_time =
            format!("do less at once, or have a person raise `timeout` of `[tools.{tool}]`");
        let hosts = format!("`hosts` of `[tools.{tool}]`");
        let writes = format!("`writes` of `[tools.{tool}]` names what it may write");
        Wording { what: "program", limit, more_time, hosts, writes }
    }
}

/// A command that ran to its end, or was ended. `long` has its output as far as it was kept, `opened`
/// are the hosts that a person opened while it ran; `ruled_out` says why a rule hides a path, if one does.
pub(super) fn output(
    ran: Ran,
    wording: &Wording,
    long: &LongOutput,
    opened: &[String],
    ruled_out: impl Fn(&Path) -> Option<String>,
) -> Output {
    let hidden_paths = ran.ruled_out;
    let Ran { exit, changes, staged, notes, attempts, more_attempts, refused, live, level, .. } =
        ran;
    let mut text = printed(&exit);
    let whole = (exit.output.truncated() && !exit.output.is_binary())
        .then(|| long.whole(exit.output.head(), exit.output.tail(), exit.output.total()))
        .flatten();
    let lost = whole.as_ref().map_or_else(|| exit.output.cut(), WholeOutput::lost);
    let mut line = |line: String| {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let _ = writeln!(text, "[{line}]");
    };
    notes.iter().for_each(|note| line(note.clone()));
    for attempt in &attempts {
        if let Err(why) = &attempt.outcome {
            let grant = attempt.grant().map_or_else(String::new, |grant| {
                format!("; a person can allow it by adding `{grant}` to {}", wording.hosts)
            });
            line(format!("network: {why}{grant}"));
        }
    }
    if more_attempts > 0 {
        line(format!("network: {more_attempts} more attempts, not listed"));
    }
    // What went through the proxy is known exactly.
    let seen = |it: &&Refusal| !matches!(it, Refusal::Network(_)) || attempts.is_empty();
    let refused: Vec<String> =
        refused.iter().filter(seen).map(|it| refusal(it, wording, &ruled_out)).collect();
    refused.iter().for_each(|it| line(it.clone()));
    if hidden_paths > 0 && failure(&exit, wording).is_some() {
        let are = if hidden_paths == 1 { "path is" } else { "paths are" };
        line(format!("{hidden_paths} {are} hidden from commands by rules"));
    }
    let (code, signal) = match exit.how {
        How::Code(code) => (Some(code), None),
        How::Signal(signal) => (None, Some(signal)),
    };
    let mut data = json!({
        "exit_code": code,
        "signal": signal,
        "timed_out": exit.ended == Some(Ended::Time),
        "truncated": lost > 0,
        "output_bytes": exit.output.total(),
        "lost_bytes": lost,
        "execution_time_ms": u64::try_from(exit.wall.as_millis()).unwrap_or(u64::MAX),
        "cpu_time_ms": u64::try_from(exit.cpu.as_millis()).unwrap_or(u64::MAX),
        "enforcement": level,
        "network": attempts.iter().map(attempted).collect::<Vec<_>>(),
        "network_more": more_attempts,
        "notes": notes,
        "refused": refused,
        "live": live,
    });
    if let (Some(fields), true) = (data.as_object_mut(), exit.left > 0) {
        fields.insert("ended_processes".to_owned(), exit.left.into());
    }
    let error = failure(&exit, wording);
    let mut sandbox = held(level, &live);
    if !opened.is_empty() {
        let _ = write!(sandbox, "; a person opened {}", opened.join(", "));
    }
    let sandbox = Some(sandbox);
    let mut remarks: Vec<String> = attempts.iter().map(talked).collect();
    remarks.extend(notes);
    remarks.extend(error.iter().map(|it| format!("it failed: {it}")));
    let data = Some(data);
    Output { text, data, changes, staged, error, remarks, sandbox, whole, ..Output::default() }
}

/// What held it, for the record, and what could be written without being shown first.
fn held(level: String, live: &[PathBuf]) -> String {
    let mut text = level;
    if !live.is_empty() {
        let live: Vec<String> = live.iter().map(|it| format!("`{}`", it.display())).collect();
        let _ = write!(text, "; written at once and not undoable: {}", live.join(", "));
    }
    text
}

/// One attempt to reach a host, for a person.
fn talked(attempt: &Attempt) -> String {
    let Attempt { host, port, sent, received, .. } = attempt;
    match &attempt.outcome {
        Ok(_) => format!("it talked to {host}:{port}: sent {sent} bytes, received {received}"),
        Err(why) => format!("it tried to reach {host}:{port}: {why}"),
    }
}

/// What the sandbox did not let it do, and the smallest grant that would.
fn refusal(
    refusal: &Refusal,
    Wording { hosts, writes, .. }: &Wording,
    ruled_out: impl Fn(&Path) -> Option<String>,
) -> String {
    let grant = match refusal {
        Refusal::Write(path) if is_in_git_directory(path) => {
            ": it lies in a repository that is not the one of this workspace"
        }
        Refusal::Write(_) => return format!("refused: {refusal}; {writes}"),
        Refusal::Network(Some(host)) => {
            return format!(
                "refused: {refusal}; a person can allow it by adding `{host}` to {hosts}"
            );
        }
        Refusal::Network(None) => {
            return format!("refused: {refusal}; a person can name hosts in {hosts}");
        }
        Refusal::Hidden(path) => match ruled_out(path) {
            Some(why) => return format!("refused: {refusal}: {why}"),
            None if is_shut(path) => ": it cannot be read; change its mode in a terminal",
            None => ": it holds secrets, and no setting shows it to commands",
        },
        Refusal::Owner(_) => {
            "; make it yours in a terminal (`chown`, `chgrp`), or run this as its owner"
        }
        Refusal::Limit("memory") => "; a person can raise `commands.memory`",
        Refusal::Limit("the number of processes") => "; a person can raise `commands.processes`",
        Refusal::Read(_) | Refusal::Limit(_) | Refusal::Call(_) => "",
    };
    format!("refused: {refusal}{grant}")
}

/// Whether whoever runs this may not look into it.
fn is_shut(path: &Path) -> bool {
    let shut = |err: &std::io::Error| err.kind() == std::io::ErrorKind::PermissionDenied;
    std::fs::read_dir(path).as_ref().is_err_and(shut)
}

fn printed(exit: &Exit) -> String {
    let output = &exit.output;
    match output.total() {
        0 => String::new(),
        total if output.is_binary() => {
            format!("[{total} bytes that are not text; write them to a file to look at them]\n")
        }
        _ => output.text(),
    }
}

/// Why it is no success, in one sentence.
fn failure(exit: &Exit, Wording { what, limit, more_time, .. }: &Wording) -> Option<String> {
    Some(match (exit.ended, exit.how) {
        (Some(Ended::Time), _) => format!(
            "the {what} timed out after {} and was ended with everything it started; the output so \
             far is kept; {more_time}",
            HumanDuration::rounded(*limit)
        ),
        (Some(Ended::Cancelled), _) => format!("the {what} was cancelled"),
        (Some(Ended::Output), _) => {
            "the command wrote too much and was ended; send its output to a file or filter it"
                .to_owned()
        }
        (Some(Ended::Disk), _) => "the command filled the disk and was ended".to_owned(),
        (Some(Ended::Processes), _) => "the command had more processes than a job may".to_owned(),
        (Some(Ended::Secret), _) => {
            "the command, or another program, opened a file that is hidden from it, and it was ended; \
             nothing was read"
                .to_owned()
        }
        (Some(Ended::Memory), _) => {
            "the command used more memory than `commands.memory` allows and was ended".to_owned()
        }
        (None, How::Code(0)) => return None,
        (None, How::Code(code)) => format!("exit code {code}"),
        (None, How::Signal(signal)) => format!("ended by signal {signal}"),
    })
}

fn attempted(attempt: &Attempt) -> serde_json::Value {
    json!({
        "host": attempt.host,
        "port": attempt.port,
        "allowed": attempt.outcome.is_ok(),
        "why": attempt.outcome.as_ref().err().map(ToString::to_string),
        "sent": attempt.sent,
        "received": attempt.received,
    })
}

/// How a command ended, in words.
pub(super) fn how(exit: &Exit) -> String {
    match exit.how {
        How::Code(code) => format!("exit code {code}"),
        How::Signal(signal) => format!("signal {signal}"),
    }
}

/// What a command said that ended at once.
pub(super) fn said(exit: &Exit) -> String {
    match printed(exit) {
        text if text.is_empty() => String::new(),
        text => format!(":\n{text}"),
    }
}

/// Processes that a command left running and that were ended.
pub(super) fn ended_left(count: usize) -> String {
    let processes = if count == 1 {
        "process that it left running was"
    } else {
        "processes that it left running were"
    };
    format!("{count} {processes} ended; `--keep` keeps them, and so does a session of an agent")
}

/// The same where they are too many to go on as a job.
pub(super) fn too_many_left(count: usize, most: u32) -> String {
    format!(
        "{count} processes that it left running were ended: at most {most} go on as a job; \
         `commands.job_processes` in eclusa.toml changes that"
    )
}

/// A command that was started in the background.
pub(super) fn started(view: &JobView, hint: &str, sandboxes: &Sandboxes) -> Output {
    let id = view.record.job;
    let tracking = sandboxes.write_tracking();
    let writes = match tracking {
        WriteTracking::Overlay => {
            "its changes to the workspace are not applied, and kept at its end"
        }
        WriteTracking::Snapshot => "it cannot write to the workspace, but for build output",
        WriteTracking::Nothing => "its changes to the workspace are applied at once",
    };
    let text = format!("started: {}; {hint}; {writes}", view.goes_on());
    let live = match tracking {
        WriteTracking::Nothing => vec![sandboxes.settings().root.clone()],
        WriteTracking::Overlay | WriteTracking::Snapshot => Vec::new(),
    };
    let sandbox = Some(held(sandboxes.level(), &live));
    Output { data: Some(json!({"job": id})), sandbox, ..Output::text(text) }
}
