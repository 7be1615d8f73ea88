//! The second witness: the parser of shuck, lowered to an outline.
//!
//! The walk has its own stack, so that no input can overflow the thread's.

use shuck_ast::{
    ArithmeticExprNode, ArrayElem, Assignment, AssignmentValue, BackgroundOperator, BinaryOp,
    BuiltinCommand, Command, CompoundCommand, ConditionalExpr, DeclClause, DeclOperand,
    HeredocBody, Pattern, SimpleCommand, Stmt, StmtSeq, StmtTerminator, Subscript, VarRef, Word,
    WordPartNode,
};
use shuck_parser::parser::{ParseStatus, Parser};
use shuck_parser::{ShellDialect, ShellProfile};

use crate::limits::{
    MAX_BROKEN_BYTES, MAX_DEPTH, MAX_FUNCTIONS, MAX_INLINE, MAX_PREFIXES, MAX_SCOPES,
    NODES_PER_BYTE, STACK, STEPS_AT_LEAST, STEPS_PER_BYTE,
};
use crate::syntax::outline::{Outline, ParsedCommand, ScopeContext, Span};

mod compound;
mod redirects;
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
            "if" | "elif"
                | "while"
                | "until"
                | "for"
                | "case"
                | "select"
                | "function"
                | "time"
                | "coproc"
        )
    };
    opening + words.filter(keyword).count()
}

fn read(source: &str) -> Outline {
    let fuel = STEPS_AT_LEAST + source.len() * STEPS_PER_BYTE;
    let profile = ShellProfile::native(ShellDialect::Bash);
    let parser = Parser::with_limits_and_profile(source, MAX_DEPTH, fuel, profile);
    let result = parser.parse();
    let straight = ScopeContext { straight: true, ..ScopeContext::default() };
    let outline = Outline { contexts: vec![straight], ..Outline::default() };
    let mut walk = ScriptWalk { source, outline, stack: Vec::new() };
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
    CommandBody(&'a HeredocBody),
}

struct ScriptWalk<'s, 'a> {
    source: &'s str,
    outline: Outline,
    stack: Vec<(Work<'a>, usize)>,
}

impl<'a> ScriptWalk<'_, 'a> {
    fn run(&mut self, body: &'a StmtSeq) {
        self.stack.push((Work::Seq(body), 0));
        let mut left = 1000 + self.source.len() * NODES_PER_BYTE;
        while let Some((work, context)) = self.stack.pop() {
            if left == 0 {
                self.outline.unread = Some(("the text is too tangled to be read".to_owned(), 0));
                return;
            }
            left -= 1;
            match work {
                Work::Seq(seq) => self.push_all(seq.stmts.iter().map(Work::Stmt), context),
                Work::Stmt(stmt) => self.statement(stmt, context),
                Work::Word(word) => self.stack.push((Work::Parts(&word.parts), context)),
                Work::Parts(parts) => {
                    for part in parts {
                        self.part(part, context);
                    }
                }
                Work::Arithmetic(node) => self.arithmetic(node, context),
                Work::Pattern(pattern) => self.pattern(pattern, context),
                Work::Conditional(expression) => self.conditional(expression, context),
                Work::Reference(reference) => {
                    if let Some(subscript) = &reference.subscript {
                        self.stack.push((Work::Subscript(subscript), context));
                    }
                }
                Work::Subscript(subscript) => self.subscript(subscript, context),
                Work::CommandBody(body) => self.heredoc_body(body, context),
            }
        }
    }

    fn push_all(&mut self, work: impl Iterator<Item = Work<'a>>, context: usize) {
        self.stack.extend(work.map(|it| (it, context)));
    }

    fn context(&mut self, outer: usize, change: impl FnOnce(&mut ScopeContext)) -> usize {
        let mut context = self.outline.contexts.get(outer).cloned().unwrap_or_default();
        change(&mut context);
        if self.outline.contexts.get(outer) == Some(&context) {
            return outer;
        }
        self.outline.contexts.push(context);
        self.outline.contexts.len() - 1
    }

    /// A place that may never be reached, or not in the order of the text.
    fn maybe(&mut self, outer: usize) -> usize {
        self.context(outer, |it| it.straight = false)
    }

    fn via(&mut self, outer: usize, how: &str) -> usize {
        self.context(outer, |it| {
            it.straight = false;
            it.via.push(how.to_owned());
        })
    }

    fn statement(&mut self, stmt: &'a Stmt, context: usize) {
        let context = match stmt.terminator {
            Some(StmtTerminator::Background(operator)) => {
                if operator != BackgroundOperator::Plain {
                    self.outline.fail("this is not bash", offset(stmt.span).start);
                }
                self.context(context, |it| {
                    it.background = true;
                    it.straight = false;
                })
            }
            Some(StmtTerminator::Semicolon) | None => context,
        };
        match &stmt.command {
            Command::Simple(command) => self.simple(command, stmt, context),
            Command::Builtin(command) => self.builtin(command, stmt, context),
            Command::Decl(command) => self.declaration(command, stmt, context),
            Command::Binary(command) => {
                let piped = matches!(command.op, BinaryOp::Pipe | BinaryOp::PipeAll);
                let right = self.context(context, |it| {
                    it.straight = false;
                    it.piped |= piped;
                });
                let left = if piped { right } else { context };
                if piped {
                    self.outline
                        .pipes
                        .push((offset(command.left.span), offset(command.right.span)));
                }
                if piped
                    && matches!(&command.right.command, Command::Compound(CompoundCommand::Time(_)))
                {
                    // Only at the beginning of a pipe is `time` a word of the shell.
                    self.outline.fail("`time` is a program here", offset(command.right.span).start);
                }
                self.stack.push((Work::Stmt(&command.right), right));
                self.stack.push((Work::Stmt(&command.left), left));
                self.group(&stmt.redirects, context);
            }
            Command::Compound(command) => {
                self.group(&stmt.redirects, context);
                self.compound(command, context);
            }
            Command::Function(command) => {
                self.group(&stmt.redirects, context);
                self.function(command, context);
            }
            Command::AnonymousFunction(command) => {
                self.outline.fail("this is not bash", offset(command.span).start);
                self.group(&stmt.redirects, context);
                self.stack.push((Work::Stmt(&command.body), context));
                self.push_all(command.args.iter().map(Work::Word), context);
            }
        }
    }

    fn simple(&mut self, command: &'a SimpleCommand, stmt: &'a Stmt, context: usize) {
        let mut seen = ParsedCommand { context, ..ParsedCommand::default() };
        for word in std::iter::once(&command.name).chain(&command.args) {
            let span = offset(word.span);
            if span.start < span.end {
                seen.words.push(span);
            }
            self.stack.push((Work::Word(word), context));
        }
        self.finish(seen, &command.assignments, stmt, context);
    }

    fn builtin(&mut self, command: &'a BuiltinCommand, stmt: &'a Stmt, context: usize) {
        let (name, first, rest, assignments, span) = match command {
            BuiltinCommand::Break(it) => {
                ("break", &it.depth, &it.extra_args, &it.assignments, it.span)
            }
            BuiltinCommand::Continue(it) => {
                ("continue", &it.depth, &it.extra_args, &it.assignments, it.span)
            }
            BuiltinCommand::Return(it) => {
                ("return", &it.code, &it.extra_args, &it.assignments, it.span)
            }
            BuiltinCommand::Exit(it) => {
                ("exit", &it.code, &it.extra_args, &it.assignments, it.span)
            }
        };
        let mut seen = ParsedCommand { context, ..ParsedCommand::default() };
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
            self.stack.push((Work::Word(word), context));
        }
        self.finish(seen, assignments, stmt, context);
    }

    fn declaration(&mut self, command: &'a DeclClause, stmt: &'a Stmt, context: usize) {
        let mut seen = ParsedCommand { context, ..ParsedCommand::default() };
        seen.words.push(offset(command.variant_span));
        for operand in &command.operands {
            let span = match operand {
                DeclOperand::Flag(word) | DeclOperand::Dynamic(word) => {
                    self.stack.push((Work::Word(word), context));
                    word.span
                }
                DeclOperand::Name(reference) => {
                    self.stack.push((Work::Reference(reference), context));
                    reference.span
                }
                DeclOperand::Assignment(assignment) => {
                    self.assignment(assignment, context);
                    assignment.span
                }
            };
            seen.words.push(offset(span));
        }
        self.finish(seen, &command.assignments, stmt, context);
    }

    fn finish(
        &mut self,
        mut seen: ParsedCommand,
        assignments: &'a [Assignment],
        stmt: &'a Stmt,
        context: usize,
    ) {
        for assignment in assignments {
            seen.assignments.push(offset(assignment.span));
            self.assignment(assignment, context);
        }
        seen.redirects = self.redirects(&stmt.redirects, context);
        self.outline.commands.push(seen);
    }

    fn assignment(&mut self, assignment: &'a Assignment, context: usize) {
        self.stack.push((Work::Reference(&assignment.target), context));
        match &assignment.value {
            AssignmentValue::Scalar(word) => self.stack.push((Work::Word(word), context)),
            AssignmentValue::Compound(array) => {
                for element in &array.elements {
                    self.stack.push((Work::Word(&element.value().word), context));
                    if let ArrayElem::Keyed { key, .. } | ArrayElem::KeyedAppend { key, .. } =
                        element
                    {
                        self.stack.push((Work::Subscript(key), context));
                    }
                }
            }
        }
    }
}

fn offset(span: shuck_ast::Span) -> Span {
    Span { start: span.start.offset(), end: span.end.offset() }
}
