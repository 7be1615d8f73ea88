//! `eclusa feed`: the calls in a model's answer that somebody else fetched, through the gate.

use std::io::Read;

use clap::{Args, ValueEnum};
use eclusa::{
    Incoming, Reply, Run,
    parse::{anthropic, fenced, gemini, openai_chat, openai_responses},
};
use eclusa_app::sessions_kept::UNNAMED_FEED;
use serde_json::{Value, json};

use crate::ui::{
    context::AppContext,
    failure::{Exit, Failure},
    gates::GateParts,
    reply,
    screen::Screen,
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

For programs that talk to a model themselves: the calls in its answer pass the gate, and the results \
are printed in the shape that the same model expects in the next request. Exit codes: 0 every call did \
what was asked, 1 one failed, 3 one was refused, 130 a person ended the turn.";

/// The longest answer that is read, in bytes.
const MAX_ANSWER: u64 = 64 << 20;

/// Pass the calls in a model's answer, from stdin, and print the results for the model
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct FeedArgs {
    /// The shape of the answer, and of the results
    #[arg(long, value_enum, default_value_t)]
    pub shape: WireShape,
    /// The session that the calls belong to, for the log, undo, budgets and what came from outside
    #[arg(long, value_name = "NAME", default_value = UNNAMED_FEED)]
    pub session: String,
    /// Which turn of the session it is: what one turn changed can be undone together
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub turn: u64,
}

/// The shape in which a model asks for tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum WireShape {
    /// `tool` blocks in text, for models without native calls
    #[default]
    Fenced,
    /// Anthropic Messages
    Anthropic,
    /// OpenAI Responses
    Openai,
    /// OpenAI Chat Completions, and what is compatible with it
    OpenaiChat,
    /// Gemini
    Gemini,
}

/// Passes the calls, and prints the results.
pub async fn run(ctx: &AppContext, args: FeedArgs, json: bool) -> Result<Exit, Failure> {
    let mut answer = Vec::new();
    std::io::stdin().lock().take(MAX_ANSWER).read_to_end(&mut answer)?;
    let answer = String::from_utf8(answer).map_err(|_| {
        Failure::usage("the answer on stdin is not text in UTF-8")
            .hint("give the body of the response as it came, unpacked")
    })?;
    let (text, calls) = read(args.shape, &answer)?;
    let store = ctx.store()?;
    let terminal = Terminal::new(true, ctx.paths.always_files());
    let gate = ctx.gate(Surface::Feed, GateParts::asking(&store, terminal))?;
    cancel_on_signal(gate.run().cancel.clone());
    let gate =
        gate.for_run(Run { session: args.session.into(), turn: args.turn, ..gate.run().clone() });
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

/// The text of the answer, where it is one, and its calls.
fn read(shape: WireShape, answer: &str) -> Result<(String, Vec<Incoming>), Failure> {
    if shape == WireShape::Fenced {
        let parsed = fenced::parse(answer);
        return Ok((parsed.clean_text, parsed.incoming));
    }
    let calls = match serde_json::from_str::<Value>(answer) {
        Ok(whole) => match shape {
            WireShape::Fenced | WireShape::Anthropic => anthropic::calls(&whole),
            WireShape::Openai => openai_responses::calls(&whole),
            WireShape::OpenaiChat => openai_chat::calls(&whole),
            WireShape::Gemini => gemini::calls(&whole),
        },
        Err(err) => streamed(
            shape,
            &events(answer).ok_or_else(|| {
                Failure::usage(format!("the answer is neither JSON nor a stream of events: {err}"))
                    .hint("give the body of the response as it came, or `--shape fenced` for text")
            })?,
        ),
    };
    Ok((String::new(), calls))
}

/// The events of a stream: the JSON after `data:`. `None` when there are none.
fn events(answer: &str) -> Option<Vec<Value>> {
    let data = answer.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
    let events: Result<Vec<Value>, _> =
        data.filter(|it| !it.is_empty() && *it != "[DONE]").map(serde_json::from_str).collect();
    events.ok().filter(|it| !it.is_empty())
}

fn streamed(shape: WireShape, events: &[Value]) -> Vec<Incoming> {
    macro_rules! read {
        ($wire:ident) => {{
            let mut stream = $wire::Stream::default();
            let mut calls: Vec<Incoming> = events.iter().flat_map(|it| stream.push(it)).collect();
            calls.extend(stream.finish());
            calls
        }};
    }
    match shape {
        WireShape::Fenced | WireShape::Anthropic => read!(anthropic),
        WireShape::Openai => read!(openai_responses),
        WireShape::OpenaiChat => read!(openai_chat),
        WireShape::Gemini => read!(gemini),
    }
}

fn results(shape: WireShape, replies: &[Reply]) -> Value {
    match shape {
        WireShape::Fenced => fenced::results(replies).into(),
        WireShape::Anthropic => anthropic::results(replies).into(),
        WireShape::Openai => openai_responses::results(replies).into(),
        WireShape::OpenaiChat => openai_chat::results(replies).into(),
        WireShape::Gemini => gemini::results(replies).into(),
    }
}

/// The exit code of all: a person's word first, then what was refused, what waits, what failed.
fn exit(replies: &[Reply]) -> Exit {
    let exits: Vec<Exit> = replies.iter().map(reply::exit).collect();
    let order = [Exit::Aborted, Exit::Refused, Exit::Parked, Exit::Failed];
    order.into_iter().find(|it| exits.contains(it)).unwrap_or(Exit::Done)
}
