//! `eclusa init`: a short commented `eclusa.toml` for the project, with its test, lint and format
//! commands allowed.

use std::{io::Write, path::Path};

use eclusa_config::RuleToml;
use serde_json::{Value, json};

use crate::{
    context::AppContext,
    failure::{Exit, Failure},
    paths::{FILE, Paths},
    read_text::read_text,
    screen::{Screen, Style, sanitize},
    trust,
};

/// Write an eclusa.toml for this project
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Looks for cargo, npm, python, go and make, allows the test, lint and format commands that it finds, \
and prints what it wrote. An eclusa.toml that is there is never overwritten.")]
pub(crate) struct InitArgs {
    /// Do not trust the new file: it may only add restrictions
    #[arg(long)]
    pub(crate) no_trust: bool,
}

/// What a file in the root of a project says about it.
struct Kind {
    file: &'static str,
    name: &'static str,
    commands: &'static [&'static str],
}

/// Kinds of projects, and the commands that check or format their code.
const KINDS: [Kind; 4] = [
    Kind {
        file: "Cargo.toml",
        name: "Rust (cargo)",
        commands: &["cargo test", "cargo check", "cargo build", "cargo clippy", "cargo fmt"],
    },
    Kind {
        file: "pyproject.toml",
        name: "Python",
        commands: &["pytest", "python -m pytest", "ruff", "mypy"],
    },
    Kind { file: "go.mod", name: "Go", commands: &["go test", "go build", "go vet", "gofmt"] },
    Kind { file: "deno.json", name: "Deno", commands: &["deno test", "deno lint", "deno fmt"] },
];

/// Names of scripts and targets that check or format code.
const CHECKS: [&str; 9] =
    ["test", "tests", "lint", "format", "fmt", "check", "typecheck", "build", "unit"];

/// Programs of agents that can be connected, and how.
const AGENTS: [(&str, &str); 4] = [
    ("claude", "claude mcp add eclusa -- eclusa mcp"),
    ("codex", "codex mcp add eclusa -- eclusa mcp"),
    ("gemini", "gemini mcp add eclusa eclusa mcp"),
    ("opencode", "see docs/agents.md for opencode.json"),
];

pub(super) fn run(global: &crate::global::Global, args: &InitArgs) -> Result<Exit, Failure> {
    let paths = Paths::find(global)?;
    let file = paths.project();
    if file.symlink_metadata().is_ok() {
        let name = sanitize(&file.display().to_string());
        return Err(Failure::usage(format!("{name} is there already"))
            .hint("`eclusa config show` prints what is set"));
    }
    let found = look(&paths.workspace);
    let text = toml(&found);
    let mut screen = Screen::stdout();
    if !global.dry_run {
        write_new(&file, &text)?;
        // Whoever made it has read it: it says what is printed below.
        if !args.no_trust {
            trust::give(&paths, &text).map_err(Failure::failed)?;
        }
        AppContext::open(global)?;
    }
    if global.json {
        let kinds: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        let commands: Vec<&String> = found.iter().flat_map(|(_, commands)| commands).collect();
        let made = json!({"file": file, "kinds": kinds, "commands": commands, "text": text});
        screen.json(&made)?;
        screen.flush()?;
        return Ok(Exit::Done);
    }
    for (name, commands) in &found {
        screen.line(&sanitize(&format!("found: {name} ({})", commands.join(", "))))?;
    }
    if found.is_empty() {
        screen.line("found no cargo, npm, python, go or make project")?;
    }
    let verb = if global.dry_run { "would write" } else { "wrote" };
    screen.styled(Style::Strong, &format!("{verb} {}:", sanitize(&file.display().to_string())))?;
    for line in text.lines() {
        screen.verbatim(Style::Faint, &format!("  {}", sanitize(line)))?;
    }
    if args.no_trust || global.dry_run {
        screen.line("it may only add restrictions until you run `eclusa config trust`")?;
    }
    for (program, command) in AGENTS.iter().filter(|(program, _)| is_installed(program)) {
        screen.line(&format!("to connect {program}: {command}"))?;
    }
    screen.flush()?;
    Ok(Exit::Done)
}

/// Written only where nothing is: what somebody made meanwhile is not overwritten.
fn write_new(file: &Path, text: &str) -> Result<(), Failure> {
    let failed =
        |err: std::io::Error| Failure::failed(format!("cannot write `{}`: {err}", file.display()));
    let mut made = std::fs::File::create_new(file).map_err(failed)?;
    made.write_all(text.as_bytes()).map_err(failed)
}

/// What the project is, and the commands that check its code.
fn look(workspace: &Path) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for kind in KINDS.iter().filter(|it| workspace.join(it.file).is_file()) {
        let commands = kind.commands.iter().map(|it| (*it).to_owned()).collect();
        found.push((kind.name.to_owned(), commands));
    }
    if let Ok(text) = read_text(&workspace.join("package.json")) {
        found.push(("JavaScript (npm)".to_owned(), npm_scripts(&text)));
    }
    if let Ok(text) = read_text(&workspace.join("Makefile")) {
        found.push(("make".to_owned(), make_targets(&text)));
    }
    found.retain(|(_, commands)| !commands.is_empty());
    found
}

fn npm_scripts(text: &str) -> Vec<String> {
    let package: Value = serde_json::from_str(text).unwrap_or_default();
    let scripts = package.get("scripts").and_then(Value::as_object).into_iter().flatten();
    let checks = scripts.map(|(name, _)| name.as_str()).filter(|it| CHECKS.contains(it));
    checks
        .map(|it| if it == "test" { "npm test".to_owned() } else { format!("npm run {it}") })
        .collect()
}

fn make_targets(text: &str) -> Vec<String> {
    let targets = text.lines().filter_map(|line| line.split_once(':')).map(|(it, _)| it.trim());
    let mut checks: Vec<String> =
        targets.filter(|it| CHECKS.contains(it)).map(|it| format!("make {it}")).collect();
    checks.dedup();
    checks
}

fn toml(found: &[(String, Vec<String>)]) -> String {
    let mut text = format!(
        "#:schema ./eclusa.schema.json\n\
         # Editors read the schema from there: `eclusa config schema > eclusa.schema.json`.\n\
         # Every key of {FILE} is explained in `eclusa man eclusa.toml`.\n\n\
         # When to ask a person: confirm-all, confirm-sensitive, auto-approve, yolo.\n\
         mode = \"confirm-sensitive\"\n"
    );
    for (name, commands) in found {
        let rule = RuleToml::new("allow")
            .list("command", commands)
            .text("reason", "checks and formats the code of this project");
        text.push_str(&format!("\n# {name}\n{}\n", rule.toml()));
    }
    text.push_str(
        "\n# Examples:\n# [[rules]]\n# decision = \"deny\"\n# path = \"migrations/**\"\n\
         # reason = \"migrations are written by hand\"\n",
    );
    text
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|it| it.join(program).is_file())
}

#[cfg(test)]
mod tests;
