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
mod doctor;
mod init;
mod log;
mod man;
mod mcp;
mod output;
mod people;
mod policy;
mod preview;
mod resume;
mod run;
mod servers;
mod tools;
mod up;

use eclusa_chat::ui::{
    ask,
    chat::{self, ChatArgs},
    feed,
    models::{self, ModelsCommand},
    sessions::{self, SessionsCommand, SessionsSubcommand},
};
use eclusa_connect::commands::agents;

use crate::{
    args::{Args, ChangesCommand, Command, ConversationCommand, ExecArgs, Global},
    context::AppContext,
    exec,
    failure::{Exit, Failure},
    paths::Paths,
    screen, undo,
};

/// Does what the command line says.
pub(crate) async fn run(args: Args) -> Result<Exit, Failure> {
    let Args { global, command } = args;
    let open = |global: &Global| AppContext::open(global);
    let paths = |global: &Global| Paths::find(global);
    let open_anyway = |global: &Global| {
        let (ctx, broken) = AppContext::open_anyway(global)?;
        if let Some(why) = broken {
            screen::error(&why.lines());
            screen::note("using the default rules for this command");
        }
        Ok::<_, Failure>(ctx)
    };
    match command {
        Command::Run(call) => run::run(&open(&global)?, call, global.json).await,
        Command::Exec(ExecArgs { ticket: Some(ticket), command, .. }) => {
            exec::ticket::run(&global, &ticket, &command).await
        }
        Command::Exec(command) => exec::run(&open(&global)?, command, global.json).await,
        Command::Agents(command) => agents::run(&global, command).await,
        Command::Doctor => doctor::run(&global).await,
        Command::Check(call) => check::run(&open(&global)?, call, global.json).await,
        Command::Tools { shape: Some(shape), servers, .. } => {
            tools::declare(&open(&global)?, shape, servers).await
        }
        Command::Tools { what, servers, .. } => {
            tools::run(&open(&global)?, what, servers, global.json).await
        }
        Command::Conversation(what) => conversation(&global, what).await,
        Command::Undo(calls) => undo::run(&open_anyway(&global)?, calls, global.json).await,
        Command::Redo(call) => undo::redo(&open(&global)?, call, global.json).await,
        Command::Changes { list, what } => {
            // What was discarded is applied by the rules in force, or not at all.
            let ctx = match what {
                Some(ChangesCommand::Apply { .. }) => open(&global)?,
                _ => open_anyway(&global)?,
            };
            changes::run(&ctx, list, what, global.json).await
        }
        Command::Log { list, what } => log::run(&paths(&global)?, list, what, global.json).await,
        Command::Config { what } => config::run(&global, what),
        Command::Policy { what } => policy::run(&global, what),
        Command::Approvals { what } => approvals::run(&global, what).await,
        Command::People { what } => people::run(&global, what),
        Command::Allow(args) => allow::run(&open(&global)?, args, global.json).await,
        Command::Resume(args) => resume::run(&open(&global)?, args, global.json).await,
        Command::Output { reference, range } => {
            output::run(&paths(&global)?, &reference, range).await
        }
        Command::Mcp(args) => mcp::run(global, args).await,
        Command::Up(args) => up::run(global, args).await,
        Command::Servers { what } => servers::run(&global, what).await,
        Command::Demo => demo::run(&global).await,
        Command::Completions { shell } => completions::run(shell),
        Command::Man(args) => man::run(&args),
        Command::CompleteWords { kind } => completions::words(&global, kind),
        Command::Init(args) => init::run(&global, &args),
    }
}

/// The commands about models and conversations with them.
async fn conversation(global: &Global, what: ConversationCommand) -> Result<Exit, Failure> {
    let ctx = AppContext::open(global)?;
    match what {
        ConversationCommand::Feed(args) => feed::run(&ctx, args, global.json).await,
        ConversationCommand::Chat(args) => chat::run(global, args).await,
        ConversationCommand::Models { what } => {
            models::run(&ctx, what.unwrap_or(ModelsCommand::List), global.json).await
        }
        ConversationCommand::Ask(args) => ask::run(&ctx, args, global.json).await,
        ConversationCommand::Personas => models::personas(&ctx, global.json),
        ConversationCommand::Sessions { what } => {
            let list = SessionsSubcommand::Kept(SessionsCommand::List { all: false });
            match what.unwrap_or(list) {
                SessionsSubcommand::Resume { id, model, plain } => {
                    let (last, resume) = (id.is_none(), id);
                    let args = ChatArgs { model, resume, last, plain, ..ChatArgs::default() };
                    chat::run(global, args).await
                }
                SessionsSubcommand::Kept(what) => sessions::run(&ctx, what, global.json).await,
            }
        }
    }
}
