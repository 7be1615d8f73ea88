//! The second witness: the parser of shuck, lowered to an outline.
//!
//! The walk has its own stack, so that no input can overflow the thread's.

use shuck_ast::{
    ArithmeticExprNode, ArrayElem, Assignment, AssignmentValue, BackgroundOperator, BinaryOp,
    BuiltinCommand, Command, CompoundCommand, ConditionalExpr, DeclClause, DeclOperand, HeredocBody, Pattern,
    Redirect, RedirectKind as Kind, RedirectTarget, SimpleCommand, Stmt, StmtSeq, StmtTerminator,
    Subscript, VarRef, Word, WordPartNode,
};
use shuck_parser::parser::{ParseStatus, Parser};
use shuck_parser::{ShellDialect, ShellProfile};

use crate::RedirectKind;
use crate::limits::{
    MAX_BROKEN_BYTES, MAX_DEPTH, MAX_FUNCTIONS, MAX_INLINE, MAX_PREFIXES, MAX_SCOPES, NODES_PER_BYTE,
    STACK, STEPS_AT_LEAST, STEPS_PER_BYTE,
};
use crate::outline::{Body, Outline, Place, Seen, SeenRedirect, Span};

mod compound;
mod words;

/// Reads `source`. Never takes more than a bounded number of steps, nor much of the caller's stack.
pub(crate) fn outline(source: &str) -> Outline {
    if prefixes(source) > MAX_PREFIXES {
        return Outline::unread("the text has too many words like `time` in a row");
    }
    if signs_of_nesting(source) <= MAX_INLINE {
        return read(source);
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let running = thread.spawn_scoped(scope, || read(source));
        let outline = running.ok().and_then(|it| it.join().ok());
        outline.unwrap_or_else(|| Outline::unread("the text could not be read"))
    })
}

/// Words before a command that the parser descends for without a limit: the longest row of them.
fn prefixes(source: &str) -> usize {
    let mut longest = 0;
    let mut row = 0;
    for word in source.split([' ', '\t', '\n', '\\']).filter(|it| !it.is_empty()) {
        row = if matches!(word, "time" | "coproc" | "!" | "-p" | "--") { row + 1 } else { 0 };
        longest = longest.max(row);
    }
    longest
}

/// How many levels the text can have at most.
fn signs_of_nesting(source: &str) -> usize {
    let opening = source.bytes().filter(|it| matches!(it, b'(' | b'{' | b'[' | b'`')).count();
    if opening > MAX_INLINE || source.len() > MAX_BROKEN_BYTES {
        return usize::MAX;
    }
    let words = source.split(|it: char| !it.is_ascii_alphabetic());
    let keyword = |it: &&str| {
        matches!(
            *it,
            "if" | "elif" | "while" | "until" | "for" | "case" | "select" | "function" | "time" | "coproc"
        )
    };
    opening + words.filter(keyword).count()
}

fn read(source: &str) -> Outline {
    let fuel = STEPS_AT_LEAST + source.len() * STEPS_PER_BYTE;
    let profile = ShellProfile::native(ShellDialect::Bash);
    let parser = Parser::with_limits_and_profile(source, MAX_DEPTH, fuel, profile);
    let result = parser.parse();
    let straight = Place { straight: true, ..Place::default() };
    let outline = Outline { places: vec![straight], ..Outline::default() };
    let mut walk = Walk { source, outline, stack: Vec::new() };
    if result.status != ParseStatus::Clean {
        let at = result.diagnostics.first().map_or(0, |it| it.span.start.offset());
        let why = match (&result.diagnostics.first(), &result.terminal_error) {
            (Some(first), _) => first.message.clone(),
            (None, Some(error)) => error.to_string(),
            (None, None) => "this is not a whole command".to_owned(),
        };
        walk.outline.fail(why, at);
    }
    walk.run(&result.file.body);
    if walk.outline.functions.len() > MAX_FUNCTIONS {
        walk.outline.unread = Some(("there are too many functions".to_owned(), 0));
    }
    walk.outline.scopes.truncate(MAX_SCOPES);
    walk.outline.settle();
    walk.outline
}

enum Work<'a> {
    Seq(&'a StmtSeq),
    Stmt(&'a Stmt),
    Word(&'a Word),
    Parts(&'a [WordPartNode]),
    Arithmetic(&'a ArithmeticExprNode),
    Pattern(&'a Pattern),
    Conditional(&'a ConditionalExpr),
    Reference(&'a VarRef),
    Subscript(&'a Subscript),
    Body(&'a HeredocBody),
}

struct Walk<'s, 'a> {
    source: &'s str,
    outline: Outline,
    stack: Vec<(Work<'a>, usize)>,
}

impl<'a> Walk<'_, 'a> {
    fn run(&mut self, body: &'a StmtSeq) {
        self.stack.push((Work::Seq(body), 0));
        let mut left = 1000 + self.source.len() * NODES_PER_BYTE;
        while let Some((work, place)) = self.stack.pop() {
            if left == 0 {
                self.outline.unread = Some(("the text is too tangled to be read".to_owned(), 0));
                return;
            }
            left -= 1;
            match work {
                Work::Seq(seq) => self.push_all(seq.stmts.iter().map(Work::Stmt), place),
                Work::Stmt(stmt) => self.statement(stmt, place),
                Work::Word(word) => self.stack.push((Work::Parts(&word.parts), place)),
                Work::Parts(parts) => {
                    for part in parts {
                        self.part(part, place);
                    }
                }
                Work::Arithmetic(node) => self.arithmetic(node, place),
                Work::Pattern(pattern) => self.pattern(pattern, place),
                Work::Conditional(expression) => self.conditional(expression, place),
                Work::Reference(reference) => {
                    if let Some(subscript) = &reference.subscript {
                        self.stack.push((Work::Subscript(subscript), place));
                    }
                }
                Work::Subscript(subscript) => self.subscript(subscript, place),
                Work::Body(body) => self.heredoc_body(body, place),
            }
        }
    }

    fn push_all(&mut self, work: impl Iterator<Item = Work<'a>>, place: usize) {
        self.stack.extend(work.map(|it| (it, place)));
    }

    fn place(&mut self, outer: usize, change: impl FnOnce(&mut Place)) -> usize {
        let mut place = self.outline.places.get(outer).cloned().unwrap_or_default();
        change(&mut place);
        if self.outline.places.get(outer) == Some(&place) {
            return outer;
        }
        self.outline.places.push(place);
        self.outline.places.len() - 1
    }

    /// A place that may never be reached, or not in the order of the text.
    fn maybe(&mut self, outer: usize) -> usize {
        self.place(outer, |it| it.straight = false)
    }

    fn via(&mut self, outer: usize, how: &str) -> usize {
        self.place(outer, |it| {
            it.straight = false;
            it.via.push(how.to_owned());
        })
    }

    fn statement(&mut self, stmt: &'a Stmt, place: usize) {
        let place = match stmt.terminator {
            Some(StmtTerminator::Background(operator)) => {
                if operator != BackgroundOperator::Plain {
                    self.outline.fail("this is not bash", offset(stmt.span).start);
                }
                self.place(place, |it| {
                    it.background = true;
                    it.straight = false;
                })
            }
            Some(StmtTerminator::Semicolon) | None => place,
        };
        match &stmt.command {
            Command::Simple(command) => self.simple(command, stmt, place),
            Command::Builtin(command) => self.builtin(command, stmt, place),
            Command::Decl(command) => self.declaration(command, stmt, place),
            Command::Binary(command) => {
                let piped = matches!(command.op, BinaryOp::Pipe | BinaryOp::PipeAll);
                let right = self.place(place, |it| {
                    it.straight = false;
                    it.piped |= piped;
                });
                let left = if piped { right } else { place };
                if piped && matches!(&command.right.command, Command::Compound(CompoundCommand::Time(_))) {
                    // Only at the beginning of a pipe is `time` a word of the shell.
                    self.outline.fail("`time` is a program here", offset(command.right.span).start);
                }
                self.stack.push((Work::Stmt(&command.right), right));
                self.stack.push((Work::Stmt(&command.left), left));
                self.group(&stmt.redirects, place);
            }
            Command::Compound(command) => {
                self.group(&stmt.redirects, place);
                self.compound(command, place);
            }
            Command::Function(command) => {
                self.group(&stmt.redirects, place);
                self.function(command, place);
            }
            Command::AnonymousFunction(command) => {
                self.outline.fail("this is not bash", offset(command.span).start);
                self.group(&stmt.redirects, place);
                self.stack.push((Work::Stmt(&command.body), place));
                self.push_all(command.args.iter().map(Work::Word), place);
            }
        }
    }

    fn simple(&mut self, command: &'a SimpleCommand, stmt: &'a Stmt, place: usize) {
        let mut seen = Seen { place, ..Seen::default() };
        for word in std::iter::once(&command.name).chain(&command.args) {
            let span = offset(word.span);
            if span.start < span.end {
                seen.words.push(span);
            }
            self.stack.push((Work::Word(word), place));
        }
        self.finish(seen, &command.assignments, stmt, place);
    }

    fn builtin(&mut self, command: &'a BuiltinCommand, stmt: &'a Stmt, place: usize) {
        let (name, first, rest, assignments, span) = match command {
            BuiltinCommand::Break(it) => ("break", &it.depth, &it.extra_args, &it.assignments, it.span),
            BuiltinCommand::Continue(it) => {
                ("continue", &it.depth, &it.extra_args, &it.assignments, it.span)
            }
            BuiltinCommand::Return(it) => ("return", &it.code, &it.extra_args, &it.assignments, it.span),
            BuiltinCommand::Exit(it) => ("exit", &it.code, &it.extra_args, &it.assignments, it.span),
        };
        let mut seen = Seen { place, ..Seen::default() };
        let span = offset(span);
        let from = assignments.last().map_or(span.start, |it| offset(it.span).end);
        let text = self.source.get(from..span.end).unwrap_or_default();
        match text.find(name) {
            Some(at) => {
                let start = from + at;
                seen.words.push(Span { start, end: start + name.len() });
            }
            None => self.outline.fail("a word is spelt in pieces", span.start),
        }
        for word in first.iter().chain(rest) {
            seen.words.push(offset(word.span));
            self.stack.push((Work::Word(word), place));
        }
        self.finish(seen, assignments, stmt, place);
    }

    fn declaration(&mut self, command: &'a DeclClause, stmt: &'a Stmt, place: usize) {
        let mut seen = Seen { place, ..Seen::default() };
        seen.words.push(offset(command.variant_span));
        for operand in &command.operands {
            let span = match operand {
                DeclOperand::Flag(word) | DeclOperand::Dynamic(word) => {
                    self.stack.push((Work::Word(word), place));
                    word.span
                }
                DeclOperand::Name(reference) => {
                    self.stack.push((Work::Reference(reference), place));
                    reference.span
                }
                DeclOperand::Assignment(assignment) => {
                    self.assignment(assignment, place);
                    assignment.span
                }
            };
            seen.words.push(offset(span));
        }
        self.finish(seen, &command.assignments, stmt, place);
    }

    fn finish(&mut self, mut seen: Seen, assignments: &'a [Assignment], stmt: &'a Stmt, place: usize) {
        for assignment in assignments {
            seen.assignments.push(offset(assignment.span));
            self.assignment(assignment, place);
        }
        seen.redirects = self.redirects(&stmt.redirects, place);
        self.outline.commands.push(seen);
    }

    /// Redirections that belong to no simple command are a command without words.
    fn group(&mut self, redirects: &'a [Redirect], place: usize) {
        if redirects.is_empty() {
            return;
        }
        let redirects = self.redirects(redirects, place);
        self.outline.commands.push(Seen { redirects, place, ..Seen::default() });
    }

    fn redirects(&mut self, redirects: &'a [Redirect], place: usize) -> Vec<SeenRedirect> {
        redirects.iter().filter_map(|it| self.redirect(it, place)).collect()
    }

    fn redirect(&mut self, redirect: &'a Redirect, place: usize) -> Option<SeenRedirect> {
        if redirect.fd_var.is_some() {
            self.outline.fail("a descriptor gets a variable's name", offset(redirect.span).start);
        }
        match &redirect.target {
            RedirectTarget::Word(word) => {
                self.stack.push((Work::Word(word), place));
                let target = self.target(word, offset(redirect.span))?;
                let text = self.source.get(target.start..target.end).unwrap_or_default();
                let kind = match redirect.kind {
                    Kind::Output | Kind::Clobber | Kind::OutputBoth => crate::sitter::kind(">", text),
                    Kind::Append => RedirectKind::Append,
                    Kind::Input => RedirectKind::Read,
                    Kind::ReadWrite => RedirectKind::ReadWrite,
                    Kind::HereDoc | Kind::HereDocStrip | Kind::HereString => RedirectKind::Text,
                    Kind::DupOutput if text == "-" => RedirectKind::Descriptor,
                    Kind::DupInput if text == "-" => RedirectKind::Descriptor,
                    Kind::DupOutput => crate::sitter::kind(">&", text),
                    Kind::DupInput => crate::sitter::kind("<&", text),
                };
                Some(SeenRedirect { kind, target, body: None })
            }
            RedirectTarget::Heredoc(heredoc) => {
                let target = offset(heredoc.body.span);
                let delimiter = &heredoc.delimiter;
                if delimiter.expands_body {
                    self.stack.push((Work::Body(&heredoc.body), place));
                } else {
                    self.outline.literals.push(target);
                }
                let body =
                    Some(Body { expands: delimiter.expands_body, strips_tabs: delimiter.strip_tabs });
                Some(SeenRedirect { kind: RedirectKind::Text, target, body })
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

    fn assignment(&mut self, assignment: &'a Assignment, place: usize) {
        self.stack.push((Work::Reference(&assignment.target), place));
        match &assignment.value {
            AssignmentValue::Scalar(word) => self.stack.push((Work::Word(word), place)),
            AssignmentValue::Compound(array) => {
                for element in &array.elements {
                    self.stack.push((Work::Word(&element.value().word), place));
                    if let ArrayElem::Keyed { key, .. } | ArrayElem::KeyedAppend { key, .. } = element {
                        self.stack.push((Work::Subscript(key), place));
                    }
                }
            }
        }
    }
}

fn offset(span: shuck_ast::Span) -> Span {
    Span { start: span.start.offset(), end: span.end.offset() }
}
