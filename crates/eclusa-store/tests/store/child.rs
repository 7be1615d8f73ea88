//! What a test does in another process: this very program, told by its environment what to do.

use std::{
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    time::Duration,
};

use eclusa::audit::Log as _;
use eclusa::{Answer, Approver, AuditSink, NotAsked, Question};
use eclusa_store::{Durability, Options, SqliteQueue, SqliteStore};

use tokio::runtime::Runtime;

use crate::blocking::Blocking as _;
use crate::{
    approval_queue::question,
    power_questions::questions_for_ever,
    room::{ended, started, stranger},
};

/// Starts this program again as the child, to do `task` to the store at `path`.
pub(crate) fn command(task: &str, path: &Path) -> Command {
    command_of(&std::env::current_exe().unwrap(), task, path)
}

/// The same, with a copy of this program.
pub(crate) fn command_of(program: &Path, task: &str, path: &Path) -> Command {
    #[expect(clippy::disallowed_methods, reason = "what another process does is under test")]
    let mut command = Command::new(program);
    command.args(["--exact", "child::the_child", "--nocapture"]);
    command.env("ECLUSA_TEST_TASK", task).env("ECLUSA_TEST_STORE", path);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// A running child, and what it says.
pub(crate) struct Running {
    child: Child,
    said: BufReader<ChildStdout>,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Running {
        // A copy of this program cannot be run while a child of another test has it open, which it
        // has from its birth until it is on its way.
        let mut child = loop {
            match command.spawn() {
                Err(err) if err.kind() == ErrorKind::ExecutableFileBusy => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                child => break child.unwrap(),
            }
        };
        let said = BufReader::new(child.stdout.take().unwrap());
        Running { child, said }
    }

    /// The next thing it says about its work.
    pub(crate) fn next(&mut self) -> Option<String> {
        let mut line = String::new();
        while self.said.read_line(&mut line).unwrap() > 0 {
            // The first line shares its own with the test harness.
            if let Some((_, said)) = line.trim_end().split_once("child: ") {
                return Some(said.to_owned());
            }
            line.clear();
        }
        None
    }

    /// Whether it has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Ends it without a warning (SIGKILL), and returns what it had said by then.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::iter::from_fn(|| self.next()).collect()
    }

    /// Waits for its end, and returns what it said.
    pub(crate) fn finish(mut self) -> Vec<String> {
        drop(self.child.stdin.take());
        let said = std::iter::from_fn(|| self.next()).collect();
        assert!(self.child.wait().unwrap().success());
        said
    }
}

pub(crate) fn say(what: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "child: {what}").unwrap();
    out.flush().unwrap();
}

#[test]
fn the_child() {
    let Ok(task) = std::env::var("ECLUSA_TEST_TASK") else { return };
    let path = std::env::var("ECLUSA_TEST_STORE").unwrap();
    let path = Path::new(&path);
    let durability = match std::env::var("ECLUSA_TEST_DURABILITY").as_deref() {
        Ok("power-loss") => Durability::PowerLoss,
        _ => Durability::Crash,
    };
    let options = Options { durability, busy: Duration::from_secs(60), ..Options::default() };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap();
    match task.as_str() {
        "open" => match SqliteStore::open(path, options) {
            Ok(_) => say("opened"),
            Err(err) => say(&err.to_string()),
        },
        "read" => match SqliteStore::open_read_only(path).map(|it| it.verify()) {
            Ok(verified) => say(&format!("verified {}", verified.unwrap().seq)),
            Err(err) => say(&err.to_string()),
        },
        "append-some" => runtime.block_on(append(path, options, 50)),
        "append-for-ever" => runtime.block_on(append(path, options, u64::MAX)),
        "append-and-move" => runtime.block_on(append_and_move(path, options)),
        "append-when-told" => append_when_told(path, options),
        "answer-when-told" => answer_when_told(&runtime, path, options),
        "questions-for-ever" => questions_for_ever(&runtime, path, options),
        "ask-answer-take" => ask_answer_take(&runtime, path, options),
        "ask" => {
            let queue = SqliteQueue::new(SqliteStore::open(path, options).unwrap());
            runtime.block_on(queue.ask(&question(Duration::from_secs(3600)))).unwrap();
        }
        _ => panic!("`{task}` is nothing that a child can do"),
    }
}

/// Four callers at once; what is durable is said.
async fn append(path: &Path, options: Options, calls: u64) {
    let store = SqliteStore::open(path, options).unwrap();
    let callers = (0..4).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            for number in 0..calls {
                let call = format!("c{number}");
                let start = store.append(started(&call)).await.unwrap();
                say(&format!("{} {}", start.seq, start.hash));
                let end = store.append(ended(&call, start.seq)).await.unwrap();
                say(&format!("{} {}", end.seq, end.hash));
            }
        })
    });
    for caller in futures::future::join_all(callers).await {
        caller.unwrap();
    }
    store.close().unwrap();
}

/// The same, and now and then the write-ahead log is moved to its place, or the store reopened.
async fn append_and_move(path: &Path, options: Options) {
    let mut store = SqliteStore::open(path, options.clone()).unwrap();
    for round in 1u64.. {
        let drafts = (0..round % 4 + 1).map(|number| store.append(started(&format!("c{number}"))));
        for receipt in futures::future::join_all(drafts).await {
            let receipt = receipt.unwrap();
            say(&format!("{} {}", receipt.seq, receipt.hash));
        }
        if round % 7 == 0 {
            let mover = stranger(path);
            mover.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap();
        }
        if round % 23 == 0 {
            store.close().unwrap();
            store = SqliteStore::open(path, options.clone()).unwrap();
        }
    }
}

/// One record for each byte that comes in.
fn append_when_told(path: &Path, options: Options) {
    let store = SqliteStore::open(path, options).unwrap();
    say("ready");
    while std::io::stdin().read(&mut [0]).unwrap() > 0 {
        match crate::room::append(&store, started("c")) {
            Ok(receipt) => say(&format!("{} {}", receipt.seq, receipt.hash)),
            Err(err) => say(&err.to_string()),
        }
    }
    store.close().unwrap();
    say("closed");
}

/// One answer to the one question for each byte that comes in.
fn answer_when_told(runtime: &Runtime, path: &Path, options: Options) {
    let queue = SqliteQueue::new(SqliteStore::open(path, options).unwrap());
    let asked = question(Duration::from_secs(3600));
    runtime.block_on(queue.submit(&asked, false)).unwrap_err();
    say("ready");
    while std::io::stdin().read(&mut [0]).unwrap() > 0 {
        match queue.answer(1, Answer::Once, "ann") {
            Ok(()) => say("answered"),
            Err(err) => say(&err.to_string()),
        }
    }
}

/// Says how often the writing thread waits for the disk from a question to the end of its answer: of
/// one who waits for it, and of one who comes back for it.
fn ask_answer_take(runtime: &Runtime, path: &Path, options: Options) {
    let queue = &SqliteQueue::new(SqliteStore::open(path, options).unwrap());
    let asked = |number: u32| {
        let binding = format!("b{number}");
        Question { binding, ..question(Duration::from_secs(3600)) }
    };
    let waits = |number: u32| {
        runtime.block_on(async {
            let (question, asker) = (asked(number), queue.clone());
            let waiting = tokio::spawn(async move { asker.submit(&question, true).await });
            let id = loop {
                match queue.list().unwrap().first() {
                    Some(found) => break found.id,
                    None => tokio::time::sleep(Duration::from_millis(1)).await,
                }
            };
            queue.answer(id, Answer::Once, "ann").unwrap();
            waiting.await.unwrap().unwrap();
        });
    };
    let comes_back = |number: u32| {
        let question = asked(number);
        let Err(NotAsked::Parked(id)) = runtime.block_on(queue.submit(&question, false)) else {
            return; // Too few syncs tell of it.
        };
        queue.answer(id, Answer::Once, "ann").unwrap();
        runtime.block_on(queue.submit(&question, false)).unwrap();
    };
    say(&format!("waits: {}", fewest_syncs(path, waits)));
    say(&format!("comes back: {}", fewest_syncs(path, |number| comes_back(1_000 + number))));
}

/// How often the writing thread syncs for a round, at the least: a log that was moved to its place
/// meanwhile begins anew, which takes one more.
fn fewest_syncs(path: &Path, round: impl Fn(u32)) -> usize {
    let noted = std::env::var("ECLUSA_TEST_SURVIVORS").unwrap() + "/syncs";
    let syncs = || {
        let noted = std::fs::read_to_string(&noted).unwrap_or_default();
        noted.lines().filter(|it| *it == "eclusa-store").count()
    };
    let mut fewest = usize::MAX;
    for number in 0..50 {
        // As long as somebody reads, a log does not begin anew.
        let reader = stranger(path);
        reader.execute_batch("BEGIN").unwrap();
        reader.query_row("SELECT count(*) FROM questions", [], |_| Ok(())).unwrap();
        let before = syncs();
        round(number);
        fewest = fewest.min(syncs() - before);
        if number > 0 && fewest <= 3 {
            break;
        }
    }
    fewest
}

impl Running {
    /// Tells `append_when_told` to append one, and returns what came of it.
    pub(crate) fn tell(&mut self) -> String {
        self.child.stdin.as_mut().unwrap().write_all(b".").unwrap();
        self.next().unwrap()
    }
}
