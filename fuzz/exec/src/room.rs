//! The room from outside: it is made with `unshare`, given its orders, and its findings are read.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::git::Setting;

const SCRIPT: &str = include_str!("../room/room.sh");

/// Something to try in the room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Order {
    /// A shell text that is allowed.
    Command {
        /// The text.
        text: String,
        /// The programs that the analysis lists.
        announced: Vec<String>,
    },
    /// A setting of git's with a program in it.
    Setting(Setting),
}

impl Order {
    /// A command, with what the analysis announces.
    pub(crate) fn of_command(text: &str) -> Order {
        let analysis = eclusa_shell::analyse(text);
        let mut announced: Vec<String> = Vec::new();
        for command in &analysis.commands {
            let name = command.words.first().and_then(|it| it.text());
            let name = name.map(|it| it.rsplit('/').next().unwrap_or_default().to_owned());
            announced.extend(name.filter(|it| !it.is_empty()));
        }
        announced.sort();
        announced.dedup();
        Order::Command { text: text.to_owned(), announced }
    }

    /// A setting of git's.
    pub(crate) fn of_setting(setting: Setting) -> Order {
        Order::Setting(setting)
    }

    /// As a person reads it.
    pub(crate) fn display(&self) -> String {
        match self {
            Order::Command { text, .. } => format!("{text:?}"),
            Order::Setting(setting) => format!("git setting {} = {:?}", setting.key, setting.value),
        }
    }
}

/// What an order did that it must not do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Finding {
    pub(crate) order: Order,
    pub(crate) what: Vec<String>,
}

/// A line that the room says.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Message {
    /// An order was carried out.
    Done { late: bool, passing: bool, unguarded: bool, guarded: bool },
    /// An order did what it must not do.
    Found(Finding),
    /// All of them were.
    End,
}

/// All that the rooms said.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) executed: usize,
    pub(crate) late: usize,
    pub(crate) passing: usize,
    pub(crate) unguarded: usize,
    pub(crate) guarded: usize,
    pub(crate) findings: Vec<Finding>,
}

/// The command that makes namespaces of its own.
fn namespaces() -> Command {
    #[expect(clippy::disallowed_methods, reason = "the room is made by a program of the system")]
    let mut command = Command::new("unshare");
    command.args([
        "--user",
        "--map-root-user",
        "--mount",
        "--net",
        "--pid",
        "--fork",
        "--kill-child",
    ]);
    command
}

/// Whether the room can be made here.
pub(crate) fn probe() -> Result<(), String> {
    let output = namespaces().args(["--", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).output();
    let output = output.map_err(|err| format!("unshare: {err}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

/// Carries the orders out in so many rooms.
pub(crate) fn run(orders: &[Order], workers: usize) -> Result<Outcome, String> {
    let size = orders.len().div_ceil(workers.max(1)).max(1);
    let rooms: Vec<Result<Outcome, String>> = std::thread::scope(|scope| {
        let started: Vec<_> =
            orders.chunks(size).map(|chunk| scope.spawn(move || one_room(chunk))).collect();
        let join = |it: std::thread::ScopedJoinHandle<'_, Result<Outcome, String>>| {
            it.join().unwrap_or_else(|_| Err("a room's thread panicked".to_owned()))
        };
        started.into_iter().map(join).collect()
    });
    let mut sum = Outcome::default();
    for room in rooms {
        let room = room?;
        sum.executed += room.executed;
        sum.late += room.late;
        sum.passing += room.passing;
        sum.unguarded += room.unguarded;
        sum.guarded += room.guarded;
        sum.findings.extend(room.findings);
    }
    Ok(sum)
}

fn one_room(orders: &[Order]) -> Result<Outcome, String> {
    let text = |err: std::io::Error| err.to_string();
    let root = tempfile::tempdir().map_err(text)?;
    let mut list = tempfile::NamedTempFile::new().map_err(text)?;
    for order in orders {
        let line = serde_json::to_string(order).map_err(|err| err.to_string())?;
        writeln!(list, "{line}").map_err(text)?;
    }
    list.flush().map_err(text)?;
    let program = std::env::current_exe().map_err(text)?;
    let mut room = namespaces();
    let shim = program.with_file_name("hunt-shim");
    room.args(["--", "bash", "-c", SCRIPT, "room"]).arg(root.path()).arg(program).arg(list.path());
    room.arg(shim);
    let mut room = room
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|err| format!("unshare: {err}"))?;
    let Some(stdout) = room.stdout.take() else { return Err("the room is silent".to_owned()) };
    let (mut outcome, mut ended) = (Outcome::default(), false);
    for line in BufReader::new(stdout).lines() {
        let line = line.map_err(text)?;
        match serde_json::from_str(&line).map_err(|err| format!("{err}: {line}"))? {
            Message::Done { late, passing, unguarded, guarded } => {
                outcome.executed += 1;
                outcome.late += usize::from(late);
                outcome.passing += usize::from(passing);
                outcome.unguarded += usize::from(unguarded);
                outcome.guarded += usize::from(guarded);
            }
            Message::Found(finding) => outcome.findings.push(finding),
            Message::End => ended = true,
        }
    }
    let status = room.wait().map_err(text)?;
    match ended {
        true => Ok(outcome),
        false => Err(format!("the room ended early ({status})")),
    }
}
