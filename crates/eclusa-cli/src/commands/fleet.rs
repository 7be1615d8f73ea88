//! `eclusa fleet`: one policy for many machines, signed by people who are not there.

#[cfg(feature = "fleet-server")]
mod dev;
#[cfg(feature = "fleet-server")]
mod dev_postgres;
mod enroll;
mod inbox;
mod init;
mod invite;
mod job;
#[cfg(feature = "fleet-server")]
mod keys;
#[cfg(feature = "fleet-server")]
mod machines;
#[cfg(feature = "fleet-server")]
mod notify;
mod people;
mod policy_changes;
mod publication;
mod push;
#[cfg(feature = "fleet-server")]
mod replay;
#[cfg(feature = "fleet-server")]
mod rollout;
mod rotate;
#[cfg(feature = "fleet-server")]
mod serve;
mod ship;
mod status;
#[cfg(feature = "fleet-server")]
mod trail;
mod verify;
mod watch;

use crate::{
    failure::{Exit, Failure},
    global::Global,
    paths::Paths,
    screen::Screen,
};

/// Put many machines under one signed policy
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eclusa fleet init ~/acme --name acme              keys and the first root, on an administrator's machine
  eclusa fleet push policy/ --to documents.json --key ~/acme/keys/acme-policy-1.key
                                                    sign a directory of rules; any web server hands the file out
  eclusa fleet invite --documents documents.json --key ~/acme/keys/acme-enroll-1.key \\
      --team web --from https://fleet.example/documents.json
  eclusa fleet enroll CODE                          on each machine
  eclusa fleet sync --once                          fetch a newer policy; run it from a timer
  eclusa fleet status                               what is in force here, and which layer won

  eclusa fleet dev ~/fleet                          all of it on this machine, with a server, to try it

With a server (docs/fleet.md), records of all machines come together in PostgreSQL:
  eclusa fleet migrate --database URL --documents documents.json
  eclusa fleet serve --database URL                 as many as you like, side by side
  eclusa fleet invite … --server https://fleet.example
  eclusa fleet sync                                 ship records and hear of newer documents, until it is ended
  eclusa fleet machines --database URL              what is in force where, and what keeps others from it
  eclusa fleet push policy … --database URL --percent 5
  eclusa fleet rollout --database URL --percent 20  to more machines; `rollback VERSION` takes it back
  eclusa fleet flush --wait 60s                     at the end of a job: wait until everything is at the server
  eclusa fleet inbox --key FILE                     questions of all machines; `show N`, `yes N`, `no N REASON` answer them
  eclusa fleet export --database URL > trail        what an auditor checks with `eclusa fleet verify trail --root …`")]
pub(crate) struct FleetArgs {
    #[command(subcommand)]
    what: FleetCommand,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum FleetCommand {
    Init(init::FleetInitArgs),
    Push(push::PushArgs),
    Sign(push::SignArgs),
    Rotate(rotate::RotateArgs),
    People(people::FleetPeopleArgs),
    Invite(invite::InviteArgs),
    Enroll(enroll::EnrollArgs),
    /// Leave the fleet that this machine is in
    Leave,
    Sync(enroll::SyncArgs),
    Flush(ship::FlushArgs),
    /// What is in force on this machine, whether it is stale, and which layer won
    Status,
    Publish(ship::PublishArgs),
    Inbox(inbox::InboxArgs),
    Show(inbox::FleetShowArgs),
    Yes(inbox::FleetYesArgs),
    No(inbox::FleetNoArgs),
    Revoke(inbox::FleetRevokeArgs),
    End(inbox::FleetEndArgs),
    #[cfg(feature = "fleet-server")]
    Dev(dev::DevArgs),
    #[cfg(feature = "fleet-server")]
    Migrate(serve::MigrateArgs),
    #[cfg(feature = "fleet-server")]
    Serve(serve::ServeArgs),
    #[cfg(feature = "fleet-server")]
    Maintain(serve::MaintainArgs),
    #[cfg(feature = "fleet-server")]
    Keys(keys::KeysArgs),
    #[cfg(feature = "fleet-server")]
    Machines(machines::MachinesArgs),
    #[cfg(feature = "fleet-server")]
    Rollout(rollout::RolloutArgs),
    #[cfg(feature = "fleet-server")]
    Rollback(rollout::RollbackArgs),
    #[cfg(feature = "fleet-server")]
    Replay(replay::ReplayArgs),
    #[cfg(feature = "fleet-server")]
    Log(trail::FleetLogArgs),
    #[cfg(feature = "fleet-server")]
    Export(trail::ExportArgs),
    Verify(verify::FleetVerifyArgs),
    Watch(watch::WatchArgs),
}

pub(super) async fn run(global: &Global, args: FleetArgs) -> Result<Exit, Failure> {
    let mut screen = Screen::stdout();
    let exit = match args.what {
        FleetCommand::Init(args) => init::run(args, global.json, &mut screen)?,
        FleetCommand::Push(args) => push::run(args, global.json, &mut screen).await?,
        FleetCommand::Sign(args) => push::sign(args, &mut screen)?,
        FleetCommand::Rotate(args) => rotate::run(args, &mut screen)?,
        FleetCommand::People(args) => people::run(&Paths::find(global)?, args, &mut screen)?,
        FleetCommand::Invite(args) => invite::run(args, global.json, &mut screen)?,
        FleetCommand::Enroll(args) => enroll::run(&Paths::find(global)?, args, &mut screen).await?,
        FleetCommand::Leave => enroll::leave(global, &Paths::find(global)?, &mut screen).await?,
        FleetCommand::Sync(args) => enroll::sync(global, args, &mut screen).await?,
        FleetCommand::Flush(args) => ship::flush(global, args, &mut screen).await?,
        FleetCommand::Publish(args) => ship::publish(args, &mut screen).await?,
        FleetCommand::Inbox(args) => {
            inbox::inbox(&Paths::find(global)?, args, global.json, &mut screen).await?
        }
        FleetCommand::Show(args) => {
            inbox::show(&Paths::find(global)?, args, global.json, &mut screen).await?
        }
        FleetCommand::Yes(args) => inbox::yes(&Paths::find(global)?, args, &mut screen).await?,
        FleetCommand::No(args) => inbox::no(&Paths::find(global)?, args, &mut screen).await?,
        FleetCommand::Revoke(args) => {
            inbox::revoke(&Paths::find(global)?, args, &mut screen).await?
        }
        FleetCommand::End(args) => inbox::end(&Paths::find(global)?, args, &mut screen).await?,
        #[cfg(feature = "fleet-server")]
        FleetCommand::Dev(args) => {
            dev::run(global, &Paths::find(global)?, args, &mut screen).await?
        }
        #[cfg(feature = "fleet-server")]
        FleetCommand::Migrate(args) => serve::migrate(args, &mut screen).await?,
        #[cfg(feature = "fleet-server")]
        FleetCommand::Serve(args) => serve::run(args, &mut screen).await?,
        #[cfg(feature = "fleet-server")]
        FleetCommand::Maintain(args) => serve::maintain(args, &mut screen).await?,
        #[cfg(feature = "fleet-server")]
        FleetCommand::Keys(args) => {
            keys::run(&Paths::find(global)?, args, global.json, &mut screen).await?
        }
        #[cfg(feature = "fleet-server")]
        FleetCommand::Machines(args) => machines::run(args, global.json, &mut screen).await?,
        #[cfg(feature = "fleet-server")]
        FleetCommand::Rollout(args) => rollout::run(args, global.json, &mut screen).await?,
        #[cfg(feature = "fleet-server")]
        FleetCommand::Rollback(args) => rollout::back(args, &mut screen).await?,
        #[cfg(feature = "fleet-server")]
        FleetCommand::Replay(args) => replay::run(global, args, &mut screen).await?,
        #[cfg(feature = "fleet-server")]
        FleetCommand::Log(args) => trail::log(args, global.json, &mut screen).await?,
        #[cfg(feature = "fleet-server")]
        FleetCommand::Export(args) => trail::export(args).await?,
        FleetCommand::Verify(args) => verify::run(args, global.json, &mut screen)?,
        FleetCommand::Watch(args) => watch::run(args, global.json, &mut screen).await?,
        FleetCommand::Status => status::run(&Paths::find(global)?, global.json, &mut screen)?,
    };
    screen.flush()?;
    Ok(exit)
}
