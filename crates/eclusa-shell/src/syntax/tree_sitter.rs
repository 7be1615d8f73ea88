//! The first witness: the grammar of tree-sitter, lowered to an outline.
//!
//! The grammar is generous, so a few of its habits are put right here: words after a redirection
//! are words of the command, `time` and `coproc` are not programs, and a redirection after a list
//! belongs to the last command of it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, Parser, Tree};

use crate::limits::{MAX_BROKEN_BYTES, MAX_DEPTH, NODES_PER_BYTE, STEPS_AT_LEAST, STEPS_PER_BYTE};
use crate::syntax::outline::{Function, Outline, ParsedCommand, ScopeContext, Shape, Span};

mod moved;
mod redirects;

use moved::Moved;

pub(crate) use redirects::kind;

thread_local! {
    static PARSER: RefCell<Option<Parser>> = const { RefCell::new(None) };
}

/// Reads `source`. Never panics, and never takes more than a bounded number of steps.
pub(crate) fn outline(source: &str) -> Outline {
    let moved = Moved::new(masked(source));
    let Some(tree) = parse(&moved.text) else {
        return Outline::unread("the text has a mistake in it, or is too tangled to be read");
    };
    let outline = Outline { contexts: vec![ScopeContext::default()], ..Outline::default() };
    let text = moved.text.as_ref();
    // Where nothing has moved, words are read as they are.
    let source = if moved.is_moved() { text } else { source };
    let mut walk = TreeWalk { source, outline, made: HashMap::new(), stack: Vec::new() };
    walk.run(tree.root_node());
    moved.put_back(&mut walk.outline);
    walk.outline.settle();
    walk.outline
}

/// The text with other than ASCII characters replaced, byte for byte, by one that is as ordinary
/// to the shell. The grammar's scanner hands characters to functions of C that know 256 of them,
/// and reads beyond their tables for others.
///
/// So is a dollar sign that stands for itself, as in `s/x$/y/`: the grammar takes it for a mistake.
fn masked(source: &str) -> Cow<'_, str> {
    let plain = |at: usize| {
        let before = at.checked_sub(1).and_then(|it| source.as_bytes().get(it));
        let behind = source.as_bytes().get(at + 1);
        before.is_none_or(|it| *it != b'$') && behind.is_some_and(|it| b"/.,:+=^~%".contains(it))
    };
    let lone = |(at, _): (usize, &str)| plain(at);
    if source.is_ascii() && !source.match_indices('$').any(lone) {
        return Cow::Borrowed(source);
    }
    let mut masked = String::with_capacity(source.len());
    for (at, c) in source.char_indices() {
        if c == '$' && plain(at) {
            masked.push('%');
        } else if c.is_ascii() {
            masked.push(c);
        } else {
            masked.extend(std::iter::repeat_n('%', c.len_utf8()));
        }
    }
    Cow::Owned(masked)
}

fn parse(source: &str) -> Option<Tree> {
    PARSER.with_borrow_mut(|slot| {
        if slot.is_none() {
            let mut parser = Parser::new();
            parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
            *slot = Some(parser);
        }
        let parser = slot.as_mut()?;
        let mut left = STEPS_AT_LEAST + source.len() * STEPS_PER_BYTE;
        let long = source.len() > MAX_BROKEN_BYTES;
        let mut progress = |state: &tree_sitter::ParseState| match left.checked_sub(100) {
            Some(rest) if !(long && state.has_error()) => {
                left = rest;
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Break(()),
        };
        let bytes = source.as_bytes();
        let tree = parser.parse_with_options(
            &mut |at, _| bytes.get(at..).unwrap_or_default(),
            None,
            Some(ParseOptions::new().progress_callback(&mut progress)),
        );
        if tree.is_none() {
            // A stopped parse would be taken up again by the next call.
            parser.reset();
        }
        tree
    })
}

struct TreeWalk<'s, 't> {
    source: &'s str,
    outline: Outline,
    /// Nodes that have become commands, because a redirection around them was met first.
    made: HashMap<usize, usize>,
    stack: Vec<NodeItem<'t>>,
}

/// A node that is still to be looked at.
#[derive(Clone, Copy)]
struct NodeItem<'t> {
    node: Node<'t>,
    context: usize,
    /// How many levels of syntax are around it.
    depth: usize,
    /// An assignment of the command that holds it, not a command of its own.
    owned: bool,
}

impl<'t> TreeWalk<'_, 't> {
    fn run(&mut self, root: Node<'t>) {
        self.stack.push(NodeItem { node: root, context: 0, depth: 0, owned: false });
        let mut left = 1000 + self.source.len() * NODES_PER_BYTE;
        while let Some(item) = self.stack.pop() {
            if left == 0 || item.depth > MAX_DEPTH {
                let why = if left == 0 { "too tangled" } else { "nested too deep" };
                let why = format!("the text is {why} to be read");
                self.outline.unread = Some((why, item.node.start_byte()));
                return;
            }
            left -= 1;
            self.visit(item);
        }
    }

    fn visit(&mut self, item: NodeItem<'t>) {
        let NodeItem { node, context, .. } = item;
        match node.kind() {
            "comment" | "heredoc_start" | "heredoc_end" => {}
            "ERROR" => {
                self.outline.fail("this is not a whole command", node.start_byte());
                self.children(item, context);
            }
            "command"
            | "test_command"
            | "declaration_command"
            | "unset_command"
            | "variable_assignments" => {
                self.simple(node, context);
                self.children(item, context);
            }
            "variable_assignment" => {
                if !item.owned {
                    self.simple(node, context);
                }
                self.children(item, context);
            }
            "redirected_statement" => {
                self.redirected(node, context);
                self.children(item, context);
            }
            "function_definition" => {
                let inside = self.function(node, context);
                self.children(item, inside);
            }
            "for_statement" => {
                self.loop_words(node, context);
                self.children(item, context);
            }
            "case_statement" => {
                let words: Vec<Span> =
                    node.child_by_field_name("value").map(span).into_iter().collect();
                let shape = Shape::Case;
                self.outline.commands.push(ParsedCommand {
                    shape,
                    words,
                    context,
                    ..ParsedCommand::default()
                });
                self.children(item, context);
            }
            "command_substitution" => {
                let text = if self.text(span(node)).starts_with('`') { "`…`" } else { "$(…)" };
                self.outline.substitutions.push(span(node));
                let inside = self.context(context, text);
                // `$(< file)` reads a file without a command.
                if let Some(redirect) = node.child_by_field_name("redirect") {
                    self.group(&[redirect], inside);
                }
                self.children(item, inside);
            }
            "process_substitution" => {
                self.outline.substitutions.push(span(node));
                let writes = self.text(span(node)).starts_with('>');
                let inside = self.context(context, if writes { ">(…)" } else { "<(…)" });
                self.children(item, inside);
            }
            "expansion" => {
                self.outline.parameters.push(span(node));
                self.children(item, context);
            }
            "arithmetic_expansion" => {
                self.outline.arithmetic.push(span(node));
                self.children(item, context);
            }
            "compound_statement" => {
                if self.text(span(node)).starts_with("((") {
                    self.outline.arithmetic.push(span(node));
                }
                self.children(item, context);
            }
            "c_style_for_statement" => {
                let end =
                    node.child_by_field_name("body").map_or(node.end_byte(), |it| it.start_byte());
                self.outline.arithmetic.push(Span { start: node.start_byte(), end });
                self.children(item, context);
            }
            _ => {
                if node.is_missing() {
                    self.outline.fail("something is missing here", node.start_byte());
                }
                self.children(item, context);
            }
        }
    }

    fn children(&mut self, outer: NodeItem<'t>, context: usize) {
        let depth = outer.depth + usize::from(nests(outer.node.kind()));
        let owned = holds_assignments(outer.node.kind());
        let mut cursor = outer.node.walk();
        for node in outer.node.children(&mut cursor) {
            self.stack.push(NodeItem { node, context, depth, owned });
        }
    }

    fn context(&mut self, outer: usize, via: &str) -> usize {
        let mut context = self.outline.contexts.get(outer).cloned().unwrap_or_default();
        context.via.push(via.to_owned());
        self.outline.contexts.push(context);
        self.outline.contexts.len() - 1
    }

    fn text(&self, span: Span) -> &str {
        self.source.get(span.start..span.end).unwrap_or_default()
    }

    /// The command of a node, made if it is not there yet.
    fn simple(&mut self, node: Node<'t>, context: usize) -> usize {
        if let Some(index) = self.made.get(&node.id()) {
            return *index;
        }
        let mut seen = ParsedCommand { context, ..ParsedCommand::default() };
        match node.kind() {
            "variable_assignment" => seen.assignments.push(span(node)),
            "test_command" if self.text(span(node)).starts_with("[[") => {
                seen.shape = Shape::Test;
                seen.words.push(span(node));
            }
            "test_command" => seen.words = crate::syntax::split(self.source, span(node)),
            _ => self.collect(node, &mut seen),
        }
        self.strip_keywords(&mut seen);
        self.outline.commands.push(seen);
        let index = self.outline.commands.len() - 1;
        self.made.insert(node.id(), index);
        index
    }

    fn collect(&mut self, node: Node<'t>, seen: &mut ParsedCommand) {
        let takes_all = matches!(node.kind(), "declaration_command" | "unset_command");
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "variable_assignment" if !takes_all => seen.assignments.push(span(child)),
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                    self.redirect(child, seen);
                }
                "comment" => {}
                // `name (…)`: zsh, or a function whose body is not one.
                "subshell" => {
                    self.outline.fail("a command is followed by a group", child.start_byte())
                }
                _ => seen.words.push(span(child)),
            }
        }
    }

    /// `time` and `coproc` are words of the shell, not programs.
    fn strip_keywords(&self, seen: &mut ParsedCommand) {
        if !seen.assignments.is_empty() || seen.shape != Shape::Simple {
            return;
        }
        while let Some(first) = seen.words.first() {
            match self.text(*first) {
                "time" => {
                    seen.words.remove(0);
                    while seen.words.first().is_some_and(|it| matches!(self.text(*it), "-p" | "--"))
                    {
                        seen.words.remove(0);
                    }
                }
                "coproc" => {
                    seen.words.remove(0);
                }
                _ => return,
            }
        }
    }

    fn function(&mut self, node: Node<'t>, context: usize) -> usize {
        let name = node.child_by_field_name("name").map(span);
        let name = name.map(|it| self.text(it).to_owned()).unwrap_or_default();
        let inside = self.context(context, &format!("{name}()"));
        self.outline.functions.push(Function { name, body: span(node) });
        let mut cursor = node.walk();
        let redirects: Vec<Node<'t>> =
            node.children(&mut cursor).filter(|it| it.kind().ends_with("_redirect")).collect();
        if !redirects.is_empty() {
            self.group(&redirects, inside);
        }
        inside
    }

    fn loop_words(&mut self, node: Node<'t>, context: usize) {
        let mut seen = ParsedCommand { shape: Shape::Loop, context, ..ParsedCommand::default() };
        let mut cursor = node.walk();
        for field in ["variable", "value"] {
            seen.words.extend(node.children_by_field_name(field, &mut cursor).map(span));
        }
        self.outline.commands.push(seen);
    }
}

fn span(node: Node<'_>) -> Span {
    Span { start: node.start_byte(), end: node.end_byte() }
}

fn holds_assignments(kind: &str) -> bool {
    matches!(
        kind,
        "command" | "variable_assignments" | "declaration_command" | "c_style_for_statement"
    )
}

/// Kinds of nodes that can stand in each other without end.
fn nests(kind: &str) -> bool {
    matches!(
        kind,
        "command_substitution"
            | "process_substitution"
            | "expansion"
            | "arithmetic_expansion"
            | "subshell"
            | "compound_statement"
            | "if_statement"
            | "while_statement"
            | "for_statement"
            | "c_style_for_statement"
            | "case_statement"
            | "function_definition"
            | "array"
            | "subscript"
            | "parenthesized_expression"
            | "unary_expression"
            | "ternary_expression"
            | "negated_command"
            | "ERROR"
    )
}
