//! `eclusa man`: the manual pages, of every command and of `eclusa.toml`.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use crate::{
    failure::{Exit, Failure},
    screen::{Screen, sanitize},
};

mod config_page;

/// Print a manual page, or write all of them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eclusa man | man -l -                         the program
  eclusa man servers add | man -l -             one command
  eclusa man eclusa.toml | man -l -             the configuration file
  eclusa man --dir ~/.local/share/man/man1      all pages, as files")]
pub(crate) struct ManArgs {
    /// A command, or `eclusa.toml` [default: the program itself]
    #[arg(conflicts_with = "dir")]
    pub(crate) page: Vec<String>,
    /// Write all pages into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// The page about the configuration file.
const CONFIG_PAGE: &str = "eclusa.toml.5";

pub(super) fn run(args: &ManArgs, program: clap::Command) -> Result<Exit, Failure> {
    let scratch = tempfile::tempdir()?;
    write_all(program, args.dir.as_deref().unwrap_or(scratch.path()))?;
    if let Some(directory) = &args.dir {
        let mut screen = Screen::stdout();
        let directory = sanitize(&directory.display().to_string());
        screen.line(&format!("wrote the manual pages to {directory}"))?;
        screen.flush()?;
        return Ok(Exit::Done);
    }
    let name = match args.page.join("-").as_str() {
        "" => "eclusa.1".to_owned(),
        "eclusa.toml" => CONFIG_PAGE.to_owned(),
        command => format!("eclusa-{command}.1"),
    };
    let page = std::fs::read(scratch.path().join(&name)).map_err(|_| {
        Failure::usage(format!("there is no manual page `{}`", sanitize(&args.page.join(" "))))
            .hint("name a command such as `run` or `servers add`, or `eclusa.toml`")
    })?;
    std::io::stdout().lock().write_all(&page)?;
    Ok(Exit::Done)
}

/// Writes every page into a directory.
fn write_all(program: clap::Command, directory: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(directory)?;
    clap_mangen::generate_to(program, directory)?;
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "1") {
            let text = std::fs::read_to_string(&path)?;
            crate::remember::replace(&path, examples_kept(&text))?;
        }
    }
    Ok(crate::remember::replace(&directory.join(CONFIG_PAGE), config_page::render())?)
}

/// The examples stand line by line, and are not filled into paragraphs.
fn examples_kept(page: &str) -> String {
    let mut kept = String::new();
    let mut inside = false;
    for line in page.lines() {
        if inside && line.starts_with(".SH") {
            kept.push_str(".fi\n");
            inside = false;
        }
        match line {
            ".SH EXTRA" => {
                kept.push_str(".SH EXAMPLES\n.nf\n");
                inside = true;
            }
            line => {
                kept.push_str(line);
                kept.push('\n');
            }
        }
    }
    if inside {
        kept.push_str(".fi\n");
    }
    kept
}
