//! The room from inside: each order is carried out, and what changed is looked at.

#![expect(clippy::disallowed_methods, reason = "everything here lies in a throw-away room")]

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead as _, Read as _, Write as _};
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::git::{self, Setting};
use crate::ground::{self, Snapshot};
use crate::room::{Finding, Message, Order};
use crate::shim;

/// A command is stopped after so long.
const PATIENCE: Duration = Duration::from_secs(2);

/// Programs of the system that start fixed helpers of the system, whatever files say.
const HELPERS: &[(&str, &[&str])] = &[
    ("tar", &["gzip", "bzip2", "xz", "zstd", "lzip", "lzma"]),
    // `git submodule` is a script.
    ("git", &["git", "cat", "diff", "sh", "basename", "sed", "uname"]),
    ("sdiff", &["diff"]),
    ("diff3", &["diff"]),
    // `-l`, `-L` and `-S` are its own.
    ("dpkg", &["dpkg-query"]),
    ("xargs", &["echo"]),
];

/// What is seen where git's index is written anew, and where a temporary file was there.
const PASSING: [&str; 3] = ["changed /w/.git", "changed /w/.git/index", "changed /tmp"];

/// Limits, then the text itself, in a shell of its own.
const START: &str =
    "ulimit -t 2 -f 100000 -v 4000000; exec /hunt/real/bash --norc --noprofile -c \"$1\"";

pub(crate) fn run() -> io::Result<()> {
    let mut room = Room::make()?;
    let orders = fs::File::open("/hunt/orders")?;
    for line in io::BufReader::new(orders).lines() {
        let order: Order = serde_json::from_str(&line?).map_err(io::Error::other)?;
        let (done, what) = match &order {
            Order::Command { text, announced } => room.command(text, announced)?,
            Order::Setting(setting) => room.setting(setting)?,
        };
        say(&done)?;
        if !what.is_empty() {
            say(&Message::Found(Finding { order, what }))?;
            room.restore()?;
        }
    }
    say(&Message::End)
}

fn say(message: &Message) -> io::Result<()> {
    let line = serde_json::to_string(message).map_err(io::Error::other)?;
    writeln!(io::stdout(), "{line}")
}

struct Room {
    before: Snapshot,
    packets: u64,
    /// What git's index says of files, without the times that it keeps to be quick.
    index: Vec<u8>,
    env: Vec<(OsString, OsString)>,
}

fn work() -> &'static Path {
    Path::new("/w")
}

fn look() -> Snapshot {
    Snapshot::take(&[work(), Path::new("/home"), Path::new("/tmp")], Path::new("/"))
}

/// Packets for which there was no way out: every try to reach another machine counts there.
fn packets() -> u64 {
    let text = fs::read_to_string("/proc/net/snmp").unwrap_or_default();
    let mut lines = text.lines().filter(|it| it.starts_with("Ip:"));
    let (Some(names), Some(values)) = (lines.next(), lines.next()) else { return 0 };
    let mut pairs = names.split(' ').zip(values.split(' '));
    pairs.find(|it| it.0 == "OutNoRoutes").and_then(|it| it.1.parse().ok()).unwrap_or_default()
}

impl Room {
    fn make() -> io::Result<Room> {
        fs::create_dir_all("/home/h")?;
        fs::write(shim::LOG, "")?;
        let mut names = BTreeSet::new();
        for directory in shim::DIRECTORIES {
            let entries = fs::read_dir(directory).into_iter().flatten().flatten();
            names.extend(entries.map(|it| it.file_name()));
        }
        for name in names {
            symlink("/hunt/shim", Path::new("/shim").join(name))?;
        }
        ground::make(work())?;
        copy("/w/.", "/hunt/template")?;
        let mut room =
            Room { before: Snapshot::default(), packets: 0, index: Vec::new(), env: environment() };
        room.restore()?;
        Ok(room)
    }

    /// The tree as it was in the beginning.
    fn restore(&mut self) -> io::Result<()> {
        for directory in ["/w", "/home/h", "/tmp"] {
            for entry in fs::read_dir(directory)?.flatten() {
                let path = entry.path();
                let kind = entry.file_type()?;
                if kind.is_dir() { fs::remove_dir_all(&path)? } else { fs::remove_file(&path)? }
            }
        }
        copy("/hunt/template/.", "/w")?;
        self.shell("git update-index -q --refresh", &[])?;
        self.index = index()?;
        self.begin();
        Ok(())
    }

    /// From here on counts what happens.
    fn begin(&mut self) {
        let _ = fs::write(shim::LOG, "");
        self.before = look();
        self.packets = packets();
    }

    /// Runs a text; true when it ended by itself.
    fn shell(&self, text: &str, more: &[(OsString, OsString)]) -> io::Result<bool> {
        let mut shell = Command::new("/hunt/real/bash");
        shell.args(["--norc", "--noprofile", "-c", START, "bash", text]).current_dir(work());
        shell
            .env_clear()
            .env("PATH", "/shim")
            .env("HOME", "/home/h")
            .env("LANG", "C.UTF-8")
            .env("TERM", "dumb");
        shell.env("USER", "h").env("TMPDIR", "/tmp").envs(more.iter().cloned()).process_group(0);
        shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = shell.spawn()?;
        let group = rustix::process::Pid::from_child(&child);
        let began = Instant::now();
        let ended = loop {
            if child.try_wait()?.is_some() {
                break true;
            }
            if began.elapsed() > PATIENCE {
                break false;
            }
            std::thread::sleep(Duration::from_micros(400));
        };
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        child.wait()?;
        Ok(ended)
    }

    fn command(&mut self, text: &str, announced: &[String]) -> io::Result<(Message, Vec<String>)> {
        let ended = self.shell(text, &self.env)?;
        let after = look();
        let mut what = self.before.differences(&after);
        // The Java machine keeps statistics in /tmp, and what the limits here make of it beside it.
        if what.iter().any(|it| it.contains("/tmp/hsperfdata_") || it.contains("/w/hs_err_pid")) {
            what.clear();
            self.restore()?;
        }
        // What git found out about times counts for nothing, what is in its index does; and a
        // temporary file that is gone again (`sort`, `tac`) leaves a mark on its directory alone.
        let passing = !what.is_empty() && what.iter().all(|it| PASSING.contains(&it.as_str()));
        let passing = passing && index()? == self.index;
        if passing {
            what.clear();
            self.before = after;
        }
        let packets = packets();
        if packets != self.packets {
            what.push("tried to reach another machine".to_owned());
            self.packets = packets;
        }
        let log = fs::read_to_string(shim::LOG).unwrap_or_default();
        if !log.is_empty() {
            fs::write(shim::LOG, "")?;
        }
        what.extend(unannounced(&log, announced));
        let late = !ended;
        let done = Message::Done { late, passing, unguarded: false, guarded: false };
        Ok((done, what))
    }

    /// A setting of git's with a trap in it, without and with the environment that git is given.
    fn setting(&mut self, setting: &Setting) -> io::Result<(Message, Vec<String>)> {
        let tried = |room: &mut Room, guarded: bool| -> io::Result<bool> {
            room.restore()?;
            git::lay(work(), setting)?;
            let env = if guarded { environment() } else { Vec::new() };
            for text in git::TRIGGERS {
                room.shell(text, &env)?;
            }
            // Every other hook and every setting must hold for it too.
            match fs::remove_file(work().join(git::REFERENCE_HOOK)) {
                Err(err) if err.kind() != io::ErrorKind::NotFound => return Err(err),
                _ => room.shell(git::BISECT, &env)?,
            };
            Ok(work().join("MARK").exists())
        };
        let unguarded = tried(self, false)?;
        let guarded = tried(self, true)?;
        self.restore()?;
        let what = if guarded { vec!["git ran the program".to_owned()] } else { Vec::new() };
        Ok((Message::Done { late: false, passing: false, unguarded, guarded }, what))
    }
}

/// What git is given in every sandbox.
fn environment() -> Vec<(OsString, OsString)> {
    eclusa_sandbox::git_environment(&[PathBuf::from("/w")], None)
}

/// What git's index holds: modes, objects, stages, flags and names.
fn index() -> io::Result<Vec<u8>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "--stage", "-v", "-f", "-z"]).current_dir(work()).env("HOME", "/home/h");
    Ok(git.output()?.stdout)
}

fn copy(from: &str, to: &str) -> io::Result<()> {
    fs::create_dir_all(to)?;
    let done = Command::new("/bin/cp").args(["-a", from, to]).status()?;
    if done.success() { Ok(()) } else { Err(io::Error::other("the tree cannot be copied")) }
}

/// True when a file begins with the name of its interpreter.
fn is_script(path: &Path) -> bool {
    let mut start = [0; 2];
    fs::File::open(path).and_then(|mut it| it.read_exact(&mut start)).is_ok() && start == *b"#!"
}

/// Programs that were started and that the analysis did not list.
fn unannounced(log: &str, announced: &[String]) -> Vec<String> {
    // What a script of the system starts is its own affair.
    if announced.iter().filter_map(|it| shim::real(it)).any(|it| is_script(&it)) {
        return Vec::new();
    }
    let helper = |name: &str| {
        HELPERS.iter().any(|(program, helpers)| {
            announced.iter().any(|it| it == program) && helpers.contains(&name)
        })
    };
    let mut found: Vec<String> = Vec::new();
    for line in log.lines() {
        let name = line.split('\u{1f}').next().unwrap_or_default();
        if !announced.iter().any(|it| it == name) && !helper(name) {
            found.push(format!("started {}", line.replace('\u{1f}', " ")));
        }
    }
    found.truncate(4);
    found
}
