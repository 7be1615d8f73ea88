//! The dry run of a whole job: this program starts itself with a scratch layer over the workspace, and the plan
//! says what would have happened. A plan can be applied as one call.

use std::{
    ffi::OsString,
    fs::{self, File},
    io,
    os::unix::{ffi::OsStrExt as _, fs::DirBuilderExt as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use eclusa::{
    Facts, Job, Output, PermissionClass, Registration, Scene, ToolCall, ToolError, Touch,
    TypedTool,
    random::random_name,
    workspace::{Bounds, Diff},
};
use eclusa_tools::ScratchChanges;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    context::AppContext,
    failure::{Exit, Failure},
    gates::GateParts,
    rehearsal::{PLAN, WORD},
    reply,
    screen::{Screen, diff_view::DiffView, sanitize},
    signals::{asked_to_end, cancel_on_signal},
    spawn::Program,
    surface::Surface,
    terminal::Terminal,
};

/// What a job would have done.
pub struct Plan {
    /// Its calls, in order.
    pub calls: Vec<Value>,
    /// What they change together.
    pub scratch: ScratchChanges,
    /// How the job itself ended.
    pub exit: u8,
}

/// Removes what a rehearsal has written down, whatever becomes of it. Its lock says that it goes on.
struct Directory {
    path: PathBuf,
    _lock: File,
}

const LOCK: &str = "lock";

/// Removes what rehearsals have left that were killed.
#[expect(clippy::disallowed_methods, reason = "directories of our own")]
fn sweep(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let lock = File::open(entry.path().join(LOCK));
        if lock.is_ok_and(|it| it.try_lock().is_ok())
            && let Err(err) = fs::remove_dir_all(entry.path())
        {
            tracing::warn!("leftovers of a dry run cannot be removed: {err}");
        }
    }
}

impl Drop for Directory {
    #[expect(clippy::disallowed_methods, reason = "a directory of its own")]
    fn drop(&mut self) {
        if let Err(err) = fs::remove_dir_all(&self.path) {
            tracing::warn!("leftovers of a dry run cannot be removed: {err}");
        }
    }
}

/// Has the job that these words are done in a scratch layer, and says what came of it.
pub async fn rehearse(ctx: &AppContext, words: &[OsString]) -> Result<Plan, Failure> {
    let layer = ctx.sandboxes(&[])?.scratch_layer().map_err(Failure::failed)?;
    let layer = layer.ok_or_else(|| {
        Failure::failed(
            "a dry run of a whole job needs a layer over the workspace, and this machine has none",
        )
        .hint("`eclusa doctor` says why; `eclusa --dry-run run` judges one call")
    })?;
    let name = random_name::<8>().map_err(Failure::failed)?;
    let place = ctx.paths.store.with_file_name("rehearsals");
    sweep(&place);
    let directory = place.join(name);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
    let lock = File::create(directory.join(LOCK))?;
    lock.lock()?;
    let directory = Directory { path: directory, _lock: lock };
    let (upper, work) = layer.directories();
    let places: [&Path; 4] = [&directory.path, &ctx.paths.workspace, &upper, &work];
    let mut command = vec!["/proc/self/exe".to_owned(), WORD.to_owned()];
    for word in places.iter().map(|it| it.as_os_str()).chain(words.iter().map(OsString::as_os_str))
    {
        let word = std::str::from_utf8(word.as_bytes()).map_err(|_| {
            Failure::usage(format!("`{}` is not text in UTF-8", word.to_string_lossy()))
        })?;
        command.push(word.to_owned());
    }
    let here = std::env::current_dir()?;
    let program = Program { command, directory: here, env: Vec::new(), set: Vec::new() };
    // Whoever interrupts it means the job: what it came to by then is told.
    let patient = tokio::spawn(async {
        loop {
            asked_to_end().await;
        }
    });
    let ended = tokio::task::spawn_blocking(move || program.run_on_terminal()).await;
    patient.abort();
    let ended = ended.map_err(Failure::failed)??;
    let plan = fs::read_to_string(directory.path.join(PLAN))
        .map_err(|_| Failure::failed("the dry run did not come to an end, so there is no plan"))?;
    let calls = serde_json::from_str(&plan).map_err(Failure::failed)?;
    let scratch = tokio::task::spawn_blocking(move || layer.read_back()).await;
    let scratch = scratch.map_err(Failure::failed)?.map_err(Failure::failed)?;
    let exit = ended.code().and_then(|it| u8::try_from(it).ok()).unwrap_or(1);
    Ok(Plan { calls, scratch, exit })
}

/// One call of a plan, in a line for people.
fn line(number: usize, call: &Value) -> String {
    let text = |name: &str| call.get(name).and_then(Value::as_str).unwrap_or_default();
    let list = |name: &str| {
        let listed = call.get(name).and_then(Value::as_array).into_iter().flatten();
        listed.filter_map(Value::as_str).collect::<Vec<_>>().join("; ")
    };
    let args = call.get("args").map(Value::to_string).unwrap_or_default();
    let mut line = format!("{number:>3}. would {:<4} {} {args}", text("would"), text("tool"));
    if call.get("made") == Some(&false.into()) && ["run", "ask"].contains(&text("would")) {
        line.push_str(" [not made: it cannot be staged]");
    }
    for (before, list) in [("", list("because")), ("by ", list("asks"))] {
        if !list.is_empty() {
            line.push_str(&format!("\n       {before}{list}"));
        }
    }
    line
}

impl Plan {
    /// Shows the plan: to people on stderr, because the answer of the job is on stdout; to programs as
    /// one JSON value after it.
    pub fn print(&self, ctx: &AppContext, json: bool) -> Result<(), Failure> {
        let workspace = ctx.workspace()?;
        let diff = Diff::of(&self.scratch.changes, &workspace, Bounds::default());
        let (shown, _) = diff.shown_whole();
        let redactor = ctx.redactor()?;
        let calls: Vec<Value> =
            self.calls.iter().map(|it| redactor.value(it).0.into_owned()).collect();
        if json {
            let mut screen = Screen::stdout();
            let changes = match self.scratch.changes.is_empty() {
                true => Value::Null,
                false => json!({"summary": diff.summary().to_string(), "diff": shown}),
            };
            screen
                .json(&json!({"plan": calls, "changes": changes, "notes": self.scratch.notes}))?;
            return Ok(screen.flush()?);
        }
        let mut err = io::stderr().lock();
        let mut say = |line: &str| io::Write::write_all(&mut err, format!("{line}\n").as_bytes());
        if calls.is_empty() {
            return Ok(say("The plan is empty: no call was made.")?);
        }
        say("The plan (nothing was applied, nobody was asked):")?;
        for (at, call) in calls.iter().enumerate() {
            say(&sanitize(&line(at + 1, call)))?;
        }
        if self.scratch.changes.is_empty() {
            return Ok(say("It would change nothing in the workspace.")?);
        }
        say(&sanitize(&diff.summary().to_string()))?;
        for line in DiffView::on(&io::stderr()).whole().lines(&shown) {
            say(&line)?;
        }
        self.scratch.notes.iter().try_for_each(|it| say(&sanitize(it)))?;
        Ok(())
    }

    /// Whether something of it would be denied.
    pub fn exit(&self) -> Exit {
        let denied = |it: &Value| it.get("would").and_then(Value::as_str) == Some("deny");
        match self.exit {
            130 => Exit::Aborted,
            1 => Exit::Failed,
            _ if self.calls.iter().any(denied) => Exit::Refused,
            _ => Exit::Done,
        }
    }
}

impl Plan {
    /// Applies the plan as one call: first each question of whom the rules name, and each use of a rule that
    /// is good for so many calls, then all changes together. One no, and nothing is applied.
    pub async fn apply(self, ctx: &AppContext, json: bool) -> Result<Exit, Failure> {
        if let Some(call) = self.calls.iter().position(|it| it.get("ruled") == Some(&true.into())) {
            let text = format!(
                "the plan was not applied: a rule asks about what call {} changes, which is asked with that \
                 call alone",
                call + 1
            );
            return Err(Failure::refused(text).hint("make the call by itself"));
        }
        if self.scratch.changes.is_empty() {
            return Ok(self.exit());
        }
        let store = ctx.store()?;
        let terminal = Terminal::new(true, ctx.paths.always_files());
        let gate = ctx.gate(Surface::Plan, GateParts::asking(&store, terminal))?;
        cancel_on_signal(gate.run().cancel.clone());
        let mut screen = Screen::stdout();
        let asks = |it: &&Value| {
            let is = |name: &str| it.get(name) == Some(&true.into());
            is("made") && (is("counted") || it.get("would") == Some(&"ask".into()))
        };
        for (at, call) in self.calls.iter().filter(asks).enumerate() {
            let tool = call.get("tool").and_then(Value::as_str).unwrap_or_default();
            let args = call.get("args").cloned().unwrap_or_default();
            let reply = gate.consent(ToolCall::new(format!("plan-{at}"), tool, args)).await;
            if reply.code() != "dry_run" {
                match json {
                    true => screen.json(&reply::as_json(&reply))?,
                    false => reply::print(&reply, &mut screen)?,
                }
                screen.flush()?;
                crate::screen::note("Nothing of the plan was applied");
                return Ok(Exit::Refused);
            }
        }
        let calls = self.calls.len();
        let tool = PlanTool::new(self.scratch);
        gate.registry().register(Registration::new(tool).replace()).map_err(Failure::usage)?;
        let call = ToolCall::new("plan", PlanTool::NAME, json!({"calls": calls}));
        let reply = gate.pass(call).await;
        match json {
            true => screen.json(&reply::as_json(&reply))?,
            false => reply::print(&reply, &mut screen)?,
        }
        screen.flush()?;
        Ok(reply::exit(&reply))
    }
}

/// Applies what a rehearsal changed. Nobody but `--apply` registers it.
struct PlanTool {
    paths: Vec<String>,
    scratch: Mutex<Option<ScratchChanges>>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct PlanArgs {
    /// How many calls the plan has.
    calls: usize,
}

impl PlanTool {
    fn new(scratch: ScratchChanges) -> PlanTool {
        let paths = scratch.changes.iter().map(|it| it.path.to_string_lossy().into_owned());
        PlanTool { paths: paths.collect(), scratch: Mutex::new(Some(scratch)) }
    }
}

impl TypedTool for PlanTool {
    type Args = PlanArgs;
    const NAME: &'static str = "plan";

    fn description(&self, _: &Scene) -> String {
        "Applies what a dry run changed.".to_owned()
    }

    fn facts(&self) -> Facts {
        Facts {
            class: Some(PermissionClass::File),
            audit_operation: "edit".to_owned(),
            stages: true,
            ..Facts::default()
        }
    }

    fn touches(&self, _: &PlanArgs) -> Vec<Touch> {
        self.paths.iter().cloned().map(Touch::Write).collect()
    }

    async fn run(&self, args: PlanArgs, _: &Job) -> Result<Output, ToolError> {
        let taken = self.scratch.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(ScratchChanges { changes, staged, notes }) = taken else {
            return Err(ToolError::new("the plan was applied already"));
        };
        let text = format!("applied the plan of {} calls", args.calls);
        Ok(Output { changes, staged, remarks: notes, ..Output::text(text) })
    }
}
