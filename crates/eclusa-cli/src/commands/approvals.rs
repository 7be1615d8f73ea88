//! `eclusa approvals`: pending approvals of all workspaces, and their answers.

use std::{collections::BTreeSet, io, path::PathBuf, time::Duration};

use eclusa::{
    Answer,
    approve::{
        GivenAnswer, Preview, Proof, QuestionPage, QuestionState, QueueError, QueuedQuestion, Role,
    },
    one_line, render,
};
use rustix::termios::tcgetwinsize;
use serde_json::json;

mod list;
mod made_again;
mod not_offered;
mod notify_test;
mod serve;
mod signer;

use super::call_args;
use eclusa_app::pending_runs::after_yes;

use crate::{
    failure::{Exit, Failure},
    global::Global,
    paths::Paths,
    person,
    queues::{self, WorkspaceQueue},
    screen::{Screen, Style},
    signals::asked_to_end,
    timestamp::Timestamp,
};
use list::list;
pub(super) use made_again::made_again;
use made_again::unanswered;
use not_offered::offered;
use serve::ServeArgs;
pub(super) use signer::Signer;

/// List and answer pending approvals of all your workspaces
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eclusa approvals                              pending approvals of all your workspaces
  eclusa approvals show 12                      one of them, in full
  eclusa approvals yes 12                       approve it, this once
  eclusa approvals yes web:12 --like            and every identical one
  eclusa approvals no 12 not on a Friday        refuse it, and tell the model why
  eclusa approvals edit 12 command='make test'  run this instead, if the rules allow it
  eclusa approvals answer 12 it is version 3    answer in place of the tool
  eclusa approvals revoke 12                    revoke an unused approval
  eclusa approvals serve                        the same, and the log, in a browser

A number means an approval of this workspace; `NAME:NUMBER`, as the list shows it, one of another. \
Calls wait here with on_no_approver = \"queue\", or with `eclusa run --park`. Approving changes \
applies exactly what was shown, at once, without running anything again. Approving a call that has \
not run is kept for approvals.keep (24h); the same call made again uses it, once.")]
pub(crate) struct ApprovalsArgs {
    #[command(subcommand)]
    what: Option<ApprovalsCommand>,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// Pending approvals, oldest first (default)
    List {
        /// How many of each workspace
        #[arg(short = 'n', long, default_value_t = 20)]
        count: usize,
        /// Only those with a higher number
        #[arg(long, default_value_t = 0, value_name = "NUMBER")]
        after: u64,
    },
    /// Print pending approvals as they come in, until interrupted
    Watch,
    /// Show one approval in full, whatever its state
    Show {
        /// Which one, as `list` shows it
        approval: String,
    },
    /// Approve a call, this once
    Yes {
        /// Which one, as `list` shows it
        approval: String,
        /// Also approve every identical pending call
        #[arg(long)]
        like: bool,
        /// Do not ask again in this session about calls that `show` names
        #[arg(long)]
        session: bool,
        /// Do not ask again about edits of this workspace in this session
        #[arg(long, conflicts_with = "session")]
        edits: bool,
        /// Run it, and ask about its changes
        #[arg(long, conflicts_with_all = ["session", "edits"])]
        review: bool,
        /// Sign with the key in this file, which `eclusa people add --new-key` made
        #[arg(long, value_name = "FILE")]
        key: Option<PathBuf>,
    },
    /// Refuse a call
    No {
        /// Which one, as `list` shows it
        approval: String,
        /// What to tell the model
        reason: Vec<String>,
        /// Also refuse every identical pending call
        #[arg(long)]
        like: bool,
    },
    /// Run the tool with other arguments instead; they are checked like any others
    Edit {
        /// Which one, as `list` shows it
        approval: String,
        /// The new arguments: `key=text` and `key:=json` words, or one JSON object
        #[arg(value_name = "ARGS", required = true)]
        args: Vec<String>,
    },
    /// Refuse a call, and answer in place of the tool: your text becomes its result
    Answer {
        /// Which one, as `list` shows it
        approval: String,
        /// The result; `-` reads it from stdin
        #[arg(required = true)]
        text: Vec<String>,
    },
    /// Refuse a call and end the agent's turn
    Abort {
        /// Which one, as `list` shows it
        approval: String,
    },
    /// Revoke an approval that was not used yet
    Revoke {
        /// Which one, as `list` shows it
        approval: String,
    },
    /// Send a test to every configured notification
    NotifyTest,
    /// Serve the page where approvals are answered; prints a link that works once
    Serve(ServeArgs),
}

pub(super) async fn run(global: &Global, args: ApprovalsArgs) -> Result<Exit, Failure> {
    let what = match args.what {
        Some(ApprovalsCommand::Serve(args)) => return serve::run(global, args).await,
        Some(ApprovalsCommand::NotifyTest) => return notify_test::run(global).await,
        what => what,
    };
    let paths = Paths::find(global)?;
    let queues = queues::all(&paths)?;
    let mut screen = Screen::stdout();
    let default = ApprovalsCommand::List { count: 20, after: 0 };
    match what.unwrap_or(default) {
        ApprovalsCommand::List { count, after } => {
            let page = QuestionPage { after, limit: count.max(1) };
            list(&queues, page, global.json, &mut screen).await?;
        }
        ApprovalsCommand::Watch => {
            // Nobody else may write while the lock on the output is held.
            drop(screen);
            return watch(&paths, queues, global.json).await;
        }
        ApprovalsCommand::Show { approval } => {
            let (queue, id) = queues::find(queues, &approval)?;
            let queued = queue.queue.get(id).await.map_err(failed)?;
            match global.json {
                true => screen.json(&as_json(&queue, &queued))?,
                false => show(&queue, &queued, &mut screen).await?,
            }
        }
        ApprovalsCommand::Yes { approval, like, session, edits, review, key } => {
            let answer = match (session, edits, review) {
                (true, ..) => Answer::Session,
                (_, true, _) => Answer::Edits,
                (.., true) => Answer::Review,
                _ => Answer::Once,
            };
            let signer = Signer::open(&paths, key)?;
            let (queue, id) = queues::find(queues, &approval)?;
            offered(&queue, id, &answer).await?;
            let questions = questions(&queue, id, like).await?;
            let given = signer.yes(&*queue.queue, questions.clone(), answer).await?;
            if let Err(err) = queue.queue.answer(given).await {
                return Err(unanswered(&queue, id, err).await);
            }
            let mut refused = false;
            for id in questions {
                let reference = queue.reference(id);
                match after_yes(global, &queue, id).await?.describe() {
                    Ok(told) => screen.line(&format!("approval {reference}: {told}"))?,
                    Err(why) => {
                        refused = true;
                        let why =
                            format!("approval {reference}: yes, but nothing was applied: {why}");
                        screen.line(&why)?;
                    }
                }
            }
            screen.flush()?;
            return Ok(if refused { Exit::Failed } else { Exit::Done });
        }
        ApprovalsCommand::No { approval, reason, like } => {
            say(queues, &approval, like, Answer::No(reason.join(" ")), "no", &mut screen).await?;
        }
        ApprovalsCommand::Edit { approval, args } => {
            let answer = Answer::Edit(call_args::read(&args, None)?);
            say(queues, &approval, false, answer, "edited", &mut screen).await?;
        }
        ApprovalsCommand::Answer { approval, text } => {
            let text = match &text[..] {
                [only] if only == "-" => io::read_to_string(io::stdin())?,
                words => words.join(" "),
            };
            if text.trim().is_empty() {
                return Err(Failure::usage("an answer in place of the tool has words"));
            }
            let answer = Answer::Instead(text);
            say(queues, &approval, false, answer, "answered in place of the tool", &mut screen)
                .await?;
        }
        ApprovalsCommand::Abort { approval } => {
            say(queues, &approval, false, Answer::Abort, "aborted", &mut screen).await?;
        }
        ApprovalsCommand::Serve(_) | ApprovalsCommand::NotifyTest => {}
        ApprovalsCommand::Revoke { approval } => {
            let (queue, id) = queues::find(queues, &approval)?;
            queue.queue.revoke(id, &person::name()).await.map_err(failed)?;
            screen.line(&format!("approval {}: revoked", queue.reference(id)))?;
        }
    }
    screen.flush()?;
    Ok(Exit::Done)
}

/// Prints each question once, when it comes in, also those of workspaces that are new.
async fn watch(
    paths: &Paths,
    mut queues: Vec<WorkspaceQueue>,
    json: bool,
) -> Result<Exit, Failure> {
    let mut known: BTreeSet<String> = queues.iter().map(|it| it.key.clone()).collect();
    let mut seen = Vec::new();
    let mut end = std::pin::pin!(asked_to_end());
    loop {
        for mut queue in queues::others(paths, |key| !known.insert(key.to_owned())) {
            if queues.iter().any(|it| it.name == queue.name) {
                queue.name.clone_from(&queue.key);
            }
            queues.push(queue);
        }
        seen.resize(queues.len(), 0);
        for (queue, seen) in queues.iter().zip(&mut seen) {
            let page = QuestionPage { after: *seen, limit: 100 };
            for queued in queue.queue.list(page).await.map_err(failed)? {
                *seen = queued.id;
                let mut screen = Screen::stdout();
                match json {
                    true => screen.json(&as_json(queue, &queued))?,
                    false => show(queue, &queued, &mut screen).await?,
                }
                screen.flush()?;
            }
        }
        tokio::select! {
            () = &mut end => return Ok(Exit::Done),
            () = tokio::time::sleep(Duration::from_millis(300)) => {}
        }
    }
}

/// One question in full, and how to answer it.
async fn show(
    queue: &WorkspaceQueue,
    queued: &QueuedQuestion,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let columns = tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_col));
    let columns = if columns == 0 { 80 } else { columns };
    let reference = queue.reference(queued.id);
    let pending = queued.state == QuestionState::Pending;
    let mut title =
        format!("approval {reference}, asked {}", screen.time(Timestamp(queued.created)));
    match pending {
        true => title.push_str(&format!(", expires {}", Timestamp(queued.expires))),
        false => title.push_str(&format!(", {}", queued.state)),
    }
    if let Some(directory) = queue.directory.as_ref().filter(|_| !queue.here) {
        title.push_str(&format!(", in {}", one_line(&directory.display().to_string())));
    }
    screen.styled(Style::Strong, &title)?;
    if queued.asker_away && queued.state.is_open() {
        let text = match queued.question.pending {
            Some(_) => {
                "the requester has left: approving applies the changes below, without running anything again"
            }
            None => "the requester has left: an approval is kept for the same call made again",
        };
        screen.line(text)?;
    }
    if let Some(by) = &queued.decided_by {
        let answer = queued.answer.as_deref().unwrap_or_default();
        screen.line(&format!("`{}` answered `{answer}`", one_line(by)))?;
    }
    let votes = if pending { queue.queue.votes(queued.id).await.map_err(failed)? } else { vec![] };
    for vote in votes {
        let proof = vote.signed.map_or(Proof::Word, |it| it.proof);
        screen.line(&format!("`{}` approved by {}", one_line(&vote.by), proof.as_str()))?;
    }
    // The letters of a terminal's prompt mean nothing here.
    let lines = render(&queued.question).lines;
    let next = lines.iter().skip(1).map(|it| Some(it.role)).chain([None]);
    for (line, next) in lines.iter().zip(next) {
        let title = line.role == Role::Title && next == Some(Role::Answer);
        if title || line.role == Role::Answer {
            continue;
        }
        for piece in line.wrapped(columns) {
            screen.verbatim(Style::Plain, &piece)?;
        }
    }
    if pending {
        screen.line(&format!(
            "`eclusa approvals yes {reference}` approves it, `eclusa approvals no {reference} REASON` refuses it"
        ))?;
    }
    screen.line("")?;
    Ok(())
}

fn as_json(queue: &WorkspaceQueue, queued: &QueuedQuestion) -> serde_json::Value {
    let question = &queued.question;
    let preview = |it: &Preview| json!({"summary": it.summary, "diff": it.diff, "whole": it.whole});
    json!({
        "id": queued.id,
        "ref": queue.reference(queued.id),
        "workspace": queue.directory.as_ref().map(|it| it.display().to_string()),
        "created": queued.created,
        "expires": queued.expires,
        "status": queued.state.as_str(),
        "asker_away": queued.asker_away,
        "answer": queued.answer,
        "by": queued.decided_by,
        "call": question.call,
        "tool": question.tool,
        "class": question.class.as_str(),
        "args": question.args,
        "changes": question.preview().map(preview),
        "reason": question.reason,
        "binding": question.binding,
        "principal": question.principal,
        "conversation": question.session,
        "because": question.verdict.because.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

/// Answers one approval, or all that are identical to it.
async fn say(
    queues: Vec<WorkspaceQueue>,
    approval: &str,
    like: bool,
    answer: Answer,
    word: &str,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let (queue, id) = queues::find(queues, approval)?;
    offered(&queue, id, &answer).await?;
    let questions = questions(&queue, id, like).await?;
    let given = GivenAnswer::new(questions.clone(), answer, person::name());
    if let Err(err) = queue.queue.answer(given).await {
        return Err(unanswered(&queue, id, err).await);
    }
    for id in questions {
        screen.line(&format!("approval {}: {word}", queue.reference(id)))?;
    }
    Ok(())
}

/// This question, or all that are identical to it.
async fn questions(queue: &WorkspaceQueue, id: u64, like: bool) -> Result<Vec<u64>, Failure> {
    let found = match like {
        true => queue.queue.identical(id).await.map_err(failed)?,
        false => Vec::new(),
    };
    Ok(if found.is_empty() { vec![id] } else { found })
}

fn failed(err: QueueError) -> Failure {
    match err {
        QueueError::Unknown(_) => Failure::failed(err).hint("`eclusa approvals` lists them"),
        err => Failure::failed(err),
    }
}
