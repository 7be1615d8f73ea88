//! `eclusa check`: what the rules make of a call. Runs nothing, asks nobody, records nothing.

use std::io::{self, BufRead, BufReader, Read, Write};

use eclusa::{Decision, Gate, Origin, PermissionClass, Reason, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use super::call_args::{self, from_here::seen_from_root};
use crate::{
    context::AppContext,
    exec,
    failure::{Exit, Failure},
    screen::{Screen, Style, sanitize},
    servers,
};

mod render;
mod rule_hint;

/// Explain what the rules decide about a call
///
/// Runs nothing, records nothing, asks nobody; reviewers are not consulted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eclusa check bash command='npm install'
  eclusa check -v bash command='npm install'    each command in it as it was read
  eclusa --mode yolo check read path=.env
  eclusa check --jsonl < calls.jsonl            one {\"id\", \"tool\", \"args\"} a line

With --jsonl, writes one {\"id\", \"decision\", \"class\", \"because\"} a line, in order. A line that \
cannot be read is denied in its place. Exit code 3 when a single call would be denied.")]
pub(crate) struct CheckArgs {
    /// Name or alias of the tool
    #[arg(required_unless_present = "jsonl")]
    pub(crate) tool: Option<String>,
    /// Arguments: `key=text` and `key:=json` words, or one JSON object; `-` reads it from stdin
    #[arg(value_name = "ARGS")]
    pub(crate) args: Vec<String>,
    /// Read calls from stdin, one JSON object a line
    #[arg(long, conflicts_with = "tool")]
    pub(crate) jsonl: bool,
    /// Start the servers behind the gate first; automatic for a single call that needs it
    #[arg(long)]
    pub(crate) servers: bool,
}

/// The longest line that is read.
const MAX_LINE: u64 = 16 * 1024 * 1024;

pub(super) async fn run(
    ctx: &AppContext,
    call: CheckArgs,
    whole: bool,
    json: bool,
) -> Result<Exit, Failure> {
    let gate = ctx.judge()?;
    let registry = gate.registry().clone();
    let behind = match &call.tool {
        // Any of them may be asked about.
        _ if call.servers => servers::wake_all(ctx, &registry).await?,
        Some(tool) => servers::wake(ctx, &registry, tool).await?,
        None => None,
    };
    let said = say(ctx, &gate, call, whole, json);
    if let Some(behind) = behind {
        behind.close().await;
    }
    said
}

fn say(
    ctx: &AppContext,
    gate: &Gate,
    call: CheckArgs,
    whole: bool,
    json: bool,
) -> Result<Exit, Failure> {
    let Some(tool) = call.tool.filter(|_| !call.jsonl) else {
        let stdin = BufReader::with_capacity(256 * 1024, io::stdin().lock());
        let stdout = io::BufWriter::with_capacity(256 * 1024, io::stdout().lock());
        many(gate, stdin, stdout)?;
        return Ok(Exit::Done);
    };
    let known = gate.registry().get(&tool);
    let mut args = call_args::read(&call.args, known.as_ref().map(|it| it.schema()))?;
    if let Some(ours) = known.as_ref().filter(|it| it.server().is_none())
        && call_args::are_words(&call.args)
        && let Some(below) = exec::below(&ctx.paths.workspace)
    {
        seen_from_root(&mut args, ours.schema(), &below);
    }
    one(ctx, gate, ToolCall::new("check", tool, args).from(Origin::Person), whole, json)
}

/// One call: the decision, and the path to it.
fn one(
    ctx: &AppContext,
    gate: &Gate,
    call: ToolCall,
    whole: bool,
    json: bool,
) -> Result<Exit, Failure> {
    let mut screen = Screen::stdout();
    let refused = match gate.explain(call.clone()) {
        Ok(explanation) => {
            let change = rule_hint::smallest(ctx, gate.registry(), &call, &explanation);
            match json {
                true => screen.json(&render::as_json(&explanation, &change))?,
                false => render::print(&explanation, &change, whole, &mut screen)?,
            }
            explanation.verdict.decision == Decision::Deny
        }
        Err(stop) => {
            let said = CheckResult::denied(stop.code(), stop.message().into_owned());
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
        if (&mut lines).take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let whole =
            line.ends_with(b"\n") || u64::try_from(line.len()).is_ok_and(|it| it < MAX_LINE);
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
struct CheckLine<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(default)]
    tool: Option<Value>,
    #[serde(default)]
    args: Option<Value>,
}

fn judged<'a>(gate: &Gate, line: &'a [u8], number: u64) -> CheckResult<'a> {
    // A list would do for the fields of an object, in order; here it is a mistake.
    if !line.trim_ascii_start().starts_with(b"{") {
        return unread(None, number, "an object is expected");
    }
    let read: CheckLine<'a> = match serde_json::from_slice(line) {
        Ok(read) => read,
        Err(err) => return unread(None, number, &err.to_string()),
    };
    let Some(Value::String(tool)) = read.tool else {
        return unread(read.id, number, "`tool` must be a string");
    };
    // The id is echoed as it was written, whatever it is.
    let call = ToolCall::new("", tool, read.args.unwrap_or(Value::Null));
    CheckResult { id: read.id, ..CheckResult::new(gate, call) }
}

/// A line that cannot be read is denied, and keeps its place.
fn unread<'a>(id: Option<&'a RawValue>, number: u64, what: &str) -> CheckResult<'a> {
    let text = format!("line {number} cannot be read as a call: {what}");
    CheckResult { id, ..CheckResult::denied("input", text) }
}

/// The class of what no tool answers for.
const NOBODYS: &str = PermissionClass::Generic.as_str();

/// What is said of one call.
#[derive(Serialize)]
struct CheckResult<'a> {
    id: Option<&'a RawValue>,
    decision: &'static str,
    class: &'static str,
    because: Vec<ReasonLine>,
}

#[derive(Serialize)]
struct ReasonLine {
    decision: &'static str,
    origin: String,
    text: String,
}

impl CheckResult<'_> {
    fn new(gate: &Gate, call: ToolCall) -> CheckResult<'static> {
        match gate.check(call) {
            Ok((class, verdict)) => CheckResult {
                id: None,
                decision: verdict.decision.as_str(),
                class: class.as_str(),
                because: verdict.because.iter().map(ReasonLine::new).collect(),
            },
            Err(stop) => CheckResult::denied(stop.code(), stop.message().into_owned()),
        }
    }

    fn denied(origin: &str, text: String) -> CheckResult<'static> {
        let because = ReasonLine { decision: "deny", origin: origin.to_owned(), text };
        CheckResult { id: None, decision: "deny", class: NOBODYS, because: vec![because] }
    }

    fn print(&self, screen: &mut Screen) -> io::Result<()> {
        let decision = screen.paint.text(Style::Bad, self.decision).into_owned();
        screen.line(&format!("{decision} (class {})", self.class))?;
        for because in &self.because {
            let ReasonLine { decision, origin, text } = because;
            screen.line(&sanitize(&format!("  {decision:5}  {text} ({origin})")))?;
        }
        Ok(())
    }
}

impl ReasonLine {
    fn new(reason: &Reason) -> ReasonLine {
        ReasonLine {
            decision: Decision::as_str(reason.decision),
            origin: reason.origin.to_string(),
            text: reason.text.to_string(),
        }
    }
}
