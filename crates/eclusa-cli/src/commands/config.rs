//! `eclusa config`: what is set, from where, and whether it can be used.

use std::{os::unix::fs::MetadataExt, path::Path};

use eclusa::{Hash, settings::Endpoint};
use eclusa_config::{Config, Layer, NotificationSettings, Trust};
use serde_json::json;

use crate::{
    config_layers,
    context::AppContext,
    failure::{Exit, Failure},
    global::Global,
    notifications,
    paths::Paths,
    screen::{Screen, note, sanitize},
    toml_json, trust,
};

/// Show and check the configuration
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    what: Option<ConfigCommand>,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print every setting, its value and where it comes from
    Show,
    /// Check the configuration files
    Check,
    /// Print the JSON schema of eclusa.toml
    Schema,
    /// Trust the workspace's eclusa.toml until a change loosens it
    Trust {
        /// Only if this is its SHA-256, for unattended jobs (CI)
        #[arg(long, value_name = "SHA256")]
        digest: Option<String>,
    },
    /// Stop trusting it: it may only add restrictions
    Untrust,
}

pub(super) fn run(global: &Global, args: ConfigArgs) -> Result<Exit, Failure> {
    let mut screen = Screen::stdout();
    match args.what.unwrap_or(ConfigCommand::Show) {
        ConfigCommand::Schema => screen.line(&format!("{:#}", Config::schema()))?,
        ConfigCommand::Show => {
            let (ctx, broken) = AppContext::open_anyway(global)?;
            show(&ctx.config, global.json, &mut screen)?;
            if let Some(why) = broken {
                screen.flush()?;
                return Err(why.hint("showing defaults until this is fixed"));
            }
        }
        ConfigCommand::Check => return check(global, &mut screen),
        ConfigCommand::Trust { digest } => trust(global, digest.as_deref(), &mut screen)?,
        ConfigCommand::Untrust => {
            let paths = Paths::find(global)?;
            trust::take_back(&paths).map_err(Failure::failed)?;
            let file = sanitize(&paths.project().display().to_string());
            screen.line(&match paths.project().exists() {
                true => format!("{file} is no longer trusted: it may only add restrictions"),
                false => format!("there is no {file}; one that was trusted before no longer is"),
            })?;
        }
    }
    screen.flush()?;
    Ok(Exit::Done)
}

/// Trusts the file that is there now, once it can be used as it is.
fn trust(global: &Global, digest: Option<&str>, screen: &mut Screen) -> Result<(), Failure> {
    let paths = Paths::find(global)?;
    let file = paths.project();
    let name = sanitize(&file.display().to_string());
    let text = crate::read_text::read_text(&file)
        .map_err(|err| Failure::usage(format!("cannot read `{name}`: {err}")))?;
    let own = file.display().to_string();
    let layers = config_layers::layers(&paths)?;
    let load_as = |trust: Trust| {
        let put = |it: &Layer| Layer {
            trust: if it.name == own { trust } else { it.trust },
            ..it.clone()
        };
        Config::load(&layers.iter().map(put).collect::<Vec<_>>())
    };
    load_as(Trust::Person).map_err(config_layers::unusable)?;
    let untrusted = load_as(Trust::Project).map_err(config_layers::unusable)?;
    let found = Hash::sha256(text.as_bytes()).to_string();
    if let Some(digest) = digest.filter(|it| !it.eq_ignore_ascii_case(&found)) {
        return Err(Failure::usage(format!(
            "`{name}` has the SHA-256 {found}, not `{}`; it is not trusted",
            sanitize(digest)
        ))
        .hint("read the changes, then name the new digest"));
    }
    let digest = trust::give(&paths, &text).map_err(Failure::failed)?;
    screen.line(&format!("{name} is trusted until a change loosens it (sha256 {digest})"))?;
    if !untrusted.left_out.is_empty() {
        screen.line("without that these would be left out:")?;
        for it in untrusted.left_out.iter().filter(|it| it.file == own) {
            screen.line(&format!("  {}: {}", it.line, sanitize(&passage(&text, it.line))))?;
        }
    }
    screen.line("`eclusa config untrust` takes the trust back")?;
    Ok(())
}

/// A line of the file; of a table, all of it.
fn passage(text: &str, line: usize) -> String {
    let mut lines = text.lines().skip(line.saturating_sub(1)).map(str::trim);
    let first = lines.next().unwrap_or_default();
    let within = lines.take_while(|it| !it.is_empty() && !it.starts_with('['));
    let within = within.filter(|_| first.starts_with('['));
    std::iter::once(first).chain(within).collect::<Vec<_>>().join(" ")
}

fn show(config: &Config, json: bool, screen: &mut Screen) -> Result<(), Failure> {
    let settings = config.settings();
    if json {
        for it in settings {
            // What cannot be read back is text all the same.
            let value = it.value.parse::<toml_edit::Value>().ok();
            let value = value.as_ref().map_or_else(|| it.value.clone().into(), toml_json::value);
            screen.json(&json!({"key": it.key, "value": value, "origin": it.origin}))?;
        }
        return Ok(());
    }
    for it in settings {
        let line = format!("{} = {}", sanitize(&it.key), sanitize(&it.value));
        screen.setting(&line, &sanitize(&it.origin))?;
    }
    Ok(())
}

/// A usable configuration may still name tools that cannot be registered: those are made too. And it
/// may name programs that are not there.
fn check(global: &Global, screen: &mut Screen) -> Result<Exit, Failure> {
    let ctx = AppContext::open(global)?;
    let registry = ctx.registry()?;
    ctx.check_tool_names(&registry)?;
    ctx.judge()?;
    let paths = Paths::find(global)?;
    let missing = missing_programs(&ctx);
    let layers = config_layers::layers(&paths)?;
    if global.json {
        let files: Vec<String> = layers.into_iter().map(|it| it.name).collect();
        screen.json(&json!({
            "ok": missing.is_empty(),
            "files": files,
            "rules": ctx.config.rules.len(),
            "tools": registry.count(),
            "reviewers": ctx.config.reviewers.len(),
            "missing_programs": missing,
        }))?;
        screen.flush()?;
        return Ok(if missing.is_empty() { Exit::Done } else { Exit::Failed });
    }
    for layer in layers {
        screen.line(&format!("read {}", sanitize(&layer.name)))?;
    }
    for it in &ctx.config.left_out {
        note(&format!("left out: {it}"));
    }
    if let Some(told) = links_to_here(&ctx) {
        note(&told);
    }
    if !missing.is_empty() {
        screen.flush()?;
        return Err(Failure::failed(missing.join("\n")));
    }
    let count = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    };
    let config = &ctx.config;
    screen.line(&format!(
        "configuration OK: {}, {}, {}",
        count(config.rules.len(), "rule"),
        count(registry.count(), "tool"),
        count(config.reviewers.len(), "reviewer"),
    ))?;
    screen.flush()?;
    Ok(Exit::Done)
}

/// Whoever is told elsewhere gets links that only this machine can open.
fn links_to_here(ctx: &AppContext) -> Option<String> {
    let elsewhere = |it: &&NotificationSettings| match &it.reach {
        Endpoint::Url { url, .. } => !url.contains("//localhost") && !url.contains("//127."),
        Endpoint::Command(_) => false,
    };
    let told = ctx.config.notifications.iter().find(elsewhere)?;
    let page = notifications::page(&ctx.config.approvals);
    page.contains("//localhost").then(|| {
        format!(
            "notification `{}`: its links begin with {page}, which only this machine opens; set `approvals.url`, and put \
             something in front of the page (docs/approvals.md, \"From a phone\")",
            sanitize(&told.name)
        )
    })
}

/// What is configured and cannot be started, a sentence each.
fn missing_programs(ctx: &AppContext) -> Vec<String> {
    let config = &ctx.config;
    let program = |reach: &Endpoint| match reach {
        Endpoint::Command(words) => words.first().cloned(),
        Endpoint::Url { .. } => None,
    };
    let reviewers = config.reviewers.iter().filter_map(|it| {
        Some((format!("{}: reviewer `{}`", it.origin, it.name), program(&it.reach)?))
    });
    let tools = config
        .tools
        .iter()
        .filter_map(|it| Some((format!("tool `{}`", it.name), it.command.first()?.clone())));
    let all = reviewers.chain(tools);
    // An argument may say which program.
    let all = all.filter(|(_, program)| !program.starts_with('{'));
    let missing = all.filter(|(_, program)| !is_there(program, &ctx.paths.workspace));
    missing.map(|(who, program)| format!("{who}: there is no program `{program}`")).collect()
}

/// Whether a program can be found: by its path, or by its name where programs are.
fn is_there(program: &str, workspace: &Path) -> bool {
    let runs = |path: &Path| path.metadata().is_ok_and(|it| it.is_file() && it.mode() & 0o111 != 0);
    match program.contains('/') {
        true => runs(&workspace.join(program)),
        false => {
            let path = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&path).any(|it| runs(&it.join(program)))
        }
    }
}
