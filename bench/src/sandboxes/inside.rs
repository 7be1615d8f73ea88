//! Real commands in a workspace of 20,000 files: plainly, and in a sandbox with everything that `bash`
//! does around it. And what is found out about the workspace before each command.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use eclusa_tools::{CommandOrder, SandboxSettings, Sandboxes, Writes};

use super::{Outcome, timed};
use crate::measure::{Told, line, middle, shortest};

/// What is run, and whether it writes.
const COMMANDS: [(&str, &str, Writes); 5] = [
    ("true", "true", Writes::Refused),
    ("true, staged", "true", Writes::Staged),
    ("git status", "git status --short", Writes::Refused),
    ("grep -r", "grep -rl 19999 . | wc -l", Writes::Refused),
    ("compiling a C file", "cc -O1 -c main.c -o main.o", Writes::Staged),
];

/// A program that takes a compiler a moment.
const PROGRAM: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
    int main(int c, char **v) { for (int i = 0; i < c; i++) printf(\"%s\\n\", v[i]); return 0; }\n";

pub(super) fn run(rounds: usize, root: &Path, state: &Path) -> Told {
    std::fs::create_dir_all(state)?;
    shell(root, "git init -q . && git add . && git -c user.name=b -c user.email=b@b commit -qm b")?;
    std::io::Write::write_all(
        &mut std::fs::File::create(root.join("main.c"))?,
        PROGRAM.as_bytes(),
    )?;
    let settings = || SandboxSettings {
        env: std::env::vars_os().filter(|(name, _)| name == "PATH").collect(),
        ..SandboxSettings::new(root, state)
    };
    let sandboxes = Sandboxes::new(settings())?;
    for (name, command, writes) in COMMANDS {
        let (mut plain, mut inside) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            plain.push(timed(|| shell(root, command))?);
            inside.push(timed(|| sandboxed(&sandboxes, root, command, writes))?);
            sandboxes.settle();
        }
        let best = |times: &[Duration]| times.iter().min().copied().unwrap_or_default();
        let (plain_best, inside_best) = (best(&plain), best(&inside));
        let plain = middle(plain);
        line(&format!("baseline: {name}, plainly, 20,000 files"), plain, plain);
        line(&format!("{name}, in a sandbox"), middle(inside), plain);
        line(&format!("{name}, the shortest of each"), inside_best, plain_best);
    }
    survey(root, &settings)
}

/// What has to be known of a workspace before a command starts: what to hide, and which
/// repositories there are.
fn survey(root: &Path, settings: &impl Fn() -> SandboxSettings) -> Told {
    let places = [root.to_owned()];
    let every_time = shortest(9, || {
        let hidden = eclusa_sandbox::secrets(None, &places);
        (hidden, eclusa_sandbox::git_environment(&places, None))
    });
    line("baseline: a look at the first 4,000 entries each time", every_time, every_time);
    let first = shortest(5, || Sandboxes::new(settings()).map(|it| it.surveyed()));
    line("the first survey of all 20,000 files", first, every_time);
    let sandboxes = Sandboxes::new(settings())?;
    std::thread::sleep(Duration::from_millis(200));
    sandboxes.surveyed();
    line("each further survey", shortest(30, || sandboxes.surveyed()), every_time);
    Ok(())
}

fn shell(root: &Path, text: &str) -> Outcome<()> {
    #[expect(clippy::disallowed_methods, reason = "it is what a sandbox is compared with")]
    let mut command = Command::new("/bin/bash");
    command.args(["--norc", "--noprofile", "-p", "-c", text]).current_dir(root);
    let output = command.stdin(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(format!("{text}: {said}").into()) }
}

fn sandboxed(sandboxes: &Sandboxes, root: &Path, command: &str, writes: Writes) -> Outcome<()> {
    let (command, cwd) = (command.to_owned(), root.to_owned());
    let order = CommandOrder {
        command,
        cwd,
        writes,
        time: Duration::from_secs(120),
        session: None,
        background: false,
        bound: Vec::new(),
        hidden: eclusa::policy::HiddenPaths::nothing(),
        hosts: Default::default(),
        program: None,
        signing: None,
    };
    let ran = sandboxes.start(&order, |_| {})?.wait()?;
    match ran.exit.success() {
        true => Ok(()),
        false => Err(format!("{}: {}", order.command, ran.exit.output.text()).into()),
    }
}
