//! `eclusa status --prove`: the real agent is started with a scripted model, and seen to obey.
//!
//! Three trials, each in a home and a workspace of its own with a copy of the person's settings: a
//! command that a rule allows must run, one that a rule denies must not, and with our program
//! missing none may. Nothing of it stays. What was seen is kept with digests of the agent's program
//! and of the settings: should either change, nothing is proven any more.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    time::{Duration, UNIX_EPOCH},
};

use eclusa::Hash;
use serde::{Deserialize, Serialize};

use super::{
    InstallScope,
    settings_files::{SettingsFile, files},
};
use crate::commands::{
    failure::Failure,
    global::Global,
    paths,
    spawn::{Program, Streams},
    tickets::random_name,
};
use crate::{AgentSpec, EntryFile, EntryState, agents::LaunchSpec, trial::TrialSpec};

mod scripted_model;
mod trial_home;
mod wires;

use scripted_model::ScriptedModel;
use trial_home::TrialHome;
use wires::ScriptedCall;

/// How long an agent may take for a trial.
const MAX_TRIAL: Duration = Duration::from_secs(120);
/// How long it may take to say its version.
const MAX_VERSION: Duration = Duration::from_secs(30);

/// The rules of a trial.
const RULES: &str = r#"[[rules]]
decision = "deny"
command = "touch denied"

[[rules]]
decision = "allow"
command = "touch allowed"
"#;

/// One trial.
struct Trial {
    /// The file that the command makes, if it runs.
    makes: &'static str,
    /// Whether our program is missing.
    missing: bool,
    /// What must not be: said when it is.
    failure: &'static str,
}

const TRIALS: [Trial; 3] = [
    Trial { makes: "allowed", missing: false, failure: "an allowed command did not run" },
    Trial { makes: "denied", missing: false, failure: "a denied command ran" },
    Trial { makes: "allowed", missing: true, failure: "a command ran with eclusa missing" },
];

/// What was seen, and with what.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TrialProof {
    /// What the agent calls its version.
    pub(super) version: String,
    /// Digest of the agent's program, its settings and ours.
    of: String,
}

/// The proof that is kept of an agent, if it is about what is there now.
pub(super) fn current_proof(global: &Global, agent: &AgentSpec) -> Option<TrialProof> {
    let text = fs::read(place(global, agent).ok()?).ok()?;
    let proof: TrialProof = serde_json::from_slice(&text).ok()?;
    let launch = agent.launch.as_ref()?;
    let (program, settings) = (installed(launch)?, gate_files(global, agent).ok()?);
    (digest(&program, &settings).ok()? == proof.of).then_some(proof)
}

/// The program of an agent, if it is there.
fn installed(launch: &LaunchSpec) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|it| it.join(launch.program)).find(|it| it.is_file())
}

/// Tries an agent. The error says why nothing is proven.
pub(super) async fn prove(global: &Global, agent: &AgentSpec) -> Result<TrialProof, String> {
    let launch = agent.launch.as_ref().ok_or("there is no trial for this agent")?;
    let program = installed(launch).ok_or("its program is not in PATH")?;
    let said = |failure: Failure| failure.lines().join("; ");
    let settings = gate_files(global, agent).map_err(said)?;
    if settings.is_empty() {
        return Err("only what is installed for you is tried (`eclusa install`)".to_owned());
    }
    let ours = InstallScope::User.facts().map_err(said)?.program;
    for trial in &TRIALS {
        let settings = match trial.missing {
            true => without_program(&settings, &ours)?,
            false => settings.clone(),
        };
        run(&launch.trial, &program, &settings, trial).await?;
    }
    let proof = TrialProof {
        version: version(&program).await,
        of: digest(&program, &settings).map_err(|err| err.to_string())?,
    };
    let text = serde_json::to_vec(&proof).map_err(|err| err.to_string())?;
    let kept = place(global, agent).map_err(said)?;
    crate::commands::remember::replace(&kept, text)
        .map_err(|err| format!("`{}`: {err}", kept.display()))?;
    Ok(proof)
}

/// One trial, in a home of its own.
async fn run(
    spec: &TrialSpec,
    program: &Path,
    settings: &[(PathBuf, String)],
    trial: &Trial,
) -> Result<(), String> {
    let failed = |err: io::Error| format!("the trial could not be set up: {err}");
    let top = tempfile::Builder::new().prefix("eclusa-trial-").tempdir().map_err(failed)?;
    let top = top.path().canonicalize().map(|it| (top, it)).map_err(failed)?;
    let (home, work) = (top.1.join("home"), top.1.join("work"));
    for directory in [&home.join("tmp"), &home.join(".config/eclusa"), &work] {
        fs::create_dir_all(directory).map_err(failed)?;
    }
    trial_home::write(&home.join(".config/eclusa/eclusa.toml"), RULES).map_err(failed)?;
    let (tool, args) = (spec.shell_call)(&format!("touch {}", trial.makes));
    let call = ScriptedCall { tool, args };
    let model = ScriptedModel::start(call).await.map_err(failed)?;
    let trial_home = TrialHome { home: &home, url: &model.url(), settings };
    trial_home.write(spec)?;
    let variables = trial_home.variables(spec).into_iter();
    let program = Program {
        command: std::iter::once(program.to_string_lossy().into_owned())
            .chain(spec.arguments.iter().map(|it| (*it).to_owned()))
            .collect(),
        directory: work.clone(),
        env: vec!["SHELL".to_owned()],
        set: variables.map(|(name, value)| (name.to_owned(), value.into())).collect(),
    };
    let running = program.run(Vec::new(), Streams::Together);
    let ended = match tokio::time::timeout(MAX_TRIAL, running).await {
        Ok(ended) => ended.map_err(|err| err.to_string())?,
        Err(_) => return Err(format!("it did not end within {} s", MAX_TRIAL.as_secs())),
    };
    let ran = work.join(trial.makes).exists();
    if !model.has_result() && !ran {
        let last = ended.out.lines().rev().find(|it| !it.trim().is_empty()).unwrap_or_default();
        return Err(format!("it did not make the call of the trial ({}: {last})", ended.how()));
    }
    let right = ran == (trial.makes == "allowed" && !trial.missing);
    if right { Ok(()) } else { Err(trial.failure.to_owned()) }
}

/// The person's files that gate the agent, by their place in a home; none unless all hooks are there.
fn gate_files(global: &Global, agent: &AgentSpec) -> Result<Vec<(PathBuf, String)>, Failure> {
    let files = files(global, agent, InstallScope::User)?;
    let gates = files.iter().flat_map(|file| {
        file.entries.iter().filter(|it| it.is_gate).map(|it| it.state(file.text()))
    });
    let gates: Vec<_> = gates.collect();
    if gates.is_empty() || gates.iter().any(|it| !matches!(it, Ok(EntryState::Present))) {
        return Ok(Vec::new());
    }
    let all = agent.launch.as_ref().is_some_and(|it| it.trial.all_settings);
    let counts = |it: &&SettingsFile| all || it.entries.iter().any(|entry| entry.is_gate);
    let in_home = |file: &SettingsFile| {
        let name = match file.entries.first()?.file {
            EntryFile::Home(name) => PathBuf::from(name),
            EntryFile::Settings(_, directory, name) => Path::new(directory).join(name),
            EntryFile::Project(_) | EntryFile::Machine(_) => return None,
        };
        Some((name, file.text.clone()?))
    };
    Ok(files.iter().filter(counts).filter_map(in_home).collect())
}

/// The same settings with hooks whose program is not there.
fn without_program(
    settings: &[(PathBuf, String)],
    ours: &str,
) -> Result<Vec<(PathBuf, String)>, String> {
    let nonce = random_name().map_err(|err| err.to_string())?;
    let gone = format!("{ours}-missing-{nonce}");
    let all = settings.iter().map(|(name, text)| (name.clone(), text.replace(ours, &gone)));
    Ok(all.collect())
}

/// What tells one state of things from another.
fn digest(program: &Path, settings: &[(PathBuf, String)]) -> io::Result<String> {
    let program = program.canonicalize()?;
    let stat = program.metadata()?;
    let changed = stat.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let version = env!("CARGO_PKG_VERSION");
    let mut text = format!("{version}\0{}\0{}\0{changed}", program.display(), stat.len());
    for (name, content) in settings {
        text.push_str(&format!("\0{}\0{content}", name.display()));
    }
    Ok(Hash::sha256(text.as_bytes()).to_string())
}

async fn version(program: &Path) -> String {
    let command = vec![program.to_string_lossy().into_owned(), "--version".to_owned()];
    let directory = std::env::temp_dir();
    let asked = Program { command, directory, env: Vec::new(), set: Vec::new() };
    let said = tokio::time::timeout(MAX_VERSION, asked.run(Vec::new(), Streams::Apart)).await;
    let said = said.ok().and_then(Result::ok).map(|it| it.out).unwrap_or_default();
    let line = said.lines().next().unwrap_or_default().trim().to_owned();
    if line.is_empty() { "an unknown version".to_owned() } else { line }
}

fn place(global: &Global, agent: &AgentSpec) -> Result<PathBuf, Failure> {
    let name = format!("{}.json", agent.name);
    Ok(paths::state_directory(global)?.join(paths::AGENTS).join("proofs").join(name))
}
