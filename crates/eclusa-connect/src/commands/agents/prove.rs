//! `eclusa status --prove`: the real agent is started with a scripted model, and seen to obey.
//!
//! Four trials, each in a home and a workspace of its own with a copy of the person's settings: a
//! command that a rule allows must run, one that a rule denies must not, with our program missing
//! none may, and a secret that a command prints must not reach the model. Nothing of it stays. What was seen is kept with digests of the agent's program
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
use crate::{AgentSpec, EntryFile, EntryState, trial::TrialSpec};

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

/// What a trial of the output has besides: the agent runs the command by itself.
const OUTPUT_RULES: &str = r#"[agents]
shell = "plain"

[[rules]]
decision = "allow"
command = "cat notes.txt"
"#;

/// What stands in the file that a trial of the output prints, besides a secret.
const FIRST_LINE: &str = "the first line";

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
    /// Whether a secret that a command printed was kept from the model.
    pub(super) redacts: bool,
    /// Digest of the agent's program, its settings and ours.
    of: String,
}

/// A file of the person's that gates the agent.
#[derive(Debug, Clone)]
struct GateFile {
    /// Where it is in a home.
    name: PathBuf,
    /// Where it is.
    path: PathBuf,
    text: String,
}

/// The proof that is kept of an agent, if it is about what is there now.
pub(super) fn current_proof(global: &Global, agent: &AgentSpec) -> Option<TrialProof> {
    let text = fs::read(place(global, agent).ok()?).ok()?;
    let proof: TrialProof = serde_json::from_slice(&text).ok()?;
    let (program, settings) = (agent.installed()?, gate_files(global, agent).ok()?);
    (digest(&program, &settings).ok()? == proof.of).then_some(proof)
}

/// Why nothing is proven.
pub(super) struct Unproven {
    pub(super) why: String,
    /// True when a command was seen to run that must not have.
    pub(super) ran: bool,
}

impl From<String> for Unproven {
    fn from(why: String) -> Unproven {
        Unproven { why, ran: false }
    }
}

impl From<&str> for Unproven {
    fn from(why: &str) -> Unproven {
        why.to_owned().into()
    }
}

/// Tries an agent.
pub(super) async fn prove(global: &Global, agent: &AgentSpec) -> Result<TrialProof, Unproven> {
    let launch = agent.launch.as_ref().ok_or("there is no trial for this agent")?;
    let program = agent.installed().ok_or("its program is not in PATH")?;
    let said = |failure: Failure| failure.lines().join("; ");
    let settings = gate_files(global, agent).map_err(said)?;
    if settings.is_empty() {
        return Err("only an installation for you is tried (`eclusa install`)".into());
    }
    let ours = InstallScope::User.facts().map_err(said)?.program;
    for trial in &TRIALS {
        let settings = match trial.missing {
            true => without_program(&settings, &ours)?,
            false => settings.clone(),
        };
        run(&launch.trial, &program, &settings, trial).await?;
    }
    let redacts = redacts(&launch.trial, &program, &settings).await?;
    let proof = TrialProof {
        version: version(&program).await,
        redacts,
        of: digest(&program, &settings).map_err(|err| err.to_string())?,
    };
    let text = serde_json::to_vec(&proof).map_err(|err| err.to_string())?;
    let kept = place(global, agent).map_err(said)?;
    crate::commands::remember::replace(&kept, text)
        .map_err(|err| format!("`{}`: {err}", kept.display()))?;
    Ok(proof)
}

/// One trial of whether a command runs.
async fn run(
    spec: &TrialSpec,
    program: &Path,
    settings: &[GateFile],
    trial: &Trial,
) -> Result<(), Unproven> {
    let more = if trial.missing { spec.untrusted } else { &[] };
    let command = format!("touch {}", trial.makes);
    let played = Played::new(RULES)?;
    let result = played.play(spec, program, settings, (&command, more)).await;
    let ran = played.work.join(trial.makes).exists();
    if !ran {
        result?;
    }
    let right = ran == (trial.makes == "allowed" && !trial.missing);
    if right { Ok(()) } else { Err(Unproven { why: trial.failure.to_owned(), ran }) }
}

/// Whether a secret that a command of the agent's own prints is kept from the model.
async fn redacts(spec: &TrialSpec, program: &Path, settings: &[GateFile]) -> Result<bool, String> {
    let name = random_name().map_err(|err| err.to_string())?;
    let secret: String =
        name.chars().cycle().filter(char::is_ascii_alphanumeric).take(36).collect();
    let played = Played::new(OUTPUT_RULES)?;
    let notes = format!("{FIRST_LINE}\nghp_{secret}\n");
    trial_home::write(&played.work.join("notes.txt"), &notes).map_err(set_up)?;
    let result = played.play(spec, program, settings, ("cat notes.txt", &[])).await?;
    if !result.contains(FIRST_LINE) {
        return Err("a command's output did not reach the model".to_owned());
    }
    Ok(!result.contains(&secret))
}

fn set_up(err: io::Error) -> String {
    format!("the trial could not be set up: {err}")
}

/// A home and a workspace of a trial, which go with it.
struct Played {
    home: PathBuf,
    work: PathBuf,
    _top: tempfile::TempDir,
}

impl Played {
    fn new(rules: &str) -> Result<Played, String> {
        let top = tempfile::Builder::new().prefix("eclusa-trial-").tempdir().map_err(set_up)?;
        let path = top.path().canonicalize().map_err(set_up)?;
        let (home, work) = (path.join("home"), path.join("work"));
        for directory in [&home.join("tmp"), &home.join(".config/eclusa"), &work] {
            fs::create_dir_all(directory).map_err(set_up)?;
        }
        trial_home::write(&home.join(".config/eclusa/eclusa.toml"), rules).map_err(set_up)?;
        Ok(Played { home, work, _top: top })
    }

    /// Has the agent run a command, with more arguments. What it sent to the model with the result.
    async fn play(
        &self,
        spec: &TrialSpec,
        program: &Path,
        settings: &[GateFile],
        (command, more): (&str, &[&str]),
    ) -> Result<String, String> {
        let (tools, args) = (spec.shell_call)(command);
        let model = ScriptedModel::start(ScriptedCall { tools, args }).await.map_err(set_up)?;
        let trial_home = TrialHome { home: &self.home, url: &model.url(), settings };
        trial_home.write(spec)?;
        let variables = trial_home.variables(spec).into_iter();
        let (last, first) = spec.arguments.split_last().unwrap_or((&"", &[]));
        let arguments = first.iter().chain(more).chain([last]).map(|it| (*it).to_owned());
        let program = program.to_string_lossy().into_owned();
        let program = Program {
            command: std::iter::once(program).chain(arguments).collect(),
            directory: self.work.clone(),
            env: vec!["SHELL".to_owned()],
            set: variables.map(|(name, value)| (name.to_owned(), value.into())).collect(),
        };
        let running = program.run(Vec::new(), Streams::Together);
        let ended = match tokio::time::timeout(MAX_TRIAL, running).await {
            Ok(ended) => ended.map_err(|err| err.to_string())?,
            Err(_) => return Err(format!("it did not end within {} s", MAX_TRIAL.as_secs())),
        };
        model.result().ok_or_else(|| {
            let last = ended.out.lines().rev().find(|it| !it.trim().is_empty()).unwrap_or_default();
            format!("it did not make the call of the trial ({}: {last})", ended.how())
        })
    }
}

/// The person's files that gate the agent, by their place in a home; none unless all hooks are there.
fn gate_files(global: &Global, agent: &AgentSpec) -> Result<Vec<GateFile>, Failure> {
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
        Some(GateFile { name, path: file.path.clone(), text: file.text.clone()? })
    };
    Ok(files.iter().filter(counts).filter_map(in_home).collect())
}

/// The same settings with hooks whose program is not there.
fn without_program(settings: &[GateFile], ours: &str) -> Result<Vec<GateFile>, String> {
    let nonce = random_name().map_err(|err| err.to_string())?;
    let gone = format!("{ours}-missing-{nonce}");
    let all = settings.iter().cloned();
    Ok(all.map(|it| GateFile { text: it.text.replace(ours, &gone), ..it }).collect())
}

/// What tells one state of things from another.
fn digest(program: &Path, settings: &[GateFile]) -> io::Result<String> {
    let program = program.canonicalize()?;
    let stat = program.metadata()?;
    let changed = stat.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let version = env!("CARGO_PKG_VERSION");
    let mut text = format!("{version}\0{}\0{}\0{changed}", program.display(), stat.len());
    for file in settings {
        text.push_str(&format!("\0{}\0{}", file.name.display(), file.text));
    }
    Ok(Hash::sha256(text.as_bytes()).to_string())
}

/// The version of an agent that is here, where it is of a line with which nothing was ever tried.
pub(super) async fn untried_version(agent: &AgentSpec) -> Option<String> {
    let launch = agent.launch.as_ref()?;
    let said = version(&agent.installed()?).await;
    let number = said
        .split(|it: char| !it.is_ascii_digit() && it != '.')
        .find(|it| it.starts_with(|it: char| it.is_ascii_digit()) && it.contains('.'))?;
    let major: u32 = number.split('.').next()?.parse().ok()?;
    (!launch.majors.contains(&major)).then(|| number.to_owned())
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
