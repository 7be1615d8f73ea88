//! Options of every command, as typed.

use std::path::PathBuf;

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use eclusa::Mode;
use eclusa_term::screen::ColorChoice;

/// Options of every command.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Directory that calls work in [default: the project around the current directory]
    #[arg(long, global = true, hide_short_help = true, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// When to ask a person; denials, path rules and checkpoints hold in every mode
    #[arg(long, global = true, hide_short_help = true, value_parser = modes())]
    pub mode: Option<Mode>,
    /// Decide, but run nothing and ask nobody
    #[arg(long, global = true, hide_short_help = true)]
    pub dry_run: bool,
    /// Print JSON
    #[arg(long, global = true, hide_short_help = true)]
    pub json: bool,
    /// Add the small tools `echo`, `note` and `time`, to try the gate with: what is shipped has
    /// neither the flag nor, but for the demo's `echo`, the tools
    #[cfg_attr(
        any(debug_assertions, feature = "example-tools"),
        arg(long, global = true, hide = true, env = "ECLUSA_EXAMPLE_TOOLS", hide_env = true)
    )]
    #[cfg_attr(not(any(debug_assertions, feature = "example-tools")), arg(skip))]
    pub example_tools: bool,
    /// Another file of rules and settings; repeatable
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE")]
    pub policy: Vec<PathBuf>,
    /// Configuration file to use instead of your own
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Directory for logs and undo history [default: in your state directory]
    #[arg(long, global = true, hide_short_help = true, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// When to use colours
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        value_enum,
        default_value_t,
        value_name = "WHEN"
    )]
    pub color: ColorChoice,
    /// Print exact times in UTC instead of relative ones
    #[arg(long, global = true, hide_short_help = true)]
    pub utc: bool,
    /// Print what happens to stderr; twice for more
    #[arg(short, long, global = true, hide_short_help = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Set by commands that run no calls: they work in the home directory too
    #[arg(skip)]
    pub anywhere: bool,
}

fn modes() -> impl TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.map(Mode::as_str)).try_map(|word| word.parse::<Mode>())
}
