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
Looks at the project (Rust, Python, JavaScript, Go, Deno, Java, Ruby, PHP, make), allows the test, \
lint and format commands whose programs are installed, and prints the new file. An existing \
eclusa.toml is never overwritten.")]
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
const KINDS: [Kind; 10] = [
    Kind {
        file: "Cargo.toml",
        name: "Rust (cargo)",
        commands: &["cargo test", "cargo check", "cargo build", "cargo clippy", "cargo fmt"],
    },
    Kind {
        file: "pyproject.toml",
        name: "Python",
        commands: &["pytest", "ruff", "mypy", "tox", "black", "flake8"],
    },
    Kind { file: "go.mod", name: "Go", commands: &["go test", "go build", "go vet", "gofmt"] },
    Kind { file: "deno.json", name: "Deno", commands: &["deno test", "deno lint", "deno fmt"] },
    Kind { file: "mvnw", name: "Java (Maven)", commands: &["./mvnw test", "./mvnw verify"] },
    Kind { file: "pom.xml", name: "Java (Maven)", commands: &["mvn test", "mvn verify"] },
    Kind {
        file: "gradlew",
        name: "Java (Gradle)",
        commands: &["./gradlew test", "./gradlew check"],
    },
    Kind {
        file: "Gemfile",
        name: "Ruby",
        commands: &["bundle exec rspec", "bundle exec rake test", "bundle exec rubocop"],
    },
    Kind { file: "composer.json", name: "PHP", commands: &["composer test", "vendor/bin/phpunit"] },
    Kind { file: "CMakeLists.txt", name: "CMake", commands: &["cmake --build", "ctest"] },
];

/// Where a project has programs of its own.
const PROGRAMS: [&str; 4] = [".venv/bin", "venv/bin", "node_modules/.bin", "bin"];

/// What tells which program runs the scripts of a `package.json`.
const RUNNERS: [(&str, &str); 4] =
    [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")];

/// Names of scripts and targets that check or format code.
const CHECKS: [&str; 9] =
    ["test", "tests", "lint", "format", "fmt", "check", "typecheck", "build", "unit"];

/// Programs of agents, and what `eclusa install` calls them.
const AGENTS: [(&str, &str); 5] = [
    ("claude", "claude-code"),
    ("codex", "codex"),
    ("gemini", "gemini"),
    ("copilot", "copilot"),
    ("opencode", "opencode"),
];

pub(super) fn run(global: &crate::global::Global, args: &InitArgs) -> Result<Exit, Failure> {
    let paths = Paths::find(global)?;
    let file = paths.project();
    if file.symlink_metadata().is_ok() {
        let name = sanitize(&file.display().to_string());
        return Err(Failure::usage(format!("{name} exists already"))
            .hint("`eclusa config show` prints the settings"));
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
        screen.line("found no project that it knows; the file has an example of a rule")?;
    }
    let verb = if global.dry_run { "would write" } else { "wrote" };
    screen.styled(Style::Strong, &format!("{verb} {}:", sanitize(&file.display().to_string())))?;
    for line in text.lines() {
        screen.verbatim(Style::Faint, &format!("  {}", sanitize(line)))?;
    }
    if args.no_trust || global.dry_run {
        screen.line("it may only add restrictions until you run `eclusa config trust`")?;
    }
    next(&mut screen, &found)?;
    screen.flush()?;
    Ok(Exit::Done)
}

/// What to do next: three commands.
fn next(screen: &mut Screen, found: &[(String, Vec<String>)]) -> Result<(), Failure> {
    let agent = AGENTS.iter().find(|it| is_on_path(it.0)).map_or("claude-code", |it| it.1);
    let first = found.first().and_then(|(_, commands)| commands.first());
    let example = sanitize(first.map_or("ls", String::as_str));
    screen.styled(Style::Strong, "next:")?;
    let rows = [
        ("eclusa doctor".to_owned(), "how well this machine can sandbox commands"),
        (format!("eclusa install {agent}"), "connects an agent"),
        (
            format!("eclusa exec -- {example}"),
            "runs a command in the sandbox, and shows its changes",
        ),
    ];
    let rows = rows.map(|(command, what)| vec![format!("  {command}"), what.to_owned()]);
    Ok(screen.details(&rows)?)
}

/// Written only where nothing is: what somebody made meanwhile is not overwritten.
fn write_new(file: &Path, text: &str) -> Result<(), Failure> {
    let failed =
        |err: std::io::Error| Failure::failed(format!("cannot write `{}`: {err}", file.display()));
    let mut made = std::fs::File::create_new(file).map_err(failed)?;
    made.write_all(text.as_bytes()).map_err(failed)
}

/// What the project is, and the commands that check its code and whose programs are there.
fn look(workspace: &Path) -> Vec<(String, Vec<String>)> {
    let there =
        |command: &String| is_there(workspace, command.split(' ').next().unwrap_or_default());
    let mut found = Vec::new();
    for kind in KINDS.iter().filter(|it| workspace.join(it.file).is_file()) {
        let commands = kind.commands.iter().map(|it| (*it).to_owned()).filter(there).collect();
        found.push((kind.name.to_owned(), commands));
    }
    if let Ok(text) = read_text(&workspace.join("package.json")) {
        let runner = RUNNERS.iter().find(|it| workspace.join(it.0).is_file());
        let runner = runner.map_or("npm", |it| it.1);
        found.push((format!("JavaScript ({runner})"), package_scripts(&text, runner)));
    }
    if let Ok(text) = read_text(&workspace.join("Makefile")) {
        found.push(("make".to_owned(), make_targets(&text)));
    }
    found.retain(|(_, commands)| !commands.is_empty());
    found
}

fn package_scripts(text: &str, runner: &str) -> Vec<String> {
    let package: Value = serde_json::from_str(text).unwrap_or_default();
    let scripts = package.get("scripts").and_then(Value::as_object).into_iter().flatten();
    let checks = scripts.map(|(name, _)| name.as_str()).filter(|it| CHECKS.contains(it));
    checks
        .map(|it| match it {
            "test" => format!("{runner} test"),
            it => format!("{runner} run {it}"),
        })
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
         # It applies to everybody who works on the project. Its denials and questions apply at once; what it allows\n\
         # holds for whoever has run `eclusa config trust`, in CI `eclusa config trust --digest SHA256`.\n\n\
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

/// Whether a program is in the project or on the path.
fn is_there(workspace: &Path, program: &str) -> bool {
    match program.contains('/') {
        true => workspace.join(program).is_file(),
        false => {
            PROGRAMS.iter().any(|it| workspace.join(it).join(program).is_file())
                || is_on_path(program)
        }
    }
}

fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|it| it.join(program).is_file())
}

#[cfg(test)]
mod tests;
