//! The binary `eclusa`: one gate for every tool call, on the command line.
//!
//! The program and what it is made of (`eclusa-app`, `eclusa-term`, `eclusa-spawn`) read the environment, the home
//! directory and the terminal; no library does. `eclusa-spawn` starts every program that it runs itself; `eclusa-sandbox`
//! starts commands in sandboxes, and asks git what its settings say.

use std::{ffi::OsString, io::Write as _, process::ExitCode};

use clap::CommandFactory as _;

mod args;
mod commands;
mod toml_json;

use eclusa_app::{
    address_variable, allowances, config_layers, context, discard_policy, exec, fleet,
    fleet_standing, gates, global, job_plan, log_call, notifications, paths, person, queues,
    read_text, rehearsal, remember, reply, servers, shell, signals, surface, telemetry, trust,
    undo, undo_retention, up_token,
};
use eclusa_connect::commands::{
    agents::AgentsCommand,
    hook::{self, HookTurn},
};
use eclusa_spawn as spawn;
use eclusa_term::{failure, language, screen, since, terminal, timestamp};

use args::Args;
use commands::Command;
use failure::{Exit, Failure};
use global::Global;

fn main() -> ExitCode {
    // Agents start this for each of their calls: nothing is read that is not needed.
    let mut words: Vec<OsString> = std::env::args_os().collect();
    if words.len() == 1 {
        words.push("overview".into());
    }
    match words.get(1..).unwrap_or_default() {
        [first, agent] if first == "hook" && !agent.as_encoded_bytes().starts_with(b"-") => {
            eclusa_sandbox::share_memory();
            return hook::run(Global::default(), &agent.to_string_lossy(), HookTurn::First);
        }
        [first, agent, flag] if first == "hook" && flag == "--second" => {
            eclusa_sandbox::share_memory();
            return hook::run(Global::default(), &agent.to_string_lossy(), HookTurn::Second);
        }
        [only] if only == "--version" || only == "-V" || only == "version" => {
            // An error means that nobody reads it.
            let _ = writeln!(std::io::stdout(), "eclusa {}", env!("CARGO_PKG_VERSION"));
            return ExitCode::SUCCESS;
        }
        [first, all] if first == "help" && all == "--all" => {
            words = ["eclusa", "--help"].map(Into::into).to_vec()
        }
        [first, rest @ ..] if first == "session" => return session(rest),
        // They end soon, too, or serve one client.
        [first, ..] if ["check", "exec", "run", "mcp"].iter().any(|it| first == it) => {
            eclusa_sandbox::share_memory();
        }
        _ => {}
    }
    if let Some(help) = Args::everyday(&words) {
        // An error means that nobody reads it.
        let _ = write!(std::io::stdout(), "{help}");
        return ExitCode::SUCCESS;
    }
    let is_rehearsal = words.get(1).is_some_and(|it| it == rehearsal::WORD);
    if is_rehearsal {
        words = match rehearsal::enter(words.get(2..).unwrap_or_default()) {
            Ok(words) => words,
            Err(err) => {
                screen::error(&[format!("error: a dry run cannot be made here: {err}")]);
                return ExitCode::FAILURE;
            }
        };
    }
    let mut args = match Args::read(&words) {
        Ok(args) => args,
        Err(err) => return explained(&Args::explained(&words, err)),
    };
    // What is done there is not real.
    args.global.dry_run &= !is_rehearsal;
    if let Command::Agents(AgentsCommand::Hook { agent, second }) = &args.command {
        let turn = if *second { HookTurn::Second } else { HookTurn::First };
        return hook::run(args.global, agent, turn);
    }
    screen::configure(args.global.color, args.global.utc);
    language::configure(language::from_variables(|name| std::env::var(name).ok()));
    let ended = run(args);
    let ended = match (ended, rehearsal::finish()) {
        (Ok(_), Err(err)) => Err(Failure::failed(format!("the plan cannot be handed over: {err}"))),
        (ended, _) => ended,
    };
    // Whatever was started has ended before we do.
    spawn::wait_for_killers();
    match ended {
        Ok(exit) => exit.into(),
        Err(failure) => {
            screen::error(&failure.lines());
            failure.exit.into()
        }
    }
}

/// `eclusa session`, which no person types: the owner of a session, apart from whoever started it.
fn session(words: &[OsString]) -> ExitCode {
    let done = match eclusa_sandbox::step_apart("session", words) {
        Ok(true) => Ok(()),
        Ok(false) => eclusa_tools::run_owner(words.get(1..).unwrap_or_default()),
        Err(err) => Err(err),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(err) => {
            screen::error(&[err.to_string()]);
            ExitCode::FAILURE
        }
    }
}

fn run(args: Args) -> Result<Exit, Failure> {
    let telemetry = telemetry::start(args.global.verbose)?;
    let mut runtime = match &args.command {
        // Answers and ends: other threads would have nothing to do.
        Command::Check(_) => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    if let Command::Mcp(_) = &args.command {
        // One client on a pipe. Waking a second thread at each of its messages, to find nothing to
        // do, takes longer than most calls; what takes long has threads of its own anyway.
        runtime.worker_threads(1);
    }
    let runtime = runtime.enable_all().build()?;
    let ended = runtime.block_on(commands::run(args.global, args.command, Args::command));
    telemetry.finish();
    // A prompt or an editor that nobody waits for any more does not hold us up.
    runtime.shutdown_background();
    ended
}

/// Help goes to stdout with exit code 0, a wrong command line to stderr with 2.
fn explained(err: &clap::Error) -> ExitCode {
    // An error means that nobody reads it.
    let _ = err.print();
    u8::try_from(err.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}
