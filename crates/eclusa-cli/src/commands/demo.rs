//! `eclusa demo`: every gate at work on a short scripted conversation, in a scratch workspace.
//!
//! Nothing is played: the text is parsed as it streams, the calls pass a real gate, and what is
//! told of each is read back from its record.

use std::{fs::File, io::Write, path::Path, sync::Arc};

use eclusa::{
    FnReviewer, Gate, Incoming, Origin, Reply, Review, Run, ToolCall, Workspace,
    parse::fenced::{Fenced, Options, Piece},
    workspace::{Bounds, Diff},
};
use eclusa_config::{Config, Layer};
use eclusa_store::Store;
use serde_json::json;

use super::{call_record::CallRecord, log, reply, run::cancel_on_signal, undo::tool};
use crate::{
    args::Global,
    context::AppContext,
    failure::{Exit, Failure},
    paths::Paths,
    screen::{Screen, Style, sanitize},
    terminal::Terminal,
};

/// What the model says, and its calls among it.
const CONVERSATION: &str = include_str!("demo/conversation.md");
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

/// Models stream a few characters at a time.
const CHUNK: usize = 7;

pub(super) async fn run(global: &Global) -> Result<Exit, Failure> {
    let scratch = tempfile::tempdir()?;
    let ctx = furnished(global, scratch.path())?;
    let store = ctx.store()?;
    let terminal = Terminal::new(false, None);
    let gate = ctx.gate_with(&store, terminal, vec![Arc::new(at_most_three())])?;
    cancel_on_signal(gate.run().cancel.clone());
    let workspace = ctx.workspace()?;
    let gate = gate.for_run(Run { turn: 1, ..gate.run().clone() });
    let mut stage = DemoStage {
        store: &store,
        workspace: &workspace,
        screen: Screen::stdout(),
        at_start: true,
    };
    stage.say("A model streams text with calls in it. Each call passes the gate; what follows it is its record.")?;
    if !stage.play(&gate, CONVERSATION).await? {
        return Ok(Exit::Aborted);
    }
    stage.say(
        "The same gate, as a dry run: everything is decided, nothing is done, nobody is asked.",
    )?;
    let dry = gate.for_run(Run { dry_run: true, ..gate.run().clone() });
    stage.play(&dry, DRY_RUN).await?;
    stage.say("And the latest change is undone: `eclusa undo`, which is a call of its own.")?;
    let durability = ctx.config.commit_durability;
    let back = ctx.gate_to_take_back(
        &store,
        |registry, workspace| tool::add(registry, workspace, durability),
        Arc::new(tool::CommandLine),
    )?;
    stage.take_back(&back).await?;
    stage.end()?;
    Ok(Exit::Done)
}

/// A workplace in the scratch directory, whatever the person has configured elsewhere.
fn furnished(global: &Global, scratch: &Path) -> Result<AppContext, Failure> {
    let workspace = scratch.join("workspace");
    std::fs::create_dir(&workspace)?;
    for (name, text) in FILES {
        File::create(workspace.join(name))?.write_all(text.as_bytes())?;
    }
    let config = Config::load(&[Layer::of_person("demo", RULES)]).map_err(Failure::failed)?;
    Ok(AppContext {
        mode: global.mode.unwrap_or(config.mode),
        dry_run: global.dry_run,
        example_tools: true,
        paths: Paths {
            workspace: workspace.canonicalize()?,
            config: None,
            config_named: false,
            policies: Vec::new(),
            store: scratch.join("state").join("eclusa.db"),
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

/// Where the conversation is played and told.
struct DemoStage<'a> {
    store: &'a Store,
    workspace: &'a Workspace,
    screen: Screen,
    /// Nothing was said since the last call.
    at_start: bool,
}

impl DemoStage<'_> {
    fn say(&mut self, text: &str) -> std::io::Result<()> {
        self.screen.styled(Style::Faint, text)?;
        self.screen.line("")
    }

    /// Streams the text and passes each call as it is found; false when a person ended it.
    async fn play(&mut self, gate: &Gate, text: &str) -> Result<bool, Failure> {
        let mut fenced = Fenced::new(Options::default());
        for chunk in chunks(text) {
            for piece in fenced.push(chunk) {
                if !self.take(gate, piece).await? {
                    return Ok(false);
                }
            }
        }
        for piece in fenced.finish() {
            if !self.take(gate, piece).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn take(&mut self, gate: &Gate, piece: Piece<'_>) -> Result<bool, Failure> {
        let incoming = match piece {
            Piece::Text(text) => {
                self.text(&text)?;
                return Ok(true);
            }
            Piece::Incoming(incoming) => incoming,
        };
        self.call(&incoming)?;
        let reply = gate.pass(incoming).await;
        self.report(&reply)?;
        Ok(reply::exit(&reply) != Exit::Aborted)
    }

    /// The model's words; of the empty lines around a call, one is left.
    fn text(&mut self, text: &str) -> std::io::Result<()> {
        let text = if self.at_start { text.trim_start_matches('\n') } else { text };
        self.at_start &= text.is_empty();
        write!(self.screen, "{}", sanitize(text))
    }

    fn call(&mut self, incoming: &Incoming) -> std::io::Result<()> {
        let line = match incoming {
            Incoming::Call(call) => format!("  → {} {}", call.tool, call.args),
            Incoming::Malformed(bad) => format!("  → {}", bad.problem),
        };
        self.screen.styled(Style::Strong, &sanitize(&line))?;
        // Whoever is asked has seen what it is about.
        self.screen.flush()
    }

    /// Undoes the last change, if there was one, and shows that nothing is left of it.
    async fn take_back(&mut self, gate: &Gate) -> Result<(), Failure> {
        let entries = self.workspace.entries().map_err(Failure::failed)?;
        let Some(last) = entries.last() else { return Ok(()) };
        let call = ToolCall::new("undo", "undo", json!({"calls": [last.call]}));
        let incoming = Incoming::Call(call.from(Origin::Person));
        self.call(&incoming)?;
        let reply = gate.pass(incoming).await;
        self.report(&reply)
    }

    /// What the record says of the call, and what the model gets.
    fn report(&mut self, reply: &Reply) -> Result<(), Failure> {
        if let Some(number) = reply.number() {
            let mut records = self.store.records(number, 1).map_err(Failure::failed)?;
            records.extend(self.store.ends_of(number).map_err(Failure::failed)?);
            for line in CallRecord::gather(&records).iter().flat_map(CallRecord::story) {
                self.screen.styled(Style::Faint, &format!("    {line}"))?;
            }
        }
        if let (Some(number), Some(_)) = (reply.number(), reply.undo()) {
            self.changed(number)?;
        }
        let style = match reply::exit(reply) {
            Exit::Done => Style::Good,
            Exit::Refused | Exit::Failed => Style::Bad,
            Exit::Aborted | Exit::Parked | Exit::Usage | Exit::Pipe | Exit::Command(_) => {
                Style::Warn
            }
        };
        let content = reply.content();
        let content = if content.is_empty() { "(no output)".into() } else { content };
        for (number, line) in content.lines().enumerate() {
            let sign = if number == 0 { '←' } else { ' ' };
            self.screen.styled(style, &sanitize(&format!("  {sign} {line}")))?;
        }
        self.at_start = true;
        self.screen.line("")?;
        Ok(())
    }

    /// What a call changed, as it is kept: the same lines that a person is shown beforehand.
    fn changed(&mut self, number: u64) -> Result<(), Failure> {
        let changes = self.workspace.changes(number).map_err(Failure::failed)?;
        let diff = Diff::of(&changes, self.workspace, Bounds::default());
        let shown = diff.shown();
        for line in self.screen.paint.diff(&shown.lines().collect::<Vec<_>>()) {
            self.screen.verbatim(Style::Plain, &format!("    {line}"))?;
        }
        Ok(())
    }

    /// The chain, checked from its first record to its last.
    fn end(mut self) -> Result<(), Failure> {
        let head = self.store.verify(|_, _| {}).map_err(Failure::failed)?;
        self.screen.styled(Style::Good, &format!("log: {}", log::said(head)))?;
        Ok(self.screen.flush()?)
    }
}

/// The text in small pieces, as a model streams it.
fn chunks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (chunk, after) = rest.split_at_checked(rest.ceil_char_boundary(CHUNK))?;
        rest = after;
        (!chunk.is_empty()).then_some(chunk)
    })
}
