//! The commands, one file each, and what several of them share.

mod allow;
mod approvals;
mod call_args;
mod call_record;
pub(crate) mod changes;
mod check;
mod completions;
mod config;
mod demo;
mod disk;
mod doctor;
mod fleet;
mod init;
mod jobs;
mod log;
mod man;
mod mcp;
mod output;
mod overview;
mod people;
mod policy;
mod preview;
mod resume;
mod run;
mod servers;
mod tools;
mod up;

use clap::Subcommand;
use eclusa_chat::ui::{
    ask::{self, AskArgs},
    chat::{self, ChatArgs},
    feed::{self, FeedArgs},
    models::{self, ModelsArgs},
    sessions::{self, SessionsArgs, SessionsCommand, SessionsSubcommand},
};
use eclusa_connect::commands::agents::{self, AgentsCommand};

use crate::{
    context::AppContext,
    exec::{self, ExecArgs},
    failure::{Exit, Failure},
    global::Global,
    job_plan,
    paths::Paths,
    rehearsal, screen,
    undo::{self, RedoArgs, UndoArgs},
};

/// The commands. Their help is the documentation of their arguments.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(run::RunArgs),
    Exec(ExecArgs),
    Jobs(jobs::JobsArgs),
    #[command(flatten)]
    Agents(AgentsCommand),
    Doctor(doctor::DoctorArgs),
    Disk(disk::DiskArgs),
    #[command(aliases = ["explain", "why"])]
    Check(check::CheckArgs),
    Tools(tools::ToolsArgs),
    Feed(FeedArgs),
    Ask(AskArgs),
    Chat(ChatArgs),
    Models(ModelsArgs),
    /// List the personas: how a model is asked to behave, and its limits
    Personas,
    Sessions(SessionsArgs),
    Undo(UndoArgs),
    Redo(RedoArgs),
    Changes(changes::ChangesArgs),
    Log(log::LogArgs),
    Config(config::ConfigArgs),
    Policy(policy::PolicyArgs),
    Approvals(approvals::ApprovalsArgs),
    People(people::PeopleArgs),
    Fleet(fleet::FleetArgs),
    Allow(allow::AllowArgs),
    Resume(resume::ResumeArgs),
    Output(output::OutputArgs),
    Mcp(mcp::McpArgs),
    Up(up::UpArgs),
    Servers(servers::ServersArgs),
    Init(init::InitArgs),
    /// See it at work, in a scratch workspace
    Demo,
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    /// Show what this directory is, what waits and what to do next: `eclusa` alone
    #[command(hide = true)]
    Overview,
    /// Print words for completion scripts
    #[command(hide = true)]
    CompleteWords {
        /// What to print
        kind: completions::WordKind,
        /// The tool, for its arguments
        of: Option<String>,
    },
}

/// The dry run of a whole job, which is what this command line says without `--dry-run`.
async fn rehearse(global: &Global, apply: bool) -> Result<Exit, Failure> {
    let ctx = AppContext::open(&Global { dry_run: false, ..global.clone() })?;
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let plan = job_plan::rehearse(&ctx, &words).await?;
    plan.print(&ctx, global.json)?;
    if apply { plan.apply(&ctx, global.json).await } else { Ok(plan.exit()) }
}

impl Command {
    /// Whether it is a whole job, which a dry run rehearses, and whether its plan is to be applied.
    fn rehearsed(&self) -> Option<bool> {
        match self {
            Command::Ask(args) => Some(args.apply),
            Command::Chat(args) => Some(args.apply),
            Command::Feed(args) => Some(args.apply),
            _ => None,
        }
    }

    /// Its word, where it does what it says whatever a dry run would be.
    fn takes_no_dry_run(&self) -> Option<&'static str> {
        match self {
            Command::Approvals(_) => Some("approvals"),
            Command::People(_) => Some("people"),
            Command::Fleet(_) => Some("fleet"),
            Command::Jobs(_) => Some("jobs"),
            Command::Allow(_) => Some("allow"),
            Command::Disk(_) => Some("disk"),
            Command::Sessions(_) => Some("sessions"),
            Command::Config(_) => Some("config"),
            _ => None,
        }
    }

    /// Whether it runs no call, so that it needs no workspace and works in the home directory.
    fn works_anywhere(&self) -> bool {
        match self {
            Command::Agents(command) => command.works_anywhere(),
            Command::Sessions(args) => {
                !matches!(args.what, Some(SessionsSubcommand::Resume { .. }))
            }
            Command::Doctor(_)
            | Command::Disk(_)
            | Command::Tools(_)
            | Command::Models(_)
            | Command::Personas
            | Command::Overview
            | Command::Log(_)
            | Command::Config(_)
            | Command::Policy(_)
            | Command::Approvals(_)
            | Command::People(_)
            | Command::Fleet(_)
            | Command::Output(_)
            | Command::Servers(_)
            | Command::CompleteWords { .. } => true,
            _ => false,
        }
    }
}

/// Does what the command line says; `program` is all of it, for manual pages and completions.
pub(crate) async fn run(
    global: Global,
    command: Command,
    program: fn() -> clap::Command,
) -> Result<Exit, Failure> {
    let global = Global { anywhere: command.works_anywhere(), ..global };
    let open = |global: &Global| AppContext::open(global);
    if let Some(apply) = command.rehearsed() {
        match (global.dry_run, apply) {
            (true, _) => return rehearse(&global, apply).await,
            (false, true) if rehearsal::directory().is_none() => {
                return Err(Failure::usage("`--apply` is for the plan of a dry run")
                    .hint("`--dry-run --apply` makes the plan, and applies it"));
            }
            (false, _) => {}
        }
    }
    if let (true, Some(word)) = (global.dry_run, command.takes_no_dry_run()) {
        let text = format!("`--dry-run` does not hold back `eclusa {word}`, so nothing was done");
        return Err(Failure::usage(text).hint("leave `--dry-run` out"));
    }
    let paths = |global: &Global| Paths::find(global);
    match command {
        Command::Run(args) => run::run(&open(&global)?, args, global.json).await,
        Command::Exec(ExecArgs { ticket: Some(ticket), command, .. }) => {
            exec::ticket::run(&global, &ticket, &command).await
        }
        Command::Exec(ExecArgs { ask: Some(ticket), command, .. }) => {
            exec::ticket::tell(&global, &ticket, &command)
        }
        Command::Exec(args) => exec::run(&open(&global)?, args, global.json).await,
        // What a job wrote is applied by the rules in force, or not at all.
        Command::Jobs(args) if args.applies() => {
            jobs::apply(&open(&global)?, args, global.json).await
        }
        Command::Jobs(args) => jobs::run(&paths(&global)?, args, global.json).await,
        Command::Agents(command) => agents::run(&global, command).await,
        Command::Doctor(_) => doctor::run(&global).await,
        Command::Disk(args) => disk::run(&open_anyway(&global)?, &args, global.json),
        Command::Check(args) => {
            check::run(&open(&global)?, args, global.verbose > 0, global.json).await
        }
        Command::Tools(args) => tools::run(&open(&global)?, args, global.json).await,
        Command::Feed(args) => feed::run(&open(&global)?, args, global.json).await,
        Command::Ask(args) => ask::run(&open(&global)?, args, global.json).await,
        Command::Chat(args) => chat::run(&global, args).await,
        Command::Models(args) => models::run(&open(&global)?, args, global.json).await,
        Command::Personas => models::personas(&open(&global)?, global.json),
        Command::Sessions(args) => sessions(&global, args).await,
        Command::Undo(args) => undo::run(&open_anyway(&global)?, args, global.json).await,
        Command::Redo(args) => undo::redo(&open(&global)?, args, global.json).await,
        Command::Changes(args) => {
            // What was discarded is applied by the rules in force, or not at all.
            let ctx = if args.applies() { open(&global)? } else { open_anyway(&global)? };
            changes::run(&ctx, args, global.json).await
        }
        Command::Log(args) => log::run(&paths(&global)?, args, global.json).await,
        Command::Config(args) => config::run(&global, args),
        Command::Policy(args) => policy::run(&global, args),
        Command::Approvals(args) => approvals::run(&global, args).await,
        Command::People(args) => people::run(&global, args),
        Command::Fleet(args) => fleet::run(&global, args).await,
        Command::Allow(args) => allow::run(&open(&global)?, args, global.json).await,
        Command::Resume(args) => resume::run(&open(&global)?, args, global.json).await,
        Command::Output(args) => output::run(&paths(&global)?, args).await,
        Command::Mcp(args) => mcp::run(global, args).await,
        Command::Up(args) => up::run(global, args).await,
        Command::Servers(args) => servers::run(&global, args).await,
        Command::Demo => demo::run(&global).await,
        Command::Overview => overview::run(&global).await,
        Command::Completions(args) => completions::run(&args, program()),
        Command::Man(args) => man::run(&args, program()),
        Command::CompleteWords { kind, of } => {
            completions::words(&global, kind, of.as_deref()).await
        }
        Command::Init(args) => init::run(&global, &args),
    }
}

/// A session that is resumed goes on in a chat.
async fn sessions(global: &Global, args: SessionsArgs) -> Result<Exit, Failure> {
    let list = SessionsSubcommand::Kept(SessionsCommand::List { all: false });
    match args.what.unwrap_or(list) {
        SessionsSubcommand::Resume { id, model, plain } => {
            let (last, resume) = (id.is_none(), id);
            let args = ChatArgs { model, resume, last, plain, ..ChatArgs::default() };
            chat::run(global, args).await
        }
        SessionsSubcommand::Kept(what) => {
            sessions::run(&AppContext::open(global)?, what, global.json).await
        }
    }
}

/// Opens the workspace, under the default rules where its configuration cannot be used.
fn open_anyway(global: &Global) -> Result<AppContext, Failure> {
    let (ctx, broken) = AppContext::open_anyway(global)?;
    if let Some(why) = broken {
        screen::error(&why.lines());
        screen::note("using the default rules for this command");
    }
    Ok(ctx)
}
