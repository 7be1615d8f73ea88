//! `eclusa policy compare`: where another agent's own rules are looser or stricter than the rules
//! here. Commands and paths are made from the words of both sides, in many spellings, and each is
//! judged twice: by the gate, and by the agent's own engine or a model of how it reads its rules.

use std::{collections::BTreeSet, path::Path};

use eclusa::{Decision, Gate, ToolCall};
use serde_json::{Value, json};

use super::{
    agent_rules::{CommandRule, FileRule, ImportedRules},
    import, layers,
};
use crate::{
    args::{Agent, Global},
    context::AppContext,
    failure::{Exit, Failure},
    screen::{Screen, Style, note, sanitize},
};

mod real_engines;
mod their_rules;

/// How many differences of a kind are shown.
const MAX_SHOWN: usize = 15;

/// Commands that everybody meets, whatever the rules are about.
const EVERYDAY: [&str; 8] = [
    "ls -la",
    "cat .env",
    "git status",
    "git push",
    "npm install",
    "rm -rf build",
    "curl https://example.com",
    "sudo true",
];

/// Paths that everybody meets.
const PATHS: [&str; 8] = [
    "README.md",
    "src/main.rs",
    ".env",
    "config/.env.local",
    "keys/server.pem",
    ".git/config",
    ".github/workflows/ci.yml",
    "../outside.txt",
];

/// What is judged by both sides.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    Command(String),
    Read(String),
    Write(String),
}

impl Subject {
    fn length(&self) -> usize {
        match self {
            Subject::Command(text) | Subject::Read(text) | Subject::Write(text) => text.len(),
        }
    }

    /// The call that would do it here.
    fn call(&self) -> ToolCall {
        let (tool, args) = match self {
            Subject::Command(command) => ("bash", json!({"command": command})),
            Subject::Read(path) => ("read", json!({"path": path})),
            Subject::Write(path) => ("write", json!({"path": path, "content": "x\n"})),
        };
        ToolCall::new("compare", tool, args)
    }

    fn json(&self) -> Value {
        match self {
            Subject::Command(command) => json!({"command": command}),
            Subject::Read(path) => json!({"path": path, "access": "read"}),
            Subject::Write(path) => json!({"path": path, "access": "write"}),
        }
    }
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Subject::Command(command) => f.write_str(command),
            Subject::Read(path) => write!(f, "read {path}"),
            Subject::Write(path) => write!(f, "write {path}"),
        }
    }
}

/// What one side decides, and by what.
type Judged = (Decision, String);

/// Something that the two sides do not agree about.
struct Difference<'a> {
    subject: &'a Subject,
    here: Judged,
    there: &'a Judged,
}

pub(super) async fn run(
    global: &Global,
    agent: Agent,
    file: &Path,
    real: bool,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let rules = import::read(agent, file)?;
    let ctx = AppContext::open(global)?;
    let gate = ctx.judge()?;
    let commands = commands(&rules.commands, &ctx);
    let theirs = match real {
        true => real_engines::judge(agent, file, &commands).await?,
        false => {
            let one = |it: &String| their_rules::command(agent, &rules.commands, it);
            commands.iter().map(one).collect()
        }
    };
    let mut judged: Vec<(Subject, Judged)> =
        commands.into_iter().map(Subject::Command).zip(theirs).collect();
    if their_rules::knows_files(agent) {
        judged.extend(files(&rules, &ctx).into_iter().map(|it| {
            let there = their_rules::file(agent, &rules.files, &it);
            (it, there)
        }));
    }
    judged.sort_by_key(|(subject, _)| (subject.length(), subject.clone()));
    let differences: Vec<Difference<'_>> =
        judged.iter().filter_map(|(it, there)| difference(&gate, it, there)).collect();
    let (looser, stricter): (Vec<&Difference<'_>>, Vec<&Difference<'_>>) =
        differences.iter().partition(|it| it.there.0 < it.here.0);
    if global.json {
        let list = |all: &[&Difference<'_>]| all.iter().map(|it| it.json()).collect::<Vec<_>>();
        screen.json(&json!({
            "compared": judged.len(), "judge": if real { "program" } else { "model" },
            "looser_there": list(&looser), "stricter_there": list(&stricter),
        }))?;
    } else {
        let alike = judged.len() - differences.len();
        screen.line(&format!("{} compared, {alike} decided alike", judged.len()))?;
        for (title, style, all) in
            [("looser there", Style::Warn, &looser), ("stricter there", Style::Strong, &stricter)]
        {
            show(screen, title, style, all)?;
        }
        tell_judges(agent, real);
    }
    Ok(if looser.is_empty() { Exit::Done } else { Exit::Failed })
}

/// Who was asked, and about what nobody was.
fn tell_judges(agent: Agent, real: bool) {
    match (real, agent) {
        (true, _) => note(&format!("the program of {agent} judged the commands")),
        (false, Agent::Codex | Agent::Gemini) => {
            note(&format!("a model of {agent} was asked; `--real` asks its program"));
        }
        (false, _) => note(&format!("a model of {agent} was asked, not the program")),
    }
    if agent == Agent::Gemini && !real {
        note("what Gemini CLI counts among safe commands by itself is not in the model");
    }
    if !their_rules::knows_files(agent) {
        note(&format!("files are not compared: {agent} has no rules about paths"));
    }
}

fn show(
    screen: &mut Screen,
    title: &str,
    style: Style,
    all: &[&Difference<'_>],
) -> Result<(), Failure> {
    if all.is_empty() {
        return Ok(());
    }
    screen.styled(style, &format!("{title}: {}", all.len()))?;
    for Difference { subject, here, there } in all.iter().take(MAX_SHOWN) {
        let line = format!(
            "  {subject}\n    {} there ({}), {} here ({})",
            there.0.as_str(),
            there.1,
            here.0.as_str(),
            here.1
        );
        screen.line(&sanitize(&line))?;
    }
    if all.len() > MAX_SHOWN {
        screen.line(&format!("  … {} more (--json lists all)", all.len() - MAX_SHOWN))?;
    }
    Ok(())
}

impl Difference<'_> {
    fn json(&self) -> Value {
        let mut value = self.subject.json();
        if let Some(fields) = value.as_object_mut() {
            fields.insert("here".to_owned(), self.here.0.as_str().into());
            fields.insert("here_by".to_owned(), self.here.1.as_str().into());
            fields.insert("there".to_owned(), self.there.0.as_str().into());
            fields.insert("there_by".to_owned(), self.there.1.as_str().into());
        }
        value
    }
}

fn difference<'a>(gate: &Gate, subject: &'a Subject, there: &'a Judged) -> Option<Difference<'a>> {
    let here = match gate.check(subject.call()) {
        Ok((_, verdict)) => (verdict.decision, verdict.why().into_owned()),
        Err(stop) => (Decision::Deny, stop.message().into_owned()),
    };
    // A staged write is reviewed: that is no less than a question.
    let comparable = |it: Decision| if it == Decision::Stage { Decision::Ask } else { it };
    let differs = match subject {
        Subject::Command(_) => here.0 != there.0,
        Subject::Read(_) | Subject::Write(_) => comparable(here.0) != comparable(there.0),
    };
    differs.then_some(Difference { subject, here, there })
}

/// The commands to compare, shortest first.
fn commands(rules: &[CommandRule], ctx: &AppContext) -> Vec<String> {
    let own = layers::rules(&ctx.config);
    let ours = own.iter().filter(|it| !it.is_shipped()).filter_map(|it| it.texts("command"));
    let ours = ours.flatten().map(str::to_owned);
    let theirs = rules.iter().filter_map(CommandRule::words);
    let words: BTreeSet<String> =
        ours.chain(theirs).chain(EVERYDAY.map(str::to_owned)).filter(|it| !it.is_empty()).collect();
    let mut all: Vec<String> = words.iter().flat_map(|it| spellings(it)).collect();
    all.sort_by_key(|it| (it.len(), it.clone()));
    all.dedup();
    all
}

/// The paths to compare, each read and written.
fn files(rules: &ImportedRules, ctx: &AppContext) -> Vec<Subject> {
    let own = layers::rules(&ctx.config);
    let ours = own.iter().filter(|it| !it.is_shipped()).filter_map(|it| it.texts("path"));
    let ours = ours.flatten().map(str::to_owned);
    let theirs = rules.files.iter().filter_map(|FileRule { glob, .. }| glob.clone());
    let globs: BTreeSet<String> = ours.chain(theirs).collect();
    let made = globs.iter().flat_map(|it| examples(it)).chain(PATHS.map(str::to_owned));
    let paths: BTreeSet<String> = made.collect();
    let both = |it: String| [Subject::Read(it.clone()), Subject::Write(it)];
    paths.into_iter().flat_map(both).collect()
}

/// Paths that a glob fits, and some beside it.
fn examples(glob: &str) -> Vec<String> {
    let plain = glob.trim_start_matches('!').trim_start_matches("./").trim_start_matches('/');
    if plain.starts_with(['~', '$']) {
        return Vec::new();
    }
    let one = plain.replace("**", "a").replace('*', "b").replace('?', "c");
    let deep = plain.replace("**", "a/b/c").replace('*', "d").replace('?', "e");
    let upper = one.to_ascii_uppercase();
    let below = format!("{}/f.txt", one.trim_end_matches('/'));
    let elsewhere = format!("sub/{one}");
    let all = [one, deep, upper, below, elsewhere];
    all.into_iter().filter(|it| !it.is_empty() && !it.ends_with('/')).collect()
}

/// The same words, as models and people write them.
fn spellings(words: &str) -> Vec<String> {
    let quoted = words.replace('\'', r"'\''");
    vec![
        words.to_owned(),
        format!("{words} x"),
        format!("  {words}"),
        format!("{words} && true"),
        format!("true; {words}"),
        format!("true | {words}"),
        format!("{words} > out.txt"),
        format!("env {words}"),
        format!("A=1 {words}"),
        format!("timeout 5 {words}"),
        format!("nohup {words}"),
        format!("bash -c '{quoted}'"),
        format!("bash -lc '{quoted}'"),
        format!("echo $({words})"),
        format!("({words})"),
        format!("/usr/bin/{words}"),
        format!("xargs {words}"),
        format!("{words} &"),
    ]
}
