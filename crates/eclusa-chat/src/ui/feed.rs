//! `eclusa feed`: the calls in a model's answer that somebody else fetched, through the gate.

use std::{fs, io::Read, path::PathBuf, sync::Arc};

use clap::{Args, ValueEnum, builder::PossibleValue};
use eclusa::{
    Incoming, Registry, Reply, Run, Wire,
    parse::fenced::{self, Options},
};
use eclusa_app::sessions_kept::UNNAMED_FEED;
use eclusa_models::EventReader;
use serde_json::{Value, json};

use crate::ui::{
    context::AppContext,
    failure::{Exit, Failure},
    gates::GateParts,
    reply,
    screen::{Screen, sanitize},
    servers,
    signals::cancel_on_signal,
    surface::Surface,
    telemetry,
    terminal::Terminal,
};

/// Examples, for its help.
const EXAMPLES: &str = "\
Examples:
  fetch-answer | eclusa feed                    `tool` blocks in text, `tool_result` blocks back
  eclusa feed --shape anthropic < message.json  a whole response, or the events of a stream
  eclusa tools --shape anthropic                the declarations for the request
  eclusa feed --tools read,grep --park          these tools alone; questions wait in the queue

For programs that talk to a model themselves: the calls in its answer pass the gate, and the results \
are printed in the shape that the same model expects in the next request. docs/feed.md has whole loops. \
Exit codes: 0 every call did what was asked, 1 one failed, 3 one was refused, 4 one waits for an approval \
(a yes to changes applies them; for a yes to a call feed the same answer again), 130 a person ended the turn.";

/// The longest answer that is read, in bytes.
const MAX_ANSWER: u64 = 64 << 20;

/// Run the tool calls of a model's answer, read from stdin
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct FeedArgs {
    /// The shape of the answer, and of the results
    #[arg(long, value_enum, default_value_t)]
    pub shape: CallShape,
    /// The session that the calls belong to, for the log, undo, budgets and what came from outside
    #[arg(long, value_name = "NAME", default_value = UNNAMED_FEED)]
    pub session: String,
    /// Which turn of the session it is: what one turn changed can be undone together
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub turn: u64,
    /// Only these tools are there, by name or alias
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub tools: Option<Vec<String>>,
    /// Never wait for a person: put questions into the approval queue and end with code 4
    #[arg(long)]
    pub park: bool,
    /// Leave `tool` blocks that cannot be read in the text, and tell the model nothing
    #[arg(long)]
    pub lenient: bool,
    /// Write the answer's text without its calls to this file
    #[arg(long, value_name = "FILE")]
    pub text: Option<PathBuf>,
    /// With `--dry-run`: apply the plan as one call, once everybody whom the rules name has approved
    #[arg(long)]
    pub apply: bool,
}

/// How a model asks for tools: natively on a wire, or with `tool` blocks in its text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallShape(pub Option<Wire>);

impl ValueEnum for CallShape {
    fn value_variants<'a>() -> &'a [CallShape] {
        &[
            CallShape(None),
            CallShape(Some(Wire::Anthropic)),
            CallShape(Some(Wire::Openai)),
            CallShape(Some(Wire::OpenaiChat)),
            CallShape(Some(Wire::Gemini)),
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self.0 {
            None => "`tool` blocks in text, for models without native calls",
            Some(Wire::Anthropic) => "Anthropic Messages",
            Some(Wire::Openai) => "OpenAI Responses",
            Some(Wire::OpenaiChat) => "OpenAI Chat Completions and compatible servers",
            Some(Wire::Gemini) => "Gemini",
        };
        Some(PossibleValue::new(self.0.map_or("fenced", Wire::as_str)).help(help))
    }
}

/// Passes the calls, and prints the results.
pub async fn run(ctx: &AppContext, args: FeedArgs, json: bool) -> Result<Exit, Failure> {
    let mut answer = Vec::new();
    std::io::stdin().lock().take(MAX_ANSWER).read_to_end(&mut answer)?;
    let answer = String::from_utf8(answer).map_err(|_| {
        Failure::usage("the answer on stdin is not text in UTF-8")
            .hint("give the body of the response as it came, unpacked")
    })?;
    let (text, calls) = read(args.shape, args.lenient, &answer)?;
    if let Some(file) = &args.text {
        #[expect(clippy::disallowed_methods, reason = "a file that the person named")]
        fs::write(file, &text).map_err(|err| {
            Failure::failed(format!("`{}` cannot be written: {err}", file.display()))
        })?;
    }
    let store = ctx.store()?;
    let terminal = Terminal::new(true, ctx.paths.always_files());
    let gate = ctx.gate(Surface::Feed, GateParts::asking(&store, terminal))?;
    cancel_on_signal(gate.run().cancel.clone());
    let run = Run { session: args.session.into(), turn: args.turn, ..gate.run().clone() };
    let tools = args.tools.map(|names| only(gate.registry(), &names)).transpose()?;
    let gate = gate.for_run(Run { tools, park: args.park, ..run });
    let registry = gate.registry();
    let of_server = |it: &Incoming| matches!(it, Incoming::Call(call) if !registry.has(&call.tool));
    let behind = match calls.iter().any(of_server) {
        true => servers::wake_all(ctx, registry).await?,
        false => None,
    };
    let replies = gate.pass_all(calls).await;
    if let Some(behind) = behind {
        behind.close().await;
    }
    replies.iter().for_each(telemetry::answered);
    let mut screen = Screen::stdout();
    match json {
        true => {
            let all: Vec<Value> = replies.iter().map(reply::as_json).collect();
            screen.json(
                &json!({"text": text, "replies": all, "results": results(args.shape, &replies)}),
            )?;
        }
        false => match results(args.shape, &replies) {
            Value::String(text) => screen.foreign(&text)?,
            results => screen.json(&results)?,
        },
    }
    screen.flush()?;
    Ok(exit(&replies))
}

/// The tools that are named, by their own names. Those of servers are known once they have started.
pub fn only(registry: &Registry, names: &[String]) -> Result<Arc<[String]>, Failure> {
    let own = |name: &String| match registry.get(name) {
        Some(tool) => Ok(tool.name().to_owned()),
        None if name.starts_with("mcp_") => Ok(name.clone()),
        None => Err(unknown_tool(registry, name)),
    };
    names.iter().map(own).collect()
}

/// No tool has this name, or one that is near it has.
pub fn unknown_tool(registry: &Registry, name: &str) -> Failure {
    let near = registry.nearest(name).into_iter().next();
    let near = near.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
    Failure::usage(format!("no tool is called `{}`{near}", sanitize(name)))
        .hint("`eclusa tools` lists them")
}

/// The text of the answer, where it is one, and its calls.
fn read(shape: CallShape, lenient: bool, answer: &str) -> Result<(String, Vec<Incoming>), Failure> {
    let Some(wire) = shape.0 else {
        let parsed = fenced::parse_with(answer, Options { lenient, ..Options::default() });
        return Ok((parsed.clean_text, parsed.incoming));
    };
    let calls = match serde_json::from_str(answer) {
        Ok(whole) => wire.calls(&whole),
        Err(err) => wire.streamed_calls(&events(answer).ok_or_else(|| {
            Failure::usage(format!("the answer is neither JSON nor a stream of events: {err}"))
                .hint("give the body of the response as it came, or `--shape fenced` for text")
        })?),
    };
    Ok((String::new(), calls))
}

/// The events of a stream, as JSON. `None` when there are none.
fn events(answer: &str) -> Option<Vec<Value>> {
    let mut reader = EventReader::default();
    let mut data = reader.push(answer.as_bytes()).ok()?;
    data.extend(reader.finish());
    let mut events = Vec::new();
    for data in data.iter().filter(|it| !it.trim().is_empty()) {
        match serde_json::from_str(data) {
            Ok(event) => events.push(event),
            // Where the empty lines between events were lost, each line is an event.
            Err(_) => {
                for line in data.lines().filter(|it| it.trim() != "[DONE]") {
                    events.push(serde_json::from_str(line).ok()?);
                }
            }
        }
    }
    Some(events).filter(|it| !it.is_empty())
}

fn results(shape: CallShape, replies: &[Reply]) -> Value {
    match shape.0 {
        None => fenced::results(replies).into(),
        Some(wire) => wire.results(replies).into(),
    }
}

/// The exit code of all: a person's word first, then what was refused, what waits, what failed.
fn exit(replies: &[Reply]) -> Exit {
    let exits: Vec<Exit> = replies.iter().map(reply::exit).collect();
    let order = [Exit::Aborted, Exit::Refused, Exit::Parked, Exit::Failed];
    order.into_iter().find(|it| exits.contains(it)).unwrap_or(Exit::Done)
}
