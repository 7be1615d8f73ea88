//! The tools that look, beside ripgrep, on one tree in one run.
//!
//! Ours answers a call: through the gate, with the log in memory and the shipped rules and blocked
//! files judged for every name, sorted and cut to a page. Ripgrep writes into a file that nobody
//! reads. Both count all matches where the row says so.

use std::{
    fs::{self, File},
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use eclusa::{Files, Gate, Registry, Rules, ToolCall};
use eclusa_config::Config;
use eclusa_tools::search::{Glob, Grep, List};
use serde_json::{Value, json};

use crate::measure::{Told, line, shortest, tell};

const FILES: usize = 20_000;
const BYTES: usize = 10_000;
const RUNS: usize = 7;

pub(crate) fn run() -> Told {
    let dir = tempfile::tempdir()?;
    let root = dir.path().join("tree");
    grow(&root)?;
    let gate = gate(&root)?;
    let rg = ripgrep();
    if rg.is_none() {
        tell(format_args!(
            "  ripgrep is not here (`scripts/bench-tools` installs it): only ours is measured"
        ));
    }
    let rows: [(&str, &str, Value, &[&str]); 6] = [
        (
            "grep, a word that few files have",
            "grep",
            json!({"pattern": "needle_word", "literal": true}),
            &["-n", "-F", "needle_word", "."],
        ),
        (
            "grep, a regular expression, count of all files",
            "grep",
            json!({"pattern": r"fn \w+_needle\(\d+\)", "output": "count"}),
            &["-c", r"fn \w+_needle\(\d+\)", "."],
        ),
        (
            "grep, a word that is not there",
            "grep",
            json!({"pattern": "absent_word", "literal": true}),
            &["-n", "-F", "absent_word", "."],
        ),
        (
            "grep, a regular expression that is not there",
            "grep",
            json!({"pattern": r"(?i)absent\s+word\d"}),
            &["-n", r"(?i)absent\s+word\d", "."],
        ),
        ("glob, all files", "glob", json!({"pattern": "**"}), &["--files", "--hidden", "."]),
        (
            "glob, one kind of files",
            "glob",
            json!({"pattern": "*.rs"}),
            &["--files", "--hidden", "-g", "*.rs", "."],
        ),
    ];
    for (name, tool, args, theirs) in rows {
        let ours = || -> Result<(), String> {
            let reply = gate.pass_blocking(ToolCall::new("1", tool, args.clone()));
            match reply {
                Ok(reply) if !reply.is_error() => Ok(()),
                Ok(reply) => Err(reply.content().into()),
                Err(err) => Err(err.to_string()),
            }
        };
        // Both once before: the files are in memory then, and mistakes are seen.
        ours()?;
        let baseline = match &rg {
            Some(rg) => {
                search(rg, &root, theirs)?;
                let took = shortest(RUNS, || search(rg, &root, theirs));
                line(&format!("baseline: rg {}", theirs.join(" ")), took, took);
                Some(took)
            }
            None => None,
        };
        let took: Duration = shortest(RUNS, ours);
        line(name, took, baseline.unwrap_or(took));
    }
    Ok(())
}

fn gate(root: &Path) -> Result<Gate, Box<dyn std::error::Error>> {
    let config = Config::load(&[])?;
    let files = Files::open(root, config.blocked.clone())?;
    let registry = Registry::new();
    registry.add(List::new(files.clone()))?;
    registry.add(Glob::new(files.clone()))?;
    registry.add(Grep::new(files))?;
    let rules = Rules::new(config.rules, root);
    Ok(Gate::builder().registry(registry).policy(rules).build()?)
}

/// 20,000 files of 10,000 bytes each, 50 to a directory: 200 MB.
fn grow(root: &Path) -> std::io::Result<()> {
    let words = "The lock has two gates, and they are never open at once.\nlet value = 42;\n";
    let body = words.repeat(BYTES / words.len() + 1);
    for at in 0..FILES {
        let directory = root.join(format!("part{}/group{}", at / 1000, at / 50 % 20));
        if at % 50 == 0 {
            fs::create_dir_all(&directory)?;
        }
        let kind = ["rs", "md", "txt", "py"].get(at % 4).unwrap_or(&"txt");
        let mut file = File::create(directory.join(format!("file{at}.{kind}")))?;
        let special = match at % 200 {
            0 => "let it = needle_word;\n",
            1 => "fn some_needle(1234)\n",
            _ => "nothing special here\n",
        };
        file.write_all(special.as_bytes())?;
        file.write_all(body.as_bytes().get(..BYTES - special.len()).unwrap_or_default())?;
    }
    Ok(())
}

/// Where ripgrep is, if it is anywhere.
fn ripgrep() -> Option<String> {
    let own = format!(
        "{}/target/bench-tools/bin/rg",
        env!("CARGO_MANIFEST_DIR").trim_end_matches("/bench")
    );
    [own, "rg".to_owned()].into_iter().find(|it| {
        let out = started(it).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        out.is_ok_and(|it| it.success())
    })
}

fn search(rg: &str, root: &Path, args: &[&str]) -> std::io::Result<()> {
    let status = started(rg)
        .args(["--no-config", "--no-messages"])
        .args(args)
        .current_dir(root)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()?;
    // 1: nothing was found.
    match status.code() {
        Some(0 | 1) => Ok(()),
        _ => Err(std::io::Error::other(format!("rg ended with {status}"))),
    }
}

#[expect(clippy::disallowed_methods, reason = "the program to compare with is another program")]
fn started(program: &str) -> Command {
    Command::new(program)
}
