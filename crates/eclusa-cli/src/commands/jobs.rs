//! `eclusa jobs`: what commands of sessions left running in this workspace.

use std::{path::Path, time::Duration};

use eclusa_tools::{JobRecords, JobView, OwnerClient, OwnerError, jobs_of};
use serde_json::{Value, json};

use crate::{
    context::AppContext,
    failure::{Exit, Failure},
    paths::Paths,
    screen::{self, Screen},
};

mod apply;
mod forward;

/// List, show, follow, apply and end what commands left running
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eclusa jobs                                   running jobs, since when, and their ports
  eclusa jobs output 3 -f                       its output, as it comes
  eclusa jobs forward 3 5173                    open its port to your browser
  eclusa jobs end 3                             SIGTERM, and SIGKILL five seconds later
  eclusa jobs end --all                         all jobs of this workspace
  eclusa jobs diff 3                            its changes that were not applied
  eclusa jobs apply 3                           apply them; the job continues

Later commands of its session see what a job writes to the workspace. It is applied with `apply`, \
and kept for a day after the job's end.")]
pub(crate) struct JobsArgs {
    #[command(subcommand)]
    what: Option<JobsCommand>,
}

impl JobsArgs {
    /// Whether it is about what a job wrote to the workspace.
    pub(super) fn applies(&self) -> bool {
        matches!(self.what, Some(JobsCommand::Diff { .. } | JobsCommand::Apply { .. }))
    }
}

#[derive(Debug, clap::Subcommand)]
enum JobsCommand {
    /// List the jobs of this workspace (default)
    List,
    /// Show one job
    Show {
        /// Its number, as the list shows it
        job: u64,
    },
    /// Print the output of a job, as far as it is kept
    Output {
        /// Its number, as the list shows it
        job: u64,
        /// Continue until it has ended
        #[arg(short, long)]
        follow: bool,
    },
    /// Show changes of a job that were not applied, as a patch
    Diff {
        /// Its number, as the list shows it
        job: u64,
    },
    /// Apply the changes of a job
    Apply {
        /// Its number, as the list shows it
        job: u64,
    },
    /// Let this machine reach a port that a job listens on, until you end this
    Forward {
        /// Its number, as the list shows it
        job: u64,
        /// The port that it listens on
        port: u16,
        /// Port of this machine to listen on, on the loopback address [default: the same]
        #[arg(long, value_name = "PORT")]
        at: Option<u16>,
    },
    /// End jobs
    End {
        /// Their numbers, as the list shows them
        #[arg(required_unless_present = "all", value_name = "JOB")]
        jobs: Vec<u64>,
        /// All jobs of this workspace
        #[arg(long, conflicts_with = "jobs")]
        all: bool,
    },
}

/// How often more output is looked for.
const STEP: Duration = Duration::from_millis(200);

pub(super) async fn run(paths: &Paths, args: JobsArgs, json: bool) -> Result<Exit, Failure> {
    let state = paths.undo();
    match args.what.unwrap_or(JobsCommand::List) {
        JobsCommand::List => list(&jobs_of(&state), json)?,
        JobsCommand::Show { job } => show(&found(&state, job)?, json)?,
        JobsCommand::Output { job, follow } => output(&state, job, follow).await?,
        JobsCommand::End { jobs, all } => end(&state, &jobs, all)?,
        JobsCommand::Forward { job, port, at } => forward::run(&state, job, port, at).await?,
        JobsCommand::Diff { .. } | JobsCommand::Apply { .. } => {
            return Err(Failure::failed("it needs the rules of this workspace"));
        }
    }
    Ok(Exit::Done)
}

/// What needs the rules in force.
pub(super) async fn apply(ctx: &AppContext, args: JobsArgs, json: bool) -> Result<Exit, Failure> {
    match args.what {
        Some(JobsCommand::Diff { job }) => apply::diff(ctx, job, json),
        Some(JobsCommand::Apply { job }) => apply::apply(ctx, job, json).await,
        _ => run(&ctx.paths, args, json).await,
    }
}

fn found(state: &Path, job: u64) -> Result<JobView, Failure> {
    let none = || {
        Failure::failed(format!("there is no job {job}"))
            .hint("`eclusa jobs` lists those there are")
    };
    jobs_of(state).into_iter().find(|it| it.record.job == job).ok_or_else(none)
}

fn list(jobs: &[JobView], json: bool) -> Result<(), Failure> {
    let mut screen = Screen::stdout();
    if json {
        let jobs: Vec<Value> = jobs.iter().map(JobView::json).collect();
        screen.json(&json!({"jobs": jobs}))?;
    } else if jobs.is_empty() {
        screen.line("no jobs")?;
    } else {
        for it in jobs {
            let record = &it.record;
            let (id, session) = (record.job, eclusa::one_line(&record.session));
            let command = eclusa::one_line(&record.command);
            let (state, seconds) = (it.state(), it.seconds());
            screen
                .line(&format!("{id}  {state}, started {seconds} s ago, {session}: {command}"))?;
        }
    }
    Ok(screen.flush()?)
}

fn show(job: &JobView, json: bool) -> Result<(), Failure> {
    let mut screen = Screen::stdout();
    if json {
        screen.json(&job.json())?;
        return Ok(screen.flush()?);
    }
    let record = &job.record;
    let ports: Vec<String> = job.ports.iter().map(u16::to_string).collect();
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let mut rows = vec![
        row("job", record.job.to_string()),
        row("state", job.state()),
        row("command", eclusa::one_line(&record.command)),
        row("session", eclusa::one_line(&record.session)),
        row("started", format!("{} s ago", job.seconds())),
    ];
    if job.runs() {
        rows.push(row("processes", job.processes.to_string()));
    }
    if !ports.is_empty() {
        rows.push(row("listens on", ports.join(", ")));
    }
    rows.extend(record.call.map(|it| row("call", format!("{it} (`eclusa log show {it}`)"))));
    screen.details(&rows)?;
    Ok(screen.flush()?)
}

async fn output(state: &Path, job: u64, follow: bool) -> Result<(), Failure> {
    let mut view = found(state, job)?;
    let records = JobRecords::new(state);
    let mut screen = Screen::stdout();
    let mut from = 0;
    loop {
        let (bytes, lost, total) = records.output(job, from)?;
        if lost > 0 {
            screen::note(&format!("{lost} bytes are no longer kept"));
        }
        screen.foreign(&String::from_utf8_lossy(&bytes))?;
        screen.flush()?;
        from = total;
        if !follow || !view.runs() {
            return Ok(());
        }
        tokio::time::sleep(STEP).await;
        view = found(state, job)?;
    }
}

fn end(state: &Path, jobs: &[u64], all: bool) -> Result<(), Failure> {
    if all {
        let running: Vec<u64> =
            jobs_of(state).iter().filter(|it| it.runs()).map(|it| it.record.job).collect();
        for owner in OwnerClient::all(state) {
            end_all(owner.map_err(Failure::failed)?)?;
        }
        return told(state, &running);
    }
    for job in jobs {
        let view = found(state, *job)?;
        if !view.runs() {
            continue;
        }
        let owner = OwnerClient::connect(state, &view.record.session).map_err(Failure::failed)?;
        if let Some(owner) = owner {
            owner.end(Some(vec![*job])).map_err(Failure::failed)?;
        }
    }
    told(state, jobs)
}

/// Ends everything that an owner holds, also one of another version.
fn end_all(owner: OwnerClient) -> Result<(), Failure> {
    let again = owner.twin();
    match owner.end(None) {
        Err(OwnerError::Version(_)) => {
            again.kill();
            Ok(())
        }
        ended => ended.map_err(Failure::failed),
    }
}

/// What became of these jobs.
fn told(state: &Path, jobs: &[u64]) -> Result<(), Failure> {
    let mut screen = Screen::stdout();
    for view in jobs_of(state).iter().filter(|it| jobs.contains(&it.record.job)) {
        screen.line(&format!("job {} {}", view.record.job, view.state()))?;
    }
    if jobs.is_empty() {
        screen.line("no jobs")?;
    }
    Ok(screen.flush()?)
}
