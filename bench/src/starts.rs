//! Commands that answer and end: a whole process of `eclusa check` and `eclusa hook`, beside
//! `/bin/true` and `eclusa --version`.

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::measure::{Told, line, middle, percentile_99, plain};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// How often each is started, in turn.
const STARTS: usize = 101;

pub(crate) fn run() -> Told {
    let beside = std::env::current_exe()?;
    let eclusa = beside.parent().unwrap_or(Path::new(".")).join("eclusa");
    if !eclusa.exists() {
        let build = "cargo build --release -p eclusa-bench -p eclusa-cli";
        return Err(format!("`{}` is not there: {build}", eclusa.display()).into());
    }
    let place = tempfile::tempdir()?;
    let workspace = place.path().join("workspace");
    fs::create_dir_all(workspace.join(".git"))?;
    let event = |tool: &str, input: Value| {
        let event = json!({
            "session_id": "s", "hook_event_name": "PreToolUse", "tool_name": tool,
            "tool_input": input, "tool_use_id": "[ROUND]", "cwd": workspace,
        });
        event.to_string()
    };
    let command = event("Bash", json!({"command": "git status"}));
    let file = json!({"file_path": workspace.join("a.txt"), "content": "a line\n"});
    let write = event("Write", file);
    let line_in = "{\"tool\":\"bash\",\"args\":{\"command\":\"git status\"}}\n";
    let args = "{\"command\":\"git status\"}";
    let program = eclusa.to_string_lossy();
    let program: &str = &program;
    let kinds: [(&str, Vec<&str>, &str); 6] = [
        ("baseline: /bin/true", vec!["/bin/true"], ""),
        ("eclusa --version", vec![program, "--version"], ""),
        ("eclusa check --jsonl (goal: 5 ms)", vec![program, "check", "--jsonl"], line_in),
        ("eclusa check, for people", vec![program, "check", "bash", args], ""),
        ("eclusa hook, a file is written", vec![program, "hook", "claude"], &write),
        ("eclusa hook, with its records (goal: 5 ms)", vec![program, "hook", "claude"], &command),
    ];
    let mut times = kinds.clone().map(|_| Vec::with_capacity(STARTS));
    for round in 0..=STARTS {
        for ((name, words, input), times) in kinds.iter().zip(&mut times) {
            // Agents give each call an id of its own.
            let input = input.replace("[ROUND]", &round.to_string());
            let took = started(words, &input, place.path(), &workspace)
                .map_err(|err| format!("{name}: {err}"))?;
            // The first one makes what the others find.
            if round > 0 {
                times.push(took);
            }
        }
    }
    let hooks = times.last().cloned().unwrap_or_default();
    let medians = times.map(middle);
    for ((name, ..), took) in kinds.iter().zip(medians) {
        line(name, took, medians.first().copied().unwrap_or_default());
    }
    plain("the same, 99th of a hundred (goal: 15 ms)", percentile_99(hooks));
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the benchmark starts what it measures")]
fn started(words: &[&str], input: &str, place: &Path, workspace: &Path) -> Outcome<Duration> {
    let (program, args) = words.split_first().ok_or("nothing to start")?;
    let mut command = Command::new(program);
    command.args(args).current_dir(workspace).env("HOME", place);
    command.env_remove("XDG_STATE_HOME").env_remove("XDG_CONFIG_HOME");
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // Some do not read it.
        let _ = stdin.write_all(input.as_bytes());
    }
    let status = child.wait()?;
    let took = began.elapsed();
    if status.success() { Ok(took) } else { Err(format!("it ended with {status}").into()) }
}
