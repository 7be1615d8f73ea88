//! A reply, for people and for programs.

use std::io::{self, Write};

use eclusa::Reply;
use serde_json::{Value, json};

use crate::{
    failure::Exit,
    language::{self, Phrase},
    screen::{Paint, Screen, Style, sanitize},
};

/// The whole reply as one JSON object; fields that do not apply are absent.
pub fn as_json(reply: &Reply) -> Value {
    let mut value = json!({
        "id": reply.id(),
        "tool": reply.tool(),
        "success": !reply.is_error(),
        "code": reply.code(),
        "output": output(reply).unwrap_or_default(),
        "truncated": reply.truncated(),
        "execution_time_ms": u64::try_from(reply.run_time().as_millis()).unwrap_or(u64::MAX),
        "number": reply.number(),
    });
    let optional = [
        ("would", reply.would().map(|it| it.as_str().into())),
        ("error", reply.error().map(Value::from)),
        ("data", reply.data().cloned()),
        ("approval", reply.parked().map(Value::from)),
        ("spool", reply.spool().map(Value::from)),
        ("record", reply.receipt().map(|it| it.hash.to_string().into())),
        ("warnings", (!reply.warnings().is_empty()).then(|| reply.warnings().into())),
    ];
    if let Some(fields) = value.as_object_mut() {
        let present = optional.into_iter().filter_map(|(name, it)| Some((name.to_owned(), it?)));
        fields.extend(present);
    }
    value
}

/// What the tool produced, or what a dry run says; nothing for a call that was refused.
fn output(reply: &Reply) -> Option<&str> {
    reply.output().or_else(|| (!reply.is_error()).then(|| reply.text()))
}

/// What was produced on stdout, what went wrong on stderr.
pub fn print(reply: &Reply, screen: &mut Screen) -> io::Result<()> {
    let paint = Paint::on(&io::stderr());
    let mut err = io::stderr().lock();
    for warning in reply.warnings() {
        writeln!(err, "{} {}", paint.text(Style::Warn, Phrase::Warning.text()), sanitize(warning))?;
    }
    if let Some(output) = output(reply) {
        screen.foreign(output)?;
        screen.flush()?;
    }
    if let Some(error) = reply.error() {
        let (style, label) = match reply.parked() {
            Some(_) => (Style::Warn, Phrase::Waiting),
            None if reply.refused() => (Style::Bad, Phrase::Refused),
            None => (Style::Bad, Phrase::Failed),
        };
        let error = language::outcome(reply.code(), &sanitize(error)).into_owned();
        writeln!(err, "{} {error}", paint.text(style, label.text()))?;
    }
    if let Some(reference) = reply.spool() {
        writeln!(err, "{}", Phrase::OutputCut.with(reference))?;
    }
    Ok(())
}

/// The exit code that a reply stands for.
pub fn exit(reply: &Reply) -> Exit {
    match reply.code() {
        "aborted" | "cancelled" => Exit::Aborted,
        _ if reply.parked().is_some() => Exit::Parked,
        _ if !reply.is_error() => Exit::Done,
        _ if reply.refused() => Exit::Refused,
        _ => Exit::Failed,
    }
}
