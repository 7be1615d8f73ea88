//! Commands that hold commands: loops, conditions, groups, functions.

use shuck_ast::{Command, CompoundCommand, FunctionDef, Stmt, StmtSeq, StmtTerminator, Word};

use super::{ScriptWalk, Work, offset};
use crate::syntax::outline::{Function, ParsedCommand, Scope, Shape, Span};

impl<'a> ScriptWalk<'_, 'a> {
    pub(super) fn compound(&mut self, command: &'a CompoundCommand, context: usize) {
        match command {
            CompoundCommand::Subshell(seq) => {
                let inside = self.maybe(context);
                self.stack.push((Work::Seq(seq), inside));
            }
            CompoundCommand::BraceGroup(seq) => self.stack.push((Work::Seq(seq), context)),
            CompoundCommand::If(it) => {
                let inside = self.maybe(context);
                self.stack.push((Work::Seq(&it.condition), inside));
                self.stack.push((Work::Seq(&it.then_branch), inside));
                for (condition, branch) in &it.elif_branches {
                    self.stack.push((Work::Seq(condition), inside));
                    self.stack.push((Work::Seq(branch), inside));
                }
                if let Some(branch) = &it.else_branch {
                    self.stack.push((Work::Seq(branch), inside));
                }
            }
            CompoundCommand::While(it) => self.while_loop(&it.condition, &it.body, context, true),
            CompoundCommand::Until(it) => self.while_loop(&it.condition, &it.body, context, false),
            CompoundCommand::For(it) => {
                let names = it.targets.iter().map(|it| &it.word);
                self.for_loop(names, it.words.as_deref(), &it.body, context);
            }
            CompoundCommand::Select(it) => {
                let name = offset(it.variable_span);
                let values: Vec<Span> = it.words.iter().map(|it| offset(it.span)).collect();
                let words = std::iter::once(name).chain(values).collect();
                self.outline.commands.push(ParsedCommand {
                    shape: Shape::Loop,
                    words,
                    context,
                    ..ParsedCommand::default()
                });
                let inside = self.maybe(context);
                self.push_all(it.words.iter().map(Work::Word), context);
                self.stack.push((Work::Seq(&it.body), inside));
            }
            CompoundCommand::ArithmeticFor(it) => {
                let start = offset(it.span).start;
                let end = offset(it.right_paren_span).end;
                self.outline.arithmetic.push(Span { start, end });
                let asts = [&it.init_ast, &it.condition_ast, &it.step_ast];
                self.push_all(asts.into_iter().flatten().map(Work::Arithmetic), context);
                if it.condition_ast.is_none() && is_background(&it.body) {
                    self.outline.spawning.get_or_insert(offset(it.body.span));
                }
                let inside = self.maybe(context);
                self.stack.push((Work::Seq(&it.body), inside));
            }
            CompoundCommand::Case(it) => {
                let words = vec![offset(it.word.span)];
                let shape = Shape::Case;
                self.outline.commands.push(ParsedCommand {
                    shape,
                    words,
                    context,
                    ..ParsedCommand::default()
                });
                self.stack.push((Work::Word(&it.word), context));
                let inside = self.maybe(context);
                for case in &it.cases {
                    self.push_all(case.patterns.iter().map(Work::Pattern), inside);
                    self.stack.push((Work::Seq(&case.body), inside));
                }
            }
            CompoundCommand::Arithmetic(it) => {
                self.outline.arithmetic.push(offset(it.span));
                match (&it.expr_ast, it.expr_span) {
                    (Some(ast), _) => self.stack.push((Work::Arithmetic(ast), context)),
                    (None, Some(_)) => {
                        self.outline
                            .fail("arithmetic that could not be read", offset(it.span).start);
                    }
                    (None, None) => {}
                }
            }
            CompoundCommand::Time(it) => {
                if let Some(stmt) = &it.command {
                    let inside = self.context(context, |it| it.via.push("time".to_owned()));
                    self.stack.push((Work::Stmt(stmt), inside));
                }
            }
            CompoundCommand::Conditional(it) => {
                let words = vec![offset(it.span)];
                self.outline.commands.push(ParsedCommand {
                    shape: Shape::Test,
                    words,
                    context,
                    ..ParsedCommand::default()
                });
                self.stack.push((Work::Conditional(&it.expression), context));
            }
            CompoundCommand::Coproc(it) => {
                let inside = self.context(context, |it| {
                    it.background = true;
                    it.straight = false;
                    it.via.push("coproc".to_owned());
                });
                self.stack.push((Work::Stmt(&it.body), inside));
            }
            CompoundCommand::Repeat(it) => {
                self.outline.fail("this is not bash", offset(it.span).start);
                self.stack.push((Work::Word(&it.count), context));
                self.stack.push((Work::Seq(&it.body), context));
            }
            CompoundCommand::Foreach(it) => {
                self.outline.fail("this is not bash", offset(it.span).start);
                self.push_all(it.words.iter().map(Work::Word), context);
                self.stack.push((Work::Seq(&it.body), context));
            }
            CompoundCommand::Always(it) => {
                self.outline.fail("this is not bash", offset(it.span).start);
                self.stack.push((Work::Seq(&it.body), context));
                self.stack.push((Work::Seq(&it.always_body), context));
            }
        }
    }

    fn while_loop(
        &mut self,
        condition: &'a StmtSeq,
        body: &'a StmtSeq,
        context: usize,
        goes_on: bool,
    ) {
        if goes_on && let [stmt] = condition.stmts.as_slice() {
            for name in self.names_read(stmt) {
                self.outline.scopes.push(Scope { name, values: None, body: offset(body.span) });
            }
        }
        if let [stmt] = condition.stmts.as_slice()
            && self.holds_always(stmt, goes_on)
            && is_background(body)
        {
            self.outline.spawning.get_or_insert(offset(body.span));
        }
        let inside = self.maybe(context);
        self.stack.push((Work::Seq(condition), inside));
        self.stack.push((Work::Seq(body), inside));
    }

    /// `while true`, `while :`, `until false`.
    fn holds_always(&self, stmt: &Stmt, goes_on: bool) -> bool {
        let Command::Simple(command) = &stmt.command else { return false };
        let name = self.slice(&command.name);
        let name = if stmt.negated { "" } else { name };
        command.args.is_empty()
            && if goes_on { matches!(name, "true" | ":") } else { name == "false" }
    }

    /// The variables that `read` sets, if `stmt` is a plain call of it.
    fn names_read(&self, stmt: &Stmt) -> Vec<String> {
        let Command::Simple(command) = &stmt.command else { return Vec::new() };
        if stmt.negated
            || stmt.terminator.is_some_and(|it| it != shuck_ast::StmtTerminator::Semicolon)
            || self.slice(&command.name) != "read"
        {
            return Vec::new();
        }
        let mut names = Vec::new();
        for word in &command.args {
            let text = self.slice(word);
            match text.strip_prefix('-') {
                Some(flags) if names.is_empty() && flags.bytes().all(|it| it == b'r') => {}
                None if shuck_ast::is_shell_variable_name(text) => names.push(text.to_owned()),
                _ => return Vec::new(),
            }
        }
        names
    }

    fn for_loop(
        &mut self,
        names: impl Iterator<Item = &'a Word>,
        values: Option<&'a [Word]>,
        body: &'a StmtSeq,
        context: usize,
    ) {
        let names: Vec<Span> = names.map(|it| offset(it.span)).collect();
        let spans: Vec<Span> =
            values.unwrap_or_default().iter().map(|it| offset(it.span)).collect();
        if let ([name], Some(_)) = (names.as_slice(), values) {
            let name = self.source.get(name.start..name.end).unwrap_or_default().to_owned();
            let values = Some(spans.clone());
            self.outline.scopes.push(Scope { name, values, body: offset(body.span) });
        }
        let words = names.into_iter().chain(spans).collect();
        self.outline.commands.push(ParsedCommand {
            shape: Shape::Loop,
            words,
            context,
            ..ParsedCommand::default()
        });
        self.push_all(values.unwrap_or_default().iter().map(Work::Word), context);
        let inside = self.maybe(context);
        self.stack.push((Work::Seq(body), inside));
    }

    pub(super) fn function(&mut self, command: &'a FunctionDef, context: usize) {
        let mut inside = context;
        for entry in &command.header.entries {
            let name = self.slice(&entry.word).to_owned();
            inside = self.via(inside, &format!("{name}()"));
            self.outline.functions.push(Function { name, body: offset(command.span) });
            self.stack.push((Work::Word(&entry.word), context));
        }
        self.stack.push((Work::Stmt(&command.body), inside));
    }

    fn slice(&self, word: &Word) -> &str {
        let span = offset(word.span);
        self.source.get(span.start..span.end).unwrap_or_default()
    }
}

/// True when every command of a loop is started and not waited for.
fn is_background(body: &StmtSeq) -> bool {
    let beside = |it: &Stmt| matches!(it.terminator, Some(StmtTerminator::Background(_)));
    !body.stmts.is_empty() && body.stmts.iter().all(beside)
}
