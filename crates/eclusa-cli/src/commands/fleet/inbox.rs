//! `eclusa fleet inbox`, `show`, `yes`, `no`, `revoke` and `end`: questions of all machines, answered with a person's key.

use std::path::PathBuf;

use eclusa::{
    Answer,
    audit::{Clock as _, SystemClock},
    one_line,
};
use eclusa_fleet::{
    inbox::{Inbox, InboxRow},
    mirror::{MirroredLine, MirroredRequirement},
    time_text,
};
use serde_json::json;

use crate::{
    commands::call_record,
    failure::{Exit, Failure},
    fleet::{FleetPersonClient, PersonAnswer},
    paths::Paths,
    screen::{Screen, Style, sanitize},
    timestamp::Timestamp,
};

// Who asks the server. (A doc comment would replace the command's own text.)
#[derive(Debug, clap::Args)]
pub(crate) struct PersonArgs {
    /// Your key, which `eclusa people add --new-key` made and the people document of the fleet names
    #[arg(long, value_name = "FILE", env = "ECLUSA_PERSON_KEY")]
    key: PathBuf,
    /// The server [default: the one that this machine is enrolled at]
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// The name of the fleet [default: the one that this machine is in]
    #[arg(long, value_name = "NAME")]
    fleet: Option<String>,
}

/// List the questions of all machines that wait for an answer
#[derive(Debug, clap::Args)]
#[command(after_help = "\
What you may answer comes first. `eclusa fleet show N` shows one in full, before `eclusa fleet yes N` or `no N REASON`.")]
pub(crate) struct InboxArgs {
    #[command(flatten)]
    person: PersonArgs,
    /// Only of this team
    #[arg(long)]
    team: Option<String>,
    /// Only of this tool
    #[arg(long)]
    tool: Option<String>,
    /// Only those with a higher number
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    after: u64,
}

/// Show a question of a machine in full
#[derive(Debug, clap::Args)]
pub(crate) struct FleetShowArgs {
    /// Its number, as `inbox` shows it
    question: u64,
    #[command(flatten)]
    person: PersonArgs,
}

/// Say yes to a question of a machine, this once
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The answer is signed with your key, over the machine's store, the number of the question there and what the call is bound \
to. It goes to the machine, which checks all of it. An answer is good for an hour.")]
pub(crate) struct FleetYesArgs {
    /// Its number, as `inbox` shows it
    question: u64,
    /// Say yes to every pending one that is identical, too
    #[arg(long)]
    like: bool,
    #[command(flatten)]
    person: PersonArgs,
}

/// Say no to a question of a machine
#[derive(Debug, clap::Args)]
pub(crate) struct FleetNoArgs {
    /// Its number, as `inbox` shows it
    question: u64,
    /// What to tell the model
    reason: Vec<String>,
    /// Say no to every pending one that is identical, too
    #[arg(long)]
    like: bool,
    #[command(flatten)]
    person: PersonArgs,
}

/// Revoke an approval that was not used yet
#[derive(Debug, clap::Args)]
pub(crate) struct FleetRevokeArgs {
    /// Its number, as `inbox` shows it
    question: u64,
    #[command(flatten)]
    person: PersonArgs,
}

/// End the session that asks: what it waits for is refused, and no yes of it is left
#[derive(Debug, clap::Args)]
pub(crate) struct FleetEndArgs {
    /// The number of a question of it
    question: u64,
    #[command(flatten)]
    person: PersonArgs,
}

fn open(paths: &Paths, args: PersonArgs) -> Result<FleetPersonClient, Failure> {
    FleetPersonClient::open(paths, &args.key, (args.server, args.fleet))
}

pub(super) async fn inbox(
    paths: &Paths,
    args: InboxArgs,
    json: bool,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let client = open(paths, args.person)?;
    let mut filters = vec![("after", args.after.to_string())];
    filters.extend(args.team.map(|it| ("team", it)));
    filters.extend(args.tool.map(|it| ("tool", it)));
    let inbox = client.inbox(&filters).await?;
    if json {
        screen.json(&inbox.questions.iter().map(as_json).collect())?;
        return Ok(Exit::Done);
    }
    if inbox.questions.is_empty() {
        screen.line("nothing waits in the fleet")?;
        return Ok(Exit::Done);
    }
    let now = SystemClock.unix_ms();
    let head = ["question", "left", "machine", "tool", "about", "needs"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(inbox.questions.iter().map(|it| {
        let identical = match it.identical {
            0 | 1 => String::new(),
            several => format!(" ({several} identical)"),
        };
        vec![
            it.number.to_string(),
            left(it, now),
            one_line(&machine(it)),
            one_line(&it.tool),
            call_record::short(&one_line(&it.headline)) + &identical,
            needs(it),
        ]
    }));
    screen.headed_table(&rows)?;
    if inbox.more {
        let last = inbox.questions.iter().map(|it| it.number).max().unwrap_or_default();
        screen.line(&format!("more may wait: `eclusa fleet inbox --after {last}`"))?;
    }
    let first = inbox.questions.first().map_or(0, |it| it.number);
    let next = format!(
        "`eclusa fleet show {first}` shows one in full, before `yes {first}` or `no {first} REASON`"
    );
    screen.styled(Style::Faint, &next)?;
    Ok(Exit::Done)
}

fn machine(it: &InboxRow) -> String {
    match it.team.is_empty() {
        true => it.name.clone(),
        false => format!("{}/{}", it.team, it.name),
    }
}

/// How much time is left.
fn left(it: &InboxRow, now: u64) -> String {
    let seconds = it.expires.saturating_sub(now) / 1_000;
    match (seconds / 3_600, seconds / 60) {
        (0, 0) => format!("{seconds} s"),
        (0, minutes) => format!("{minutes} min"),
        (hours, _) => format!("{hours} h"),
    }
}

/// Who must answer, and who has.
fn needs(it: &InboxRow) -> String {
    let needed: Vec<String> = it.requirements.iter().map(requirement).collect();
    let mut parts = vec![match needed.is_empty() {
        true => "anybody".to_owned(),
        false => needed.join("; "),
    }];
    if !it.said.is_empty() {
        parts.push(format!("said so far: {}", it.said.join(", ")));
    }
    if it.state == "sent" {
        parts.push("answered, on its way".to_owned());
    }
    if it.asker_away {
        parts.push("nobody waits".to_owned());
    }
    if let Some(why) = &it.not_for_you {
        parts.push(why.clone());
    }
    if let Some(why) = &it.refused {
        parts.push(format!("the last answer was refused: {why}"));
    }
    one_line(&parts.join(", "))
}

fn requirement(it: &MirroredRequirement) -> String {
    it.requirement().to_string()
}

fn as_json(it: &InboxRow) -> serde_json::Value {
    json!({
        "number": it.number, "machine": it.machine, "name": it.name, "team": it.team, "workspace": it.workspace,
        "tool": it.tool, "headline": it.headline, "principal": it.principal, "conversation": it.conversation,
        "binding": it.binding, "state": it.state, "asker_away": it.asker_away, "created": it.created,
        "expires": it.expires, "needs": it.requirements.iter().map(requirement).collect::<Vec<_>>(),
        "said": it.said, "refused": it.refused, "not_for_you": it.not_for_you, "identical": it.identical,
    })
}

pub(super) async fn show(
    paths: &Paths,
    args: FleetShowArgs,
    json: bool,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let client = open(paths, args.person)?;
    let (row, inbox) = client.question(args.question).await?;
    if json {
        let mut told = as_json(&row);
        if let Some(fields) = told.as_object_mut() {
            let lines: Vec<String> = inbox.lines.iter().map(line).collect();
            fields.insert("lines".to_owned(), lines.into());
            fields.insert("whole".to_owned(), inbox.whole.into());
        }
        screen.json(&told)?;
        return Ok(Exit::Done);
    }
    in_full(&row, &inbox, screen)?;
    Ok(Exit::Done)
}

fn line(it: &MirroredLine) -> String {
    // The renderer made it visible where it was asked; a server could have put in what it likes.
    let plain = |text: &str| sanitize(text).replace(['\n', '\t'], " ");
    match &it.text {
        None => plain(&it.label),
        Some(text) => format!("{} │ {}", plain(&it.label), plain(text)),
    }
}

fn in_full(row: &InboxRow, inbox: &Inbox, screen: &mut Screen) -> Result<(), Failure> {
    let pending = row.state == "pending";
    let mut title =
        format!("question {}, asked {}", row.number, screen.time(Timestamp(row.created)));
    match pending {
        true => title.push_str(&format!(", expires {}", time_text(row.expires))),
        false => title.push_str(&format!(", {}", one_line(&row.state))),
    }
    screen.styled(Style::Strong, &title)?;
    let (machine, workspace, who) =
        (machine(row), one_line(&row.workspace), one_line(&row.principal));
    screen.line(&sanitize(&format!("on {machine}, in {workspace}, by {who}")))?;
    screen.line(&sanitize(&format!("needs: {}", needs(row))))?;
    let short: String = row.binding.chars().take(8).collect();
    screen.line(&sanitize(&format!(
        "binding: {short} (`eclusa approvals show {}` on that machine shows the same call)",
        row.id
    )))?;
    if row.asker_away && pending {
        screen.line(match inbox.applies {
            true => {
                "the requester has left: approving applies the changes below, without running anything again"
            }
            false => "the requester has left: an approval is kept for the same call made again",
        })?;
    }
    // The letters of a terminal's prompt mean nothing here.
    let next = inbox.lines.iter().skip(1).map(Some).chain([None]);
    for (it, next) in inbox.lines.iter().zip(next) {
        let title = it.role == "title" && next.is_some_and(|it| it.role == "answer");
        if !title && it.role != "answer" {
            screen.verbatim(Style::Plain, &line(it))?;
        }
    }
    if inbox.lines.is_empty() {
        screen.line("its text is forgotten, as it no longer waits")?;
    } else if !inbox.whole {
        screen.line("not all of it is shown here: it can be refused from here, and approved where it was asked")?;
    }
    if pending {
        let number = row.number;
        screen.line(&format!(
            "`eclusa fleet yes {number}` approves it, `eclusa fleet no {number} REASON` refuses it"
        ))?;
    }
    Ok(())
}

pub(super) async fn yes(
    paths: &Paths,
    args: FleetYesArgs,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let answer = PersonAnswer::Vote(Answer::Once);
    give(paths, (args.person, args.question, args.like), &answer, "yes", screen).await
}

pub(super) async fn no(
    paths: &Paths,
    args: FleetNoArgs,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let answer = PersonAnswer::Vote(Answer::No(args.reason.join(" ")));
    give(paths, (args.person, args.question, args.like), &answer, "no", screen).await
}

pub(super) async fn revoke(
    paths: &Paths,
    args: FleetRevokeArgs,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let of = (args.person, args.question, false);
    give(paths, of, &PersonAnswer::Revoke, "the yes is taken back", screen).await
}

pub(super) async fn end(
    paths: &Paths,
    args: FleetEndArgs,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let of = (args.person, args.question, false);
    give(paths, of, &PersonAnswer::End, "its session ends", screen).await
}

async fn give(
    paths: &Paths,
    (person, question, like): (PersonArgs, u64, bool),
    answer: &PersonAnswer,
    word: &str,
    screen: &mut Screen,
) -> Result<Exit, Failure> {
    let client = open(paths, person)?;
    let (row, inbox) = client.question(question).await?;
    let mut questions = vec![row.clone()];
    if like {
        let same = client.inbox(&[("like", row.number.to_string())]).await?.questions;
        let others = same.into_iter().filter(|it| it.number != row.number && it.state == "pending");
        questions.extend(others.filter(|it| it.not_for_you.is_none()).take(199));
    }
    let answered = client.answer(&inbox.you, &questions, answer).await?;
    let mut exit = Exit::Done;
    for it in &answered.questions {
        let number = it.number;
        screen.line(&sanitize(&match &it.refused {
            Some(why) => {
                exit = Exit::Refused;
                format!("question {number}: refused: {why}")
            }
            None if it.waits => {
                format!("question {number}: {word}, on its way; one more approver is needed")
            }
            None => format!("question {number}: {word}, on its way to the machine"),
        }))?;
    }
    Ok(exit)
}
