//! A place of its own for every test: workspace, configuration, state, and the binary.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use regex::Regex;
use serde_json::Value;
use tempfile::TempDir;

/// Where a test takes place.
pub(crate) struct World {
    dir: TempDir,
}

/// What the binary did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// The output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|err| panic!("{err}: {self:?}"))
    }
}

impl World {
    pub(crate) fn new() -> World {
        let world = World { dir: tempfile::tempdir().unwrap() };
        for name in ["workspace", "config/eclusa", "state", "home"] {
            fs::create_dir_all(world.path(name)).unwrap();
        }
        world
    }

    /// With this as the person's configuration.
    pub(crate) fn with(config: &str) -> World {
        let world = World::new();
        world.write("config/eclusa/eclusa.toml", config);
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
        path
    }

    #[expect(clippy::disallowed_methods, reason = "a file that the test has made")]
    pub(crate) fn remove(&self, name: &str) {
        std::fs::remove_file(self.path(name)).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// A shell script, as a quoted TOML string of its path.
    pub(crate) fn script(&self, name: &str, text: &str) -> String {
        format!("{:?}", self.program(name, &format!("#!/bin/sh\n{text}\n")))
    }

    /// A file that can be run. Another process writes it: a child that another test starts at this
    /// moment would have it open for writing for a while, and what is open so cannot be run.
    pub(crate) fn program(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        #[expect(clippy::disallowed_methods, reason = "the test has a shell write a file")]
        let mut shell = Command::new("sh");
        shell.args(["-c", "cat > \"$0\" && chmod 700 \"$0\""]).arg(&path);
        let mut writing = shell.stdin(Stdio::piped()).spawn().unwrap();
        writing.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        assert!(writing.wait().unwrap().success());
        path
    }

    /// The binary with an environment of its own, ready to start.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        #[expect(clippy::disallowed_methods, reason = "the test starts the binary")]
        let mut command = Command::new(env!("CARGO_BIN_EXE_eclusa"));
        command
            .args(args)
            .current_dir(self.path("workspace"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("USER", "tester")
            .env("ECLUSA_EXAMPLE_TOOLS", "true")
            .env("TERM", "xterm");
        command
    }

    /// Runs the binary without a terminal and without input.
    pub(crate) fn eclusa(&self, args: &[&str]) -> Ran {
        self.piped(args, "")
    }

    /// Runs the binary without a terminal, with this on its stdin.
    pub(crate) fn piped(&self, args: &[&str], input: &str) -> Ran {
        self.without(&[], args, input)
    }

    /// Runs the binary where this is the administrator's file, in namespaces of its own.
    pub(crate) fn under_administrator(&self, file: &Path, args: &[&str]) -> Ran {
        run(self.administered(file, args), "")
    }

    /// The same, ready to start.
    pub(crate) fn administered(&self, file: &Path, args: &[&str]) -> Command {
        let eclusa = self.command(args);
        #[expect(clippy::disallowed_methods, reason = "the test starts the binary elsewhere")]
        let mut command = Command::new("unshare");
        let mount = "mount -t tmpfs none /etc && mkdir /etc/eclusa && \
                     cp \"$1\" /etc/eclusa/eclusa.toml && shift && exec \"$@\"";
        command.args(["-rm", "sh", "-c", mount, "sh"]).arg(file);
        command.arg(eclusa.get_program()).args(eclusa.get_args());
        command.current_dir(self.path("workspace")).env_clear();
        command.envs(eclusa.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
    }

    /// The same without some variables of the environment.
    pub(crate) fn without(&self, variables: &[&str], args: &[&str], input: &str) -> Ran {
        let mut command = self.command(args);
        for name in variables {
            command.env_remove(name);
        }
        run(command, input)
    }

    /// A transcript of these commands, with what differs from run to run taken out.
    pub(crate) fn transcript(&self, commands: &[&[&str]]) -> String {
        let mut text = String::new();
        for args in commands {
            let ran = self.eclusa(args);
            text.push_str(&format!("$ eclusa {}\n{}", args.join(" "), ran.out));
            if !ran.err.is_empty() {
                text.push_str(&format!("stderr:\n{}", ran.err));
            }
            text.push_str(&format!("exit {}\n", ran.code));
        }
        self.plain(&text)
    }

    /// The text with what differs from run to run taken out.
    pub(crate) fn plain(&self, text: &str) -> String {
        let text =
            text.replace(&self.dir.path().canonicalize().unwrap().display().to_string(), "<dir>");
        let text = text.replace(&self.dir.path().display().to_string(), "<dir>");
        let marks = [
            (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ", "<time>"),
            (r"\b[0-9a-f]{64}\b", "<hash>"),
            (r"\b[0-9a-f]{16}\b", "<revision>"),
            (r"\d+ other rules do not apply", "<n> other rules do not apply"),
            (r"cli-[0-9a-f]+-[0-9a-f]+", "<call>"),
            (r"\btook( +)\d+ ms", "took${1}<ms> ms"),
            (r"(?m)(ok|no_approver|tool_failed)( +)\d+$", "$1$2<ms>"),
        ];
        marks.iter().fold(text, |text, (pattern, mark)| {
            Regex::new(pattern).unwrap().replace_all(&text, *mark).into_owned()
        })
    }

    /// All records of the log, oldest first.
    pub(crate) fn records(&self) -> Vec<Value> {
        let ran = self.eclusa(&["log", "export"]);
        ran.out
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["body"].clone())
            .collect()
    }

    /// The file of the log, where other things of the person lie beside its directory.
    pub(crate) fn store_of_workspace(&self) -> PathBuf {
        let states = fs::read_dir(self.path("state/eclusa")).unwrap();
        let mut stores = states.map(|it| it.unwrap().path().join("eclusa.db"));
        stores.find(|it| it.is_file()).unwrap()
    }

    /// The only file of the log.
    pub(crate) fn store(&self) -> PathBuf {
        let state = self.path("state/eclusa");
        let place = fs::read_dir(state).unwrap().next().unwrap().unwrap().path();
        place.join("eclusa.db")
    }
}

/// Runs a command without a terminal, with this on its stdin.
pub(crate) fn run(mut command: Command, input: &str) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    // The binary may not want all of it.
    let feeding = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().unwrap();
    feeding.join().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Whether a process is there; one that nobody has reaped yet does not count.
pub(crate) fn alive(pid: &str) -> bool {
    let stat = Path::new("/proc").join(pid.trim()).join("stat");
    fs::read_to_string(stat)
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim().starts_with('Z'))
}

/// Waits until something holds: for what another process does, and no longer than a minute.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    until(what, || holds().then_some(()));
}

/// The same for something that is to be found.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..6_000 {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("never happened: {what}");
}

/// Words in a row, however they were wrapped.
pub(crate) fn flowing(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
