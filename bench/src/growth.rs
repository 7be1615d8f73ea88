//! How costs grow with what a person accumulates: rules, tools, files, records, pending questions.
//! `ECLUSA_BENCH_LARGE=1` goes on to 10,000 rules, 200,000 files and ten million records (8 GB, a quarter of an hour).

use std::{
    fs,
    io::Write as _,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use eclusa::{
    Approver as _, AuditSink as _, Blocked, Decision, Gate, PermissionClass, Question, Reason,
    Registration, Registry, Scene, Source, Tool, ToolCall, Verdict, Wire,
    approve::{GivenAnswer, QuestionPage, Questions as _},
    audit::{Draft, Log},
    registry::WhichTools,
};
use eclusa_config::{Config, Layer};
use eclusa_store::{Durability, Options, SqliteQueue, SqliteStore};
use eclusa_tools::{SandboxSettings, Sandboxes};
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::{
    judge,
    measure::{Told, median, plain, shortest},
};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// So many records are added at a time until there are enough.
const TOGETHER: usize = 500;

pub(crate) fn run() -> Told {
    let large = std::env::var_os("ECLUSA_BENCH_LARGE").is_some();
    let until = |most: usize, sizes: &[usize]| -> Vec<usize> {
        sizes.iter().copied().filter(|it| large || *it <= most).collect()
    };
    let place = tempfile::tempdir_in(".")?;
    for count in until(1_000, &[10, 100, 1_000, 10_000]) {
        rules(count)?;
    }
    for count in until(2_000, &[20, 200, 2_000]) {
        tools(count)?;
    }
    for count in until(20_000, &[1_000, 20_000, 200_000]) {
        files(count, &place.path().join(format!("files-{count}")))?;
    }
    for count in until(100_000, &[1_000, 10_000, 100_000, 1_000_000, 10_000_000]) {
        // Gone before the next is made: the largest takes gigabytes.
        records(count, &tempfile::tempdir_in(place.path())?.path().join("log/eclusa.db"))?;
    }
    for count in until(10_000, &[10, 1_000, 10_000]) {
        questions(count, &place.path().join(format!("questions-{count}")).join("eclusa.db"))?;
    }
    Ok(())
}

/// Reading so many rules of a person, and judging with them.
fn rules(count: usize) -> Told {
    let rule =
        |at: usize| format!("[[rules]]\ndecision = \"ask\"\ncommand = \"program{at} run\"\n");
    let text: String = (0..count).map(rule).collect();
    let layers = [Layer::of_person("eclusa.toml", text)];
    let reading = shortest(3, || Config::load(&layers).is_ok());
    plain(&format!("{count} rules: read the configuration"), reading);
    let gate = judge::gate(Config::load(&layers)?.rules)?;
    let verdict = median(|| gate.check(judge::call("git status && cargo test")).is_ok());
    plain(&format!("{count} rules: verdict on a command"), verdict);
    Ok(())
}

/// A tool among many.
struct OneOfMany(String);

impl Tool for OneOfMany {
    fn name(&self) -> &str {
        &self.0
    }
    fn description(&self, _: &Scene) -> String {
        format!("Does what {} does.", self.0)
    }
    fn input_schema(&self) -> Value {
        json!({"type": "object", "properties": {"path": {"type": "string"}}})
    }
    fn touches(&self, _: &Value) -> Vec<eclusa::Touch> {
        Vec::new()
    }
    fn run<'a>(
        &'a self,
        _: &'a eclusa::Job,
    ) -> BoxFuture<'a, Result<eclusa::Output, eclusa::ToolError>> {
        Box::pin(std::future::ready(Ok(eclusa::Output::default())))
    }
}

/// Registering, declaring, finding and judging so many tools.
fn tools(count: usize) -> Told {
    let registry = Arc::new(Registry::new());
    let began = Instant::now();
    // As the gateway does with the tools of a server.
    let tools = (0..count).map(|at| Registration::new(OneOfMany(format!("tool_{at}"))));
    registry.register_all(tools.collect()).into_iter().collect::<Result<(), _>>()?;
    plain(&format!("{count} tools: register all"), began.elapsed());
    let began = Instant::now();
    registry.declare(Wire::Anthropic, &WhichTools::All, &Scene::default())?;
    plain(&format!("{count} tools: declare all, the first time"), began.elapsed());
    let searching = shortest(5, || registry.search("what tool 17 does", &Scene::default()).len());
    plain(&format!("{count} tools: search"), searching);
    let rules = eclusa::Rules::new(Vec::new(), Path::new("/workspace"));
    let gate = Gate::builder().registry(registry).policy(rules).build()?;
    let call = || ToolCall::new("c", "tool_7", json!({"path": "a"}));
    plain(&format!("{count} tools: verdict on a call"), median(|| gate.check(call()).is_ok()));
    Ok(())
}

/// What is found out about a workspace of so many files before a command runs.
fn files(count: usize, place: &Path) -> Told {
    let root = place.join("workspace");
    for at in 0..count {
        let directory = root.join(format!("d{}", at / 100));
        if at % 100 == 0 {
            fs::create_dir_all(&directory)?;
        }
        fs::File::create(directory.join(format!("file{at}.txt")))?.write_all(b"text\n")?;
    }
    let mut settings = SandboxSettings::new(root, place.join("state"));
    settings.blocked = Blocked::default();
    let sandboxes = Sandboxes::new(settings)?;
    let began = Instant::now();
    sandboxes.surveyed();
    plain(&format!("{count} files: look before the first command"), began.elapsed());
    let again = shortest(5, || sandboxes.surveyed());
    plain(&format!("{count} files: look before a further command"), again);
    Ok(())
}

/// A log of so many records: opening it, adding to it, reading its end, checking it.
fn records(count: usize, path: &Path) -> Told {
    let options = || Options { durability: Durability::Crash, ..Options::default() };
    let store = SqliteStore::open(path, options())?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let draft = |at: usize| {
        let body = format!(
            r#"{{"at":1,"call":"c{at}","event":"started","text":"{}","tool":"echo","v":1}}"#,
            "x".repeat(400)
        );
        Draft::new(body)
    };
    let append = |store: &SqliteStore, at: usize| -> Outcome<()> {
        let draft = draft(at)?;
        runtime.block_on(async { store.append(draft).await })?;
        Ok(())
    };
    // Many at a time share a transaction.
    for first in (0..count).step_by(TOGETHER) {
        let drafts = (first..count.min(first + TOGETHER)).map(draft);
        let drafts = drafts.collect::<Result<Vec<_>, _>>()?;
        let all = drafts.into_iter().map(|draft| store.append(draft));
        runtime.block_on(futures::future::try_join_all(all))?;
    }
    let noted = store.head()?.hash;
    for at in 0..100 {
        append(&store, count + at)?;
    }
    store.close()?;
    let opening = shortest(5, || SqliteStore::open(path, options()).is_ok());
    plain(&format!("{count} records: open the log"), opening);
    let store = SqliteStore::open(path, options())?;
    let adding = shortest(20, || append(&store, 0).is_ok());
    plain(&format!("{count} records: one more"), adding);
    plain(&format!("{count} records: list the last 20"), shortest(5, || store.last(20).is_ok()));
    let half = count as u64 / 2;
    let found = store.first_of(half)?.ok_or("the call in the middle is not found")?;
    let finding =
        shortest(5, || store.first_of(half).is_ok() && Log::ends_of(&store, found.seq).is_ok());
    plain(&format!("{count} records: find a call, as `undo` and `log show` do"), finding);
    let began = Instant::now();
    store.verify()?;
    plain(&format!("{count} records: verify all"), began.elapsed());
    let began = Instant::now();
    store.verify_since(Some(noted), &mut |_, _| {})?;
    plain(&format!("{count} records: verify the last 120"), began.elapsed());
    Ok(())
}

/// A queue of so many pending questions: asking one more, listing the first page, answering one.
fn questions(count: usize, path: &Path) -> Told {
    let store =
        SqliteStore::open(path, Options { durability: Durability::Crash, ..Options::default() })?;
    let queue = SqliteQueue::new(store);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let ask = |at: usize| {
        // It is parked, which is no answer.
        let _ = runtime.block_on(queue.submit(&question(at), false));
    };
    (0..count).for_each(ask);
    let began = Instant::now();
    ask(count);
    plain(&format!("{count} pending questions: one more"), began.elapsed());
    let first =
        || runtime.block_on(queue.list(QuestionPage { limit: 50, ..QuestionPage::FIRST })).is_ok();
    plain(&format!("{count} pending questions: list 50"), shortest(5, first));
    let began = Instant::now();
    runtime.block_on(queue.answer(GivenAnswer::new(vec![1], eclusa::Answer::Once, "ann")))?;
    plain(&format!("{count} pending questions: answer one"), began.elapsed());
    Ok(())
}

fn question(at: usize) -> Question {
    Question {
        call: format!("c{at}"),
        tool: "bash".to_owned(),
        server: None,
        class: PermissionClass::Shell,
        args: json!({"command": format!("make {at}")}),
        shown_args: None,
        touches: Vec::new(),
        verdict: Verdict::from_reasons(vec![Reason {
            decision: Decision::Ask,
            source: Source::Rule,
            origin: "eclusa.toml:1".into(),
            text: "it is asked about".to_owned().into(),
        }]),
        reason: None,
        destructive: false,
        reverse_thinking: None,
        about: eclusa::approve::QuestionAbout::Running,
        binding: format!("b{at}"),
        grant: None,
        can_always: false,
        task: None,
        principal: format!("p{}", at / 20),
        session: format!("s{}", at / 20),
        time: Duration::from_secs(3600),
        keep: eclusa::approve::KEEP,
        pending: None,
    }
}
