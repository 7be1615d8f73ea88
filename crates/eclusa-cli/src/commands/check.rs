//! `eclusa check`: what the rules make of a call. Runs nothing, asks nobody, records nothing.

use std::io::{self, BufRead, BufReader, Read, Write};

use eclusa::{Decision, Gate, Origin, PermissionClass, Reason, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use super::call_args;
use crate::{
    args::CheckArgs,
    failure::{Exit, Failure},
    screen::{Screen, Style, harmless},
    servers,
    workplace::Workplace,
};

mod change;
mod told;

/// The longest line that is read.
const LONGEST: u64 = 16 * 1024 * 1024;

pub(super) async fn run(here: &Workplace, call: CheckArgs, json: bool) -> Result<Exit, Failure> {
    let gate = here.judge()?;
    let registry = gate.house().registry.clone();
    let behind = match &call.tool {
        // Any of them may be asked about.
        _ if call.servers => servers::wake_all(here, &registry).await?,
        Some(tool) => servers::wake(here, &registry, tool).await?,
        None => None,
    };
    let said = say(here, &gate, call, json);
    if let Some(behind) = behind {
        behind.close().await;
    }
    said
}

fn say(here: &Workplace, gate: &Gate, call: CheckArgs, json: bool) -> Result<Exit, Failure> {
    let Some(tool) = call.tool.filter(|_| !call.jsonl) else {
        let stdin = BufReader::with_capacity(256 * 1024, io::stdin().lock());
        let stdout = io::BufWriter::with_capacity(256 * 1024, io::stdout().lock());
        many(gate, stdin, stdout)?;
        return Ok(Exit::Done);
    };
    let args = call_args::read(call.args.as_deref())?;
    one(here, gate, ToolCall::new("check", tool, args).from(Origin::Person), json)
}

/// One call, with the whole path to the decision.
fn one(here: &Workplace, gate: &Gate, call: ToolCall, json: bool) -> Result<Exit, Failure> {
    let mut screen = Screen::stdout();
    let refused = match gate.explain(call.clone()) {
        Ok(explanation) => {
            let change = change::smallest(here, &call, &explanation);
            match json {
                true => screen.json(&told::as_json(&explanation, &change))?,
                false => told::print(&explanation, &change, &mut screen)?,
            }
            explanation.verdict.decision == Decision::Deny
        }
        Err(stop) => {
            let said = Said::denied(stop.code(), stop.message().into_owned());
            match json {
                true => screen.json(&serde_json::to_value(&said).map_err(Failure::failed)?)?,
                false => said.print(&mut screen)?,
            }
            true
        }
    };
    screen.flush()?;
    Ok(if refused { Exit::Refused } else { Exit::Done })
}

/// One line in, one line out, in order.
fn many(gate: &Gate, mut lines: BufReader<impl Read>, mut out: impl Write) -> Result<(), Failure> {
    let mut line = Vec::new();
    for number in 1.. {
        // Whoever waits for an answer before writing the next line gets it; nobody else pays.
        if !lines.buffer().contains(&b'\n') {
            out.flush()?;
        }
        line.clear();
        if (&mut lines).take(LONGEST).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let whole = line.ends_with(b"\n") || u64::try_from(line.len()).is_ok_and(|it| it < LONGEST);
        if !whole {
            lines.skip_until(b'\n')?;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let said = match whole {
            true => judged(gate, &line, number),
            false => unread(None, number, "it is longer than 16 MiB"),
        };
        serde_json::to_writer(&mut out, &said).map_err(io::Error::from)?;
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(())
}

/// A call, as a line of JSON has it. Further fields are somebody else's and are left alone.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(default)]
    tool: Option<Value>,
    #[serde(default)]
    args: Option<Value>,
}

fn judged<'a>(gate: &Gate, line: &'a [u8], number: u64) -> Said<'a> {
    // A list would do for the fields of an object, in order; here it is a mistake.
    if !line.trim_ascii_start().starts_with(b"{") {
        return unread(None, number, "an object is expected");
    }
    let read: Line<'a> = match serde_json::from_slice(line) {
        Ok(read) => read,
        Err(err) => return unread(None, number, &err.to_string()),
    };
    let Some(Value::String(tool)) = read.tool else {
        return unread(read.id, number, "`tool` must be a string");
    };
    // The id is echoed as it was written, whatever it is.
    let call = ToolCall::new("", tool, read.args.unwrap_or(Value::Null));
    Said { id: read.id, ..Said::of(gate, call) }
}

/// A line that cannot be read is denied, and keeps its place.
fn unread<'a>(id: Option<&'a RawValue>, number: u64, what: &str) -> Said<'a> {
    let text = format!("line {number} cannot be read as a call: {what}");
    Said { id, ..Said::denied("input", text) }
}

/// The class of what no tool answers for.
const NOBODYS: &str = PermissionClass::Generic.as_str();

/// What is said of one call.
#[derive(Serialize)]
struct Said<'a> {
    id: Option<&'a RawValue>,
    decision: &'static str,
    class: &'static str,
    because: Vec<Because>,
}

#[derive(Serialize)]
struct Because {
    decision: &'static str,
    origin: String,
    text: String,
}

impl Said<'_> {
    fn of(gate: &Gate, call: ToolCall) -> Said<'static> {
        match gate.check(call) {
            Ok((class, verdict)) => Said {
                id: None,
                decision: verdict.decision.as_str(),
                class: class.as_str(),
                because: verdict.because.iter().map(Because::of).collect(),
            },
            Err(stop) => Said::denied(stop.code(), stop.message().into_owned()),
        }
    }

    fn denied(origin: &str, text: String) -> Said<'static> {
        let because = Because { decision: "deny", origin: origin.to_owned(), text };
        Said { id: None, decision: "deny", class: NOBODYS, because: vec![because] }
    }

    fn print(&self, screen: &mut Screen) -> io::Result<()> {
        let decision = screen.paint.text(Style::Bad, self.decision).into_owned();
        screen.line(&format!("{decision} (class {})", self.class))?;
        for because in &self.because {
            let Because { decision, origin, text } = because;
            screen.line(&harmless(&format!("  {decision:5}  {text} ({origin})")))?;
        }
        Ok(())
    }
}

impl Because {
    fn of(reason: &Reason) -> Because {
        Because {
            decision: Decision::as_str(reason.decision),
            origin: reason.origin.to_string(),
            text: reason.text.to_string(),
        }
    }
}
