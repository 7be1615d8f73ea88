//! `eclusa log verify`: the chain holds, and ends where it should.

use std::{
    io::{self, IsTerminal, Write},
    time::{Duration, Instant},
};

use eclusa::{
    Hash,
    audit::{Head, Log, VerifyError},
};
use serde_json::json;

use super::PAGE;
use crate::{
    failure::Failure,
    screen::{Screen, Style},
};

/// Whoever waits longer than this is told how far it has come, as often as this.
const PATIENCE: Duration = Duration::from_secs(1);

pub(super) fn run(
    log: &dyn Log,
    head: Option<&str>,
    json: bool,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let known = head.map(hash).transpose()?;
    let mut progress = Progress { told: Instant::now(), any: false };
    let verified = log.verify_since(None, &mut |done, all| progress.tell(done, all));
    progress.finish();
    let verified = verified.map_err(|err| Failure::failed(format!("verification failed: {err}")));
    let checked = verified
        .and_then(|(_, head)| Ok((head, known.map(|it| place(log, head, it)).transpose()?)));
    let (head, noted) = match checked {
        Ok(checked) => checked,
        Err(failure) => {
            if json {
                screen.json(&json!({"ok": false}))?;
                screen.flush()?;
            }
            return Err(failure);
        }
    };
    if json {
        return Ok(screen.json(&json!({
            "ok": true,
            "records": head.seq,
            "head": head.hash.to_string(),
            "noted": noted,
        }))?);
    }
    screen.styled(Style::Good, &said(head))?;
    if let Some(seq) = noted {
        let since = match head.seq - seq {
            0 => "it is the last".to_owned(),
            1 => "one more was written since".to_owned(),
            count => format!("{count} were written since"),
        };
        screen.line(&format!("the given head is record {seq}; {since}"))?;
    }
    Ok(())
}

/// Checks what came after a record whose hash somebody noted.
pub(super) fn run_after(
    log: &dyn Log,
    noted: &str,
    json: bool,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let mut progress = Progress { told: Instant::now(), any: false };
    let verified = log.verify_since(Some(hash(noted)?), &mut |done, all| progress.tell(done, all));
    progress.finish();
    let (from, head) = match verified {
        Ok(verified) => verified,
        Err(err) => {
            if json {
                screen.json(&json!({"ok": false}))?;
                screen.flush()?;
            }
            let failure = Failure::failed(format!("verification failed: {err}"));
            return Err(match err {
                VerifyError::NotNoted(_) => failure.hint(CUT),
                _ => failure,
            });
        }
    };
    let checked = head.seq - from.seq;
    if json {
        return Ok(screen.json(&json!({
            "ok": true,
            "records": head.seq,
            "head": head.hash.to_string(),
            "noted": from.seq,
            "checked": checked,
        }))?);
    }
    let records = if checked == 1 { "1 record" } else { &format!("{checked} records") };
    let text =
        format!("OK: {records} after record {}, the chain is intact; head {}", from.seq, head.hash);
    Ok(screen.styled(Style::Good, &text)?)
}

/// Why a hash that was noted may not be there.
const CUT: &str = "the end of the log was cut off or the whole log replaced since you noted it";

/// The good news in one sentence.
pub(in crate::commands) fn said(head: Head) -> String {
    match head.seq {
        0 => "no records yet".to_owned(),
        1 => format!("OK: 1 record, the chain is intact; head {}", head.hash),
        count => format!("OK: {count} records, the chain is intact; head {}", head.hash),
    }
}

fn hash(text: &str) -> Result<Hash, Failure> {
    Hash::from_hex(text).ok_or_else(|| {
        Failure::usage(format!("`{text}` is not a hash: 64 hexadecimal digits are expected"))
    })
}

/// The number of the record with this hash: with it, everything before it is as it was.
fn place(log: &dyn Log, head: Head, known: Hash) -> Result<u64, Failure> {
    if head.hash == known {
        return Ok(head.seq);
    }
    let mut next = 1;
    while next <= head.seq {
        let records = log.records(next, PAGE).map_err(Failure::failed)?;
        if let Some(record) = records.iter().find(|it| it.hash == known) {
            return Ok(record.seq);
        }
        match records.last() {
            Some(last) => next = last.seq + 1,
            None => break,
        }
    }
    Err(Failure::failed(format!("verification failed: no record has the hash {known}")).hint(CUT))
}

/// Tells people how far it has come, on stderr.
struct Progress {
    told: Instant,
    any: bool,
}

impl Progress {
    fn tell(&mut self, done: u64, all: u64) {
        if self.told.elapsed() < PATIENCE {
            return;
        }
        (self.told, self.any) = (Instant::now(), true);
        let end = if io::stderr().is_terminal() { '\r' } else { '\n' };
        // An error means that nobody reads it.
        let _ = write!(io::stderr(), "checked {done} of {all} records{end}");
    }

    fn finish(&self) {
        if self.any && io::stderr().is_terminal() {
            let _ = writeln!(io::stderr());
        }
    }
}
