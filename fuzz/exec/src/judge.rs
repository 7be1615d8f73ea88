//! The judgement: the program itself says what it would allow.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// Those of the texts that are allowed without a question.
pub(crate) fn allowed<'t>(
    program: &Path,
    texts: impl Iterator<Item = &'t String>,
) -> Result<Vec<String>, String> {
    let texts: Vec<&String> = texts.collect();
    let home = tempfile::tempdir().map_err(|err| err.to_string())?;
    let work = home.path().join("w");
    crate::ground::make(&work).map_err(|err| err.to_string())?;
    #[expect(clippy::disallowed_methods, reason = "the program that judges")]
    let mut judge = Command::new(program);
    judge.args(["check", "--jsonl"]).current_dir(&work).env("HOME", home.path());
    for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"] {
        judge.env(name, home.path().join(name));
    }
    let mut judge = judge.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|err| {
        format!("{}: {err}; build it first with `cargo build`", program.display())
    })?;
    let (Some(mut stdin), Some(stdout)) = (judge.stdin.take(), judge.stdout.take()) else {
        return Err("the judge has no pipes".to_owned());
    };
    let lines: Vec<String> = texts
        .iter()
        .enumerate()
        .map(|(at, text)| {
            format!("{}\n", json!({"id": at, "tool": "bash", "args": {"command": text}}))
        })
        .collect();
    let writer =
        std::thread::spawn(move || lines.iter().try_for_each(|it| stdin.write_all(it.as_bytes())));
    let mut allowed = BTreeSet::new();
    let mut answers = 0;
    for line in BufReader::new(stdout).lines() {
        let line = line.map_err(|err| err.to_string())?;
        let said: Value = serde_json::from_str(&line).map_err(|err| format!("{err}: {line}"))?;
        answers += 1;
        if said.get("decision").and_then(Value::as_str) == Some("allow")
            && let Some(at) = said.get("id").and_then(Value::as_u64)
        {
            allowed.insert(usize::try_from(at).unwrap_or(usize::MAX));
        }
    }
    let _ = writer.join();
    judge.wait().map_err(|err| err.to_string())?;
    if answers != texts.len() {
        return Err(format!("{answers} answers for {} commands", texts.len()));
    }
    Ok(allowed.iter().filter_map(|it| texts.get(*it)).map(|it| (*it).clone()).collect())
}
