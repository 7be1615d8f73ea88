//! A fleet as an administrator sets it up: keys, documents and people by the program itself, and two servers of it.

use std::{
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use eclusa_fleet::EnrolmentCode;
use tempfile::TempDir;

use super::{Outcome, database::Postgres};

/// The fleet.
pub(super) struct Deployment {
    pub(super) servers: [ServerProcess; 2],
    /// With which every machine enrols.
    pub(super) code: EnrolmentCode,
    /// The key of a person who may answer.
    pub(super) person: PathBuf,
    _dir: TempDir,
}

/// A server that runs.
pub(super) struct ServerProcess {
    child: Child,
    pub(super) at: SocketAddr,
}

impl ServerProcess {
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // It is gone in any case.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[expect(clippy::disallowed_methods, reason = "the measurement runs the program")]
fn command(program: &Path, dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(dir).env_clear().stdin(Stdio::null());
    for (name, place) in
        [("HOME", "home"), ("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state")]
    {
        command.env(name, dir.join(place));
    }
    command
}

fn run(program: &Path, dir: &Path, args: &[&str]) -> Outcome<String> {
    let ran = command(program, dir, args).output()?;
    match ran.status.success() {
        true => Ok(String::from_utf8_lossy(&ran.stdout).into_owned()),
        false => {
            let said = String::from_utf8_lossy(&ran.stderr);
            Err(format!("`eclusa {}`: {said}", args.join(" ")).into())
        }
    }
}

impl Deployment {
    pub(super) async fn start(program: &Path, postgres: &Postgres) -> Outcome<Deployment> {
        postgres.connect("postgres").await?.batch_execute("create database fleet").await?;
        let dir = tempfile::tempdir()?;
        let at = dir.path();
        let run = |args: &[&str]| run(program, at, args);
        std::fs::create_dir(at.join("policy"))?;
        std::io::Write::write_all(
            &mut std::fs::File::create(at.join("policy/all.toml"))?,
            b"# nothing\n",
        )?;
        run(&["fleet", "init", "acme", "--name", "acme"])?;
        let (documents, key) =
            ("acme/documents.json", |role: &str| format!("acme/keys/acme-{role}-1.key"));
        run(&["fleet", "push", "policy", "--to", documents, "--key", &key("policy")])?;
        run(&["people", "add", "bo", "--new-key", "bo.key"])?;
        run(&["fleet", "people", "--to", documents, "--key", &key("people")])?;
        let database = postgres.address("fleet");
        run(&["fleet", "migrate", "--database", &database, "--documents", documents])?;
        let serve = || {
            let args = ["fleet", "serve", "--database", &database, "--listen", "127.0.0.1:0"];
            let seal = ["--seal-key", &key("seal")];
            let mut child = command(program, at, &[&args[..], &seal[..]].concat())
                .stdout(Stdio::piped())
                .stderr(Stdio::inherit())
                .spawn()?;
            let mut line = String::new();
            let out = child.stdout.take().ok_or("the server says nothing")?;
            BufReader::new(out).read_line(&mut line)?;
            let address = line.trim().strip_prefix("serving at http://").unwrap_or_default();
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(ServerProcess {
                at: address.parse()?,
                child,
            })
        };
        let servers = [serve()?, serve()?];
        let [first, _] = &servers;
        let url = format!("http://{}", first.at);
        let code = run(&[
            "fleet",
            "invite",
            "--server",
            &url,
            "--team",
            "web",
            "--uses",
            "20000",
            "--documents",
            documents,
            "--key",
            &key("enroll"),
        ])?;
        let code = code.split_whitespace().last().unwrap_or_default().parse()?;
        Ok(Deployment { servers, code, person: at.join("bo.key"), _dir: dir })
    }
}
