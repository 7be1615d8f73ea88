//! `eclusa feed`: the calls in a model's answer that somebody else fetched, through the gate.

use std::io::Read;

use eclusa::{
    Incoming, Reply, Run,
    parse::{anthropic, fenced, gemini, openai_chat, openai_responses},
};
use serde_json::{Value, json};

use crate::{
    args::{FeedArgs, WireShape},
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

/// The longest answer that is read, in bytes.
const MAX_ANSWER: u64 = 64 << 20;

pub(super) async fn run(ctx: &AppContext, args: FeedArgs, json: bool) -> Result<Exit, Failure> {
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
    let gate = gate.for_run(Run {
        conversation: args.session.into(),
        turn: args.turn,
        ..gate.run().clone()
    });
    let registry = &gate.setup().registry;
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
