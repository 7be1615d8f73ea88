//! Redirections, as the first witness sees them.

use tree_sitter::Node;

use super::{TreeWalk, span};
use crate::RedirectKind;
use crate::syntax::outline::{CommandBody, ParsedCommand, ParsedRedirect, Span};

impl<'t> TreeWalk<'_, 't> {
    pub(super) fn redirect(&mut self, node: Node<'t>, seen: &mut ParsedCommand) {
        match node.kind() {
            "herestring_redirect" => {
                let mut cursor = node.walk();
                let target = node.children(&mut cursor).last().map(span);
                if let Some(target) = target {
                    seen.redirects.push(ParsedRedirect {
                        kind: RedirectKind::Text,
                        target,
                        body: None,
                    });
                }
            }
            "heredoc_redirect" => self.heredoc(node, seen),
            _ => self.file_redirect(node, seen),
        }
    }

    fn file_redirect(&mut self, node: Node<'t>, seen: &mut ParsedCommand) {
        let mut operator = "";
        let mut target = None;
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "file_descriptor" => {}
                "<" | ">" | ">>" | "&>" | "&>>" | "<&" | ">&" | ">|" => operator = child.kind(),
                "<&-" | ">&-" => {
                    operator = child.kind();
                    let dash = Span { start: child.end_byte() - 1, end: child.end_byte() };
                    target = Some(dash);
                }
                "comment" => {}
                _ if target.is_none() => target = Some(span(child)),
                // The grammar takes every word after a redirection for a further target.
                _ => seen.words.push(span(child)),
            }
        }
        match target {
            Some(target) => {
                let kind = kind(operator, self.text(target));
                seen.redirects.push(ParsedRedirect { kind, target, body: None });
            }
            None => self.outline.fail("a redirection has no target", node.start_byte()),
        }
    }

    fn heredoc(&mut self, node: Node<'t>, seen: &mut ParsedCommand) {
        let mut body = CommandBody { expands: true, strips_tabs: false };
        let mut target = None;
        let mut cursor = node.walk();
        let arguments: Vec<Span> =
            node.children_by_field_name("argument", &mut cursor).map(span).collect();
        seen.words.extend(arguments);
        for child in node.children(&mut cursor) {
            match child.kind() {
                "<<-" => body.strips_tabs = true,
                "heredoc_start" => {
                    let quoted = self.text(span(child)).contains(['\'', '"', '\\']);
                    body.expands = !quoted;
                }
                "heredoc_body" => target = Some(span(child)),
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                    self.redirect(child, seen);
                }
                _ => {}
            }
        }
        match target {
            Some(mut target) => {
                // The tabs before the closing word are not part of the text, those before its
                // first word are.
                while body.strips_tabs && self.text(target).ends_with('\t') {
                    target.end -= 1;
                }
                let before = self.source.as_bytes().get(..target.start).unwrap_or_default();
                // The grammar begins behind empty lines, which are text too.
                let blank = before.iter().rev().take_while(|it| it.is_ascii_whitespace()).count();
                let blanks = before.get(before.len() - blank..).unwrap_or_default();
                if let Some(line) = blanks.iter().position(|it| *it == b'\n') {
                    target.start -= blank - line - 1;
                } else if body.strips_tabs {
                    target.start -= before.iter().rev().take_while(|it| **it == b'\t').count();
                }
                if !body.expands {
                    self.outline.literals.push(target);
                }
                let body = Some(body);
                seen.redirects.push(ParsedRedirect { kind: RedirectKind::Text, target, body });
            }
            None => self.outline.fail("a here-document has no text", node.start_byte()),
        }
    }

    pub(super) fn redirected(&mut self, node: Node<'t>, context: usize) {
        let mut cursor = node.walk();
        let redirects: Vec<Node<'t>> =
            node.children(&mut cursor).filter(|it| it.kind().ends_with("_redirect")).collect();
        match node.child_by_field_name("body").and_then(last_simple) {
            Some(owner) => {
                let index = self.simple(owner, context);
                let Some(slot) = self.outline.commands.get_mut(index) else { return };
                let mut seen = std::mem::take(slot);
                let mut end = node.child_by_field_name("body").map_or(0, |it| it.end_byte());
                for redirect in redirects {
                    // The grammar loses a lone `-` before a here-document.
                    let gap = Span { start: end, end: redirect.start_byte() };
                    seen.words.extend(crate::syntax::split(self.source, gap));
                    end = redirect.end_byte();
                    self.redirect(redirect, &mut seen);
                }
                if let Some(slot) = self.outline.commands.get_mut(index) {
                    *slot = seen;
                }
            }
            None => self.group(&redirects, context),
        }
    }

    /// Redirections that belong to no simple command are a command without words.
    pub(super) fn group(&mut self, redirects: &[Node<'t>], context: usize) {
        let mut seen = ParsedCommand { context, ..ParsedCommand::default() };
        for redirect in redirects {
            self.redirect(*redirect, &mut seen);
        }
        self.strip_keywords(&mut seen);
        self.outline.commands.push(seen);
    }
}

/// The simple command that a redirection after `node` belongs to.
fn last_simple(mut node: Node<'_>) -> Option<Node<'_>> {
    loop {
        match node.kind() {
            "command"
            | "test_command"
            | "declaration_command"
            | "unset_command"
            | "variable_assignment"
            | "variable_assignments" => return Some(node),
            "redirected_statement" => node = node.child_by_field_name("body")?,
            "list" | "pipeline" | "negated_command" => {
                let last = u32::try_from(node.named_child_count()).ok()?.checked_sub(1)?;
                node = node.named_child(last)?;
            }
            _ => return None,
        }
    }
}

/// What a redirection does, from its operator and the text of its target.
pub(crate) fn kind(operator: &str, target: &str) -> RedirectKind {
    let to_descriptor = || {
        let digits = target.strip_suffix('-').unwrap_or(target);
        !target.is_empty() && digits.bytes().all(|it| it.is_ascii_digit())
    };
    match operator {
        "<" => RedirectKind::Read,
        ">>" | "&>>" => RedirectKind::Append,
        "<>" => RedirectKind::ReadWrite,
        "<&-" | ">&-" => RedirectKind::Descriptor,
        "<&" | ">&" if to_descriptor() => RedirectKind::Descriptor,
        "<&" => RedirectKind::ReadWrite,
        _ => RedirectKind::Write,
    }
}
