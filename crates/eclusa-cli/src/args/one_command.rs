//! The short way through the command line, for commands that programs start again and again.

use std::ffi::OsString;

use clap::{Args as Group, Parser};
use eclusa_app::global::Global;

use super::Args;
use crate::commands::Command;

/// The command line of one command alone. Making the options of all the others is most of what
/// reading it costs.
#[derive(Debug, Parser)]
struct OneCommand<T: Group> {
    #[command(flatten)]
    global: Global,
    #[command(flatten)]
    args: T,
}

impl Args {
    /// Reads a command line, the program's name first.
    pub(crate) fn read(words: &[OsString]) -> Result<Args, clap::Error> {
        // What the short way does not understand, mistakes and `--help` among it, goes the long way.
        Args::read_one(words).map_or_else(|| Args::try_parse_from(words), Ok)
    }

    /// The same for commands that programs start again and again.
    pub(super) fn read_one(words: &[OsString]) -> Option<Args> {
        let words = words.get(1..)?;
        let (global, command) = match words.first()?.to_str()? {
            "check" => {
                let one = OneCommand::try_parse_from(words).ok()?;
                (one.global, Command::Check(one.args))
            }
            "mcp" => {
                let one = OneCommand::try_parse_from(words).ok()?;
                (one.global, Command::Mcp(one.args))
            }
            _ => return None,
        };
        Some(Args { global, command })
    }
}
