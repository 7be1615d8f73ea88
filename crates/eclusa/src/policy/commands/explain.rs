//! A shell text taken apart for people: its commands, their words, and what is said of each.

use eclusa_shell::{
    Analysis, Command, Doubt, Part, RedirectKind, Unknown, Word, catastrophe,
    programs::{CommandProfile, How},
};

use super::{Allowed, Fit, Rule, Rules, Script, Subject, command_name, shortened};
use crate::{
    Verdict,
    policy::{ExplainedCommand, ExplainedScript, ExplainedWord},
};

impl Script {
    /// What was read, and what is said of each command.
    pub(in crate::policy) fn explain(
        &self,
        text: &str,
        subject: &Subject<'_>,
        rules: &Rules,
        all: Allowed,
    ) -> ExplainedScript {
        let commands = self.commands().map(|(command, reading)| {
            // The judgement of a command is that of a text which has no other.
            let what = catastrophe::of_words(&command.words, reading, &command.moved);
            let text = Analysis {
                commands: vec![command.clone()],
                catastrophe: what.map(|it| it.with_command(command_name(command))),
                ..Analysis::default()
            };
            let beside_code = self.is_beside_code(command);
            let alone = Script { text, start: self.start.clone(), beside_code };
            let mut because = Vec::new();
            alone.floors(&mut because);
            alone.judge(subject, rules, all, &mut because);
            let verdict = (!because.is_empty()).then(|| Verdict::from_reasons(because));
            explained(command, reading, verdict)
        });
        let told = |doubt: &Doubt| match doubt.at.is_empty() {
            true => doubt.what.clone(),
            false => format!("{} ({})", doubt.what, doubt.at),
        };
        ExplainedScript {
            text: text.to_owned(),
            commands: commands.collect(),
            doubts: self.text.doubts.iter().map(told).collect(),
            refused: self.text.refused.as_ref().map(|it| it.what.clone()),
            fork_bomb: self.text.fork_bomb.clone(),
        }
    }

    /// Whether a rule about commands is about one of these.
    pub(in crate::policy) fn is_met_by(&self, subject: &Subject<'_>, rule: &Rule) -> bool {
        self.commands()
            .any(|(command, reading)| rule.fits_command(subject, command, reading) > Fit::No)
    }
}

fn explained(
    command: &Command,
    reading: &CommandProfile,
    verdict: Option<Verdict>,
) -> ExplainedCommand {
    ExplainedCommand {
        text: shortened(&command_name(command)),
        via: command.via.clone(),
        words: command.words.iter().map(word).collect(),
        assignments: command
            .assignments
            .iter()
            .map(|it| (it.name.clone(), word(&it.value)))
            .collect(),
        redirects: command.redirects.iter().map(|it| (kind(it.kind), word(&it.target))).collect(),
        background: command.background,
        moved: command.moved.iter().map(word).collect(),
        program: reading.program.clone(),
        classes: reading.class.iter().map(|it| it.name()).collect(),
        why: reading.why.iter().map(|it| (it.class.name(), it.what.clone())).collect(),
        paths: reading.paths.iter().map(|it| (how(it.how), word(&it.word))).collect(),
        hosts: reading.hosts.iter().map(word).collect(),
        verdict,
    }
}

fn word(it: &Word) -> ExplainedWord {
    let why = |part: &Part| match part {
        Part::Text(_) => None,
        Part::Glob(_) => Some("a pattern"),
        Part::Unknown { why, .. } => Some(match why {
            Unknown::Variable => "a variable",
            Unknown::Substitution => "the output of a command",
            Unknown::Arithmetic => "the result of a calculation",
            Unknown::Process => "a pipe to a command",
            Unknown::Brace => "alternatives in braces",
            Unknown::Home => "the home directory",
            Unknown::Here => "the directory in which the script began",
            Unknown::Local => "a variable of the script",
            Unknown::Found => "what a search finds",
            Unknown::Input => "what it is handed",
            Unknown::Unclear => "not worked out",
        }),
    };
    ExplainedWord {
        source: it.source.clone(),
        text: it.text().map(|it| it.into_owned()),
        unknown: it.parts.iter().filter_map(why).collect(),
    }
}

fn kind(kind: RedirectKind) -> &'static str {
    match kind {
        RedirectKind::Read => "read",
        RedirectKind::Write => "write",
        RedirectKind::Append => "append",
        RedirectKind::ReadWrite => "read and write",
        RedirectKind::Descriptor => "descriptor",
        RedirectKind::Text => "text",
    }
}

fn how(how: How) -> &'static str {
    match how {
        How::Read => "read",
        How::Written => "written",
        How::Deleted => "deleted",
        How::Moved => "moved",
        How::Changed => "changed",
        How::Listed => "listed",
        How::Executed => "executed",
        How::Entered => "entered",
    }
}
