//! `eclusa exec`: a command that a person typed, run in the sandbox; its changes are applied or
//! discarded.

use std::{
    path::Path,
    sync::{Arc, PoisonError},
    time::Duration,
};

use clap::Args;
use eclusa::{Approver, Mode, Origin, Reply, Run, ToolCall};
use eclusa_tools::{Bash, JobHome, Sandboxes, WriteTracking};
use serde_json::{Value, json};

use crate::{
    context::AppContext,
    discard_policy,
    failure::{Exit, Failure},
    gates::{GateParts, NO_LIMIT},
    language::{self, Phrase},
    person::call_id,
    printed::Printed,
    reply,
    screen::{self, Screen, spinner::Spinner},
    shell,
    signals::cancel_on_signal,
    surface::Surface,
    telemetry,
    terminal::Terminal,
    values::duration,
};

pub mod ahead;
mod exit_status;
mod stream;
pub mod ticket;
mod typed_approval;

use exit_status::{BashWithStatus, CommandStatus, StatusSlot};
use stream::CommandOutput;
use typed_approval::{ChangeChoice, ShownChanges, TerminalPerson, TypedApproval};

/// Run a command, review its changes, then apply or discard them
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  eclusa exec make test                         a program and its arguments, each as typed
  eclusa exec 'make && ./run | tail'            one word alone is shell text, as with `sh -c`
  eclusa exec --discard -- ./configure          preview: show what it would change
  eclusa exec --apply -- cargo fmt              apply without asking, if the rules allow it
  eclusa exec --allow-net packages.example -- cargo fetch

It runs in a sandbox: no network unless allowed, nothing outside the workspace is written. Its \
changes are shown, and applied all together or not at all. Its output and errors come on standard \
output, in order. Ends with the exit code of the command (128 and more: a signal), with 3 where the \
rules refuse it or its changes, and with 130 when it was interrupted.")]
pub struct ExecArgs {
    /// Apply its changes without asking, if the rules allow it
    #[arg(long, alias = "commit", conflicts_with = "discard")]
    pub apply: bool,
    /// Preview: show what it would change, and change nothing
    #[arg(long)]
    pub discard: bool,
    /// A host that it may reach, besides those of the configuration; repeatable
    #[arg(long, value_name = "HOST")]
    pub allow_net: Vec<String>,
    /// Keep what it leaves running as a job; `eclusa jobs` lists and ends it
    #[arg(long)]
    pub keep: bool,
    /// Time limit, as `90`, `90s`, `2m` or `2h` [default: none]
    #[arg(long, value_parser = duration, value_name = "TIME")]
    pub timeout: Option<Duration>,
    /// Run what another agent's hook allowed under this name, once
    #[arg(long, value_name = "TICKET", hide = true, conflicts_with_all = ["apply", "discard"])]
    pub ticket: Option<String>,
    /// Tell what a command did that another agent's hook has run
    #[arg(long, value_name = "TICKET", hide = true, conflicts_with_all = ["apply", "discard", "ticket"])]
    pub ask: Option<String>,
    /// The command: a program and its arguments, or one word of shell text
    #[arg(required_unless_present_any = ["ticket", "ask"], trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// Runs it in the sandboxes that are configured.
pub async fn run(ctx: &AppContext, args: ExecArgs, json: bool) -> Result<Exit, Failure> {
    let jobs = match args.keep {
        true => JobHome::apart(false),
        false => JobHome::Nowhere,
    };
    let sandboxes = ctx.sandboxes_with(&args.allow_net, jobs)?;
    run_in(ctx, args, sandboxes, json, ()).await
}

/// The same in these sandboxes. What is `held` goes when the command has ended, before anything is
/// said of it.
pub async fn run_in(
    ctx: &AppContext,
    args: ExecArgs,
    sandboxes: Sandboxes,
    json: bool,
    held: impl Sized,
) -> Result<Exit, Failure> {
    let wanted = match (args.apply, args.discard) {
        (true, _) => ChangeChoice::Commit,
        (_, true) => ChangeChoice::Discard,
        _ => ChangeChoice::Ask,
    };
    let staged = sandboxes.write_tracking() != WriteTracking::Nothing;
    if wanted == ChangeChoice::Discard && !staged {
        let lacking = sandboxes.capabilities().enforcement();
        let text = format!("nothing can be staged here ({lacking}), so a preview would be real");
        return Err(Failure::refused(text).hint("`eclusa doctor` says what would help"));
    }
    let command = shell_text(&args.command);
    let terminal = Terminal::new(false, ctx.paths.always_files());
    let always = Some(terminal.everywhere());
    let person = Arc::new(TerminalPerson::new(terminal, wanted, json));
    let stream = Arc::new(CommandOutput::new());
    let watcher = stream.clone();
    let store = ctx.store_for_one_call()?;
    shell::sweep(&sandboxes);
    let staged = staged && sandboxes.settings().live.is_empty();
    let slot = StatusSlot::default();
    let bash = |sandboxes, files| {
        let bash = Bash::new(sandboxes, files).time(args.timeout.unwrap_or(NO_LIMIT));
        let bash = match json {
            true => bash,
            false => bash.watched(move |bytes| watcher.write(bytes)),
        };
        BashWithStatus { bash, slot: slot.clone() }
    };
    let people: Vec<Arc<dyn Approver>> =
        vec![Arc::new(TypedApproval(person.clone())), person.clone()];
    let parts = GateParts { people, always, ..GateParts::new(&store) };
    let mut gate = ctx.gate_to_execute(Surface::Exec, sandboxes, bash, parts)?;
    gate = gate.for_run(Run { review_changes: true, ..gate.run().clone() });
    if wanted == ChangeChoice::Discard {
        discard_policy::install(&gate);
        // No mode answers for the person: this is what they said.
        gate = gate.for_run(gate.run().clone().held_to(Some(Mode::AutoApprove)));
    }
    cancel_on_signal(gate.run().cancel.clone());
    let mut call = json!({"command": &command});
    if let (Some(cwd), Some(fields)) = (below(&ctx.paths.workspace), call.as_object_mut()) {
        fields.insert("cwd".to_owned(), cwd.into());
    }
    let call = ToolCall::new(call_id(), "bash", call).from(Origin::Person);
    let waiting = Spinner::start(&command);
    let reply = gate.pass(call).await;
    drop((waiting, held));
    telemetry::answered(&reply);
    stream.finish();
    let ended = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    let report = ExecReport { reply: &reply, ended, seen: person.seen(), staged };
    match json {
        true => report.as_json()?,
        false => report.print(),
    }
    match reply.refused() && gate.run().cancel.is_cancelled() {
        true => Ok(Exit::Aborted),
        false => Ok(report.exit()),
    }
}

/// Where in the workspace the person stands: their command runs there.
pub fn below(workspace: &Path) -> Option<String> {
    let here = std::env::current_dir().ok()?.canonicalize().ok()?;
    let below = here.strip_prefix(workspace).ok()?.to_str()?;
    (!below.is_empty()).then(|| below.to_owned())
}

/// The words as one text for the shell. A word that stands alone is shell text already, as with
/// `sh -c`; several are a program and its arguments, each kept as it is.
fn shell_text(words: &[String]) -> String {
    match words {
        [text] => text.clone(),
        words => words.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(" "),
    }
}

/// A word that the shell takes for nothing but itself.
fn quoted(word: &str) -> String {
    let plain = |it: char| it.is_ascii_alphanumeric() || "_-./:@%+,".contains(it);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// What came of it.
struct ExecReport<'a> {
    reply: &'a Reply,
    /// How the command ended, if it ran.
    ended: Option<CommandStatus>,
    seen: ShownChanges,
    /// Whether nothing that it does is real before it has ended.
    staged: bool,
}

impl ExecReport<'_> {
    fn as_json(&self) -> Result<(), Failure> {
        let mut value = reply::as_json(self.reply);
        if let Some(fields) = value.as_object_mut() {
            fields.insert("settled".to_owned(), self.settled().into());
            if let Some(preview) = &self.seen.preview {
                let preview = json!({"summary": preview.summary, "diff": preview.diff});
                fields.insert("preview".to_owned(), preview);
            }
        }
        let mut screen = Screen::stdout();
        screen.json(&value)?;
        Ok(screen.flush()?)
    }

    /// What another agent's model is told besides the output, which it may parse: nothing that the
    /// exit code or the log says as well.
    fn printed(&self) -> Printed {
        let ended_itself = self.ended.is_some() && self.reply.stop().is_none();
        let error = self.reply.error().filter(|_| !ended_itself).map(|it| self.in_words(it));
        let (text, notes) = apart(self.reply.output().unwrap_or_default(), self.remarks());
        Printed { text, notes, error, code: self.exit().code() }
    }

    fn in_words(&self, error: &str) -> String {
        let label = if self.reply.refused() { Phrase::Refused } else { Phrase::Failed };
        format!("{} {}", label.text(), language::outcome(self.reply.code(), error))
    }

    /// What is said besides the output.
    fn remarks(&self) -> Vec<String> {
        let notes = self.ended.iter().flat_map(|it| remarks(&it.data));
        self.reply.warnings().iter().cloned().chain(notes).collect()
    }

    /// The output was shown as it came; this is the rest.
    fn print(&self) {
        self.remarks().iter().for_each(|it| screen::note(it));
        match (self.settled(), self.reply.number()) {
            ("committed", Some(number)) => {
                screen::note(&Phrase::Applied.with(number));
            }
            _ if self.reply.code() == "dry_run" => screen::note(self.reply.text()),
            ("discarded", _) => screen::note(Phrase::Discarded.text()),
            _ if self.reply.code() == "cancelled" && self.staged => {
                return screen::note(Phrase::Interrupted.text());
            }
            _ => {}
        }
        self.print_error();
    }

    fn print_error(&self) {
        if let Some(error) = self.reply.error().filter(|_| !self.seen.discarded) {
            screen::error(&[self.in_words(error)]);
        }
    }

    /// What became of the changes, in a word.
    fn settled(&self) -> &'static str {
        match self.reply.undo() {
            Some(_) => "committed",
            None if self.seen.discarded => "discarded",
            None if self.reply.is_error() && self.reply.refused() => "refused",
            None => "nothing",
        }
    }

    /// As the command ended, where it ran and the person had their way with its changes.
    fn exit(&self) -> Exit {
        let theirs = self.seen.discarded || self.reply.stop().is_none();
        let Some(ended) = self.ended.as_ref().filter(|_| theirs) else {
            return reply::exit(self.reply);
        };
        let number = |name: &str| ended.data.get(name).and_then(Value::as_u64);
        match (number("exit_code"), number("signal")) {
            (Some(code), _) => Exit::Command(u8::try_from(code).unwrap_or(1)),
            (None, Some(signal)) => Exit::Command(u8::try_from(128 + signal).unwrap_or(1)),
            (None, None) => reply::exit(self.reply),
        }
    }
}

/// What a command printed, and what is said besides, each thing once: the lines in brackets at the end of a reply
/// are for models that read nothing else.
fn apart(reply: &str, remarks: Vec<String>) -> (String, Vec<String>) {
    let (mut text, mut notes) = (reply, Vec::new());
    while let Some((before, line)) = last_line(text)
        && let Some(said) = line.strip_prefix('[').and_then(|it| it.strip_suffix(']'))
        && remarks.iter().any(|it| said.starts_with(it.as_str()))
    {
        notes.insert(0, said.to_owned());
        text = before;
    }
    let told = |it: &String| notes.iter().any(|note| note.starts_with(it.as_str()));
    let mut all: Vec<String> = remarks.into_iter().filter(|it| !told(it)).collect();
    all.extend(notes);
    (text.to_owned(), all)
}

/// The last line of a text, and what stands before it.
fn last_line(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_suffix('\n')?;
    let at = text.rfind('\n').map_or(0, |it| it + 1);
    Some((text.get(..at)?, text.get(at..)?))
}

/// What the command does not say itself: what was left out, whom it talked to, what was refused.
fn remarks(data: &Value) -> Vec<String> {
    let texts = |name: &str| {
        let texts = data.get(name).and_then(Value::as_array).into_iter().flatten();
        texts.filter_map(|it| it.as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    let attempts = data.get("network").and_then(Value::as_array).into_iter().flatten();
    let refused =
        attempts.filter_map(|it| it.get("why")?.as_str().map(|why| format!("network: {why}")));
    texts("notes").into_iter().chain(refused).chain(texts("refused")).collect()
}

#[cfg(test)]
mod tests;
