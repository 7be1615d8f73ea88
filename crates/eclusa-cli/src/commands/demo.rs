//! `eclusa demo`: a short conversation with a scripted model, in a scratch workspace, with every gate at
//! work.
//!
//! Nothing is played but the model: its messages are streamed and kept, its calls pass a real gate, and
//! what is told of each is read back from its record.

use std::{
    fs::File,
    io::{IsTerminal, Write},
    path::Path,
    sync::Arc,
};

use eclusa::{
    FnReviewer, Gate, Origin, Review, Run, ToolCall, Workspace,
    audit::calls,
    settings::RequiredEnforcement,
    store::Store,
    workspace::{Bounds, Diff},
};
use eclusa_chat::{
    AgentEvent, Archive, CallOutcome, Conversation, ConversationSetup, Persona, TaskRole, TaskTool,
    TurnEnd, UserMessage,
};
use eclusa_config::{Config, Layer};
use eclusa_models::{ScriptModel, TurnLimits};
use eclusa_sandbox::Enforcement;
use eclusa_tools::WriteTracking;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc::UnboundedReceiver};

use paced::PacedModel;

use super::{call_record, log};
use crate::{
    config_layers,
    context::AppContext,
    failure::{Exit, Failure},
    gates::GateParts,
    global::Global,
    paths::Paths,
    screen::{Screen, Style, diff_view::DiffView, sanitize},
    signals::cancel_on_signal,
    surface::Surface,
    terminal::Terminal,
    undo::tool,
};

mod paced;

/// What the model says, and its calls among it.
const CONVERSATION: &str = include_str!("demo/conversation.md");
/// What its helper says.
const READER: &str = include_str!("demo/reader.md");
/// What it says to a gate that only decides.
const DRY_RUN: &str = include_str!("demo/dry-run.md");
/// The rules of the demo, on top of the shipped defaults.
const RULES: &str = include_str!("demo/eclusa.toml");

/// What is in the scratch workspace at first.
const FILES: [(&str, &str); 3] = [
    ("boats.txt", include_str!("demo/workspace/boats.txt")),
    ("gates.txt", include_str!("demo/workspace/gates.txt")),
    ("lock.log", include_str!("demo/workspace/lock.log")),
];

/// The tools of the helper.
const READS: [&str; 3] = ["read", "grep", "glob"];

pub(super) async fn run(global: &Global) -> Result<Exit, Failure> {
    let scratch = tempfile::tempdir()?;
    let mut ctx = scratch_context(global, scratch.path())?;
    let missing = not_in_force(&mut ctx)?;
    let store = ctx.store()?;
    let parts = GateParts {
        reviewers: vec![Arc::new(at_most_three())],
        ..GateParts::asking(&store, Terminal::new(false, None))
    };
    let gate = ctx.gate(Surface::Run, parts)?;
    gate.registry().register(helper(&ctx)?).map_err(Failure::failed)?;
    cancel_on_signal(gate.run().cancel.clone());
    let workspace = ctx.workspace()?;
    let (screen, whole) = (Screen::stdout(), missing.is_none());
    let mut stage = DemoStage {
        store: &store,
        workspace: &workspace,
        screen,
        whole,
        terminal: Terminal::new(false, None),
        run: gate.run().clone(),
        watched: std::io::stdout().is_terminal(),
        next: Arc::new(Semaphore::new(0)),
    };
    if let Some(missing) = missing {
        stage.say(&missing)?;
    }
    stage.say("A model is asked to work. Each of its calls passes the gate; what follows it is its record.")?;
    if !stage.talk(&ctx, &gate, CONVERSATION, "put the boats in order").await? {
        return Ok(Exit::Aborted);
    }
    stage.pause().await?;
    stage.say(
        "The same gate, as a dry run: everything is decided, nothing is done, nobody is asked.",
    )?;
    let dry = gate.for_run(Run { dry_run: true, ..gate.run().clone() });
    stage.talk(&ctx, &dry, DRY_RUN, "and what if?").await?;
    let durability = ctx.config.commit_durability;
    let back = ctx.undo_gate(
        &store,
        |registry, workspace, _| tool::add(registry, workspace, durability),
        Arc::new(tool::CommandLine),
    )?;
    stage.pause().await?;
    stage.take_back(&back).await?;
    stage.end()?;
    Ok(Exit::Done)
}

/// What of a sandbox is not in force on this machine, in one line. The demo then runs with what is there:
/// its workspace is nobody's.
fn not_in_force(ctx: &mut AppContext) -> Result<Option<String>, Failure> {
    let sandboxes = ctx.sandboxes(&[])?;
    let helps = sandboxes.capabilities().first_fix();
    let helps = helps.map(|it| format!(" What helps: {it}.")).unwrap_or_default();
    let line = match sandboxes.capabilities().enforcement() {
        Enforcement::Full => return Ok(None),
        Enforcement::Partial(missing) => {
            let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
            let missing = missing.join(", ");
            let instead = match sandboxes.write_tracking() {
                WriteTracking::Snapshot => {
                    "Level snapshot: a command that writes runs on the real files, which are put back \
                     before its changes are judged."
                }
                _ => "A command that may write is asked about before it runs.",
            };
            format!("Not in force here: {missing}. {instead}{helps}")
        }
        Enforcement::None => {
            let none = "Not in force here: every part of a sandbox. No command runs";
            format!("{none}; `eclusa doctor` says why.{helps}")
        }
    };
    ctx.config.commands.least = RequiredEnforcement::Partial;
    Ok(Some(line))
}

/// Somebody whom the model can give work to, and who only reads.
fn helper(ctx: &AppContext) -> Result<eclusa::Registration, Failure> {
    let persona = Persona {
        name: "reader".to_owned(),
        description: "reads, and changes nothing".to_owned(),
        tools: Some(READS.map(str::to_owned).to_vec()),
        ..Persona::coder()
    };
    let model = ScriptModel::new("reader", READER).map_err(Failure::failed)?;
    let role = TaskRole { persona, model: Ok(Arc::new(model)), system: String::new() };
    Ok(TaskTool::registration(vec![role], None, ctx.scene(), 1))
}

/// A workplace in the scratch directory, whatever the person has configured elsewhere.
fn scratch_context(global: &Global, scratch: &Path) -> Result<AppContext, Failure> {
    let workspace = scratch.join("workspace");
    std::fs::create_dir(&workspace)?;
    for (name, text) in FILES {
        File::create(workspace.join(name))?.write_all(text.as_bytes())?;
    }
    let layers = [Layer::of_person("demo", RULES)];
    let config = Config::load(&layers).map_err(Failure::failed)?;
    Ok(AppContext {
        config_digest: config_layers::digest(&layers),
        mode: global.mode.unwrap_or(config.mode),
        dry_run: global.dry_run,
        example_tools: true,
        paths: Paths {
            workspace: workspace.canonicalize()?,
            config: None,
            config_named: false,
            policies: Vec::new(),
            store: scratch.join("state").join("eclusa.db"),
            shared: scratch.join("state"),
        },
        config,
    })
}

/// A reviewer that changes calls: nothing is said more than three times.
fn at_most_three() -> FnReviewer {
    FnReviewer::input("at-most-three", |call| {
        let times = call.args().get("times").and_then(|it| it.as_u64());
        Ok(match times {
            Some(4..) => Review::Merge(json!({"times": 3})),
            _ => Review::Approve,
        })
    })
}

/// What the model says, whatever it is told.
fn without_expectations(script: &str) -> String {
    let kept = script.lines().filter(|it| !it.starts_with("## expects"));
    kept.map(|it| format!("{it}\n")).collect()
}

/// Where the conversation takes place and is told.
struct DemoStage<'a> {
    store: &'a Arc<dyn Store>,
    workspace: &'a Workspace,
    screen: Screen,
    /// Whether everything is in force, so that the model is told what its script expects.
    whole: bool,
    terminal: Terminal,
    run: Run,
    /// Whether somebody says when it goes on.
    watched: bool,
    /// So many answers more the model may give.
    next: Arc<Semaphore>,
}

impl DemoStage<'_> {
    /// On a terminal, waits until the person has read what is on it.
    async fn pause(&mut self) -> std::io::Result<()> {
        self.screen.flush()?;
        if self.watched {
            let entered = self.terminal.enter("Enter shows the next scene ");
            self.watched = tokio::select! {
                entered = entered => entered,
                () = self.run.cancel.cancelled() => false,
            };
        }
        Ok(())
    }

    fn say(&mut self, text: &str) -> std::io::Result<()> {
        self.screen.styled(Style::Faint, text)?;
        self.screen.line("")
    }

    /// One turn with a model that says this; false when a person ended it.
    async fn talk(
        &mut self,
        ctx: &AppContext,
        gate: &Gate,
        script: &str,
        words: &str,
    ) -> Result<bool, Failure> {
        let script = match self.whole {
            true => script.to_owned(),
            false => without_expectations(script),
        };
        let script = ScriptModel::new("demo", &script).map_err(Failure::failed)?;
        let next = self.next.clone();
        let model = PacedModel::new(script, next);
        let setup = ConversationSetup {
            gate: gate.clone(),
            model: Arc::new(model),
            persona: Persona::coder(),
            store: Arc::new(Archive::new(self.store.clone(), ctx.paths.sessions())),
            limits: TurnLimits::default(),
            scene: ctx.scene(),
            system: String::new(),
            project: None,
        };
        let (mut conversation, events) =
            Conversation::open(setup).await.map_err(Failure::failed)?;
        let (handle, cancel) = (conversation.handle(), gate.run().cancel.clone());
        tokio::spawn(async move {
            cancel.cancelled().await;
            handle.interrupt();
        });
        let turn = conversation.turn(UserMessage::from(words));
        let followed = async {
            let told = self.follow(events).await;
            // Where nobody looks any more, nothing waits for them.
            self.next.close();
            told
        };
        let (report, told) = tokio::join!(turn, followed);
        told?;
        match report.end {
            TurnEnd::Aborted | TurnEnd::Interrupted => Ok(false),
            TurnEnd::Failed(what) => Err(Failure::failed(what)),
            _ => Ok(true),
        }
    }

    /// Tells what happens, to the end of the turn.
    async fn follow(&mut self, mut events: UnboundedReceiver<AgentEvent>) -> Result<(), Failure> {
        while let Some(event) = events.recv().await {
            match event {
                AgentEvent::Heard(words) => {
                    self.screen.styled(Style::Strong, &format!("you › {words}"))?;
                    self.screen.line("")?;
                }
                AgentEvent::Message(text) => {
                    self.screen.line(&sanitize(text.trim()))?;
                    self.screen.line("")?;
                }
                AgentEvent::Call { tool, args, .. } => self.call("", &tool, &args)?,
                AgentEvent::Answered(call) => {
                    self.report("", &call)?;
                    self.pause().await?;
                    self.next.add_permits(1);
                }
                AgentEvent::Task { persona, event, .. } => match *event {
                    AgentEvent::Call { tool, args, .. } => {
                        self.call(&format!("{persona} "), &tool, &args)?;
                    }
                    AgentEvent::Answered(call) => self.report("  ", &call)?,
                    _ => {}
                },
                AgentEvent::Ended(_) => return Ok(()),
                _ => {}
            }
        }
        Ok(())
    }

    fn call(&mut self, who: &str, tool: &str, args: &Value) -> std::io::Result<()> {
        let line = format!("  {who}→ {tool} {args}");
        self.screen.styled(Style::Strong, &sanitize(&line))?;
        // Whoever is asked has seen what it is about.
        self.screen.flush()
    }

    /// Undoes the last change, if there was one, and shows that nothing is left of it.
    async fn take_back(&mut self, gate: &Gate) -> Result<(), Failure> {
        let entries = self.workspace.entries().map_err(Failure::failed)?;
        let Some(last) = entries.last() else { return Ok(()) };
        self.say("And the latest change is undone: `eclusa undo`, which is a call of its own.")?;
        let args = json!({"calls": [last.call]});
        self.call("", "undo", &args)?;
        let reply = gate.pass(ToolCall::new("undo", "undo", args).from(Origin::Person)).await;
        self.report("", &CallOutcome::new(reply.id().to_owned(), &reply))
    }

    /// What the record says of the call, and what the model gets.
    fn report(&mut self, indent: &str, call: &CallOutcome) -> Result<(), Failure> {
        if let Some(number) = call.number {
            let found = calls::call_with(&**self.store, number).map_err(Failure::failed)?;
            for line in found.iter().flat_map(call_record::story) {
                self.screen.styled(Style::Faint, &format!("    {indent}{line}"))?;
            }
        }
        if let (Some(number), true) = (call.number, call.changed) {
            self.changed(number)?;
        }
        let style = if call.error.is_none() { Style::Good } else { Style::Bad };
        let parts = [call.error.as_deref().unwrap_or_default(), call.output.as_str()];
        let content = parts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n");
        let content = if content.is_empty() { "(no output)".to_owned() } else { content };
        for (number, line) in content.lines().enumerate() {
            let sign = if number == 0 { '←' } else { ' ' };
            self.screen.styled(style, &sanitize(&format!("  {indent}{sign} {line}")))?;
        }
        self.screen.line("")?;
        Ok(())
    }

    /// What a call changed, as it is kept: the same lines that a person is shown beforehand.
    fn changed(&mut self, number: u64) -> Result<(), Failure> {
        let changes = self.workspace.changes(number).map_err(Failure::failed)?;
        let diff = Diff::of(&changes, self.workspace, Bounds::default());
        let shown = diff.shown();
        for line in DiffView::on(&std::io::stdout()).indented(4).lines(&shown) {
            self.screen.verbatim(Style::Plain, &format!("    {line}"))?;
        }
        Ok(())
    }

    /// The chain, checked from its first record to its last.
    fn end(mut self) -> Result<(), Failure> {
        let head = self.store.verify().map_err(Failure::failed)?;
        self.screen.styled(Style::Good, &format!("log: {}", log::said(head)))?;
        self.screen.line("")?;
        let next = "next: `eclusa init` in a project of yours, then `eclusa install`";
        self.screen.styled(Style::Strong, next)?;
        Ok(self.screen.flush()?)
    }
}
