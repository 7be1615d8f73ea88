//! Starting programs: the one place that does, so that the same limits hold for all of them.
//!
//! A program gets a process group of its own, an environment made from a list, its input on a
//! stdin that is then closed, and a bounded place for its output. Whatever way the waiting ends
//! (the program exits, the caller's time is up, the caller goes away) nobody of the group is left
//! and no pipe that somebody holds open keeps anybody waiting.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Seek as _, Write as _},
    os::{fd::OwnedFd, unix::fs::OpenOptionsExt as _},
    path::PathBuf,
    process::{ExitStatus, Stdio},
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::unix::pipe::Receiver,
    process::Command,
};

pub use group::{Group, wait_for_killers, wait_later};
use output_buffer::OutputBuffer;

mod group;
mod output_buffer;
#[cfg(test)]
mod tests;

/// What programs see of our environment, besides what configuration names.
const ENVIRONMENT: [&str; 4] = ["PATH", "HOME", "LANG", "TERM"];

/// How long pipes are read on after the program and its group are gone: somebody who left the
/// group may hold them open for good.
const DRAIN: Duration = Duration::from_millis(200);

/// A program to be started.
#[derive(Debug, Clone)]
pub struct Program {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Where it runs.
    pub directory: PathBuf,
    /// Variables of our environment that it may see, besides the usual four.
    pub env: Vec<String>,
    /// Variables that it gets besides.
    pub set: Vec<(String, OsString)>,
}

/// Where a program's two outputs go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// Into one text, in the order in which they were written.
    Together,
    /// Each into its own.
    Apart,
}

/// How a program ended, and what it wrote.
#[derive(Debug)]
pub struct Finished {
    /// The exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Its stdout; both outputs with [`Streams::Together`].
    pub out: String,
    /// Its stderr; empty with [`Streams::Together`].
    pub err: String,
    /// True when its time was up, and it was ended with everybody that it had started.
    pub late: bool,
}

impl Finished {
    /// How it ended, in words.
    pub fn how(&self) -> String {
        match (self.code, self.signal) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "no exit code".to_owned(),
        }
    }
}

impl Program {
    /// Runs it to its end. Dropping the future ends the whole group.
    pub async fn run(&self, input: Vec<u8>, streams: Streams) -> io::Result<Finished> {
        self.run_for(Duration::MAX, input, streams).await
    }

    /// The same, for no longer than this. What it has written by then is kept.
    pub async fn run_for(
        &self,
        time: Duration,
        input: Vec<u8>,
        streams: Streams,
    ) -> io::Result<Finished> {
        let (out, out_writer) = std::io::pipe()?;
        let (err, err_writer) = match streams {
            Streams::Together => (None, out_writer.try_clone()?),
            Streams::Apart => {
                let (reader, writer) = std::io::pipe()?;
                (Some(reader), writer)
            }
        };
        let mut command = self.prepared()?;
        command.stdin(Stdio::piped()).stdout(out_writer).stderr(err_writer);
        let child = command.spawn().map_err(|err| self.explained(&err))?;
        // The command holds our writing ends of the pipes; with them open no reading would end.
        drop(command);
        let mut out = reading(OwnedFd::from(out))?;
        let mut err = err.map(|it| reading(OwnedFd::from(it))).transpose()?;
        let mut group = Group::new(child);
        let mut kept = (OutputBuffer::default(), OutputBuffer::default());
        let status = {
            let (first, second) =
                (collect(&mut out, &mut kept.0), collect_some(&mut err, &mut kept.1));
            let reading = async { tokio::join!(first, second) };
            tokio::time::timeout(time, follow(&mut group, input, reading)).await
        };
        let status = match status {
            Ok(status) => Some(status?),
            Err(_elapsed) => {
                drop(group);
                // What is in the pipes, and what it says at its end.
                let (first, second) =
                    (collect(&mut out, &mut kept.0), collect_some(&mut err, &mut kept.1));
                let rest = async { tokio::join!(first, second) };
                let _ = tokio::time::timeout(DRAIN.min(time / 20), rest).await;
                None
            }
        };
        Ok(Finished {
            code: status.and_then(|it| it.code()),
            signal: status.and_then(|it| std::os::unix::process::ExitStatusExt::signal(&it)),
            out: kept.0.into_text(),
            err: kept.1.into_text(),
            late: status.is_none(),
        })
    }

    /// Starts it beside this program, which does not wait for it and may end before it: this is on its
    /// input, and what it says is lost.
    pub fn start_beside(&self, input: &[u8]) -> io::Result<()> {
        let mut file = unnamed_file()?;
        file.write_all(input)?;
        file.rewind()?;
        let mut command = self.prepared()?;
        command.stdin(file).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(drop).map_err(|err| self.explained(&err))
    }

    /// Runs it on the terminal that we are on, in our own process group: an editor.
    pub fn run_on_terminal(&self) -> io::Result<ExitStatus> {
        let (program, args) = self.command.split_first().ok_or_else(nothing)?;
        #[expect(clippy::disallowed_methods, reason = "this file is where programs are started")]
        let mut command = std::process::Command::new(program);
        command.args(args).current_dir(&self.directory).status().map_err(|err| self.explained(&err))
    }

    /// The program as it will be started: its group, its directory, its environment, its pipes.
    pub fn prepared(&self) -> io::Result<Command> {
        let (program, args) = self.command.split_first().ok_or_else(nothing)?;
        #[expect(clippy::disallowed_methods, reason = "this file is where programs are started")]
        let mut command = Command::new(program);
        let names = ENVIRONMENT.into_iter().chain(self.env.iter().map(String::as_str));
        let inherited = names.filter_map(|name| Some((name, std::env::var_os(name)?)));
        command
            .args(args)
            .current_dir(&self.directory)
            .env_clear()
            .envs(inherited)
            .envs(self.set.iter().map(|(name, value)| (name, value)))
            .process_group(0);
        Ok(command)
    }

    /// The error, with the name of the program that could not be started.
    pub fn explained(&self, err: &io::Error) -> io::Error {
        let program = self.command.first().map_or("", String::as_str);
        io::Error::new(err.kind(), format!("`{program}` cannot be started: {err}"))
    }
}

/// A file that nobody else can open, and that is gone with the last handle.
fn unnamed_file() -> io::Result<File> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let (id, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(format!("eclusa-input-{id}-{number}"));
    let mut options = File::options();
    let file = options.read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    #[expect(clippy::disallowed_methods, reason = "its name goes at once")]
    std::fs::remove_file(&path)?;
    Ok(file)
}

fn nothing() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "no program is named")
}

fn reading(fd: OwnedFd) -> io::Result<Receiver> {
    Receiver::from_owned_fd(fd)
}

/// Feeds the program, waits for its end, ends what it left behind, and reads what is still in the
/// pipes.
async fn follow(
    group: &mut Group,
    input: Vec<u8>,
    reading: impl Future<Output = ((), ())>,
) -> io::Result<ExitStatus> {
    let mut reading = std::pin::pin!(reading);
    let mut drained = false;
    let status = {
        let ending = async {
            // A program that does not want its input may continue without it.
            feed(group, input).await;
            group.wait().await
        };
        let mut ending = std::pin::pin!(ending);
        loop {
            tokio::select! {
                status = &mut ending => break status?,
                _ = &mut reading, if !drained => drained = true,
            }
        }
    };
    group.end_rest();
    if !drained {
        // INVARIANT: whoever still holds a pipe open is not waited for.
        let _ = tokio::time::timeout(DRAIN, reading).await;
    }
    Ok(status)
}

/// Writes the input and closes the pipe, unless the program ends first.
async fn feed(group: &mut Group, input: Vec<u8>) {
    let Some(mut stdin) = group.stdin() else { return };
    tokio::select! {
        // An error means that it has closed its end.
        _ = stdin.write_all(&input) => {}
        _ = group.wait() => {}
    }
}

async fn collect(pipe: &mut Receiver, kept: &mut OutputBuffer) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        kept.add(buffer.get(..count).unwrap_or_default());
    }
}

async fn collect_some(pipe: &mut Option<Receiver>, kept: &mut OutputBuffer) {
    if let Some(pipe) = pipe {
        collect(pipe, kept).await;
    }
}
