//! Measures the approval queue: asking with so many pending already, the first page of them, and asking,
//! answering and taking with every step synced to the disk, beside what one sync costs there.
//!
//! `cargo run --release -p eclusa-store --example approvals -- [PENDING] [ROUNDS] [DIRECTORY]`

use eclusa::{
    approve::{GivenAnswer, QuestionPage},
    store::ApprovalQueue as _,
};
use std::{
    error::Error,
    fs::File,
    io::Write as _,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use eclusa::{
    Answer, Approver, Decision, NotAsked, PermissionClass, Question, Reason, Source, Touch,
    Verdict, approve::Questions,
};
use eclusa_store::{Durability, Options, SqliteQueue, SqliteStore};
use futures::executor::block_on;
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let pending: usize = args.next().as_deref().unwrap_or("10000").parse()?;
    let rounds: usize = args.next().as_deref().unwrap_or("300").parse()?;
    let directory = args.next().map_or_else(|| PathBuf::from("target/bench-store"), PathBuf::from);
    let path = directory.join(format!("approvals-{}.db", std::process::id()));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    let fill = Options { durability: Durability::Crash, ..Options::default() };
    let queue = SqliteQueue::new(SqliteStore::open(&path, fill)?);
    let mut times = Vec::with_capacity(pending);
    for number in 0..pending {
        times.push(runtime.block_on(parked(&queue, number))?);
    }
    let tenth = (pending / 10).max(1);
    let (first, last) =
        (times.iter().take(tenth), times.iter().skip(pending.saturating_sub(tenth)));
    println!(
        "asking: p50 {:?} for the first {tenth}, {:?} for the last {tenth} of {pending}",
        p50(first.copied().collect()),
        p50(last.copied().collect()),
    );
    let page = |_| timed(|| block_on(queue.list(QuestionPage::FIRST)).map(drop));
    println!("first page of 100: p50 {:?}", p50((0..100).map(page).collect::<Result<_, _>>()?));
    let count = |_| timed(|| runtime.block_on(queue.pending()).map(drop));
    println!("counting them: p50 {:?}", p50((0..100).map(count).collect::<Result<_, _>>()?));
    drop(queue);

    let options = Options { durability: Durability::PowerLoss, ..Options::default() };
    let queue = SqliteQueue::new(SqliteStore::open(&path, options)?);
    let sync = p50(syncs(&directory, rounds)?);
    println!("one sync of 8 KB to this disk: p50 {sync:?} over {rounds}");
    let mut times = Vec::with_capacity(rounds);
    for number in 0..rounds {
        times.push(runtime.block_on(waited_for(&queue, pending + number))?);
    }
    report("ask, answer, take by whoever waits (three syncs)", times, sync);
    let mut times = Vec::with_capacity(rounds);
    for number in 0..rounds {
        let (begun, question) = (Instant::now(), question(pending + rounds + number));
        let id = match runtime.block_on(queue.submit(&question, false)) {
            Err(NotAsked::Parked(id)) => id,
            other => return Err(format!("{other:?}").into()),
        };
        block_on(queue.answer(GivenAnswer::new(vec![id], Answer::Once, "ann")))?;
        let said = runtime.block_on(queue.submit(&question, false));
        said.map_err(|err| format!("{err:?}"))?;
        times.push(begun.elapsed());
    }
    report("ask, go away, answer, ask again and take (three syncs)", times, sync);
    Ok(())
}

fn report(what: &str, times: Vec<Duration>, sync: Duration) {
    let (count, p50) = (times.len(), p50(times));
    let syncs = p50.as_secs_f64() / sync.as_secs_f64().max(f64::EPSILON);
    println!("{what}, power-loss safe: p50 {p50:?} over {count}, {syncs:.1} syncs long");
}

/// What the disk alone takes for as much as a short transaction writes.
fn syncs(directory: &Path, rounds: usize) -> std::io::Result<Vec<Duration>> {
    let path = directory.join(format!("sync-{}", std::process::id()));
    let mut file = File::create(&path)?;
    let one = |_| {
        let begun = Instant::now();
        file.write_all(&[7; 8_192])?;
        file.sync_data()?;
        Ok(begun.elapsed())
    };
    (0..rounds).map(one).collect()
}

/// Asks and waits, while somebody else answers as soon as the question is there.
async fn waited_for(queue: &SqliteQueue, number: usize) -> Result<Duration, Box<dyn Error>> {
    let (begun, question, asker) = (Instant::now(), question(number), queue.clone());
    let (call, binding) = (question.call.clone(), question.binding.clone());
    let waiting = tokio::spawn(async move { asker.submit(&question, true).await });
    let id = loop {
        match block_on(queue.pending_number(&call, &binding))? {
            Some(found) => break found,
            // A pause leaves the processor to whoever queues it.
            None => std::thread::sleep(Duration::from_micros(50)),
        }
    };
    block_on(queue.answer(GivenAnswer::new(vec![id], Answer::Once, "ann")))?;
    waiting.await?.map_err(|err| format!("{err:?}"))?;
    Ok(begun.elapsed())
}

fn p50(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn timed<E>(act: impl FnOnce() -> Result<(), E>) -> Result<Duration, E> {
    let begun = Instant::now();
    act().map(|()| begun.elapsed())
}

/// Asks without waiting, and says how long that took.
async fn parked(queue: &SqliteQueue, number: usize) -> Result<Duration, String> {
    let (begun, question) = (Instant::now(), question(number));
    match queue.submit(&question, false).await {
        Err(NotAsked::Parked(_)) => Ok(begun.elapsed()),
        other => Err(format!("{other:?}")),
    }
}

/// A question like many others; each session has a few.
fn question(number: usize) -> Question {
    let command = format!("git push origin feature-{number}");
    Question {
        call: format!("call-{number}"),
        tool: "bash".to_owned(),
        server: None,
        class: PermissionClass::Shell,
        args: json!({ "command": command }),
        shown_args: None,
        touches: vec![Touch::Run(command)],
        verdict: Verdict::from_reasons(vec![Reason {
            decision: Decision::Ask,
            source: Source::Default,
            origin: "commands".into(),
            text: "it talks to another machine".into(),
        }]),
        reason: None,
        destructive: false,
        reverse_thinking: None,
        about: eclusa::approve::QuestionAbout::Running,
        binding: format!("b{number}"),
        grant: None,
        can_always: false,
        principal: "agent".to_owned(),
        session: format!("talk-{}", number / 10),
        task: None,
        time: Duration::from_secs(3_600),
        keep: eclusa::approve::KEEP,
        pending: None,
    }
}
