//! The agents' own engines as judges: Codex has a command for it, Gemini CLI a library in its bundle.

use std::{env, path::Path, time::Duration};

use eclusa::Decision;
use serde_json::Value;

use super::Judged;
use crate::{
    args::Agent,
    failure::Failure,
    spawn::{Program, Streams},
};

/// How long one start of a program may take.
const MAX_TIME: Duration = Duration::from_secs(600);

/// The script that asks Gemini CLI's engine, run by node.
const GEMINI_SCRIPT: &str = include_str!("gemini_engine.mjs");

/// What the agent's own program decides about each command.
pub(super) async fn judge(
    agent: Agent,
    file: &Path,
    commands: &[String],
) -> Result<Vec<Judged>, Failure> {
    let file = file.canonicalize()?;
    let text = file.to_str().ok_or_else(|| Failure::usage("the path of the file is not UTF-8"))?;
    match agent {
        Agent::Codex => codex(&in_path("codex")?, text, commands).await,
        Agent::Gemini => gemini(&in_path("gemini")?, text, commands).await,
        other => Err(Failure::usage(format!("{other} has no engine that can be asked"))
            .hint("leave `--real` out: a model of it is asked")),
    }
}

fn in_path(name: &str) -> Result<String, Failure> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).map(|it| it.join(name)).find(|it| it.is_file());
    let found = found.and_then(|it| it.to_str().map(str::to_owned));
    found.ok_or_else(|| {
        Failure::usage(format!("`{name}` is not in PATH, so it cannot be asked"))
            .hint("leave `--real` out: a model of it is asked")
    })
}

/// Codex judges words. What is more than plain words it hands to a shell.
async fn codex(program: &str, rules: &str, commands: &[String]) -> Result<Vec<Judged>, Failure> {
    let mut judged = Vec::with_capacity(commands.len());
    for command in commands {
        let plain = |it: char| it.is_ascii_alphanumeric() || "_-./:@%+,= ".contains(it);
        let words: Vec<&str> = match command.chars().all(plain) {
            true => command.split_whitespace().collect(),
            false => vec!["bash", "-lc", command],
        };
        let ask = [program, "execpolicy", "check", "--rules", rules, "--"];
        let line: Vec<&str> = ask.into_iter().chain(words).collect();
        let said = ran("codex", &line, Vec::new()).await?;
        let answer: Value = serde_json::from_str(said.trim())
            .map_err(|err| Failure::failed(format!("codex did not answer in JSON: {err}")))?;
        let decision = answer.get("decision").and_then(Value::as_str);
        judged.push(match decision {
            Some("allow") => (Decision::Allow, "its rules".to_owned()),
            Some("prompt") => (Decision::Ask, "its rules".to_owned()),
            Some(_) => (Decision::Deny, "its rules".to_owned()),
            None => (Decision::Ask, "no rule".to_owned()),
        });
    }
    Ok(judged)
}

/// Gemini CLI judges all of them in one start, with the policies that it ships.
async fn gemini(program: &str, rules: &str, commands: &[String]) -> Result<Vec<Judged>, Failure> {
    let node = in_path("node")?;
    let line = [&node, "--input-type=module", "-e", GEMINI_SCRIPT, program, rules];
    let input = Value::from(commands.to_vec()).to_string().into_bytes();
    let said = ran("gemini", &line, input).await?;
    let answers: Vec<(String, Option<String>)> = said
        .lines()
        .find_map(|it| serde_json::from_str(it.strip_prefix("eclusa ")?).ok())
        .ok_or_else(|| Failure::failed("Gemini CLI's engine did not answer"))?;
    if answers.len() != commands.len() {
        return Err(Failure::failed("Gemini CLI's engine did not answer for every command"));
    }
    let judged = answers.into_iter().map(|(decision, source)| {
        let decision = match decision.as_str() {
            "allow" => Decision::Allow,
            "ask_user" => Decision::Ask,
            _ => Decision::Deny,
        };
        (decision, source.unwrap_or_else(|| "its engine".to_owned()))
    });
    Ok(judged.collect())
}

async fn ran(name: &str, line: &[&str], input: Vec<u8>) -> Result<String, Failure> {
    let program = Program {
        command: line.iter().map(|it| (*it).to_owned()).collect(),
        directory: env::temp_dir(),
        env: vec!["CODEX_HOME".to_owned()],
        set: Vec::new(),
    };
    let ended = tokio::time::timeout(MAX_TIME, program.run(input, Streams::Apart)).await;
    let ended = ended.map_err(|_| Failure::failed(format!("{name} did not answer in time")))??;
    match ended.code {
        Some(0) => Ok(ended.out),
        _ => {
            let last = ended.err.lines().rev().find(|it| !it.trim().is_empty()).unwrap_or_default();
            Err(Failure::failed(format!("{name} cannot judge ({}): {last}", ended.how())))
        }
    }
}
