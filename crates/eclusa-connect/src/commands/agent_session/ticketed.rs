//! A shell command that runs by a ticket: its command line, and what is asked about it.

use std::env;

use eclusa::Mode;
use serde_json::Value;

use super::{AgentCall, AgentSession, ahead::AheadQuestion};
use crate::{commands::tickets::ExecTicket, shell_quoted};

/// Texts longer than this are not repeated on the command line.
const MAX_SHOWN: usize = 4_000;

const TICKET: &str = "--ticket";

/// A command line that stands for a command.
pub(in crate::commands) struct TicketedCommand {
    /// The number of the call in the log.
    pub(in crate::commands) number: Option<u64>,
    /// The name of the ticket.
    pub(in crate::commands) ticket: String,
    /// The words of the command line.
    pub(in crate::commands) words: Vec<String>,
    /// What a person is asked about a command that has run.
    pub(in crate::commands) asks: Option<AheadQuestion>,
}

impl TicketedCommand {
    /// What is run instead of a command. The command stands there to be read; the ticket decides.
    pub(super) fn new(
        session: &AgentSession,
        ticket: &ExecTicket,
        number: Option<u64>,
        asks: Option<AheadQuestion>,
    ) -> Result<TicketedCommand, String> {
        let agents = session.ctx.paths.agents();
        ExecTicket::sweep(&agents);
        let kept = ticket.keep(&agents);
        let name = kept.map_err(|err| format!("the ticket cannot be kept: {err}"))?;
        let program = env::current_exe().map_err(|err| format!("our program is lost: {err}"))?;
        let program = program.to_str().ok_or("the path of our program is not UTF-8")?;
        // The rules of an agent's own see how it begins.
        let (exec, flag) = ("exec".to_owned(), TICKET.to_owned());
        let mut words = vec![program.to_owned(), exec, flag, name.clone()];
        // The shell that runs it may have other variables than we.
        if let Some(state) = session.ctx.paths.state() {
            let state = state.to_str().ok_or("the path of the state is not UTF-8")?;
            words.extend(["--state".to_owned(), state.to_owned()]);
        }
        if ticket.text.len() <= MAX_SHOWN {
            words.extend(["--".to_owned(), ticket.text.clone()]);
        }
        Ok(TicketedCommand { number, ticket: name, words, asks })
    }

    /// The command line, for a shell.
    pub(in crate::commands) fn line(&self) -> String {
        self.words.iter().map(|it| shell_quoted(it)).collect::<Vec<_>>().join(" ")
    }

    /// The same, to tell what the command did, which whoever has seen the yes takes.
    pub(in crate::commands) fn telling_line(&self) -> String {
        let telling = |it: &String| if it == TICKET { "--ask".to_owned() } else { it.clone() };
        let words = self.words.iter().take(3).map(telling);
        let words = words.chain(self.words.iter().skip(3).cloned());
        words.map(|it| shell_quoted(&it)).collect::<Vec<_>>().join(" ")
    }
}

impl AgentCall<'_> {
    /// A ticket for a command of this call, which nothing is known of yet.
    pub(super) fn ticket(&self, args: &Value, directory: &str, mode: Mode) -> ExecTicket {
        let session = self.session;
        let command = args.get("command").and_then(Value::as_str).unwrap_or_default();
        ExecTicket {
            client: session.client.clone(),
            conversation: session.name.clone(),
            principal: session.ctx.run().principal.to_string(),
            call: self.id.clone(),
            task: session.subagent.clone(),
            text: command.to_owned(),
            directory: directory.to_owned(),
            background: args.get("background").and_then(Value::as_bool) == Some(true),
            mode_in_force: mode.as_str().to_owned(),
            ..ExecTicket::new(&session.global, &session.ctx.paths, &session.ctx.config_digest)
        }
    }
}
