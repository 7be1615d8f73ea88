//! Redirections, as the second witness sees them.

use shuck_ast::{Redirect, RedirectKind as Kind, RedirectTarget, Word};

use super::{ScriptWalk, Work, offset};
use crate::RedirectKind;
use crate::syntax::outline::{CommandBody, ParsedCommand, ParsedRedirect, Span};

impl<'a> ScriptWalk<'_, 'a> {
    /// Redirections that belong to no simple command are a command without words.
    pub(super) fn group(&mut self, redirects: &'a [Redirect], context: usize) {
        if redirects.is_empty() {
            return;
        }
        let redirects = self.redirects(redirects, context);
        self.outline.commands.push(ParsedCommand {
            redirects,
            context,
            ..ParsedCommand::default()
        });
    }

    pub(super) fn redirects(
        &mut self,
        redirects: &'a [Redirect],
        context: usize,
    ) -> Vec<ParsedRedirect> {
        redirects.iter().filter_map(|it| self.redirect(it, context)).collect()
    }

    fn redirect(&mut self, redirect: &'a Redirect, context: usize) -> Option<ParsedRedirect> {
        if redirect.fd_var.is_some() {
            self.outline.fail("a descriptor gets a variable's name", offset(redirect.span).start);
        }
        match &redirect.target {
            RedirectTarget::Word(word) => {
                self.stack.push((Work::Word(word), context));
                let target = self.target(word, offset(redirect.span))?;
                let text = self.source.get(target.start..target.end).unwrap_or_default();
                let kind = match redirect.kind {
                    Kind::Output | Kind::Clobber | Kind::OutputBoth => {
                        crate::syntax::tree_sitter::kind(">", text)
                    }
                    Kind::Append => RedirectKind::Append,
                    Kind::Input => RedirectKind::Read,
                    Kind::ReadWrite => RedirectKind::ReadWrite,
                    Kind::HereDoc | Kind::HereDocStrip | Kind::HereString => RedirectKind::Text,
                    Kind::DupOutput if text == "-" => RedirectKind::Descriptor,
                    Kind::DupInput if text == "-" => RedirectKind::Descriptor,
                    Kind::DupOutput => crate::syntax::tree_sitter::kind(">&", text),
                    Kind::DupInput => crate::syntax::tree_sitter::kind("<&", text),
                };
                Some(ParsedRedirect { kind, target, body: None })
            }
            RedirectTarget::Heredoc(heredoc) => {
                let target = offset(heredoc.body.span);
                let delimiter = &heredoc.delimiter;
                if delimiter.expands_body {
                    self.stack.push((Work::CommandBody(&heredoc.body), context));
                } else {
                    self.outline.literals.push(target);
                }
                let body = Some(CommandBody {
                    expands: delimiter.expands_body,
                    strips_tabs: delimiter.strip_tabs,
                });
                Some(ParsedRedirect { kind: RedirectKind::Text, target, body })
            }
        }
    }

    /// Where the target of a redirection stands. The parser has no place for the `1` of `2>&1`,
    /// and none is there for the second half of `&>>`.
    fn target(&mut self, word: &Word, redirect: Span) -> Option<Span> {
        let span = offset(word.span);
        if span.start < span.end {
            return Some(span);
        }
        let text = self.source.get(redirect.start..redirect.end).unwrap_or_default();
        if text == "&>>" {
            return None;
        }
        let Some(at) = text.rfind('&') else {
            self.outline.fail("a redirection has no target", redirect.start);
            return None;
        };
        Some(Span { start: redirect.start + at + 1, end: redirect.end })
    }
}
