//! The checkpoint on a terminal: whoever confirms it types the tool's name, because a letter is too
//! quickly typed for what cannot be taken back.

use std::{
    io::{self, Write},
    os::fd::OwnedFd,
    sync::{Arc, atomic::AtomicBool},
};

use eclusa::{
    NotAsked, Validated, one_line,
    preflight::{Checkpoint, PreflightError},
};
use futures::future::BoxFuture;

use crate::screen::spinner;

use super::{
    OpenQuestion, Terminal,
    key_reader::{KeyReader, TypedLine},
};

impl Checkpoint for Terminal {
    fn open<'a>(&'a self, call: &'a Validated) -> BoxFuture<'a, Result<(), PreflightError>> {
        Box::pin(async move {
            let tty = self.input().map_err(|not| match not {
                NotAsked::Unavailable(why) => format!("no terminal to confirm it on: {why}"),
                NotAsked::Unread(why) | NotAsked::Failed(why) => why,
                NotAsked::Parked(id) => format!("it waits for approval {id}"),
            })?;
            let mut open = OpenQuestion::default();
            let (tool, args) = (call.name().to_owned(), format!("{:#}", call.args()));
            let flag = open.given_up.clone();
            let asked = tokio::task::spawn_blocking(move || ask(&tool, &args, tty, flag)).await;
            open.answered = true;
            match asked {
                Ok(Ok(true)) => Ok(()),
                Ok(Ok(false)) => Err("a person did not confirm it".into()),
                Ok(Err(err)) => Err(format!("the terminal failed: {err}").into()),
                Err(_panic) => Err("the prompt crashed".into()),
            }
        })
    }
}

/// True when the person typed the name of the tool and nothing else.
fn ask(tool: &str, args: &str, tty: OwnedFd, given_up: Arc<AtomicBool>) -> io::Result<bool> {
    let _terminal = spinner::pause();
    let mut keys = KeyReader::new(tty, given_up);
    let mut out = io::stderr().lock();
    let shown = one_line(tool);
    writeln!(out, "\nCheckpoint: {shown} cannot be undone.")?;
    for line in args.lines() {
        // Its indentation is our own.
        let text = line.trim_start();
        let indent = line.len() - text.len();
        writeln!(out, "  │ {:indent$}{}", "", one_line(text))?;
    }
    out.flush()?;
    keys.settle()?;
    write!(out, "Type `{shown}` to confirm (anything else cancels): ")?;
    out.flush()?;
    drop(out);
    Ok(keys.answer()? == TypedLine::Line(tool.to_owned()))
}
